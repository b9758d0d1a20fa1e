"""The subset tree kernel from its definition: list fragments, count, weigh, add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

from espalier.structures import Tree

Value = Callable[[str | None], float]  # of a label; None stands for all leaves


def fragments_rooted_at(node: Tree) -> list[Any]:
    """Every fragment: (label, parts), where a part is a word, a label alone in a tuple, or a fragment."""
    options = []
    for child in node.children:
        options.append([child.label] if not child.children else [(child.label,), *fragments_rooted_at(child)])
    return [(node.label, parts) for parts in product(*options)]


def depth(fragment: Any) -> int:
    """The longest way down, in edges."""
    if isinstance(fragment, str) or len(fragment) == 1:
        return 0
    return 1 + max(depth(part) for part in fragment[1])


def weight(fragment: Any, decay: Value, frontier: Value) -> float:
    """decay for each production, frontier (of the node above) for each inner node left unexpanded."""
    if isinstance(fragment, str):
        return 1.0
    label, parts = fragment
    total = decay(label)
    for part in parts:
        unexpanded = isinstance(part, tuple) and len(part) == 1
        total *= frontier(label) if unexpanded else weight(part, decay, frontier)
    return total


def count_fragments(tree: Tree, max_depth: int | None, lone_leaves: bool) -> Counter[Any]:
    counts: Counter[Any] = Counter()
    for node in tree:
        if node.children:
            counts.update(f for f in fragments_rooted_at(node) if max_depth is None or depth(f) <= max_depth)
        elif lone_leaves:
            counts[node.label] += 1
    return counts


def subset_tree(
    s: Tree,
    t: Tree,
    decay: Value,
    frontier: Value,
    *,
    max_depth: int | None = None,
    lone_leaves: bool = False,
) -> float:
    count_s = count_fragments(s, max_depth, lone_leaves)
    count_t = count_fragments(t, max_depth, lone_leaves)
    return sum(
        (decay(None) if isinstance(f, str) else weight(f, decay, frontier)) * count_s[f] * count_t[f]
        for f in count_s
        if f in count_t
    )
