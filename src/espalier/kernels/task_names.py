"""The names of tasks in a column: texts, numbers or truth values, one for each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

import numpy as np

from espalier.errors import InputError
from espalier.structures.columns import refuse_masked


def task_names(column: Iterable[object], on: str | None) -> list[str]:
    """Return the name of the task of each row.

    Whole numbers have one name, however they are stored, because a column of integers becomes one of fractions if some
    other row of its frame is missing.

    Examples
    --------
    >>> task_names(["fear", 1, 1.0, np.float64(2.5), True], None)
    ['fear', '1', '1', '2.5', 'True']
    """
    where = "" if on is None else f" of column {on!r}"
    refuse_masked(column, f"The column {on!r}" if on else "The column of tasks")
    values = column.tolist() if isinstance(column, np.ndarray) else column
    known: dict[object, str] = {}
    names = []
    for row, value in enumerate(values):
        if type(value) is str:
            names.append(value)
            continue
        try:
            key = type(value), value
            if key not in known:
                known[key] = _name(value, row, where)
            names.append(known[key])
        except TypeError:  # what cannot be hashed is no name
            raise _no_name(value, row, where) from None
    return names


def names_of_columns(tasks: object) -> list[str]:
    """Return the names that ``fit(X, Y, tasks=...)`` gives to the columns of Y, which have an order."""
    if isinstance(tasks, str | bytes | Set | Mapping) or not isinstance(tasks, Iterable):
        raise InputError(
            f"tasks must list the names of the columns of y in their order, such as ['ann', 'ben'], got {tasks!r:.60}."
        )
    return task_names(tasks, None)


def _name(value: object, row: int, where: str) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        raise InputError(f"Row {row}{where} has no task, got {value!r}. Name the task of each row, or drop the row.")
    if isinstance(value, bool | str | int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    raise _no_name(value, row, where)


def _no_name(value: object, row: int, where: str) -> InputError:
    return InputError(
        f"Row {row}{where} must name a task by a text, a number or a truth value, got {value!r:.60} of "
        f"{type(value).__name__}."
    )
