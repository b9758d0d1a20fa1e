r"""Laplace's approximation for any log-concave likelihood: its mode, its evidence, its gradient.

Latent values :math:`f` have a normal prior with covariance :math:`K`; each target has a log density that is concave in
its latent value plus a given offset. Around its mode the posterior is taken as normal (Rasmussen and Williams 2006,
algorithms 3.1 and 5.1), with one symmetric matrix

.. math:: B = I + W^{1/2} K W^{1/2}, \qquad W = -\partial^2 \log p,

whose eigenvalues are 1 or more, so that K may be singular. This module takes and returns matrices; it knows no kernels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import factorize
from espalier.gp.inference.conditioned import Conditioned, Weights
from espalier.gp.inference.newton import Climb
from espalier.gp.inference.sites import Cotangent, Sites
from espalier.gp.likelihoods.base import Likelihood
from espalier.gp.parameters import Vector

T = TypeVar("T")

MAX_STEPS = 100  # of Newton's method, which takes about six
_CLOSE = 1e-12  # distance to the mode at which to stop, relative to the largest latent value
_LOST = 1e-10  # an observation that changes its own latent variance by a smaller share is lost in rounding


@dataclass(frozen=True, eq=False)
class LaplacePosterior(Conditioned):
    """The most probable latent values, and the normal approximation around them."""

    root: Vector  # of the curvatures W
    latent: Vector = field(kw_only=True)  # the mode, K @ dual; dual is also the slope of the log likelihood there
    ratio: Vector = field(kw_only=True)  # the third derivative of the log likelihood divided by the curvature

    @property
    def near(self) -> Vector:
        """From where to look for the mode at other covariances."""
        return self.dual

    @property
    def sites(self) -> Sites:
        """The normal targets that stand for the others."""
        precision = self.root**2
        return Sites(precision, precision * self.latent + self.dual)

    @blas_threads()
    def left_out(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each latent value given all targets but its own.

        Both are nan if a target carries so little information that rounding hides it.
        """
        own = self.factor.inverse_diagonal()
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(1 - own > _LOST, (1 - own) / (own * self.root**2), np.nan)
        return self.latent - self.dual * variance, variance


@blas_threads()
def condition(
    K: Vector, likelihood: Likelihood[T], targets: T, offset: Vector | float = 0.0, near: Vector | None = None
) -> LaplacePosterior:
    """Climb to the mode by Newton's method, with halved steps if whole ones go too far.

    ``K`` are the prior covariances of the latent values, to which ``offset`` is added before the likelihood. The climb
    starts at ``near``, the dual of a mode nearby, which changes only the time.
    """

    def height_of(dual: Vector, f: Vector) -> float:
        """The log posterior, up to a constant."""
        return float(likelihood.log_density(f + offset, targets).sum() - 0.5 * dual @ f)

    climb = Climb.start(K, np.zeros(len(K)), near, height_of)
    for _ in range(MAX_STEPS):
        f = climb.latent
        slope, curvature, ratio = likelihood.slopes(f + offset, targets)
        root = np.sqrt(curvature)
        factor = factorize(root[:, None] * K * root, 1.0)
        wanted = curvature * f + slope
        step = wanted - root * factor.solve(root * (K @ wanted)) - climb.dual
        move = K @ step
        if climb.ends(move, _CLOSE):
            break
        climb.advance(step, move)
    log_evidence = climb.height - 0.5 * factor.log_determinant
    return LaplacePosterior(
        *(climb.dual, factor, Weights.none(len(K)), log_evidence, root), latent=climb.latent, ratio=ratio
    )


@blas_threads()
def cotangent(
    given: LaplacePosterior, K: Vector, likelihood: Likelihood[T], targets: T, offset: Vector | float = 0.0
) -> Cotangent:
    """The derivatives of the log evidence at the mode; this overwrites the factor.

    Each has three parts: the fit of the mode, the volume around it, and the change of that volume as the mode moves.
    """
    out = given.factor.inverse_in_place()
    narrowed = 1 - out.diagonal()  # the curvature times the posterior variance of each latent value
    moves = 0.5 * narrowed * given.ratio  # the derivative of the log evidence by the mode, without K
    out *= given.root[:, None]
    out *= given.root
    moves -= out @ (K @ moves)
    out *= -0.5
    half = 0.5 * (0.5 * given.dual + moves)
    out += np.outer(given.dual, half)
    out += np.outer(half, given.dual)
    parameters = likelihood.parameter_slopes(given.latent + offset, targets)
    shift = K @ moves if parameters else moves
    by_path = {
        path: float(own.log_density.sum() - 0.5 * narrowed @ own.log_curvature + shift @ own.slope)
        for path, own in parameters.items()
    }
    return Cotangent(out, by_path)
