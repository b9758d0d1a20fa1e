"""``Graph``: labelled nodes, and edges between them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.notation import check_size
from espalier.structures.numbers import check_choice, truth_value
from espalier.structures.sequence import as_texts
from espalier.structures.tree import Tree

Edge = tuple[int, int] | tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes with labels, and edges with or without labels, directed or not; a graph may be empty.

    Two graphs are equal if they have the same labels and the same edges, in any order. An edge may
    join a node with itself, and an edge that is listed twice counts twice.

    Parameters
    ----------
    labels
        One text for each node.
    edges
        Pairs of nodes ``(i, j)``, or ``(i, j, label)``; nodes are counted from 0.
    directed
        Whether an edge goes from the first of its nodes to the second, or joins them.

    Examples
    --------
    >>> water = Graph(["O", "H", "H"], [(1, 0), (0, 2)])
    >>> water.edges, len(water)
    (((0, 1), (0, 2)), 3)
    >>> Graph(["cat", "sat"], [(1, 0, "nsubj")], directed=True).edges
    ((1, 0, 'nsubj'),)
    """

    labels: Sequence[str]
    edges: Sequence[Edge] = ()
    directed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", as_texts(self.labels, "labels"))
        object.__setattr__(self, "directed", truth_value("directed", self.directed))
        if isinstance(self.edges, str | bytes) or not isinstance(self.edges, Iterable):
            raise TypeError(f"edges must list pairs of nodes, got {self.edges!r}.")
        edges = [self._checked(k, edge) for k, edge in enumerate(self.edges)]
        object.__setattr__(self, "edges", tuple(sorted(edges)))

    def __len__(self) -> int:
        """How many nodes it has."""
        return len(self.labels)

    def _checked(self, k: int, edge: Any) -> Edge:
        """Return the edge as a tuple, with the smaller node first if edges have no direction."""
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) not in (2, 3):
            raise TypeError(f"edges[{k}] must be (i, j) or (i, j, label), got {edge!r}.")
        try:
            i, j = operator.index(edge[0]), operator.index(edge[1])
        except TypeError:
            raise TypeError(f"edges[{k}] must join two nodes by their numbers, got {edge!r}.") from None
        for node in (i, j):
            if not 0 <= node < len(self.labels):
                raise InputError(
                    f"edges[{k}] names the node {node}, but there are {len(self.labels):,} nodes, counted from 0."
                )
        if not self.directed:
            i, j = min(i, j), max(i, j)
        if len(edge) == 2:
            return i, j
        if not isinstance(edge[2], str):
            raise TypeError(f"The label of edges[{k}] must be a str, got {edge[2]!r}.")
        return i, j, edge[2]

    @staticmethod
    def from_dependencies(tree: DependencyTree, labels: Literal["tags", "words"] = "tags") -> Graph:
        """A dependency tree as a directed graph: edges from head to token, labelled by relation.

        Examples
        --------
        >>> tree = DependencyTree(["cats", "sleep"], ["NNS", "VBP"], [2, 0], ["nsubj", "root"])
        >>> Graph.from_dependencies(tree)
        Graph(labels=('NNS', 'VBP'), edges=((1, 0, 'nsubj'),), directed=True)
        """
        check_choice("labels", labels, "tags", "words")
        heads = enumerate(zip(tree.heads, tree.relations, strict=True))
        edges = [(head - 1, token, relation) for token, (head, relation) in heads if head]
        return Graph(tree.tags if labels == "tags" else tree.words, edges, directed=True)

    @staticmethod
    def from_tree(tree: Tree) -> Graph:
        """A tree as a directed graph: edges from parent to child. The order of children is not kept.

        Examples
        --------
        >>> Graph.from_tree(Tree.from_brackets("(NP (D the) (N cat))"))
        Graph(labels=('NP', 'D', 'the', 'N', 'cat'), edges=((0, 1), (0, 3), (1, 2), (3, 4)), directed=True)
        """
        check_size(tree)
        labels, edges = list[str](), list[Edge]()
        stack: list[tuple[Tree, int]] = [(tree, -1)]
        while stack:
            node, parent = stack.pop()
            if parent >= 0:
                edges.append((parent, len(labels)))
            stack += [(child, len(labels)) for child in reversed(node.children)]
            labels.append(node.label)
        return Graph(labels, edges, directed=True)
