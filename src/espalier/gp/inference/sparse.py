r"""Sparse inference: a function that is known through m inducing variables, by power expectation propagation.

Inducing variables :math:`u` are values of the function at a few structures, or weighted combinations of such values.
With :math:`Q = K_{fu} K_{uu}^{-1} K_{uf}`, the spare variances :math:`d = \mathrm{diag}(K - Q)` and the noise
:math:`\sigma^2` of each target, the evidence is approximated, for a power :math:`a` (Bui et al. 2017), by

.. math::

   \log N(z; 0, Q + \mathrm{diag}(s)) - \frac{1 - a}{2a} \sum_i \log \frac{s_i}{\sigma_i^2},
   \qquad s = \sigma^2 + a\, d .

The power 0 stands for the limit, the variational bound of Titsias (2009), with :math:`-\tfrac12 \sum_i d_i /
\sigma_i^2`; it is never above the log evidence. The power 1 is FITC (Snelson and Ghahramani 2006).

No matrix is larger than n x m. The weights of a mean are further inducing variables, with unit covariances and the
columns of the mean as covariances with the data. With :math:`L L^T = K_{uu}` the rows of :math:`A` are those of
:math:`L^{-1} K_{uf}` and of these columns, each divided by :math:`\sqrt s`, and :math:`B = I + A A^T` has only
eigenvalues of 1 or more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import Factor, factorize
from espalier.gp.inference.conditioned import Conditioned, Weights
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.parameters import Vector


class SparseCovariances(NamedTuple):
    """The prior covariances that sparse inference reads, and their derivatives, which have the same shapes.

    Attributes
    ----------
    inducing
        Of the structures with each other.
    cross
        Of the structures (rows) with the data (columns).
    diagonal
        The variance of each function value of the data.
    """

    inducing: Vector
    cross: Vector
    diagonal: Vector


class SparseCotangent(NamedTuple):
    """The derivatives of the log evidence: by covariances, by the noise variances, targets, and combinations."""

    covariances: SparseCovariances
    noise: Vector
    targets: Vector
    combine: Vector | None


@dataclass(frozen=True, eq=False)
class SparsePosterior(Conditioned):
    """A process given normal targets ``z``, as far as its inducing variables know it.

    ``dual`` holds the weights of the structures, and ``factor`` is that of the inducing covariances. In all methods
    ``cross`` has one row for each structure.
    """

    z: Vector = field(kw_only=True)
    inner: Factor = field(kw_only=True)  # of B
    combine: Vector | None = field(default=None, kw_only=True)  # a row for each combination of structures; None for I
    out: tuple[Vector, Vector] = field(kw_only=True)  # what ``left_out`` returns

    @blas_threads()
    def variance(self, cross: Vector, prior: Vector, columns: Vector) -> Vector:
        white, left = self._parts(cross, columns)
        # Rounding may give a structure a variance below 0.
        spare = np.maximum(prior - (white**2).sum(axis=0), 0.0)
        return np.asarray(spare + (left**2).sum(axis=0))

    @blas_threads()
    def covariance(self, cross: Vector, prior: Vector, columns: Vector) -> Vector:
        white, left = self._parts(cross, columns)
        spare = prior - white.T @ white
        spare[np.diag_indices_from(spare)] = np.maximum(spare.diagonal(), 0.0)
        return np.asarray(spare + left.T @ left)

    @blas_threads()
    def explained(self, cross: Vector) -> Vector:
        white = self._whitened(cross)
        m = len(white)
        _, sizes, directions = np.linalg.svd(np.triu(self.inner.matrix[:m, :m]))
        told = np.sqrt(np.maximum(1 - 1 / sizes**2, 0.0))
        return np.asarray(told[:, None] * (directions @ white))

    @blas_threads()
    def solve(self, columns: Vector) -> Vector:
        """``P @ columns``, where ``P`` says what the targets subtract from a prior covariance, without a mean."""
        white = self._whitened(columns)
        told = self.factor.half_solve(white - self.inner.solve(white), transposed=True)
        return told if self.combine is None else self.combine.T @ told

    def left_out(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each target given all the others; the inducing variables stay as they are."""
        return self.out

    def _whitened(self, cross: Vector) -> Vector:
        """The covariances with independent inducing variables of variance 1."""
        return self.factor.half_solve(cross if self.combine is None else self.combine @ cross)

    def _parts(self, cross: Vector, columns: Vector) -> tuple[Vector, Vector]:
        """``a`` and ``b`` such that ``prior - a^T a + b^T b`` are the covariances."""
        white = self._whitened(cross)
        return white, self.inner.half_solve(np.vstack([white, columns.T]))


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The evidence at some covariances, with what its derivatives share with it."""

    posterior: SparsePosterior
    power: float
    at: SparseCovariances
    noise: Vector
    spread: Vector  # s: the variance of each target around what the inducing variables tell of it
    white: Vector  # L^-1 Kuf above the columns of the mean
    told: Vector  # B^-1 times that, divided by the spread
    residual: Vector  # (Q + diag(spread))^-1 z

    def latent(self) -> tuple[Vector, Vector]:
        """The means and the variances of the function values of the data, with the mean."""
        explained = np.einsum("in,in->n", self.told, self.white) * self.spread
        return self.posterior.z - self.residual * self.spread, self._spare() + explained

    @blas_threads()
    def cotangent(self) -> SparseCotangent:
        """The derivatives of the log evidence."""
        given, spread = self.posterior, self.spread
        m = len(given.factor.matrix)
        # The derivative by Q + diag(spread) is 1/2 (residual residual^T - inverse), of which the diagonal is:
        own = 0.5 * (self.residual**2 - (1 - np.einsum("in,in->n", self.told, self.white)) / spread)
        spare = self.power * own - 0.5 * (1 - self.power) / spread  # by d
        noise = own + 0.5 * (1 - self.power) * self._spare() / (spread * self.noise)
        # The rows of the inducing variables, by L^-1 Kuf: those of ``white`` times the derivative by Q.
        white = self.white[:m]
        by_white = 0.5 * (np.outer(white @ self.residual, self.residual) - self.told[:m]) - white * spare
        by_cross = given.factor.half_solve(2 * by_white, transposed=True)
        middle = by_white @ white.T
        half = given.factor.half_solve(middle, transposed=True)
        by_inducing = -given.factor.half_solve(np.ascontiguousarray(half.T), transposed=True)
        by_inducing = 0.5 * (by_inducing + by_inducing.T)
        by_combine = None
        if given.combine is not None:
            W = given.combine
            by_combine = by_cross @ self.at.cross.T + 2 * by_inducing @ (W @ self.at.inducing)
            by_cross, by_inducing = W.T @ by_cross, W.T @ by_inducing @ W
        covariances = SparseCovariances(by_inducing, np.ascontiguousarray(by_cross), spare)
        return SparseCotangent(covariances, noise, -self.residual, by_combine)

    def _spare(self) -> Vector:
        m = len(self.posterior.factor.matrix)
        return _spare(self.at.diagonal, self.white[:m])


@blas_threads()
def evaluate(
    at: SparseCovariances,
    likelihood: Gaussian,
    targets: Observed,
    columns: Vector,
    *,
    power: float = 0.0,
    combine: Vector | None = None,
) -> Evaluated:
    """Condition the inducing variables on the targets.

    ``columns`` are those of the mean at the data; there may be none. ``combine`` has the weights of the structures in
    each inducing variable; without it, the structures are the inducing variables.
    """
    z, noise = targets.values, likelihood.variances(targets)
    inducing, cross = at.inducing.copy(), at.cross
    if combine is not None:
        inducing, cross = combine @ at.inducing @ combine.T, combine @ at.cross
    factor = factorize(np.ascontiguousarray(inducing), 0.0)
    part = factor.half_solve(cross)
    spare = _spare(at.diagonal, part)
    spread = noise + power * spare
    white = np.vstack([part, columns.T])
    scaled = white / np.sqrt(spread)
    inner = factorize(scaled @ scaled.T, 1.0)
    told = inner.solve(white) / spread
    mean = told @ z  # of the independent inducing variables
    residual = (z - white.T @ mean) / spread
    fit = float(z @ residual)
    log_evidence = -0.5 * (fit + inner.log_determinant + float(np.log(2 * math.pi * spread).sum()))
    log_evidence -= _penalty(noise, spare, power)
    precision = (1 - np.einsum("in,in->n", told, white)) / spread
    out = z - residual / precision, 1 / precision + (1 - power) * spare
    m = len(part)
    dual = factor.half_solve(mean[:m], transposed=True)
    weights = replace(Weights.none(0), mean=mean[m:])  # their doubt is a part of ``inner``
    posterior = SparsePosterior(
        *(dual if combine is None else combine.T @ dual, factor, weights, log_evidence),
        z=z,
        inner=inner,
        combine=combine,
        out=out,
    )
    return Evaluated(posterior, power, at, noise, spread, white, told, residual)


def _spare(diagonal: Vector, white: Vector) -> Vector:
    """What the inducing variables leave of each variance; rounding may give less than nothing."""
    return np.asarray(np.maximum(diagonal - np.einsum("in,in->n", white, white), 0.0))


def _penalty(noise: Vector, spare: Vector, power: float) -> float:
    """What the evidence loses for the spare variances."""
    if power == 0:
        return float(0.5 * (spare / noise).sum())
    return float((1 - power) / (2 * power) * np.log1p(power * spare / noise).sum())
