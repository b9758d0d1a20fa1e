"""Corpora on disk: one safetensors file, labels and version in a JSON header. No code is ever loaded.

What the compiled core trusts is checked when a file is read: a damaged or hostile one must not reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.arc_order import bottom_up, depths, previous_siblings
from espalier.corpus.arcs import FEATURE, Arcs, check_templates
from espalier.corpus.array_files import load_arrays, save_arrays
from espalier.corpus.forest import STORE, TREES, Forest
from espalier.corpus.graphs import EDGES, Graphs
from espalier.corpus.sequences import UNITS, Sequences
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError

VERSION = 1

_FOREST, _SEQUENCES = "forest", "corpus of sequences"
_ARCS, _GRAPHS = "corpus of dependency trees", "corpus of graphs"
_FORMATS = {
    _FOREST: "espalier.forest",
    _SEQUENCES: "espalier.sequences",
    _ARCS: "espalier.arcs",
    _GRAPHS: "espalier.graphs",
}
_READERS = dict(zip(_FORMATS.values(), ("Forest.load", "Sequences.load", "Arcs.load", "Graphs.load"), strict=True))
_INT64 = ("child_start", "tree_start", "start", "feature_start", "edge_start")
_ARC_ARRAYS = ("start", "head", "feature_start", *FEATURE)  # the rest of the arrays follows from the heads

Arrays = dict[str, NDArray[Any]]
Require = Callable[[bool, str], None]


def save_forest(forest: Forest, path: str | Path) -> None:
    """Write a forest and its vocabulary."""
    _save(path, _FOREST, forest.arrays, forest.vocabulary)


def save_sequences(sequences: Sequences, path: str | Path) -> None:
    """Write sequences, their vocabulary and what their symbols are."""
    symbol, start = sequences.arrays
    _save(path, _SEQUENCES, {"symbol": symbol, "start": start}, sequences.vocabulary, of=sequences.of)


def save_arcs(arcs: Arcs, path: str | Path) -> None:
    """Write dependency trees with the features of their arcs."""
    arrays = {name: arcs.arrays[name] for name in _ARC_ARRAYS}
    _save(path, _ARCS, arrays, arcs.vocabulary, templates=list(arcs.templates))


def save_graphs(graphs: Graphs, path: str | Path) -> None:
    """Write graphs and what labels the nodes of dependency trees among them."""
    _save(path, _GRAPHS, graphs.arrays, graphs.vocabulary, node_labels=graphs.labels)


def _save(path: str | Path, kind: str, arrays: Mapping[str, NDArray[Any]], labels: Vocabulary, **more: Any) -> None:
    save_arrays(path, arrays, {"format": _FORMATS[kind], "version": VERSION, "labels": list(labels)} | more)


def load_forest(path: str | Path) -> Forest:
    """Read a forest; a file that is damaged, foreign or from a later version is an error that says so."""
    arrays, _, vocabulary, require = _load(path, _FOREST, (*STORE, *TREES))
    _check_forest(arrays, len(vocabulary), require)
    return Forest(arrays, vocabulary)


def load_sequences(path: str | Path) -> Sequences:
    """Read sequences; a file that is damaged, foreign or from a later version is an error that says so."""
    arrays, header, vocabulary, require = _load(path, _SEQUENCES, ("symbol", "start"))
    of: Any = header.get("of")
    require(of in UNITS, f"what its symbols are must be one of {', '.join(UNITS)}")
    _check_offsets(arrays, "start", "symbol", None, require)
    require(_within(arrays["symbol"], 0, len(vocabulary)), "a symbol is out of range")
    return Sequences(arrays["symbol"], arrays["start"], vocabulary, of)


def load_arcs(path: str | Path) -> Arcs:
    """Read dependency trees; a file that is damaged, foreign or from a later version is an error that says so."""
    arrays, header, vocabulary, require = _load(path, _ARCS, _ARC_ARRAYS)
    templates: Any = header.get("templates")
    try:
        templates = check_templates(templates)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {error}") from None
    _check_offsets(arrays, "start", "head", None, require)
    for name in FEATURE:
        _check_offsets(arrays, "feature_start", name, len(arrays["head"]), require)
    require(_within(arrays["template"], 0, len(templates)), "a feature is of no template")
    _check_arcs(arrays, len(vocabulary), require)
    head, start = arrays["head"], arrays["start"]
    arrays |= {"previous": previous_siblings(head, start), "order": bottom_up(head, start)}
    return Arcs(arrays, vocabulary, templates)


def load_graphs(path: str | Path) -> Graphs:
    """Read graphs; a file that is damaged, foreign or from a later version is an error that says so."""
    arrays, header, vocabulary, require = _load(path, _GRAPHS, ("start", "edge_start", "label", "directed", *EDGES))
    labels: Any = header.get("node_labels")
    require(labels in ("tags", "words"), "nodes must be labelled by tags or by words")
    n = len(arrays["directed"])
    _check_offsets(arrays, "start", "label", n, require)
    for name in EDGES:
        _check_offsets(arrays, "edge_start", name, n, require)
    require(_within(arrays["directed"], 0, 2), "a graph is neither directed nor not")
    require(_within(arrays["label"], 0, len(vocabulary)), "a label is out of range")
    require(_within(arrays["edge_label"], -1, len(vocabulary)), "a label of an edge is out of range")
    size = np.repeat(np.diff(arrays["start"]), np.diff(arrays["edge_start"]))
    for name in ("source", "target"):
        require(bool(np.all((arrays[name] >= 0) & (arrays[name] < size))), "an edge joins a node that is not there")
    return Graphs(arrays, vocabulary, labels)


def _load(path: str | Path, kind: str, names: tuple[str, ...]) -> tuple[Arrays, dict[str, Any], Vocabulary, Require]:
    """The arrays of these names, the header, the vocabulary, and what to check the rest with."""
    arrays, header = load_arrays(path, kind, _FORMATS[kind], VERSION, _READERS)

    def require(condition: bool, what: str) -> None:
        if not condition:
            raise InputError(f"{path} is damaged: {what}. Save the {kind} again.")

    labels = header.get("labels")
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{path} has no list of labels in its header. Save the {kind} again.")
    try:
        vocabulary = Vocabulary(labels)
    except UnicodeEncodeError:
        raise InputError(f"{path} has a label that is not valid Unicode. Save the {kind} again.") from None
    if len(vocabulary) != len(labels):
        raise InputError(f"{path} lists a label twice. Save the {kind} again.")
    for name in names:
        require(name in arrays, f"the array {name!r} is missing")
        wanted = np.int64 if name in _INT64 else np.int32
        require(
            arrays[name].ndim == 1 and arrays[name].dtype == wanted,
            f"{name!r} must be a vector of {wanted.__name__}",
        )
    return {name: arrays[name] for name in names}, header, vocabulary, require


def _check_offsets(arrays: Arrays, start: str, name: str, size: int | None, require: Require) -> None:
    """Where ranges of an array start: from 0 to its end, never back; so many ranges, where that is known."""
    offsets = arrays[start]
    require(len(offsets) > 0 and size in (None, len(offsets) - 1), f"{start!r} has the wrong length")
    require(offsets[0] == 0 and bool(np.all(offsets[1:] >= offsets[:-1])), f"{start!r} decreases")  # no wrapping around
    require(int(offsets[-1]) == len(arrays[name]), f"{name!r} has the wrong length")


def _check_arcs(arrays: Arrays, n_texts: int, require: Require) -> None:
    """Heads make trees, and features are those of arcs."""
    head, start, feature_start = (arrays[name] for name in ("head", "start", "feature_start"))
    sizes = np.diff(start)
    require(bool(np.all(sizes > 0)), "a tree has no words")
    size = np.repeat(sizes, sizes)
    require(bool(np.all((head >= -1) & (head < size))), "a head is out of range")
    require(bool(np.all(depths(head, start) >= 0)), "heads go round in a circle")
    require(_within(arrays["first"], -1, n_texts) and _within(arrays["second"], 0, n_texts), "a text is out of range")
    n_own = np.diff(feature_start)
    require(not n_own[head < 0].any(), "a root has features of an arc")
    listed = np.stack([np.repeat(np.arange(len(head)), n_own), *(arrays[name] for name in FEATURE)])
    listed = listed[:, np.lexsort(listed)]
    require(not np.any(np.all(listed[:, 1:] == listed[:, :-1], axis=0)), "an arc has a feature twice")


def _check_forest(arrays: Arrays, n_labels: int, require: Require) -> None:
    """Every invariant of a forest."""
    label, height, child, root = arrays["label"], arrays["height"], arrays["child"], arrays["root"]
    n = len(label)
    for start, name, size in (("child_start", "child", n), ("tree_start", "tree_subtree", len(root))):
        _check_offsets(arrays, start, name, size, require)
    require(len(height) == n and len(arrays["tree_count"]) == len(arrays["tree_subtree"]), "lengths differ")
    require(_within(label, 0, n_labels), "a label number is out of range")
    require(_within(root, -1, n), "a root is out of range")
    require(_within(arrays["tree_subtree"], 0, n), "a subtree number is out of range")
    require(_within(arrays["tree_count"], 1, 2**31), "a count is not positive")
    parent = np.repeat(np.arange(n), np.diff(arrays["child_start"]))
    require(_within(child, 0, n) and bool(np.all(child < parent)), "a child does not precede its parent")
    tallest = np.full(n, -1, np.int64)
    np.maximum.at(tallest, parent, height[child])
    require(bool(np.all(height == tallest + 1)), "heights do not fit the children")
    _check_trees(arrays, require)


def _check_trees(arrays: Arrays, require: Require) -> None:
    """Each tree lists its subtrees in ascending order, and with a subtree all of its children."""
    start, subtree = arrays["tree_start"], arrays["tree_subtree"].astype(np.int64)
    tree = np.repeat(np.arange(len(start) - 1), np.diff(start))
    n = len(arrays["label"])
    key = tree * (n + 1) + subtree
    require(bool(np.all(np.diff(key) > 0)), "a tree's subtrees are out of order")
    rows = np.flatnonzero(arrays["root"] >= 0)
    require(bool(np.all(np.isin(rows * (n + 1) + arrays["root"][rows], key))), "a root is missing from its tree")
    sizes = np.diff(arrays["child_start"])[subtree]
    first = np.repeat(arrays["child_start"][subtree] - (np.cumsum(sizes) - sizes), sizes)
    needed = arrays["child"][first + np.arange(len(first))]
    require(
        bool(np.all(np.isin(np.repeat(tree, sizes) * (n + 1) + needed, key))),
        "a child is missing from its tree",
    )


def _within(values: NDArray[Any], low: int, high: int) -> bool:
    return len(values) == 0 or bool(values.min() >= low and values.max() < high)
