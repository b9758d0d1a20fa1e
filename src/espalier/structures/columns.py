"""Columns that cannot change: copies if they are needed, masked values, and equality of two columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError

_HOLDERS = (list, tuple, dict)
_OPEN = object()  # stands for the copy of a holder whose values are not all copied yet


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
    if (
        array.dtype.kind not in "biufcO"
    ):  # dates and some texts have no buffers, but views of what is closed stay closed
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
    holders = [_Holder(values)]
    while True:  # no recursion: trees that are written as tuples may be deep
        inner = holders[-1].advance(copies)
        if inner is not None:
            copies[id(inner)] = _OPEN
            holders.append(_Holder(inner))
            continue
        done = holders.pop()
        copies[id(done.given)] = done.made()
        if not holders:
            return copies[id(done.given)]
        holders[-1].done.append(copies[id(done.given)])


class _Holder:
    """A container, and those of its values that are frozen so far."""

    __slots__ = ("_rest", "done", "given")

    def __init__(self, given: object) -> None:
        self.given = given
        self.done: list[object] = []
        self._rest = iter(_held(given))

    def advance(self, copies: dict[int, object]) -> object:
        """Freeze values up to the next container and return it, or None if all are done."""
        for value in self._rest:
            kind = type(value)
            if not _can_change(kind):
                self.done.append(value)
                continue
            if id(value) not in copies:
                if _is_holder(value) and _holds_what_changes(value):
                    return value
                copies[id(value)] = _closed(value)
            if copies[id(value)] is _OPEN:
                raise InputError(f"A {kind.__name__} in a column contains itself, so it cannot be copied. Remove it.")
            self.done.append(copies[id(value)])
        return None

    def made(self) -> object:
        """Return the same kind of container with the frozen values."""
        if isinstance(self.given, dict):
            return dict(zip(self.given, self.done, strict=True))
        if not isinstance(self.given, np.ndarray):
            return tuple(self.done)
        array = np.empty(len(self.done), object)
        for place, value in enumerate(self.done):  # one by one: numpy would take equally long tuples for rows
            array[place] = value
        return read_only(array.reshape(self.given.shape))


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
    """Refuse an array that masks something, or something in ``rows``: numpy would use the numbers under the mask.

    Examples
    --------
    >>> refuse_masked(np.ma.array([1, 2], mask=[False, True]), "y")
    Traceback (most recent call last):
      ...
    espalier.errors.InputError: y is masked in 1 rows, the first is row 1. Drop the masked entries, or fill them in.
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
