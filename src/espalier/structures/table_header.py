"""The names of the columns of a text file: given, taken from its first row, or made up."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from espalier.errors import InputError, TreeSyntaxError
from espalier.structures import notation
from espalier.structures.limits import shortened
from espalier.structures.numbers import finite_in_text
from espalier.structures.table import Table

_REMEDY = "Pass header=False or columns= if the file has no header row, or header=True if this is one."

NumberedRows = Iterator[tuple[int, list[str]]]  # each with the number of its first line


def named_columns(
    rows: NumberedRows, columns: Sequence[str] | None, header: bool | None, name: str
) -> tuple[Sequence[str], NumberedRows]:
    """The names of the columns, and the rows that follow."""
    if isinstance(columns, str):
        raise TypeError(f"columns must be a sequence of names, got the str {columns!r}.")
    if header is not None and not isinstance(header, (bool, np.bool_)):
        raise TypeError(
            f"header must be True, False or None, got {header!r}. It says whether the first row contains the names; "
            "pass the names themselves as columns=[...], which reads every row."
        )
    if header is None and columns is not None:
        return columns, rows
    first = next(rows, None)
    if header is not None and not header:
        every_row = [] if first is None else [first]
        made_up = [f"column_{k}" for _, fields in every_row for k in range(1, len(fields) + 1)]
        return made_up if columns is None else columns, itertools.chain(every_row, rows)
    if first is None:
        raise InputError(f"{name} is empty: a header row with the names of columns is needed.")
    if header is None:
        _check_header(first[1], name)
    return first[1] if columns is None else columns, rows


def warn_of_values_as_names(table: Table, name: str) -> None:
    """Warn if a first row that was read as names contains a value of its own column."""
    for column in table.columns:
        values = table[column]
        if isinstance(values, tuple) and column in values:
            warnings.warn(
                f"The first row of {name} was read as the names of the columns, but {shortened(column)!r} is also a "
                f"value of its column. {_REMEDY}",
                UserWarning,
                stacklevel=3,
            )
            return


def _check_header(fields: Sequence[str], name: str) -> None:
    """Refuse a first row that can hardly be a header, and warn if it may not be one."""
    for field in fields:
        if _is_tree(field):
            raise InputError(f"The first row of {name} contains a tree, {shortened(field)!r}, not names. {_REMEDY}")
    numbers = [field for field in fields if finite_in_text(field) is not None]
    if numbers:
        warnings.warn(
            f"The first row of {name} was read as the names of the columns, but it contains numbers, such as "
            f"{shortened(numbers[0])!r}. {_REMEDY}",
            UserWarning,
            stacklevel=4,
        )


def _is_tree(field: str) -> bool:
    if not field.startswith("("):
        return False
    try:
        return len(notation.parse(field)[1]) > 1  # a name in brackets, as (km), is no tree
    except TreeSyntaxError:
        return False
