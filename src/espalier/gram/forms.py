"""The dual form of a fitted model: coefficients on training rows, which is all that its kernel space needs.

Every learner whose score is a sum over training rows, ``score(x) = sum_i coefficient_i k(x_i, x) + intercept``, says so
with a method ``dual_form()``. Whoever looks inside a model (mining, explaining) asks for that and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs


@dataclass(frozen=True, eq=False)
class DualForm:
    """Scores as sums over training rows.

    Attributes
    ----------
    kernel
        The kernel, with learned values.
    inputs
        The training rows.
    coefficients
        One line for each score, one column for each row.
    intercepts
        One for each score.
    names
        What a large score speaks for: a class, a pair of classes, the prediction.
    solve
        Where the model is a Gaussian process, columns multiplied by the inverse covariance of its targets: what
        posterior variances are made of. None for other models.
    unit
        What one unit of the modelled target is in the units of the score.
    constant_variance
        The prior variance of the constant part, in squared units of the modelled target; 0 where it is known.
    """

    kernel: Kernel
    inputs: Inputs
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    names: tuple[str, ...]
    solve: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    unit: float = 1.0
    constant_variance: float = 0.0
