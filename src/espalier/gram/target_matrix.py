"""Several targets for each row: a matrix, a frame or a table, in which some may be missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.errors import InputError
from espalier.gram.targets import Floats, real_numbers, target_numbers
from espalier.structures.columns import first_repeated
from espalier.structures.table import Table, refuse_lazy

_SHOWN = 6  # names in a message


@dataclass(frozen=True, eq=False)
class TargetMatrix:
    """One row of targets for each row of the data, and one column for each task.

    Attributes
    ----------
    values
        The targets, n x p; NaN for those that are missing.
    tasks
        The name of each column.
    """

    values: Floats
    tasks: tuple[str, ...]

    @staticmethod
    def of(y: Any, n_rows: int, tasks: Sequence[str] | None = None, *, known: bool = False) -> TargetMatrix:
        """Read and check targets.

        None, NaN, what pandas marks as missing and what a masked array masks are missing. The names of the tasks are
        those of the columns of a frame or a table, else ``tasks``, else the numbers of the columns. If the tasks are
        ``known`` from training, the columns of a frame are put in their order.

        Examples
        --------
        >>> TargetMatrix.of({"fear": [1.0, None], "joy": [2, 3]}, 2)
        TargetMatrix(values=array([[ 1.,  2.],
               [nan,  3.]]), tasks=('fear', 'joy'))
        """
        refuse_lazy(y)
        columns, named = _columns(y), _is_named(y)
        names = list(columns) if named or tasks is None else [str(name) for name in tasks]
        given = f"the columns {_listed(names)}" if named else f"{len(columns):,} columns"
        if tasks is not None and (len(columns) != len(tasks) or (known and sorted(names) != sorted(tasks))):
            raise InputError(f"y has {given}, but the tasks are {_listed(tasks)}. Give one column for each task.")
        if tasks is not None and not known:
            names = [str(name) for name in tasks]
        if (twice := first_repeated(names)) is not None:
            raise InputError(f"Two columns of y have the name {twice!r}; rename one of them.")
        values = np.column_stack([_with_gaps(column, names[k]) for k, column in enumerate(columns.values())])
        if len(values) != n_rows:
            raise InputError(
                f"X has {n_rows:,} rows, but y has {len(values):,} rows of targets. Give one row of targets for each "
                "row of X."
            )
        if known and tasks is not None:
            return TargetMatrix(values[:, [names.index(name) for name in tasks]], tuple(tasks))
        return TargetMatrix(values, tuple(names))

    def spread(self, given: object, name: str) -> Floats | None:
        """One number for each target, flat, from one for each row or one for each target; those of gaps are 0."""
        if given is None:
            return None
        numbers = real_numbers(given, name)
        n, p = self.values.shape
        if numbers.shape != (n, p)[: numbers.ndim]:
            raise InputError(
                f"{name} must hold one number for each of the {n:,} rows, or one for each of the {n:,} x {p} targets, "
                f"got shape {numbers.shape}."
            )
        whole = np.broadcast_to(numbers.reshape(-1, 1) if numbers.ndim == 1 else numbers, (n, p))
        spread = np.where(np.isnan(self.values), 0.0, whole)
        bad = np.argwhere(~(np.isfinite(spread) & (spread >= 0)))
        if len(bad):
            row, column = bad[0].tolist()
            raise InputError(
                f"{name} of row {row} and {self.tasks[column]!r} is {spread[row, column]:.6g}; it must be a finite "
                "number that is not below 0."
            )
        return spread.ravel()

    def check_weighted(self, weights: Floats | None) -> None:
        """Refuse weights, flat, by which one task is left without a target and another is not."""
        if weights is None:
            return
        used = np.asarray(weights.reshape(self.values.shape).any(axis=0))
        if used.any() and not used.all():
            unused = [name for name, own in zip(self.tasks, used, strict=True) if not own]
            raise InputError(
                f"Every sample_weight of {_listed(unused)} is zero, so there is nothing to learn from. Drop the "
                "column, or give some of its targets a weight."
            )


def has_several_targets(y: Any) -> bool:
    """Whether there are several targets for each row: a matrix, or a frame or a table with several columns."""
    refuse_lazy(y)
    if _is_named(y):
        return len(_names(y)) != 1
    try:
        shape: tuple[int, ...] = () if y is None or hasattr(y, "tocsr") else np.shape(y)
    except ValueError:  # a ragged list
        return False
    return len(shape) == 2 and shape[1] != 1


def _is_named(y: Any) -> bool:
    return isinstance(y, Table | Mapping) or hasattr(y, "columns") or hasattr(y, "column_names")


def _names(y: Any) -> list[Any]:
    """The names of the columns of a frame or a table."""
    return list(getattr(y, "column_names", getattr(y, "columns", y)))


def _columns(y: Any) -> dict[str, Any]:
    """The columns by name, with None or NaN for what is missing."""
    if _is_named(y):
        names = _names(y)
        if (twice := first_repeated(map(str, names))) is not None:
            raise InputError(f"Two columns of y have the name {twice!r}; rename one of them.")
        table = Table({str(name): y[name] for name in names})
    else:
        array = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
        if array.ndim != 2:
            raise InputError(
                f"y must hold one row for each row of X and one column for each task, got shape {array.shape}."
            )
        table = Table({str(k): column for k, column in enumerate(array.T)})
    if not table.columns:
        raise InputError("y has no columns: give one column of targets for each task.")
    return {name: table[name] for name in table.columns}


def _with_gaps(column: Any, name: str) -> Floats:
    """One column of targets as float64, with NaN for those that are missing."""
    listed = column if isinstance(column, np.ndarray) and column.dtype != object else list(column)
    if isinstance(listed, list):
        listed = [np.nan if own is None or type(own).__name__ == "NAType" else own for own in listed]
    numbers = target_numbers(listed)
    if numbers.ndim != 1:
        raise InputError(f"The column {name!r} of y must hold one number per row, got shape {numbers.shape}.")
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise InputError(
            f"Input y contains infinity: row {row} of {name!r} must be a finite number, or NaN if it is missing."
        )
    return numbers


def _listed(names: Sequence[object]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name) for name in names[:_SHOWN]) + more
