"""A matrix computed elsewhere, as a kernel over row numbers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel, Matrix, Plan
from espalier.kernels.checks import symmetric_matrix
from espalier.kernels.inputs import Inputs


@dataclass(frozen=True, repr=False)
class Precomputed(Kernel):
    """Look up values in a matrix: items are the numbers of its rows.

    This way sums, products and every learner can use a matrix from another library. Two are equal if their matrices
    are.

    Parameters
    ----------
    matrix
        A square, symmetric matrix of finite numbers.
    on
        The column of row numbers to read if the input is a table.

    Examples
    --------
    >>> kernel = Precomputed([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> kernel([0, 2])
    array([[2., 0.],
           [0., 2.]])
    >>> kernel([0, 2], [1])
    array([[1.],
           [1.]])
    """

    matrix: Any = field(compare=False)
    on: str | None = None
    _digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        super().__post_init__()
        matrix = symmetric_matrix(self.matrix, lambda i, j: f"[{i}, {j}]")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "_digest", hashlib.blake2b(matrix.tobytes(), digest_size=16).hexdigest())

    def block(self, a: list[object], b: list[object]) -> Matrix:
        values: Matrix = self.matrix[np.ix_(self._rows(a), self._rows(b))]
        return values

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        # Jobs elsewhere would each need the whole matrix.
        return super()._make_plan(a, b, schedule.of_job(), diagonal=diagonal)

    def _rows(self, items: list[object]) -> NDArray[np.int64]:
        rows = np.asarray(items)
        if rows.size == 0:
            return np.zeros(0, np.int64)
        n = len(self.matrix)
        if rows.ndim == 2 and rows.shape[1] == 1:  # a column of numbers
            rows = rows[:, 0]
        if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
            raise InputError(f"Items of a Precomputed kernel are numbers of rows, from 0 to {n - 1}, got {items[0]!r}.")
        if rows.min() < 0 or rows.max() >= n:
            wrong = rows[(rows < 0) | (rows >= n)][0]
            raise InputError(f"There is no row {wrong}: the matrix has {n:,} rows.")
        return rows.astype(np.int64)

    def __repr__(self) -> str:
        on = "" if self.on is None else f", on={self.on!r}"
        return f"Precomputed(<{len(self.matrix):,} rows>{on})"
