"""Columns that cannot change: copies if they are needed, masked values, and equality of two columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError

_HOLDERS = (list, tuple, dict)


def unshared(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy, or the array itself if it is a view of a buffer that nobody can write to."""
    held: object = array
    while isinstance(held, np.ndarray):
        # Who owns the numbers of an array can make it writable again, whatever its flag says now.
        if held.flags.writeable or held.flags.owndata:
            return np.array(array)
        held = held.base
    return np.asarray(array, order="C")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array over a read-only buffer, so that numpy does not let anybody make it writable again."""
    if not array.flags.writeable:
        return array
    # Dates and some texts have no buffers, but views of what is closed stay closed.
    if array.dtype.kind not in "biufcO":
        array.flags.writeable = False
        return array.view()
    return np.asarray(array.data.toreadonly())


def read_only_sparse(matrix: Any) -> object:
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


def frozen(values: object) -> object:
    """Return a tuple or an array of objects, with copies of the entries that their owner could still change.

    Lists and tuples become tuples, arrays become arrays that cannot be written to, sparse matrices become such ones by
    rows, and dictionaries become dictionaries of such values, at any depth. All other objects are kept; for a column
    without any of these, only the types are checked. An object that occurs twice is copied once.

    Examples
    --------
    >>> frozen((["a", ["b"]], {"n": [1]}, "text"))
    (('a', ('b',)), {'n': (1,)}, 'text')
    """
    if not _holds_what_changes(values):
        return _closed(values)
    copies: dict[int, object] = {}  # by the identity of what was given, which its holder keeps alive
    opened: set[int] = set()
    holders = [values]
    while holders:  # no recursion: trees that are written as tuples may be deep
        holder = holders[-1]
        if id(holder) in copies:  # it occurs twice
            holders.pop()
            continue
        inner: list[object] = []
        for value in _held(holder):
            if not _can_change(type(value)) or id(value) in copies:
                continue
            if id(value) in opened:
                what = type(value).__name__
                raise InputError(f"A {what} in a column contains itself, so it cannot be copied. Remove it.")
            if _is_holder(value) and _holds_what_changes(value):
                inner.append(value)
            else:
                copies[id(value)] = _closed(value)
        if inner:
            opened.add(id(holder))
            holders += inner
        else:
            copies[id(holder)] = _copied(holder, copies)
    return copies[id(values)]


def _copied(holder: Any, copies: dict[int, object]) -> object:
    """Return the same kind of container with copies of those values that have one."""
    done = [copies.get(id(value), value) for value in _held(holder)]
    if isinstance(holder, dict):
        return dict(zip(holder, done, strict=True))
    if not isinstance(holder, np.ndarray):
        return tuple(done)
    array = np.empty(len(done), object)
    for place, value in enumerate(done):  # one by one: numpy would take equally long tuples for rows
        array[place] = value
    return read_only(array.reshape(holder.shape))


def _is_holder(value: object) -> bool:
    return type(value) in _HOLDERS or (isinstance(value, np.ndarray) and value.dtype == object)


def _held(holder: Any) -> Iterable[object]:
    if isinstance(holder, dict):
        return holder.values()
    return holder.flat if isinstance(holder, np.ndarray) else holder


def _holds_what_changes(holder: object) -> bool:
    return any(map(_can_change, set(map(type, _held(holder)))))


def _can_change(kind: type) -> bool:
    return kind in _HOLDERS or issubclass(kind, np.ndarray) or hasattr(kind, "tocsr")


def _closed(value: object) -> object:
    """Return a container of frozen values that cannot be changed itself, or a copy if it is a dictionary."""
    if isinstance(value, list | tuple):
        return tuple(value)
    if isinstance(value, dict):
        return dict(value)
    if hasattr(value, "tocsr"):
        return read_only_sparse(value)
    if isinstance(value, np.ma.MaskedArray):
        value = unmasked(value)
    return read_only(unshared(value)) if isinstance(value, np.ndarray) else value


def unmasked(values: Any) -> NDArray[Any] | tuple[object, ...]:
    """Return a masked array without its mask: masked entries become NaN among numbers and None elsewhere.

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


def refuse_masked(values: object, name: str, rows: NDArray[np.intp] | None = None) -> None:
    """Refuse an array that masks something, or something in ``rows``: numpy would use the numbers under the mask."""
    if not isinstance(values, np.ma.MaskedArray):
        return
    mask = np.ma.getmaskarray(values)
    if rows is not None and mask.ndim:
        mask = mask & np.isin(np.arange(len(mask)), rows).reshape(-1, *[1] * (mask.ndim - 1))
    masked = np.argwhere(mask)
    if len(masked):
        first = masked[0].tolist()
        where = f"rows, the first is row {first[0]}" if mask.ndim == 1 else f"entries, the first is {first}"
        raise InputError(f"{name} is masked in {len(masked):,} {where}. Drop the masked entries, or fill them in.")


def equal_columns(a: object, b: object) -> bool:
    """Say whether two columns of a table have the same values; missing numbers equal each other."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if hasattr(a, "vocabulary"):  # a corpus, which is made again of these
        return _equal(_parts(a), _parts(b))
    return _equal(a, b)


def _parts(corpus: Any) -> tuple[object, ...]:
    made = corpus.__reduce__()[1]
    return tuple(tuple(part) if part is corpus.vocabulary else part for part in made)


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        if x.dtype == object and y.dtype == object:
            return x.shape == y.shape and all(map(_equal, x.flat, y.flat))
        return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    if isinstance(x, tuple) and isinstance(y, tuple):
        return len(x) == len(y) and all(map(_equal, x, y))
    if isinstance(x, dict) and isinstance(y, dict):
        return x.keys() == y.keys() and all(_equal(x[key], y[key]) for key in x)
    if isinstance(x, float) and isinstance(y, float):
        return x == y or (x != x and y != y)
    if hasattr(x, "tocsr") and hasattr(y, "tocsr"):
        return x.shape == y.shape and bool(abs(x - y).nnz == 0)
    return bool(x == y)


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs for the second time."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
