r"""Exact inference: normal targets, whose evidence and posterior have closed forms.

.. math:: \log p(z) = -\tfrac12 z^T C^{-1} z - \tfrac12 \log |C| - \tfrac n2 \log 2\pi

with :math:`C = K + \mathrm{diag}(\text{noise}) + H H^T`, where the columns :math:`H` of a mean, if there is one, are in
units of the prior of their weights. One Cholesky factor (without :math:`H H^T`, see ``conditioned``) gives the value,
and one symmetric inverse the gradient: :math:`\partial / \partial C = \tfrac12 (\alpha\alpha^T - C^{-1})`,
:math:`\alpha = C^{-1} z`. Everything is computed in the one matrix that the kernel filled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import factorize
from espalier.gp.inference.conditioned import Conditioned, weigh
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.parameters import Vector

_LOST = 1e-14  # a smaller precision, relative to its parts, is only rounding


@dataclass(frozen=True, eq=False)
class ExactPosterior(Conditioned):
    """A process given normal targets ``z``."""

    z: Vector = field(kw_only=True)

    @blas_threads()
    def left_out(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each target given all the others.

        With ``P`` the inverse covariance, the target differs from its prediction by ``dual[i] / P[i, i]``, whose
        variance is ``1 / P[i, i]`` (Rasmussen and Williams 2006, section 5.4.2).
        """
        whole = self.factor.inverse_diagonal()
        precision = np.maximum(whole - (self.weights.dual**2).sum(axis=1), _LOST * whole)
        return self.z - self.dual / precision, 1 / precision


@blas_threads()
def condition(K: Vector, likelihood: Gaussian, targets: Observed, columns: Vector) -> ExactPosterior:
    """Condition a process with prior covariances ``K``, in whose place the factor is made, on its targets.

    ``columns`` are those of the mean at the training examples; there may be none.
    """
    z = targets.values
    factor = factorize(K, likelihood.variances(targets))
    weights = weigh(factor, columns, z)
    residual = z - columns @ weights.mean
    dual = factor.solve(residual)
    # z^T C^-1 z, without subtracting large numbers from each other.
    fit = float(residual @ dual + weights.mean @ weights.mean)
    log_determinant = factor.log_determinant + weights.log_determinant
    log_evidence = -0.5 * (fit + log_determinant + len(z) * math.log(2 * math.pi))
    return ExactPosterior(dual, factor, weights, log_evidence, z=z)


@blas_threads()
def cotangent(given: ExactPosterior) -> Vector:
    """The derivative of the log evidence by the covariances; its diagonal is the derivative by the noise variances.

    This overwrites the factor: its matrix is the result.
    """
    bar = given.factor.inverse_in_place()
    half_outer(bar, given.dual, given.weights.dual)
    return bar


def half_outer(inverse: Vector, alpha: Vector, dual: Vector, rows: int = 256) -> None:
    """Turn an inverse into ``(alpha alpha^T - inverse + dual dual^T) / 2``, in place."""
    half, half_dual = 0.5 * alpha, 0.5 * dual
    for start in range(0, len(alpha), rows):
        block = inverse[start : start + rows]
        block *= -0.5
        block += half[start : start + rows, None] * alpha
        if dual.shape[1]:
            block += half_dual[start : start + rows] @ dual.T
