"""Forests on disk: one safetensors file, its labels and version in a JSON header. No code is ever loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.array_files import load_arrays, save_arrays
from espalier.corpus.forest import STORE, TREES, Forest
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError

FORMAT = "espalier.forest"
VERSION = 1

_INT64 = ("child_start", "tree_start")


def save_forest(forest: Forest, path: str | Path) -> None:
    """Write a forest and its vocabulary."""
    save_arrays(path, forest.arrays, {"format": FORMAT, "version": VERSION, "labels": list(forest.vocabulary)})


def load_forest(path: str | Path) -> Forest:
    """Read a forest; a file that is damaged, foreign or from a later version is an error that says so."""
    arrays, header = load_arrays(path, "forest", FORMAT, VERSION)
    labels = header.get("labels")
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{path} has no list of labels in its header. Save the forest again.")
    vocabulary = Vocabulary(labels)
    if len(vocabulary) != len(labels):
        raise InputError(f"{path} lists a label twice. Save the forest again.")
    _check_arrays(path, arrays, len(labels))
    return Forest(arrays, vocabulary)


def _check_arrays(path: str | Path, arrays: dict[str, NDArray[Any]], n_labels: int) -> None:
    """Every invariant that the compiled core trusts: a hostile file must not reach it."""

    def require(condition: bool, what: str) -> None:
        if not condition:
            raise InputError(f"{path} is damaged: {what}. Save the forest again.")

    for name in (*STORE, *TREES):
        require(name in arrays, f"the array {name!r} is missing")
        wanted = np.int64 if name in _INT64 else np.int32
        require(
            arrays[name].ndim == 1 and arrays[name].dtype == wanted,
            f"{name!r} must be a vector of {wanted.__name__}",
        )
    label, height, child, root = arrays["label"], arrays["height"], arrays["child"], arrays["root"]
    n = len(label)
    for start, name, size in (("child_start", "child", n), ("tree_start", "tree_subtree", len(root))):
        offsets = arrays[start]
        require(len(offsets) == size + 1 and offsets[0] == 0, f"{start!r} has the wrong length")
        require(bool(np.all(offsets[1:] >= offsets[:-1])), f"{start!r} decreases")  # differences could wrap around
        require(int(offsets[-1]) == len(arrays[name]), f"{name!r} has the wrong length")
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


def _check_trees(arrays: dict[str, NDArray[Any]], require: Any) -> None:
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
