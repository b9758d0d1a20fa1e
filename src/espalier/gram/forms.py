"""The two forms of a fitted model: coefficients of training rows, or weights of features.

If a score is a sum over training rows, ``score(x) = sum_i coefficient_i k(x_i, x) + intercept``, the learner has a
method ``dual_form()``. If it is a sum over listed features, ``score(x) = sum_f weight_f feature_f(x) + intercept``, the
learner has a method ``primal_form()``. Mining and explaining use one of these forms and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs

if TYPE_CHECKING:
    from espalier.spaces.codes import Codes
    from espalier.spaces.terms import Term


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
        One line for each score, one column for each training row.
    intercepts
        One for each score.
    names
        What a large score indicates: a class, a pair of classes, the prediction.
    solve
        For a Gaussian process, a function that multiplies columns by the inverse covariance of the targets, from which
        posterior variances are computed. None for other models.
    unit
        One unit of the modelled target, in units of the score.
    constant_variance
        The prior variance of the constant part, in squared units of the modelled target; 0 if it is known.
    """

    kernel: Kernel
    inputs: Inputs
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    names: tuple[str, ...]
    solve: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    unit: float = 1.0
    constant_variance: float = 0.0


@dataclass(frozen=True, eq=False)
class PrimalPart:
    """The features of one kernel inside a model's kernel, and their weights.

    Weights multiply the features of the kernel without its scale, divided by the item's norm: they are those that
    mining a model in dual form gives.
    """

    term: Term  # the kernel, with its scale and norms
    features: Codes[Any]
    weights: NDArray[np.float64]  # one row for each feature, one column for each score


@dataclass(frozen=True, eq=False)
class PrimalForm:
    """Scores as sums over listed features: those of each kernel in a sum.

    ``intercepts`` and ``names`` are as for :class:`DualForm`.
    """

    parts: tuple[PrimalPart, ...]
    intercepts: NDArray[np.float64]
    names: tuple[str, ...]
