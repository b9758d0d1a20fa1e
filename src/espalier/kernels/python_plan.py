"""Plans of kernels written in Python: values by the kernel's own method, gradients by central differences."""

from __future__ import annotations

import numpy as np

from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Gradients, Matrix, Plan

_STEP = 1e-5  # relative


class PythonPlan(Plan):
    """The values of two lists of items, of one with itself, or of each item with itself."""

    def __init__(self, a: Inputs, b: Inputs | None, *, diagonal: bool = False) -> None:
        self._inputs = (a, b)
        self._describe(len(a), None if b is None else len(b), diagonal=diagonal)

    def _values(self, kernel: Kernel) -> Matrix:
        on = kernel._column()
        a, b = self._inputs
        rows = a.items(on)
        if self.kind == "diagonal":
            return np.array([kernel.block([x], [x])[0][0] for x in rows], np.float64)
        columns = rows if b is None else b.items(on)
        values = np.array(kernel.block(rows, columns), np.float64)
        if values.shape != (len(rows), len(columns)):
            raise ValueError(
                f"{type(kernel).__name__}.block must return shape {(len(rows), len(columns))}, got {values.shape}."
            )
        return values

    def _pull_back(self, kernel: Kernel, cotangent: Matrix) -> Gradients:
        """Pull back by central differences: two matrices for each hyperparameter."""
        out: Gradients = {}
        for path, value in kernel.parameters().items():
            step = _STEP * max(abs(value), _STEP)
            above = self._values(kernel.with_parameters({path: value + step}))
            below = self._values(kernel.with_parameters({path: value - step}))
            out[path] = float(np.vdot(cotangent, (above - below) / (2 * step)))
        return out
