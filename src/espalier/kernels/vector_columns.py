"""Columns of vectors: check what users pass, and make one array of finite numbers per column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.structures.columns import unmasked

Dense = NDArray[np.float64]
Vectors = Any  # Dense of shape (n, d), or a scipy CSR matrix of that shape


def as_vectors(column: Any, name: str | None = None) -> Vectors:
    """Return a column as a new float64 array of shape (n, d), or as a CSR matrix if it is sparse.

    Single numbers are vectors of one dimension. A value that is not a finite number is an error that names its place.

    Examples
    --------
    >>> as_vectors([1, 2.5])
    array([[1. ],
           [2.5]])
    """
    where = "" if name is None else f" of column {name!r}"
    if hasattr(column, "tocsr"):
        matrix = column.tocsr().astype(np.float64, copy=True)
        matrix.sum_duplicates()
        is_bad = matrix.copy()
        is_bad.data = ~np.isfinite(matrix.data)
        _refuse_where(is_bad, matrix, where)
        return matrix
    if hasattr(column, "to_numpy"):  # a Series of pandas or polars
        column = column.to_numpy()
    if isinstance(column, np.ma.MaskedArray):
        column = unmasked(column)
    if not isinstance(column, np.ndarray) or column.dtype == object:
        column = _stacked(list(column), where)
    array: NDArray[Any] = column
    if array.dtype.kind not in "biuf":
        raise InputError(f"The vectors{where} must hold numbers, got {array.dtype}.")
    if array.ndim == 1:
        array = array.reshape(len(array), 1 if len(array) else 0)
    if array.ndim != 2:
        raise InputError(f"The vectors{where} must be a list of vectors, of shape (n, d), got shape {array.shape}.")
    dense = np.array(array, np.float64, order="C")
    _refuse_where(~np.isfinite(dense), dense, where)
    return dense


def join_columns(columns: list[Vectors]) -> Vectors:
    """Put columns side by side."""
    if any(hasattr(column, "tocsr") for column in columns):
        from scipy import sparse

        return sparse.hstack(columns, format="csr")
    return np.hstack(columns)


def unit_vectors(vectors: Vectors) -> Vectors:
    """Scale each vector so that its largest number is 1 or -1; vectors of zeros stay.

    Examples
    --------
    >>> unit_vectors(np.array([[1e-200, -2e-200], [0.0, 0.0]]))
    array([[ 0.5, -1. ],
           [ 0. ,  0. ]])
    """
    if 0 in vectors.shape:
        return vectors
    largest = abs(vectors).max(axis=1)
    largest = np.asarray(largest.toarray() if hasattr(largest, "toarray") else largest).reshape(-1, 1)
    largest = np.where(largest > 0.0, largest, 1.0)
    if not hasattr(vectors, "tocsr"):
        return vectors / largest
    scaled = vectors.copy()
    scaled.data /= np.repeat(largest.ravel(), np.diff(scaled.indptr))
    return scaled


def check_dimensions(a: Vectors, b: Vectors) -> None:
    """Refuse vectors of different numbers of dimensions; an empty list fits any."""
    if a.shape[1] != b.shape[1] and a.shape[0] and b.shape[0]:
        raise InputError(
            f"The vectors of a and b must have the same number of dimensions, got {a.shape[1]} and {b.shape[1]}."
        )


def _stacked(rows: list[object], where: str) -> NDArray[Any]:
    """Rows as one array; an error names the first row that does not fit."""
    arrays = [_row(row, k, where) for k, row in enumerate(rows)]
    for k, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise InputError(
                f"Row {k}{where} has {_dimensions(array)}, but row 0 has {_dimensions(arrays[0])}. "
                "All vectors must have the same dimensions."
            )
    return np.array(arrays, np.float64)


def _row(row: object, k: int, where: str) -> NDArray[Any]:
    if row is None:
        raise InputError(f"Row {k}{where} holds no vector (None). Drop the row or fill it in.")
    if isinstance(row, np.ma.MaskedArray):
        row = unmasked(row)
    try:
        array = np.asarray(row.toarray().ravel() if hasattr(row, "toarray") else row)
        array = np.asarray(array.tolist()) if array.dtype == object else array
    except ValueError:
        raise InputError(f"Row {k}{where} is not a vector of numbers, got {row!r}.") from None
    if array.dtype == object and array.ndim == 1:
        for i, value in enumerate(array.tolist()):
            if value is None:
                raise InputError(f"Row {k}, dimension {i}{where} is None. Drop the row or fill it in.")
    if array.dtype.kind not in "biuf" and array.size:
        raise InputError(f"Row {k}{where} is not a vector of numbers, got {row!r}.")
    return array


def _dimensions(array: NDArray[Any]) -> str:
    if array.ndim == 0:
        return "one number"
    return f"{array.shape[0]} dimensions" if array.ndim == 1 else f"shape {array.shape}"


def _refuse_where(is_bad: Vectors, vectors: Vectors, where: str) -> None:
    """Raise if some entry is not finite, and name the first."""
    rows, dimensions = is_bad.nonzero()
    if len(rows):
        row, dimension = int(rows[0]), int(dimensions[0])
        more = f" ({len(rows):,} values are not finite)" if len(rows) > 1 else ""
        raise InputError(
            f"Row {row}, dimension {dimension}{where} must be a finite number, got {float(vectors[row, dimension])!r}"
            f"{more}. Drop the row or fill it in."
        )
