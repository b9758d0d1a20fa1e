"""``Graphs``: labelled graphs, interned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.interned import Corpus
from espalier.corpus.selection import Rows, chosen_rows, not_unicode, ranges
from espalier.corpus.soundness import EDGES, check_graphs
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError, TreeSyntaxError
from espalier.storage import Arrays
from espalier.structures.dependency import DependencyTree
from espalier.structures.graph import Graph
from espalier.structures.interop import as_tree
from espalier.structures.numbers import check_choice

NodeLabels = Literal["tags", "words"]


class Graphs(Corpus):
    """A corpus of graphs: read-only, and cheap to select from.

    Make one with :meth:`from_items`. A kernel makes its own if it is given plain graphs or trees.
    """

    __slots__ = ("labels",)

    labels: NodeLabels

    _rows = "graphs"
    _refusal = ("corpus of graphs", "Make one with Graphs.from_items.")
    _stored = ("start", "edge_start", "label", "directed", *EDGES)
    _numbered = ("label", "edge_label")
    _settings: ClassVar = {"node_labels": "labels"}
    _check = staticmethod(check_graphs)

    def __init__(self, arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary, labels: NodeLabels = "tags") -> None:
        self._take(arrays, vocabulary, labels)

    @classmethod
    def _checked_settings(cls, labels: Any) -> tuple[object, ...]:
        check_choice("labels", labels, "tags", "words")
        return (labels,)

    @staticmethod
    def from_items(
        items: Iterable[object], labels: NodeLabels = "tags", *, vocabulary: Vocabulary | None = None
    ) -> Graphs:
        """Intern graphs, dependency trees with these labels of their nodes, or anything ``as_tree`` accepts."""
        if isinstance(items, str | bytes | Graph) or not isinstance(items, Iterable):
            raise TypeError(f"A corpus is a list of graphs, got {type(items).__name__}.")
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        add = vocabulary._native.add
        lists: dict[str, list[int]] = {name: [] for name in ("label", *EDGES, "directed")}
        sizes, n_edges = [0], [0]
        for row, item in enumerate(items):
            graph = _as_graph(item, row, labels)
            try:
                lists["label"] += map(add, graph.labels)
                lists["edge_label"] += [add(str(label[0])) if label else -1 for _, _, *label in graph.edges]
            except UnicodeEncodeError:
                raise InputError(not_unicode(row)) from None
            lists["source"] += [edge[0] for edge in graph.edges]
            lists["target"] += [edge[1] for edge in graph.edges]
            lists["directed"].append(int(graph.directed))
            sizes.append(len(graph))
            n_edges.append(len(graph.edges))
        arrays: Arrays = {name: np.array(values, np.int32) for name, values in lists.items()}
        arrays |= {"start": np.cumsum(sizes, dtype=np.int64), "edge_start": np.cumsum(n_edges, dtype=np.int64)}
        return Graphs._of(arrays, vocabulary, labels)

    @property
    def arrays(self) -> Arrays:
        """The graphs by numbers.

        By graph where its nodes ``start`` and its edges (``edge_start``), and whether it is ``directed``; by node its
        ``label``; by edge its ``source`` and ``target``, counted in the graph, and its ``edge_label``, -1 for none.
        """
        return dict(self._arrays)

    def __getitem__(self, rows: int | Rows) -> Graphs:
        chosen = chosen_rows(rows, len(self))
        nodes, start = ranges(self._arrays["start"], chosen)
        edges, edge_start = ranges(self._arrays["edge_start"], chosen)
        arrays = {name: self._arrays[name][edges] for name in EDGES}
        arrays |= {"label": self._arrays["label"][nodes], "directed": self._arrays["directed"][chosen]}
        return self._like(arrays | {"start": start, "edge_start": edge_start})

    def __repr__(self) -> str:
        n_nodes, n_edges = (int(self._arrays[name][-1]) for name in ("start", "edge_start"))
        return f"<Graphs: {len(self):,} with {n_nodes:,} nodes and {n_edges:,} edges>"


def as_graphs(column: Any, labels: NodeLabels, vocabulary: Vocabulary | None = None) -> Graphs:
    """Return ``column`` itself if it is interned; otherwise intern it."""
    if not isinstance(column, Graphs):
        return Graphs.from_items(column, labels, vocabulary=vocabulary)
    if column.labels != labels:
        raise InputError(
            f"The nodes of these graphs are labelled by {column.labels}, and {labels} are asked for. "
            f"Say labels={column.labels!r}, or intern the items again with Graphs.from_items(items, {labels!r})."
        )
    return column


def _as_graph(item: object, row: int, labels: NodeLabels) -> Graph:
    if isinstance(item, Graph):
        return item
    if isinstance(item, DependencyTree):
        return Graph.from_dependencies(item, labels)
    try:
        tree = as_tree(item)
    except TreeSyntaxError as error:
        raise error.moved(f"row {row}") from None
    except (TypeError, InputError) as error:
        raise InputError(f"Row {row} must be a Graph, a dependency tree or a tree. {error}") from None
    return Graph.from_tree(tree)
