"""Rows of a corpus, chosen in any of the ways in which arrays are indexed."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = slice | Sequence[int] | NDArray[Any] | tuple[Any, EllipsisType]


def chosen_rows(rows: object, n: int) -> NDArray[np.int64]:
    """Return the numbers of the rows that an index chooses: a slice, integers or a mask."""
    if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
        rows = rows[0]  # corpus[rows, ...], as scikit-learn writes it
    if isinstance(rows, slice):
        return np.arange(n)[rows]
    array = np.asarray(rows)
    if array.ndim == 0 and np.issubdtype(array.dtype, np.integer):
        array = array[None]
    if array.ndim == 1 and array.size == 0 and array.dtype != bool:
        array = array.astype(np.int64)
    if array.ndim != 1 or not (array.dtype == bool or np.issubdtype(array.dtype, np.integer)):
        raise TypeError(f"A corpus is indexed by integers, a slice or a mask, got {rows!r}.")
    found: NDArray[np.int64] = np.arange(n)[array]
    return found


def ranges(start: NDArray[Any], chosen: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries of some ranges, one after the other, and where each starts."""
    sizes = start[chosen + 1] - start[chosen]
    new = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return np.arange(new[-1]) + np.repeat(start[chosen] - new[:-1], sizes), new


def not_unicode(row: int) -> str:
    """Make the message for a row with text that cannot be encoded."""
    return f"Row {row} contains half of a surrogate pair, which is not valid Unicode."
