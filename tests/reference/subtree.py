"""The subtree kernel from its definition: list complete subtrees, count, weigh, add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from espalier.structures import Tree


def subtree(s: Tree, t: Tree, decay: Callable[[str | None], float], *, lone_leaves: bool = False) -> float:
    count_s = Counter(node for node in s if node.children or lone_leaves)
    count_t = Counter(node for node in t if node.children or lone_leaves)
    total = 0.0
    for fragment in count_s:
        weight = 1.0 if fragment.children else decay(None)
        for node in fragment:
            if node.children:
                weight *= decay(node.label)
        total += weight * count_s[fragment] * count_t[fragment]
    return total
