"""Refined labels of graphs from their definition: nested tuples, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from espalier.structures.graph import Graph


def neighbours(graph: Graph, node: int) -> list[tuple[Any, int]]:
    """What a node sees: the edge, by direction and label, and who is at its other end."""
    found = []
    for i, j, *label in graph.edges:
        if graph.directed:
            found += [(("out", *label), j)] if i == node else []
            found += [(("in", *label), i)] if j == node else []
        elif node in (i, j):
            found.append((("joins", *label), j if i == node else i))
    return found


def refined(graph: Graph, node: int, rounds: int) -> Any:
    """The label of a node after some rounds, written out."""
    if rounds == 0:
        return graph.labels[node]
    around = [(edge, refined(graph, other, rounds - 1)) for edge, other in neighbours(graph, node)]
    return (refined(graph, node, rounds - 1), tuple(sorted(around, key=repr)))


def weisfeiler_lehman(g: Graph, h: Graph, weights: Sequence[float]) -> float:
    """The labels that both graphs have, round by round."""
    total = 0.0
    for rounds, weight in enumerate(weights):
        a, b = (Counter(refined(graph, node, rounds) for node in range(len(graph))) for graph in (g, h))
        total += weight * sum(n * b[label] for label, n in a.items())
    return total
