"""Sub-feature-trees of dependency trees from their definition: list every subtree and every choice of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

from espalier.structures import DependencyTree

Features = Callable[[DependencyTree, int], Sequence[tuple[str, str]]]  # of the arc to a token: template and value


def arc_features(tree: DependencyTree, token: int, templates: Sequence[str]) -> list[tuple[str, Any]]:
    """The features of the arc to a token that templates give, one after the other; a value has a text for each part."""
    h, m = tree.heads[token], token + 1

    def at(texts: Sequence[str], position: int) -> list[str]:
        if position == 0:
            return ["ROOT"]
        return [texts[position - 1]] if 1 <= position <= len(texts) else [""]

    steps = abs(h - m)
    told: dict[str, list[str]] = {
        "head word": at(tree.words, h),
        "head tag": at(tree.tags, h),
        "head tag -1": at(tree.tags, h - 1),
        "head tag +1": at(tree.tags, h + 1),
        "word": at(tree.words, m),
        "tag": at(tree.tags, m),
        "tag -1": at(tree.tags, m - 1),
        "tag +1": at(tree.tags, m + 1),
        "between tag": sorted({tree.tags[k - 1] for k in range(1, len(tree.tags) + 1) if min(h, m) < k < max(h, m)}),
        "relation": [tree.relations[token]],
        "length": [str(steps) if steps <= 5 else "up to 10" if steps <= 10 else "far"],
        "direction": ["before its head" if m < h else "after its head"],
    }
    found: list[tuple[str, Any]] = []
    for template in templates:
        if template == "own":
            found += [("own", text) for text in dict.fromkeys((tree.features or [[]] * len(tree.words))[token])]
            continue
        names = f", {template}, ".replace(", words, ", ", head word, word, ").replace(", tags, ", ", head tag, tag, ")
        names = "length" if template == "distance" else names[2:-2]
        found += [(template, values) for values in product(*(told[name] for name in names.split(", ")))]
    return found


def children_of(tree: DependencyTree, head: int) -> list[int]:
    """The modifiers of a token, from left to right; tokens from 0. Those of -1, which is ROOT, are the roots."""
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


def n_arcs(form: Any) -> int:
    """How many arcs a sub-feature-tree has."""
    return 0 if form is None else sum(1 + n_arcs(below) for _, below in form)


def dependency_subtree(
    s: DependencyTree,
    t: DependencyTree,
    features: Features,
    decay: float,
    weight_of: Callable[[str], float],
    contiguous: bool = True,
    root: bool = False,
    max_arcs: int | None = None,
) -> float:
    a, b = (feature_trees(tree, features, contiguous, range(-1 if root else 0, len(tree.words))) for tree in (s, t))
    return sum(
        n * b[form] * weight(form, decay, weight_of)
        for form, n in a.items()
        if max_arcs is None or n_arcs(form) <= max_arcs
    )
