"""Columns that cannot change: copies where they are needed, masked values, and equality of two columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError


def unshared(array: NDArray[Any]) -> NDArray[Any]:
    """A copy, or the array itself where it is a view of a buffer that nobody can write to."""
    held: Any = array
    while isinstance(held, np.ndarray):
        # Who owns the numbers of an array can make it writable again, whatever its flag says now.
        if held.flags.writeable or held.flags.owndata:
            return np.array(array)
        held = held.base
    return np.ascontiguousarray(array)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array through a buffer that is read-only, so that numpy does not let it be made writable again."""
    if not array.flags.writeable:
        return array
    if (
        array.dtype.kind not in "biufcO"
    ):  # dates and some texts have no buffers, but views of what is closed stay closed
        array.flags.writeable = False
        return array.view()
    return np.asarray(array.data.toreadonly())


def read_only_sparse(matrix: Any) -> Any:
    """A sparse matrix by rows whose three arrays cannot be written to; a copy unless it is one already."""
    matrix = matrix.tocsr()
    parts = (matrix.data, matrix.indices, matrix.indptr)
    if all(unshared(part) is part for part in parts):
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()  # scipy would do so in place later, where it can no longer
    for name in ("data", "indices", "indptr"):
        setattr(matrix, name, read_only(getattr(matrix, name)))
    return matrix


def unmasked(values: Any) -> Any:
    """A masked array without its mask: what was masked is NaN among numbers, and None elsewhere.

    Examples
    --------
    >>> unmasked(np.ma.array([1, 2], mask=[True, False])), unmasked(np.ma.array(["a", "b"], mask=[True, False]))
    (array([nan,  2.]), (None, 'b'))
    """
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return np.asarray(values.data)
    if values.dtype.kind in "biuf":
        return np.asarray(values.astype(np.float64).filled(np.nan))
    if values.ndim != 1:
        raise InputError(f"A masked array of {values.dtype} must have one dimension, got shape {values.shape}.")
    return tuple(None if gone else value for value, gone in zip(values.data.tolist(), mask.tolist(), strict=True))


def refuse_masked(values: Any, name: str, rows: NDArray[np.intp] | None = None) -> None:
    """Refuse an array that masks something, or something in ``rows``: numpy would use the numbers under the mask.

    Examples
    --------
    >>> refuse_masked(np.ma.array([1, 2], mask=[False, True]), "y")
    Traceback (most recent call last):
      ...
    espalier.errors.InputError: y is masked in 1 rows, the first is row 1. Drop what is masked, or fill it in.
    """
    if not isinstance(values, np.ma.MaskedArray):
        return
    mask = np.ma.getmaskarray(values)
    if rows is not None and mask.ndim:
        mask = mask & np.isin(np.arange(len(mask)), rows).reshape(-1, *[1] * (mask.ndim - 1))
    masked = np.argwhere(mask)
    if len(masked):
        first = masked[0].tolist()
        where = f"rows, the first is row {first[0]}" if mask.ndim == 1 else f"entries, the first is {first}"
        raise InputError(f"{name} is masked in {len(masked):,} {where}. Drop what is masked, or fill it in.")


def equal_columns(a: Any, b: Any) -> bool:
    """Whether two columns of a table hold the same values; missing numbers equal each other."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if hasattr(a, "tocsr"):
        return a.shape == b.shape and bool(abs(a - b).nnz == 0)
    if hasattr(a, "vocabulary"):  # a corpus, which is made again of these
        return _equal(_parts(a), _parts(b))
    return _equal(a, b)


def _parts(corpus: Any) -> tuple[Any, ...]:
    made = corpus.__reduce__()[1]
    return tuple(tuple(part) if part is corpus.vocabulary else part for part in made)


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    if isinstance(x, tuple) and isinstance(y, tuple):
        return len(x) == len(y) and all(map(_equal, x, y))
    if isinstance(x, dict) and isinstance(y, dict):
        return x.keys() == y.keys() and all(_equal(x[key], y[key]) for key in x)
    if isinstance(x, float) and isinstance(y, float):
        return x == y or (x != x and y != y)
    return bool(x == y)


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that stands there for the second time."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
