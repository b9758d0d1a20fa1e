r"""What all approximations share: each target is replaced by a normal one, its *site*.

The site of a target has a precision :math:`\tau \ge 0` and a natural mean :math:`\nu`: it stands for a factor
:math:`\exp(\nu f - \tfrac12 \tau f^2)` of the posterior of its latent value. With sites the posterior is that of
normal targets,

.. math:: B = I + T^{1/2} K T^{1/2}, \qquad \alpha = \nu - T^{1/2} B^{-1} T^{1/2} K \nu, \qquad m = K \alpha,

with :math:`T = \mathrm{diag}(\tau)`. The eigenvalues of :math:`B` are 1 or more, so that K may be singular and
precisions may be 0. Methods differ in how they choose sites (after Chang et al. 2020, "Fast variational learning in
state-space Gaussian process models", and Wilkinson et al. 2023, "Bayes-Newton methods").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import factorize
from espalier.gp.inference.conditioned import Conditioned, Weights
from espalier.gp.parameters import Vector

_SMALL = 1e-5  # of a variance: how much of it a target tells is computed from the covariances if it is less


class Sites(NamedTuple):
    """The normal targets that stand for others."""

    precision: Vector
    natural: Vector  # the mean times the precision

    @staticmethod
    def none(n: int) -> Sites:
        """Sites that say nothing."""
        return Sites(np.zeros(n), np.zeros(n))

    def towards(self, other: Sites, step: Vector | float) -> Sites:
        """The sites a step of the way to others."""
        return Sites(*(own + step * (aim - own) for own, aim in zip(self, other, strict=True)))


class Cotangent(NamedTuple):
    """The derivatives of the log evidence by the covariances, and by the likelihood's own numbers (by path)."""

    covariances: Vector
    likelihood: dict[str, float]


@dataclass(frozen=True, eq=False)
class SitePosterior(Conditioned):
    """Latent values given the sites of their targets."""

    root: Vector  # of the precisions
    sites: Sites = field(kw_only=True)
    latent: Vector = field(kw_only=True)  # the means, K @ dual
    latent_variance: Vector = field(kw_only=True)
    kept: Vector = field(kw_only=True)  # the share of its variance given the others that its own target leaves to each
    is_settled: bool = field(default=True, kw_only=True)  # False if sites still moved when the sweeps ended

    @property
    def near(self) -> Sites:
        """From where to begin at other covariances."""
        return self.sites

    def left_out(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each latent value given all targets but its own."""
        variance = self.latent_variance / self.kept
        return self.latent - self.dual * variance, variance


@blas_threads()
def conditioned_on(K: Vector, sites: Sites, log_evidence: float = np.nan) -> SitePosterior:
    """The latent values under some sites, whose evidence may be given later."""
    root = np.sqrt(sites.precision)
    matrix = root[:, None] * K
    matrix *= root
    factor = factorize(matrix, 1.0)
    dual = sites.natural - root * factor.solve(root * (K @ sites.natural))
    kept = factor.inverse_diagonal()
    told = 1 - kept
    exact = told > _SMALL
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(exact, told / sites.precision, 0.0)
    few = np.flatnonzero(~exact)
    if len(few):
        prior = K.diagonal()[few]
        # Sites that say nothing, from which sweeps start, tell nothing.
        known = (factor.half_solve(root[:, None] * K[:, few]) ** 2).sum(axis=0) if root.any() else 0.0
        variance[few] = np.maximum(prior - known, 0.0)
        kept[few] = 1 - sites.precision[few] * variance[few]
    latent = K @ dual
    return SitePosterior(
        *(dual, factor, Weights.none(len(K)), log_evidence, root),
        sites=sites,
        latent=latent,
        latent_variance=variance,
        kept=kept,
    )


@blas_threads()
def cotangent_of(given: SitePosterior, likelihood: Mapping[str, Vector]) -> Cotangent:
    """The derivatives if the evidence does not change with the sites; this overwrites the factor.

    ``likelihood`` has the derivative of each target's part by each number of the likelihood.
    """
    out = given.factor.inverse_in_place()
    out *= given.root[:, None]
    out *= given.root
    out *= -0.5
    out += np.outer(given.dual, 0.5 * given.dual)
    return Cotangent(out, {path: float(own.sum()) for path, own in likelihood.items()})


def starting(near: Sites | None, n: int) -> Sites:
    """Where to begin: the sites of a posterior nearby, if they fit."""
    usable = near is not None and len(near.precision) == n and bool(np.isfinite(near).all())
    return near if usable and near is not None else Sites.none(n)
