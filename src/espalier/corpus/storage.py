"""Corpora on disk: one safetensors file, labels and version in a JSON header. No code is ever loaded.

What the compiled core trusts is checked when a file is read: a damaged or hostile one must not reach it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from espalier.corpus.arcs import Arcs, check_templates, orders
from espalier.corpus.array_files import load_arrays, save_arrays
from espalier.corpus.forest import STORE, TREES, Forest
from espalier.corpus.graphs import Graphs
from espalier.corpus.sequences import UNITS, Sequences
from espalier.corpus.soundness import (
    EDGES,
    FEATURE,
    Arrays,
    Require,
    check_arcs,
    check_forest,
    check_graphs,
    check_kinds,
    check_sequences,
)
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
_ARC_ARRAYS = ("start", "head", "feature_start", *FEATURE)  # the rest of the arrays follows from the heads


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
    check_forest(arrays, len(vocabulary), require)
    return Forest._of(arrays, vocabulary)


def load_sequences(path: str | Path) -> Sequences:
    """Read sequences; a file that is damaged, foreign or from a later version is an error that says so."""
    arrays, header, vocabulary, require = _load(path, _SEQUENCES, ("symbol", "start"))
    of: Any = header.get("of")
    require(of in UNITS, f"what its symbols are must be one of {', '.join(UNITS)}")
    check_sequences(arrays, len(vocabulary), require)
    return Sequences._of(arrays["symbol"], arrays["start"], vocabulary, of)


def load_arcs(path: str | Path) -> Arcs:
    """Read dependency trees; a file that is damaged, foreign or from a later version is an error that says so."""
    arrays, header, vocabulary, require = _load(path, _ARCS, _ARC_ARRAYS)
    templates: Any = header.get("templates")
    try:
        templates = check_templates(templates)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {error}") from None
    check_arcs(arrays, len(vocabulary), len(templates), require)
    return Arcs._of(arrays | orders(arrays["head"], arrays["start"]), vocabulary, templates)


def load_graphs(path: str | Path) -> Graphs:
    """Read graphs; a file that is damaged, foreign or from a later version is an error that says so."""
    arrays, header, vocabulary, require = _load(path, _GRAPHS, ("start", "edge_start", "label", "directed", *EDGES))
    labels: Any = header.get("node_labels")
    require(labels in ("tags", "words"), "nodes must be labelled by tags or by words")
    check_graphs(arrays, len(vocabulary), require)
    return Graphs._of(arrays, vocabulary, labels)


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
    check_kinds(arrays, names, require)
    return {name: arrays[name] for name in names}, header, vocabulary, require
