r"""A process given its targets, in the one form that every inference returns and every prediction uses.

Given normal targets, or targets that Laplace's method replaces by normal ones, the posterior is

.. math:: m(x) = k(x)^T \alpha, \qquad v(x, x') = k(x, x') - k(x)^T P \, k(x'), \qquad P = R^T L^{-T} L^{-1} R

with a Cholesky factor :math:`L` and a diagonal :math:`R`, which is 1 for exact inference. Everything is in modelled
units and without the noise of new observations.

The weights of a mean are integrated out. With columns :math:`H` in units of their prior, the covariance of the targets
is :math:`C' = C + H H^T`. It is never formed. The singular values :math:`s` of :math:`L^{-1} H = U s V^T`, with
:math:`C = L L^T`, give by the matrix inversion lemma

.. math::

   \log |C'| = \log |C| + \textstyle\sum \log (1 + s^2), \qquad
   C'^{-1} = C^{-1} - L^{-T} U \frac{s^2}{1 + s^2} U^T L^{-1},

and the weights given the targets are normal with covariance :math:`V (1 + s^2)^{-1} V^T` (and 1 across V). Columns may
repeat, vanish, or outnumber the examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import Factor
from espalier.gp.parameters import Vector


@dataclass(frozen=True, eq=False)
class Weights:
    """The posterior of the weights of a mean, in units of their prior."""

    mean: Vector
    root: Vector  # symmetric; its square is the covariance of the weights given the targets
    half: Vector  # L^-1 H
    dual: Vector  # C'^-1 = C^-1 - dual dual^T
    log_determinant: float  # log |C'| - log |C|

    @staticmethod
    def none(n: int) -> Weights:
        """The weights of no columns, for ``n`` training values."""
        empty = np.zeros((n, 0))
        return Weights(np.zeros(0), np.zeros((0, 0)), empty, empty, 0.0)

    def doubt(self, columns: Vector, half: Vector) -> Vector:
        """``D`` such that ``D^T D`` is what uncertainty in the weights adds to the covariance of new examples.

        ``columns`` are those of the mean at the new examples, ``half`` is ``L^-1`` times their covariances with the
        training examples.
        """
        return np.asarray(self.root @ (columns.T - self.half.T @ half))


def weigh(factor: Factor, columns: Vector, z: Vector) -> Weights:
    """The weights of some columns given the targets."""
    half = factor.half_solve(columns)
    left, sizes, right = np.linalg.svd(half, full_matrices=False)
    lost = np.finfo(np.float64).eps * max(half.shape) * sizes.max(initial=0.0)
    sizes[sizes <= lost] = 0.0  # rounding, of columns that repeat
    known = 1 / np.sqrt(1 + sizes**2)  # how far each direction's deviation shrank
    mean = right.T @ (sizes * known**2 * (left.T @ factor.half_solve(z)))
    root = np.eye(columns.shape[1]) - (right.T * (1 - known)) @ right
    dual = factor.half_solve(left * (sizes * known), transposed=True)
    return Weights(mean, root, half, dual, float(np.log1p(sizes**2).sum()))


@dataclass(frozen=True, eq=False)
class Conditioned:
    """What predictions need to know of a process and its targets.

    In all methods ``cross`` holds the prior covariances of the training values (rows) with new ones (columns), and
    ``columns`` those of the mean at the new examples.
    """

    dual: Vector  # the weights of the training values: ``cross.T @ dual`` is the mean of the function
    factor: Factor  # of the covariance of the targets around their mean, or of Laplace's matrix B
    weights: Weights  # of the mean
    log_evidence: float  # the log density of the targets, or its approximation
    root: Vector | None = None  # the diagonal that multiplies rows before the factor; None for 1

    @blas_threads()
    def mean(self, cross: Vector, columns: Vector) -> Vector:
        """The mean of the function."""
        return np.asarray(cross.T @ self.dual + columns @ self.weights.mean)

    @property
    def jitter(self) -> float:
        """What was added to the diagonal in addition to the noise."""
        return self.factor.jitter

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
