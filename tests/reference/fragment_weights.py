"""The weights of all fragments of a kernel machine from their definition: list, count, weigh, add."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tests.reference.subset_tree import Value, count_fragments, weight

from espalier.structures import Tree

Features = Callable[[Tree], dict[str, float]]  # of a tree: what each fragment counts for, by its brackets


def brackets(fragment: Any) -> str:
    """A fragment as it is printed: ``(X)`` is an unexpanded node, ``X`` a word."""
    if isinstance(fragment, str):
        return fragment
    if len(fragment) == 1:
        return f"({fragment[0]})"
    return f"({fragment[0]} {' '.join(brackets(part) for part in fragment[1])})"


def subset_tree_features(decay: Value, frontier: Value, max_depth: int | None = None) -> Features:
    """The square root of a fragment's weight, times its count."""

    def features(tree: Tree) -> dict[str, float]:
        counts = count_fragments(tree, max_depth, lone_leaves=False)
        return {brackets(f): count * math.sqrt(weight(f, decay, frontier)) for f, count in counts.items()}

    return features


def fragment_weights(trees: Sequence[Tree], coefficients: Sequence[float], features: Features) -> dict[str, float]:
    """The sum of coefficient times feature over all trees, for every fragment."""
    out: dict[str, float] = {}
    for tree, coefficient in zip(trees, coefficients, strict=True):
        for fragment, value in features(tree).items():
            out[fragment] = out.get(fragment, 0.0) + coefficient * value
    return out
