"""The weights of all fragments of a kernel machine from their definition: list, count, weigh, add."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

from tests.reference.partial_tree import n_skipped
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


def subset_tree_features(
    decay: Value, frontier: Value, max_depth: int | None = None, *, lone_leaves: bool = False
) -> Features:
    """The square root of a fragment's weight, times its count."""

    def value(fragment: Any) -> float:
        return math.sqrt(decay(None) if isinstance(fragment, str) else weight(fragment, decay, frontier))

    def features(tree: Tree) -> dict[str, float]:
        counts = count_fragments(tree, max_depth, lone_leaves)
        return {brackets(f): count * value(f) for f, count in counts.items()}

    return features


def fragment_weights(trees: Sequence[Tree], coefficients: Sequence[float], features: Features) -> dict[str, float]:
    """The sum of coefficient times feature over all trees, for every fragment."""
    out: dict[str, float] = {}
    for tree, coefficient in zip(trees, coefficients, strict=True):
        for fragment, value in features(tree).items():
            out[fragment] = out.get(fragment, 0.0) + coefficient * value
    return out


def partial_tree_features(decay: Value, depth_decay: Value, max_size: int | None = None) -> Features:
    """The sum over all ways in which a fragment stands in a tree, of what each way weighs."""

    def rooted_at(node: Tree) -> list[tuple[str, int, float]]:
        """Each way a fragment is rooted here: its brackets, its nodes, its weight."""
        label = node.label if node.children else None
        root = math.sqrt(depth_decay(label))
        out = [(f"({node.label})", 1, root * decay(label))]  # a word and an unexpanded node are one fragment
        below = [rooted_at(child) for child in node.children]
        for length in range(1, len(below) + 1):
            for chosen in combinations(range(len(below)), length):
                gaps = decay(label) ** n_skipped(chosen)
                for parts in product(*(below[k] for k in chosen)):
                    text = " ".join(part for part, _, _ in parts)
                    size = 1 + sum(n for _, n, _ in parts)
                    out.append((f"({node.label} {text})", size, root * gaps * math.prod(w for _, _, w in parts)))
        return out

    def features(tree: Tree) -> dict[str, float]:
        out: dict[str, float] = {}
        for node in tree:
            for text, size, value in rooted_at(node):
                if max_size is None or size <= max_size:
                    out[text] = out.get(text, 0.0) + value
        return out

    return features


def normalized(features: Features) -> Features:
    """The features of a tree divided by their length."""

    def divided(tree: Tree) -> dict[str, float]:
        plain = features(tree)
        norm = math.sqrt(sum(value**2 for value in plain.values()))
        return {fragment: value / norm for fragment, value in plain.items()}

    return divided


def node_shares(tree: Tree, weights: dict[str, float], decay: Value, frontier: Value) -> list[float]:
    """What each node adds to a score, where every fragment of subset trees is shared equally by its productions."""
    out = [0.0] * tree.size
    place = {position: k for k, position in enumerate(tree.positions())}

    def rooted(position: tuple[int, ...], node: Tree) -> list[tuple[Any, list[tuple[int, ...]]]]:
        options: list[list[tuple[Any, list[tuple[int, ...]]]]] = []
        for k, child in enumerate(node.children):
            if not child.children:
                options.append([(child.label, [])])
            else:
                options.append([((child.label,), []), *rooted((*position, k), child)])
        return [
            ((node.label, tuple(part for part, _ in parts)), [position, *(p for _, inside in parts for p in inside)])
            for parts in product(*options)
        ]

    for position, node in zip(tree.positions(), tree, strict=True):
        if node.children:
            for fragment, expanded in rooted(position, node):
                value = weights.get(brackets(fragment), 0.0) * math.sqrt(weight(fragment, decay, frontier))
                for own in expanded:
                    out[place[own]] += value / len(expanded)
    return out
