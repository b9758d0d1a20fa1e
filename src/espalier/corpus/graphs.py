"""``Graphs``: labelled graphs, interned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.selection import chosen_rows, not_unicode, ranges
from espalier.corpus.soundness import EDGES, check_graphs, refuse, stored, taken
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError, TreeSyntaxError
from espalier.storage import State, Storable, require
from espalier.structures.columns import read_only
from espalier.structures.dependency import DependencyTree
from espalier.structures.graph import Graph
from espalier.structures.interop import as_tree

Arrays = dict[str, NDArray[Any]]
NodeLabels = Literal["tags", "words"]
ARRAYS = ("start", "edge_start", "label", "directed", *EDGES)


class Graphs(Storable):
    """A corpus of graphs: read-only, and cheap to select from.

    Make one with :meth:`from_items`. A kernel makes its own if it is given plain graphs or trees.
    """

    __slots__ = ("_arrays", "_vocabulary", "labels")

    def __init__(self, arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary, labels: NodeLabels = "tags") -> None:
        if labels not in ("tags", "words"):
            raise ValueError(f"labels must be 'tags' or 'words', got {labels!r}.")
        require = refuse("corpus of graphs", "Make one with Graphs.from_items.")
        self._arrays = taken(arrays, ARRAYS, vocabulary, require)
        check_graphs(self._arrays, len(vocabulary), require)
        self._vocabulary, self.labels = vocabulary, labels

    @classmethod
    def _of(cls, arrays: Arrays, vocabulary: Vocabulary, labels: NodeLabels) -> Graphs:
        """Make a corpus from arrays that the library made or checked."""
        made = cls.__new__(cls)
        made._arrays = {name: read_only(array) for name, array in arrays.items()}
        made._vocabulary, made.labels = vocabulary, labels
        return made

    @staticmethod
    def from_items(
        items: Iterable[Any], labels: NodeLabels = "tags", *, vocabulary: Vocabulary | None = None
    ) -> Graphs:
        """Intern graphs, dependency trees with these labels of their nodes, or anything ``as_tree`` accepts."""
        if isinstance(items, str | bytes | Graph) or not isinstance(items, Iterable):
            raise TypeError(f"A corpus is a list of graphs, got {type(items).__name__}.")
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        lists: dict[str, list[int]] = {name: [] for name in ("label", *EDGES, "directed")}
        sizes, n_edges = [0], [0]
        for row, item in enumerate(items):
            graph = _as_graph(item, row, labels)
            try:
                _append(graph, lists, vocabulary._native.add)
            except UnicodeEncodeError:
                raise InputError(not_unicode(row)) from None
            sizes.append(len(graph))
            n_edges.append(len(graph.edges))
        arrays: Arrays = {name: np.array(values, np.int32) for name, values in lists.items()}
        arrays |= {"start": np.cumsum(sizes, dtype=np.int64), "edge_start": np.cumsum(n_edges, dtype=np.int64)}
        return Graphs._of(arrays, vocabulary, labels)

    @property
    def vocabulary(self) -> Vocabulary:
        """The labels of nodes and edges, which every corpus compared with this one must share."""
        return self._vocabulary

    @property
    def arrays(self) -> Arrays:
        """The graphs by numbers.

        By graph where its nodes ``start`` and its edges (``edge_start``), and whether it is ``directed``; by node its
        ``label``; by edge its ``source`` and ``target``, counted in the graph, and its ``edge_label``, -1 for none.
        """
        return dict(self._arrays)

    @property
    def shape(self) -> tuple[int]:
        """The number of graphs."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self._arrays["start"]) - 1

    def __getitem__(self, rows: Any) -> Graphs:
        chosen = chosen_rows(rows, len(self))
        nodes, start = ranges(self._arrays["start"], chosen)
        edges, edge_start = ranges(self._arrays["edge_start"], chosen)
        arrays = {name: self._arrays[name][edges] for name in EDGES}
        arrays |= {"label": self._arrays["label"][nodes], "directed": self._arrays["directed"][chosen]}
        return Graphs._of(arrays | {"start": start, "edge_start": edge_start}, self._vocabulary, self.labels)

    def with_vocabulary(self, vocabulary: Vocabulary) -> Graphs:
        """Return the same graphs over another vocabulary, which grows by the labels that it lacks."""
        label, edge_label = self._arrays["label"], self._arrays["edge_label"]
        used = np.unique(np.concatenate([label, edge_label[edge_label >= 0]]))
        number = np.full(len(self._vocabulary) + 1, -1, np.int32)  # the last is that of no label
        number[used] = [vocabulary._native.add(self._vocabulary[k]) for k in used.tolist()]
        arrays = {name: array.copy() for name, array in self._arrays.items()}
        return Graphs._of(arrays | {"label": number[label], "edge_label": number[edge_label]}, vocabulary, self.labels)

    def to_state(self) -> dict[str, Any]:
        """Return the arrays, the vocabulary, and what labels the nodes of dependency trees."""
        return {"node_labels": self.labels, "vocabulary": self._vocabulary, **self._arrays}

    @classmethod
    def from_state(cls, state: State) -> Graphs:
        """Make graphs from the contents of a file."""
        labels: Any = state.text("node_labels", "tags", "words")
        vocabulary, arrays = state.object("vocabulary", Vocabulary), stored(state, ARRAYS)
        check_graphs(arrays, len(vocabulary), require)
        return cls._of(arrays, vocabulary, labels)

    def trained_on(self) -> dict[str, Any]:
        """How many graphs there are."""
        return {"rows": len(self), "items": "graphs"}

    def __repr__(self) -> str:
        n_nodes, n_edges = (int(self._arrays[name][-1]) for name in ("start", "edge_start"))
        return f"<Graphs: {len(self):,} with {n_nodes:,} nodes and {n_edges:,} edges>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Graphs, (dict(self._arrays), self._vocabulary, self.labels))


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


def _as_graph(item: Any, row: int, labels: NodeLabels) -> Graph:
    if isinstance(item, Graph):
        return item
    if isinstance(item, DependencyTree):
        return Graph.from_dependencies(item, labels)
    try:
        tree = as_tree(item)
    except TreeSyntaxError as error:
        place = {name: getattr(error, name) for name in ("line", "column", "text", "position")}
        raise TreeSyntaxError(error.message, source=f"row {row}", **place) from None
    except (TypeError, InputError) as error:
        raise InputError(f"Row {row} must be a Graph, a dependency tree or a tree. {error}") from None
    return Graph.from_tree(tree)


def _append(graph: Graph, lists: dict[str, list[int]], add: Callable[[str], int]) -> None:
    lists["label"] += map(add, graph.labels)
    lists["directed"].append(int(graph.directed))
    for source, target, *label in graph.edges:
        lists["source"].append(source)
        lists["target"].append(target)
        lists["edge_label"].append(add(str(label[0])) if label else -1)
