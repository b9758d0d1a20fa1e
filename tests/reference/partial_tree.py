"""The partial tree kernel from its definition: list every pair of subsequences of children."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import sqrt

from espalier.structures import Tree

Value = Callable[[str | None], float]  # of a label; None stands for all leaves


def n_skipped(chosen: tuple[int, ...]) -> int:
    """How many children lie between the first and the last that are chosen, and are not chosen."""
    return chosen[-1] - chosen[0] + 1 - len(chosen)


def shared(u: Tree, v: Tree, decay: Value, depth_decay: Value) -> float:
    """The weight of all fragments rooted at both nodes: their labels alone decide whether they match."""
    if u.label != v.label:
        return 0.0
    if not (u.children and v.children):  # the fragment of one node; a leaf has the values of leaves
        x, y = (node.label if node.children else None for node in (u, v))
        return sqrt(depth_decay(x) * depth_decay(y)) * decay(x) * decay(y)
    label = u.label
    total = decay(label) ** 2
    for length in range(1, min(len(u.children), len(v.children)) + 1):
        for in_u in combinations(range(len(u.children)), length):
            for in_v in combinations(range(len(v.children)), length):
                weight = decay(label) ** (n_skipped(in_u) + n_skipped(in_v))
                for i, j in zip(in_u, in_v, strict=True):
                    weight *= shared(u.children[i], v.children[j], decay, depth_decay)
                total += weight
    return depth_decay(label) * total


def partial_tree(s: Tree, t: Tree, decay: Value, depth_decay: Value) -> float:
    return sum(shared(u, v, decay, depth_decay) for u in s for v in t)
