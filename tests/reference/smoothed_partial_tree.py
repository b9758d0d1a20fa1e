"""The smoothed partial tree kernel from its definition: list every pair of subsequences of children."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from espalier.structures import Tree

Value = Callable[[str | None], float]  # of a label; None stands for all leaves


@dataclass(frozen=True)
class Smoothing:
    """How labels match: a similarity, what counts as none, the share of exact matching, and where it is soft."""

    similarity: Callable[[str, str], float]
    threshold: float = 0.0
    mix: float = 0.0
    inner: bool = False  # inner labels match softly too

    def match(self, u: Tree, v: Tree) -> float:
        """How well two nodes match by their labels alone."""
        if u.label == v.label:
            return 1.0
        if (u.children or v.children) and not self.inner:
            return 0.0
        found = self.similarity(u.label, v.label)
        if self.threshold > 0.0 and found < self.threshold:
            return 0.0
        return (1.0 - self.mix) * found


def n_skipped(chosen: tuple[int, ...]) -> int:
    """How many children lie between the first and the last that are chosen, and are not chosen."""
    return chosen[-1] - chosen[0] + 1 - len(chosen)


def shared(u: Tree, v: Tree, by: Smoothing, decay: Value, depth_decay: Value) -> float:
    """The weight of all fragments rooted at both nodes."""
    found = by.match(u, v)
    if found == 0.0:
        return 0.0
    x, y = (node.label if node.children else None for node in (u, v))
    gap = sqrt(decay(x) * decay(y))
    total = gap**2
    for length in range(1, min(len(u.children), len(v.children)) + 1):
        for in_u in combinations(range(len(u.children)), length):
            for in_v in combinations(range(len(v.children)), length):
                weight = gap ** (n_skipped(in_u) + n_skipped(in_v))
                for i, j in zip(in_u, in_v, strict=True):
                    weight *= shared(u.children[i], v.children[j], by, decay, depth_decay)
                total += weight
    return found * sqrt(depth_decay(x) * depth_decay(y)) * total


def smoothed_partial_tree(s: Tree, t: Tree, by: Smoothing, decay: Value, depth_decay: Value) -> float:
    return sum(shared(u, v, by, decay, depth_decay) for u in s for v in t)
