"""Which constituents a coarse grammar allows, from the list of all its parses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from espalier.structures.tree import Tree

Place = tuple[str, int, int]  # a symbol, and where its words start and end


def places(tree: Tree) -> Iterable[Place]:
    """All inner nodes of a tree."""
    start: dict[int, int] = {}
    n = 0
    stack = [(tree, (), False)]
    while stack:
        node, path, is_done = stack.pop()
        if is_done:
            yield node.label, start[path], n
        elif not node.children:
            n += 1
        else:
            start[path] = n
            stack.append((node, path, True))
            stack.extend((child, (*path, k), False) for k, child in reversed(list(enumerate(node.children))))


def allowed(parses: Iterable[tuple[str, float]], margin: float) -> set[Place]:
    """Those that stand in a parse which is at most by ``margin`` less probable than the best."""
    listed = list(parses)
    best = max(score for _, score in listed)
    return {place for text, score in listed if score >= best - margin for place in places(Tree.from_brackets(text))}


def rules_of(arrays: Mapping[str, object], names: list[str]) -> dict[tuple[str, tuple[str, ...]], float]:
    """The rules of a grammar's arrays with probabilities, as ``all_parses`` reads them."""
    import numpy as np

    found = {}
    for parent, left, right, weight in zip(
        *(arrays[key] for key in ("parent", "left", "right", "weight")), strict=True
    ):
        found[names[parent], (names[left], names[right])] = float(np.exp(weight))
    start = arrays["down_start"]
    for parent in range(len(start) - 1):
        for r in range(start[parent], start[parent + 1]):
            found[names[parent], (names[arrays["down_child"][r]],)] = float(np.exp(arrays["down_weight"][r]))
    return found
