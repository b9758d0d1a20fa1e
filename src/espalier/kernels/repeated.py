"""Matrices that repeat the rows and columns of a smaller one, and the way back for their gradient weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels.checks import check_rows
from espalier.kernels.plan import Evaluated, Labels, Matrix, Plan
from espalier.kernels.row_blocks import ByRows, row_blocks

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Repeats:
    """For each row and each column of the large matrix, the one of the small matrix; no columns for a diagonal."""

    rows: Places
    columns: Places | None
    small: tuple[int, ...]  # the shape of the small matrix, or the length of the small diagonal

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the large matrix or diagonal."""
        return (len(self.rows),) if self.columns is None else (len(self.rows), len(self.columns))

    def spread(self, small: Matrix) -> ByRows:
        """The large matrix, or diagonal."""
        columns = self.columns
        if columns is None:
            return ByRows(self.shape, lambda rows: small[self.rows[rows]])
        return ByRows(self.shape, lambda rows: small[np.ix_(self.rows[rows], columns)])

    def summed(self, cotangent: Matrix | ByRows) -> Matrix:
        """The gradient weights of the small matrix, from those of the large one."""
        if self.columns is None:
            sums = np.bincount(self.rows, np.asarray(cotangent), minlength=self.small[0])
            return sums.astype(np.float64)
        from scipy.sparse import csr_matrix

        ones = np.ones(len(self.columns))
        holds = csr_matrix((ones, self.columns, np.arange(len(ones) + 1)), shape=(len(ones), self.small[1]))
        out = np.zeros(self.small)
        for rows in row_blocks(self.shape):
            by_column = np.asarray(holds.T @ cotangent[rows].T).T
            np.add.at(out, self.rows[rows], by_column)
        return out


class RepeatedPlan(Plan):
    """The values of a few items, each of which occurs in several rows."""

    def __init__(self, inside: Plan, rows: Places, columns: Places | None) -> None:
        self._inside = inside
        self.kind = inside.kind
        across = None if self.kind == "diagonal" else rows if columns is None else columns
        self._repeats = Repeats(rows, across, inside.shape)
        self.shape = self._repeats.shape

    def _labels(self) -> Labels:
        return self._inside._labels()

    def _memory_needed(self, kernel: Any, *, pulling_back: bool) -> int:
        return self._inside._memory_needed(kernel, pulling_back=pulling_back)

    def _values(self, kernel: Any) -> Matrix:
        return np.array(self._repeats.spread(self._inside._values(kernel)))

    def _evaluate(self, kernel: Any) -> Evaluated:
        inside = self._inside._evaluate(kernel)
        small = np.asarray(inside.values)
        return Evaluated(
            self._repeats.spread(small),
            lambda cotangent: inside.pull_back(self._repeats.summed(check_rows(cotangent, self.shape))),
        )
