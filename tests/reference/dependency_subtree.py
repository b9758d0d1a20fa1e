"""Sub-feature-trees of dependency trees from their definition: list every subtree and every choice of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

from espalier.structures import DependencyTree

Features = Callable[[DependencyTree, int], Sequence[tuple[str, str]]]  # of the arc to a token: template and value


def children_of(tree: DependencyTree, head: int) -> list[int]:
    """The modifiers of a token, from left to right; tokens from 0."""
    return [k for k in range(len(tree.words)) if tree.heads[k] == head + 1]


def chosen(children: Sequence[int], contiguous: bool) -> list[tuple[int, ...]]:
    """The choices of some of the children: runs of neighbours, or any."""
    n = len(children)
    if contiguous:
        return [tuple(children[i:j]) for i in range(n) for j in range(i + 1, n + 1)]
    return [choice for size in range(1, n + 1) for choice in combinations(children, size)]


def subtrees(tree: DependencyTree, head: int, contiguous: bool) -> list[Any]:
    """The subtrees below a head: for each chosen child, its number and what is chosen below it, or None."""
    found = []
    for choice in chosen(children_of(tree, head), contiguous):
        below = [[None, *subtrees(tree, child, contiguous)] for child in choice]
        found += [tuple(zip(choice, parts, strict=True)) for parts in product(*below)]
    return found


def feature_trees(
    tree: DependencyTree, features: Features, contiguous: bool, heads: Sequence[int] | None = None
) -> Counter[Any]:
    """Every subtree, of all heads or of some, with one feature for each of its arcs."""

    def labelled(subtree: Any) -> list[Any]:
        if subtree is None:
            return [None]
        parts = [list(product(features(tree, child), labelled(below))) for child, below in subtree]
        return list(product(*parts))

    return Counter(
        form
        for head in (range(len(tree.words)) if heads is None else heads)
        for subtree in subtrees(tree, head, contiguous)
        for form in labelled(subtree)
    )


def weight(form: Any, decay: float, weight_of: Callable[[str], float]) -> float:
    """What one sub-feature-tree weighs."""
    if form is None:
        return 1.0
    total = 1.0
    for (template, _), below in form:
        total *= decay * weight_of(template) * weight(below, decay, weight_of)
    return total


def dependency_subtree(
    s: DependencyTree,
    t: DependencyTree,
    features: Features,
    decay: float,
    weight_of: Callable[[str], float],
    contiguous: bool = True,
) -> float:
    a, b = (feature_trees(tree, features, contiguous) for tree in (s, t))
    return sum(n * b[form] * weight(form, decay, weight_of) for form, n in a.items())
