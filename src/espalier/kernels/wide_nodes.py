"""Nodes with so many children that comparing them by partial trees would take far too long."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.errors import InputError

MOST_STEPS = 25_000_000_000  # for one pair of nodes: the product of their numbers of children; about half a minute


def check_widths(kernel: str, a: Forest, b: Forest | None = None, *, any_labels: bool = False) -> None:
    """Refuse two nodes whose common subsequences of children take too long to sum.

    ``kernel`` is named in the message. With ``any_labels``, nodes with different labels are compared too.
    """
    b = a if b is None else b
    if _most_children(a) * _most_children(b) <= MOST_STEPS:
        return
    rows, columns = _widths(a), _widths(b)
    if rows.max(initial=0) * columns.max(initial=0) <= MOST_STEPS:
        return
    u, v = int(rows.argmax()), int(columns.argmax())
    if not any_labels:
        found = _widest_of_one_label(a, rows, b, columns)
        if found is None:
            return
        u, v = found
    place = f"tree {_tree_of(a, u)} has a node {a.vocabulary[int(a.arrays['label'][u])]!r} with {rows[u]:,} children"
    raise InputError(
        f"{kernel} sums over common subsequences of children, and {place}: with a node of {columns[v]:,} children that "
        f"takes {rows[u] * columns[v]:.2g} steps, and at most {MOST_STEPS:.2g} are allowed. Split such nodes, for "
        "example with tree.binarized(), or use SubsetTree, which compares such nodes child by child."
    )


def _most_children(forest: Forest) -> int:
    return int(np.diff(forest.arrays["child_start"]).max(initial=0))


def _widths(forest: Forest) -> NDArray[np.int64]:
    """The number of children of each subtree that occurs in some tree; 0 for others."""
    used = np.zeros(forest.n_subtrees, bool)
    used[forest.arrays["tree_subtree"]] = True
    return np.where(used, np.diff(forest.arrays["child_start"]), 0).astype(np.int64)


def _widest_of_one_label(
    a: Forest, rows: NDArray[np.int64], b: Forest, columns: NDArray[np.int64]
) -> tuple[int, int] | None:
    """Two nodes with the same label that have too many children together; None if there are none."""
    widest: dict[int, int] = {}  # by label
    for v in np.flatnonzero(columns * int(rows.max()) > MOST_STEPS).tolist():
        label = int(b.arrays["label"][v])
        if columns[v] > columns[widest.get(label, v)] or label not in widest:
            widest[label] = v
    for u in np.flatnonzero(rows * int(columns.max()) > MOST_STEPS).tolist():
        v = widest.get(int(a.arrays["label"][u]), -1)
        if v >= 0 and int(rows[u]) * int(columns[v]) > MOST_STEPS:
            return u, v
    return None


def _tree_of(forest: Forest, subtree: int) -> int:
    """The first tree that holds a subtree."""
    entry = int(np.argmax(forest.arrays["tree_subtree"] == subtree))
    return int(np.searchsorted(forest.arrays["tree_start"], entry, side="right")) - 1
