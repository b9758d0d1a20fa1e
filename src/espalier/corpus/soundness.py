"""Checks of a corpus before the compiled core reads it, because the core does not check its arrays.

Every public way to make a corpus is checked here: files, constructors, pickles and copies. Corpora that the library
makes itself are sound and only become read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.arc_order import depths
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError
from espalier.storage import Arrays, State
from espalier.structures.columns import read_only, unshared

Require = Callable[[object, str], None]

FEATURE = ("template", "first", "second")  # the arrays that say what a feature of an arc is
EDGES = ("source", "target", "edge_label")  # the arrays that say what an edge is

_INT64 = ("child_start", "tree_start", "start", "feature_start", "edge_start")


def refuse(corpus: str, remedy: str) -> Require:
    """Return a function that refuses arrays of a caller if a condition fails."""

    def require(condition: object, what: str) -> None:
        if not condition:
            raise InputError(f"These arrays are no {corpus}: {what}. {remedy}")

    return require


def own_arrays(arrays: Mapping[str, Any], names: tuple[str, ...], vocabulary: object, require: Require) -> Arrays:
    """Return the arrays of these names as vectors of the right type, which the caller can no longer change."""
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"vocabulary must be a Vocabulary, got {type(vocabulary).__name__}.")
    for name in names:
        require(name in arrays, f"the array {name!r} is missing")
        array, wanted = arrays[name], np.int64 if name in _INT64 else np.int32
        sound = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == wanted
        require(sound, f"{name!r} must be a vector of {wanted.__name__}")
    return {name: read_only(unshared(arrays[name])) for name in names}


def stored(state: State, names: tuple[str, ...]) -> Arrays:
    """Return the arrays of these names in a file, as vectors of the right type."""
    return {name: state.array(name, np.int64 if name in _INT64 else np.int32) for name in names}


def check_forest(arrays: Arrays, n_labels: int, require: Require) -> None:
    """Check every invariant of a forest: its subtrees, and that each tree counts exactly what its root reaches."""
    fault = _core.forest_fault(arrays, n_labels)
    require(fault is None, fault or "")


def check_sequences(arrays: Arrays, n_symbols: int, require: Require, of: str) -> None:
    """Check that sequences follow each other and consist of existing symbols."""
    _check_offsets(arrays, "start", "symbol", None, require)
    require(_within(arrays["symbol"], 0, n_symbols), "a symbol is out of range")


def check_arcs(arrays: Arrays, n_texts: int, require: Require, templates: Sequence[str], root: bool) -> None:
    """Check that heads form trees, each with a ROOT in front if it has one, and that features belong to arcs."""
    _check_offsets(arrays, "start", "head", None, require)
    for name in FEATURE:
        _check_offsets(arrays, "feature_start", name, len(arrays["head"]), require)
    require(_within(arrays["template"], 0, len(templates)), "a feature is of no template")
    head, start, feature_start = (arrays[name] for name in ("head", "start", "feature_start"))
    sizes = np.diff(start)
    require(bool(np.all(sizes > 0)), "a tree has no words")
    if root:
        require(bool(np.all(sizes > 1)), "a tree has no words beside its ROOT")
        is_root = np.flatnonzero(head == -1)
        require(np.array_equal(is_root, start[:-1]), "a tree does not start with its ROOT, or a word has no head")
    size = np.repeat(sizes, sizes)
    require(bool(np.all((head >= -1) & (head < size))), "a head is out of range")
    require(bool(np.all(depths(head, start) >= 0)), "heads go round in a circle")
    require(_within(arrays["first"], -1, n_texts) and _within(arrays["second"], 0, n_texts), "a text is out of range")
    n_own = np.diff(feature_start)
    require(not n_own[head < 0].any(), "a root has features of an arc")
    listed = np.stack([np.repeat(np.arange(len(head)), n_own), *(arrays[name] for name in FEATURE)])
    listed = listed[:, np.lexsort(listed)]
    require(not np.any(np.all(listed[:, 1:] == listed[:, :-1], axis=0)), "an arc has a feature twice")


def check_graphs(arrays: Arrays, n_labels: int, require: Require, labels: str) -> None:
    """Check that edges join nodes of their own graph and that labels exist."""
    n = len(arrays["directed"])
    _check_offsets(arrays, "start", "label", n, require)
    for name in EDGES:
        _check_offsets(arrays, "edge_start", name, n, require)
    require(_within(arrays["directed"], 0, 2), "a graph is neither directed nor not")
    require(_within(arrays["label"], 0, n_labels), "a label is out of range")
    require(_within(arrays["edge_label"], -1, n_labels), "a label of an edge is out of range")
    size = np.repeat(np.diff(arrays["start"]), np.diff(arrays["edge_start"]))
    for name in ("source", "target"):
        require(bool(np.all((arrays[name] >= 0) & (arrays[name] < size))), "an edge joins a node that is not there")


def _check_offsets(arrays: Arrays, start: str, name: str, size: int | None, require: Require) -> None:
    """Ranges of an array start at 0, never decrease, and reach its end; there are ``size`` of them if that is known."""
    offsets = arrays[start]
    require(len(offsets) > 0 and size in (None, len(offsets) - 1), f"{start!r} has the wrong length")
    require(offsets[0] == 0 and bool(np.all(offsets[1:] >= offsets[:-1])), f"{start!r} decreases")  # no wrapping around
    require(int(offsets[-1]) == len(arrays[name]), f"{name!r} has the wrong length")


def _within(values: NDArray[Any], low: int, high: int) -> bool:
    return len(values) == 0 or bool(values.min() >= low and values.max() < high)
