"""Diagonals that their inputs remember.

A cross matrix that is normalised needs the diagonals of both sides. One side is often the same training data, call
after call, with thousands of trees against one: its diagonal is kept with it, for the last few kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback
from espalier.kernels.inputs import Inputs

MOST = 8  # diagonals that one side of a call keeps


class RememberedDiagonalPlan(Plan):
    """The diagonal of a kernel over inputs; planned and computed only where the inputs do not remember it."""

    def __init__(self, kernel: Kernel, inputs: Inputs, schedule: Schedule) -> None:
        self._inputs = inputs
        self._make: Callable[[], Plan] = lambda: kernel._make_diagonal_plan(inputs, schedule)
        self._made: Plan | None = None

    def _plan(self) -> Plan:
        if self._made is None:
            self._made = self._make()
        return self._made

    def bind(self, kernel: Any) -> Any:
        return self._plan().bind(kernel)

    def matrix(self, kernel: Any) -> Matrix:
        kept = self._inputs.diagonals
        if kernel not in kept:
            while len(kept) >= MOST:
                kept.pop(next(iter(kept)), None)
            kept[kernel] = self._plan().matrix(kernel)
        values: Matrix = kept[kernel]
        return values.copy()

    def _memory_needed(self, kernel: Any, *, pulling_back: bool) -> int:
        return self._plan()._memory_needed(kernel, pulling_back=pulling_back)

    def vjp(self, kernel: Any) -> tuple[Matrix, Pullback]:
        return self._plan().vjp(kernel)
