"""``Table``: named columns of equal length, the form in which mixed data reaches a kernel.

A table contains whatever describes one example per row: trees, texts, labels, vectors, corpora.
It converts nothing: kernels intern the columns they name. Reading files is left to ``table_files``.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.structures.columns import (
    equal_columns,
    first_repeated,
    frozen,
    read_only,
    read_only_sparse,
    unmasked,
    unshared,
)


@final
class Table:
    """Columns of equal length, each under its own name.

    Parameters
    ----------
    data
        A mapping of names to columns, pairs of a name and a column, a pandas or polars frame, or a
        Table.
    **columns
        More columns by name.

    Attributes
    ----------
    feature_names
        For a column of vectors, the names of its dimensions, if they are known.

    Notes
    -----
    A column is a sequence, a numpy array (2-D for vectors), a scipy sparse matrix, or any object with a length that
    takes an array of indices, such as a ``Forest``. A list is kept as a tuple and an array as a copy that cannot be
    written to, because a table does not change; a view of a buffer that nobody can write to is not copied. The same
    holds for lists and arrays inside a column, at any depth: a row ``["the", "cat"]`` is kept as ``("the", "cat")``.
    Dictionaries are copied too, but callers can change the copy that a table holds. All other objects are kept as they
    are. A column of a frame becomes an array if it holds numbers and a tuple otherwise, with None for what is missing.
    What a masked array masks becomes NaN among numbers and None elsewhere. Two tables are equal whose columns have
    equal names, in the same order, and equal values; missing numbers equal each other.

    Examples
    --------
    >>> table = Table({"tree": ["(A a)", "(B b)", "(C c)"]}, label=["x", "y", "x"])
    >>> table
    Table of 3 rows: tree (str), label (str)
    >>> table["label"]
    ('x', 'y', 'x')
    >>> table[[2, 0]]["tree"]
    ('(C c)', '(A a)')
    """

    __slots__ = ("_columns", "_n_rows", "feature_names")

    _columns: Mapping[str, Any]
    _n_rows: int
    feature_names: Mapping[str, tuple[str, ...]]

    def __init__(self, data: object = None, /, **columns: object) -> None:
        found: dict[str, object] = {}
        for name, values in [*_pairs(data), *columns.items()]:
            if not isinstance(name, str):
                raise TypeError(
                    f"The name of a column must be a str, got {name!r}. Rename it, for a frame with "
                    "frame.rename(columns=str); or pass a frame of numbers as an array, frame.to_numpy()."
                )
            if name in found:
                raise InputError(f"There are two columns named {name!r}; rename one of them.")
            found[name] = _frozen_column(values, name)
        lengths = {name: _length(values) for name, values in found.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
            raise InputError(f"The columns of a table must have equal lengths, but {listed}.")
        n_rows = next(iter(lengths.values()), 0)
        features = data.feature_names if isinstance(data, Table) else {}
        _set(self, found, n_rows, features)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns; scikit-learn's splitters look for it."""
        return self._n_rows, len(self._columns)

    def __len__(self) -> int:
        return self._n_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows, each a dict."""
        return (self._row(index) for index in range(self._n_rows))

    def __getitem__(self, key: object) -> Any:
        """A column, a row, or a table of some rows or columns.

        A name gives a column, a list of names a table of them; an int gives a row as a dict; a slice, an array of
        indices or a mask of booleans gives a table of those rows.
        """
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # table[rows, ...], as scikit-learn writes it
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            return self._row(int(key))
        if isinstance(key, slice):
            return self._rows(np.arange(self._n_rows)[key])
        if isinstance(key, Sequence) and key and all(isinstance(name, str) for name in key):
            columns = Table((name, self._column(name)) for name in key)._columns
            features = {name: self.feature_names[name] for name in key if name in self.feature_names}
            return _restore(dict(columns), self._n_rows, features)
        return self._rows(_row_indices(key, self._n_rows))

    def with_column(self, name: str, values: object, *, feature_names: Sequence[str] | None = None) -> Table:
        """A new table with one more column, or with another under a name that exists.

        Of a column of vectors, ``feature_names`` are the names of the dimensions.
        """
        features = {key: names for key, names in self.feature_names.items() if key != name}
        if feature_names is not None:
            features[name] = tuple(feature_names)
        table = Table({**self._columns, name: values})
        return _restore(dict(table._columns), table._n_rows, features)

    def _column(self, name: str) -> object:
        if name not in self._columns:
            raise unknown_column(name, self.columns)
        values = self._columns[name]
        # A sparse matrix can be given other arrays, so each caller has one of their own around the same arrays.
        return copy.copy(values) if hasattr(values, "tocsr") else values

    def _row(self, index: int) -> dict[str, object]:
        if not -self._n_rows <= index < self._n_rows:
            raise IndexError(f"There is no row {index}: the table has {self._n_rows} rows.")
        return {name: values[index] for name, values in self._columns.items()}

    def _rows(self, indices: NDArray[np.intp]) -> Table:
        columns = {name: _taken(values, indices) for name, values in self._columns.items()}
        return _restore(columns, len(indices), dict(self.feature_names))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self.shape == other.shape
            and self.columns == other.columns
            and dict(self.feature_names) == dict(other.feature_names)
            and all(equal_columns(self._columns[name], other._columns[name]) for name in self.columns)
        )

    def __hash__(self) -> int:
        return hash((self.columns, self._n_rows))

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name} ({_kind(values)})" for name, values in self._columns.items())
        return f"Table of {self._n_rows} rows: {kinds}" if kinds else "Table without columns"

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (dict(self._columns), self._n_rows, dict(self.feature_names))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A Table cannot be changed; with_column makes a new one.")


def as_table(data: object) -> Table:
    """``data`` as a Table: itself, or one made of a mapping or a frame."""
    return data if isinstance(data, Table) else Table(data)


def unknown_column(name: str, columns: Sequence[str]) -> InputError:
    """The error for a column that is not there: it lists all and suggests the closest."""
    close = difflib.get_close_matches(name, columns, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    listed = ", ".join(map(repr, columns)) or "none"
    return InputError(f"There is no column {name!r}; the columns are {listed}.{hint}")


def _set(table: Table, columns: dict[str, object], n_rows: int, features: Mapping[str, object]) -> None:
    object.__setattr__(table, "_columns", columns)
    object.__setattr__(table, "_n_rows", n_rows)
    object.__setattr__(table, "feature_names", MappingProxyType(dict(features)))


def _restore(columns: dict[str, object], n_rows: int, features: Mapping[str, object]) -> Table:
    """A table of columns that are known to be in order."""
    table = Table.__new__(Table)
    _set(table, columns, n_rows, features)
    return table


def _unpickled(columns: dict[str, object], n_rows: int, features: Mapping[str, object]) -> Table:
    """A table of columns that were copied or read, whose arrays can be written to until they are closed again."""
    return _restore({name: _frozen_column(values, name) for name, values in columns.items()}, n_rows, features)


def refuse_lazy(data: object) -> None:
    """Refuse a frame of polars that has no rows until it is collected."""
    kind = type(data)
    if hasattr(kind, "collect") and hasattr(kind, "collect_schema"):
        raise TypeError(f"A {kind.__name__} is a query that holds no rows yet. Pass frame.collect().")


def _pairs(data: object) -> Iterable[tuple[object, object]]:
    if data is None:
        return []
    refuse_lazy(data)
    if isinstance(data, Table):
        return list(data._columns.items())
    if isinstance(data, Mapping):
        return list(data.items())
    names = getattr(data, "column_names", getattr(data, "columns", None))  # pyarrow, the others
    if names is not None and hasattr(data, "__getitem__"):
        names = list(names)
        if len(set(names)) < len(names):
            raise InputError(f"The frame has two columns named {first_repeated(names)!r}; rename one of them.")
        return [(name, data[name]) for name in names]
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, np.ndarray)):
        pairs = list(data)
        if all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            return pairs
    raise TypeError(
        "A Table is made of a mapping of names to columns, pairs of a name and a column, or a "
        f"pandas or polars frame, got {type(data).__name__}."
    )


def _frozen_column(values: object, name: str) -> object:
    if hasattr(values, "tocsr"):
        return read_only_sparse(values)
    if hasattr(values, "to_numpy"):  # a Series of pandas or polars
        values = _from_series(values)
    if isinstance(values, np.ma.MaskedArray):
        values = unmasked(values)
    if isinstance(values, np.ndarray):
        if values.ndim == 0:
            raise InputError(f"Column {name!r} is a single number, not one value per row.")
        return frozen(values) if values.dtype == object else read_only(unshared(values))
    if isinstance(values, (list, tuple, range)):
        return frozen(tuple(values))
    has_items = hasattr(values, "__len__") and hasattr(values, "__getitem__")
    if has_items and not isinstance(values, (str, bytes, Mapping)):
        return values
    raise TypeError(
        f"Column {name!r} must be a list, an array, a sparse matrix or a corpus, got {type(values).__name__}."
    )


def _from_series(values: Any) -> object:
    array = values.to_numpy()
    if array.dtype != object and array.dtype.kind not in "UST":
        return array
    # pandas marks what is missing by NaN among objects, or by its own value that equals nothing.
    listed = values.to_list() if hasattr(values, "to_list") else list(array)
    return tuple(None if _is_missing(value) else value for value in listed)


def _is_missing(value: object) -> bool:
    if isinstance(value, float):
        return value != value
    return type(value).__name__ in ("NAType", "NaTType")


def _length(values: Any) -> int:
    return int(values.shape[0]) if hasattr(values, "tocsr") else len(values)


def _taken(values: Any, indices: NDArray[np.intp]) -> object:
    if isinstance(values, tuple):
        return tuple([values[index] for index in indices.tolist()])
    taken = values[indices]
    if isinstance(taken, np.ndarray):
        return read_only(taken)
    return read_only_sparse(taken) if hasattr(taken, "tocsr") else taken


def _row_indices(key: object, n_rows: int) -> NDArray[np.intp]:
    indices = np.asarray(key)
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "biu"):
        raise TypeError(
            f"Rows are chosen by a slice, an array of integers or a mask of booleans, and columns by name, got {key!r}."
        )
    if indices.dtype.kind == "b":
        if len(indices) != n_rows:
            raise IndexError(f"The mask has {len(indices)} values, the table {n_rows} rows.")
        return np.flatnonzero(indices)
    indices = indices.astype(np.intp)
    outside = (indices < -n_rows) | (indices >= n_rows)
    if outside.any():
        raise IndexError(f"There is no row {indices[outside][0]}: the table has {n_rows} rows.")
    return np.where(indices < 0, indices + n_rows, indices)


def _kind(values: Any) -> str:
    if isinstance(values, tuple):
        return type(values[0]).__name__ if values else "empty"
    if hasattr(values, "tocsr"):
        return f"{values.shape[1]} sparse"
    if isinstance(values, np.ndarray):
        dimensions = "".join(f"{n} x " for n in values.shape[1:])
        return f"{dimensions}{values.dtype}"
    return type(values).__name__
