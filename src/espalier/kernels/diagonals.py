"""Diagonals that are kept with their inputs.

A cross matrix that is normalised needs the diagonals of both sides. One side is often the same training data in every
call, thousands of trees against one new tree. Its diagonal is kept with it, for the last few kernels.
"""

from __future__ import annotations

from collections.abc import Callable

from espalier.jobs.schedule import Schedule
from espalier.kept import kept
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Evaluated, Labels, Matrix, Plan

MOST = 8  # diagonals that one side of a call keeps


class RememberedDiagonalPlan(Plan):
    """The diagonal of a kernel over inputs; planned and computed only if it is not kept with the inputs."""

    kind = "diagonal"

    def __init__(self, kernel: Kernel, inputs: Inputs, schedule: Schedule) -> None:
        self.shape = (len(inputs),)
        self._inputs = inputs
        self._make: Callable[[], Plan] = lambda: kernel._make_plan(inputs, None, schedule, diagonal=True)

    @kept
    def _plan(self) -> Plan:
        return self._make()

    def _values(self, kernel: Kernel) -> Matrix:
        known = self._inputs.diagonals
        if kernel not in known:
            while len(known) >= MOST:
                known.pop(next(iter(known)), None)
            known[kernel] = self._plan._values(kernel)
        values: Matrix = known[kernel]
        return values.copy()

    def _evaluate(self, kernel: Kernel) -> Evaluated:
        return self._plan._evaluate(kernel)

    def _labels(self) -> Labels:
        return self._plan._labels()

    def _memory_needed(self, kernel: Kernel, *, pulling_back: bool) -> int:
        return self._plan._memory_needed(kernel, pulling_back=pulling_back)
