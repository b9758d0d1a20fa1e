"""Plans of kernels written in Python: values by the kernel's own method, gradients by central differences."""

from __future__ import annotations

import numpy as np

from espalier.kernels.base import Kernel
from espalier.kernels.checks import check_cotangent
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Evaluation, Gradients, Matrix, Plan, kind_of

_STEP = 1e-5  # relative


class PythonPlan(Plan):
    """The values of two lists of items, of one with itself, or of each item with itself."""

    def __init__(self, a: Inputs, b: Inputs | None, *, diagonal: bool = False) -> None:
        self._inputs = (a, b)
        self.kind = kind_of(is_symmetric=b is None, is_diagonal=diagonal)
        self.shape = (len(a),) if diagonal else (len(a), len(a if b is None else b))

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

    def _evaluate(self, kernel: Kernel) -> Evaluation:
        return Evaluation(self._values(kernel), lambda cotangent: self._pull_back(kernel, cotangent))

    def _pull_back(self, kernel: Kernel, cotangent: Matrix) -> Gradients:
        """Pull back by central differences: two matrices for each hyperparameter."""
        out: Gradients = {}
        for path, value in kernel.parameters().items():
            step = _STEP * max(abs(value), _STEP)
            above = self._values(kernel.with_parameters({path: value + step}))
            below = self._values(kernel.with_parameters({path: value - step}))
            out[path] = float(np.vdot(check_cotangent(cotangent, above.shape), (above - below) / (2 * step)))
        return out
