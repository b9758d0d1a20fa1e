"""Plans of kernels written in Python: values by the kernel's own method, gradients by central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback
from espalier.kernels.checks import check_cotangent
from espalier.kernels.inputs import Inputs

_STEP = 1e-5  # relative


class PythonPlan(Plan):
    """Two lists of items."""

    def __init__(self, a: Inputs, b: Inputs | None, schedule: Schedule) -> None:
        self._inputs = (a, b)

    def matrix(self, kernel: Kernel) -> Matrix:
        on = getattr(kernel, "on", None)
        a, b = self._inputs
        rows = a.items(on)
        columns = rows if b is None else b.items(on)
        values = np.array(kernel.block(rows, columns), np.float64)
        if values.shape != (len(rows), len(columns)):
            raise ValueError(
                f"{type(kernel).__name__}.block must return shape {(len(rows), len(columns))}, got {values.shape}."
            )
        return values

    def vjp(self, kernel: Kernel) -> tuple[Matrix, Pullback]:
        return self.matrix(kernel), numerical_pullback(self.matrix, kernel)


class PythonDiagonalPlan(Plan):
    """One list of items, each with itself."""

    def __init__(self, a: Inputs, schedule: Schedule) -> None:
        self._inputs = a

    def matrix(self, kernel: Kernel) -> Matrix:
        items = self._inputs.items(getattr(kernel, "on", None))
        return np.array([kernel.block([x], [x])[0][0] for x in items], np.float64)

    def vjp(self, kernel: Kernel) -> tuple[Matrix, Pullback]:
        return self.matrix(kernel), numerical_pullback(self.matrix, kernel)


def numerical_pullback(matrix: Callable[[Any], Matrix], kernel: Kernel) -> Pullback:
    """Pull back by central differences: two matrices for each hyperparameter."""

    def pullback(cotangent: Matrix) -> dict[str, float]:
        out: dict[str, float] = {}
        for path, value in kernel.parameters().items():
            step = _STEP * max(abs(value), _STEP)
            above = matrix(kernel.with_parameters({path: value + step}))
            below = matrix(kernel.with_parameters({path: value - step}))
            out[path] = float(np.vdot(check_cotangent(cotangent, above.shape), (above - below) / (2 * step)))
        return out

    return pullback
