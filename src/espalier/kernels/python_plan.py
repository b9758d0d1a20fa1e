"""Plans of kernels written in Python: values by the kernel's own method, gradients by central differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from espalier.jobs.executor import run_jobs
from espalier.jobs.schedule import Schedule
from espalier.jobs.tiles import Tile
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Gradients, Matrix, Plan

_STEP = 1e-5  # relative


class PythonPlan(Plan):
    """The values of two lists of items, of one with itself, or of each item with itself."""

    def __init__(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> None:
        self._inputs = (a, b)
        self._schedule = schedule
        self._describe(len(a), None if b is None else len(b), diagonal=diagonal)

    def _values(self, kernel: Kernel) -> Matrix:
        a, b = self._inputs
        rows = a.items(kernel._column())
        columns = rows if b is None else b.items(kernel._column())
        # Both halves of a symmetric matrix are computed, because nothing is known about the kernel.
        whole = Tile(slice(0, len(rows)), slice(0, len(columns)), only_diagonal=self.kind == "diagonal")
        tiles = [] if self._schedule.executor is None else whole.for_jobs()
        if not tiles:
            return PythonJob(kernel, rows, columns, whole)()
        jobs = [PythonJob(kernel, rows[tile.rows], columns[tile.columns], tile) for tile in tiles]
        out = np.empty(self.shape)
        for job, values in zip(jobs, run_jobs(jobs, self._schedule.executor, self._schedule.tell), strict=True):
            job.tile.put(values, out)
        return out

    def _pull_back(self, kernel: Kernel, cotangent: Matrix) -> Gradients:
        """Pull back by central differences: two matrices for each hyperparameter."""
        out: Gradients = {}
        for path, value in kernel.parameters().items():
            step = _STEP * max(abs(value), _STEP)
            above = self._values(kernel.with_parameters({path: value + step}))
            below = self._values(kernel.with_parameters({path: value - step}))
            out[path] = float(np.vdot(cotangent, (above - below) / (2 * step)))
        return out


@dataclass(frozen=True, eq=False)
class PythonJob:
    """One block of a matrix, to be computed anywhere: the kernel, and the items of its rows and columns only."""

    kernel: Kernel
    rows: list[object]
    columns: list[object]
    tile: Tile

    @property
    def cost(self) -> float:
        """The share of the matrix."""
        return self.tile.area

    def __call__(self) -> Matrix:
        if self.tile.only_diagonal:
            return np.array([self.kernel.block([x], [x])[0][0] for x in self.rows], np.float64)
        values = np.array(self.kernel.block(self.rows, self.columns), np.float64)
        if values.shape != self.tile.shape:
            raise ValueError(
                f"{type(self.kernel).__name__}.block must return shape {self.tile.shape}, got {values.shape}."
            )
        return values
