r"""A process given its targets, in the one form that every inference returns and every prediction uses.

Given normal targets, or targets that Laplace's method replaces by normal ones, the posterior is

.. math:: m(x) = k(x)^T \alpha, \qquad v(x, x') = k(x, x') - k(x)^T P \, k(x'), \qquad P = R^T L^{-T} L^{-1} R

with a Cholesky factor :math:`L` and a diagonal :math:`R`, which is 1 for exact inference. Everything is in modelled
units and without the noise of new observations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import Factor
from espalier.gp.parameters import Vector
from espalier.gp.weights import Weights


@dataclass(frozen=True, eq=False)
class Conditioned:
    """What predictions need to know of a process and its targets.

    In all methods ``cross`` holds the prior covariances of the training values (rows) with new ones (columns), and
    ``columns`` those of the mean at the new examples.

    Attributes
    ----------
    dual
        The weights of the training values: ``cross.T @ dual`` is the mean of the function.
    factor
        Of the covariance of the targets around their mean, or of Laplace's matrix B.
    weights
        The posterior of the weights of the mean.
    log_evidence
        The log density of the targets, or its approximation.
    root
        The diagonal that multiplies rows before the factor; None for 1.
    """

    dual: Vector
    factor: Factor
    weights: Weights
    log_evidence: float
    root: Vector | None = None

    @blas_threads()
    def mean(self, cross: Vector, columns: Vector) -> Vector:
        """The mean of the function."""
        return np.asarray(cross.T @ self.dual + columns @ self.weights.mean)

    def explained(self, cross: Vector) -> Vector:
        """``E`` such that ``E.T @ E`` is what the targets subtract from a prior covariance."""
        return self.factor.half_solve(cross if self.root is None else self.root[:, None] * cross)

    @blas_threads()
    def variance(self, cross: Vector, prior: Vector, columns: Vector) -> Vector:
        """The variance of the function, from its prior variance."""
        half = self.explained(cross)
        # For a training example, rounding may give a value below 0.
        known = np.maximum(prior - (half**2).sum(axis=0), 0.0)
        return np.asarray(known + (self.weights.doubt(columns, half) ** 2).sum(axis=0))

    @blas_threads()
    def covariance(self, cross: Vector, prior: Vector, columns: Vector) -> Vector:
        """The covariances of the function, from its prior covariances."""
        half = self.explained(cross)
        covariance = prior - half.T @ half
        covariance[np.diag_indices_from(covariance)] = np.maximum(covariance.diagonal(), 0.0)
        doubt = self.weights.doubt(columns, half)
        return np.asarray(covariance + doubt.T @ doubt)

    @blas_threads()
    def solve(self, columns: Vector) -> Vector:
        """``P @ columns``: the inverse covariance of the targets, the mean's weights integrated out."""
        dual = self.weights.dual
        if self.root is None:
            return self.factor.solve(columns) - dual @ (dual.T @ columns)
        return self.root[:, None] * self.factor.solve(self.root[:, None] * columns)

    def left_out(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each target given all the others; of its latent value, if it is not normal."""
        raise NotImplementedError
