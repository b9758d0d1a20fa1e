r"""Two classes: a target is 1 or -1, and 1 with a probability that grows with the latent value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import erfcx, expit, log_ndtr, ndtr

from espalier.gp.likelihoods.base import Likelihood, Slopes, Tilt
from espalier.gp.parameters import Vector
from espalier.structures.numbers import check_choice

Link = Literal["probit", "logit"]

_FAR = -1e3  # below this, series replace differences of nearly equal numbers


@dataclass(frozen=True)
class Bernoulli(Likelihood[Vector | float]):
    r"""The probability of one of two classes.

    .. math:: p(y \mid f) = \Phi(y f) \quad\text{or}\quad \frac{1}{1 + e^{-y f}}, \qquad y \in \{-1, 1\}

    Parameters
    ----------
    link
        ``"probit"``: the sign of a latent value that is observed with normal noise of variance 1, with closed forms;
        or ``"logit"``, as in logistic regression, by quadrature.

    Examples
    --------
    >>> Bernoulli().probability(np.array([0.0, 1.0]), np.array([3.0, 3.0])).round(3)
    array([0.5  , 0.691])
    """

    link: Link = "probit"

    def __post_init__(self) -> None:
        check_choice("link", self.link, "probit", "logit")

    @property
    def has_closed_tilt(self) -> bool:
        return self.link == "probit"

    def log_density(self, latent: Vector, targets: Vector | float) -> Vector:
        if self.link == "logit":
            return np.asarray(-np.logaddexp(0.0, -targets * latent))
        return np.asarray(log_ndtr(targets * latent))

    def slopes(self, latent: Vector, targets: Vector | float) -> Slopes:
        if self.link == "logit":
            p, q = expit(latent), expit(-latent)
            return Slopes(targets * expit(-targets * latent), p * q, p - q)
        slope, curvature, ratio = _probit_slopes(targets * latent)
        return Slopes(targets * slope, curvature, targets * ratio)

    def target_moments(self, latent: Vector) -> tuple[Vector, Vector]:
        p, q = (expit(latent), expit(-latent)) if self.link == "logit" else (ndtr(latent), ndtr(-latent))
        return p - q, 4 * p * q

    def tilt(self, mean: Vector, variance: Vector, targets: Vector | float) -> Tilt:
        if self.link == "logit":
            return super().tilt(mean, variance, targets)
        scale = np.sqrt(1 + variance)
        z = targets * mean / scale
        slope, curvature, _ = _probit_slopes(z)
        return Tilt(np.asarray(log_ndtr(z)), targets * slope / scale, curvature / (1 + variance))

    def log_predictive_density(self, mean: Vector, variance: Vector, targets: Vector | float) -> Vector:
        if self.link == "logit":
            return super().log_predictive_density(mean, variance, targets)
        return np.asarray(log_ndtr(targets * mean / np.sqrt(1 + variance)))

    def probability(self, mean: Vector, variance: Vector) -> Vector:
        """Return the probability of 1 if the latent value is normal."""
        if self.link == "logit":
            return np.exp(super().log_predictive_density(mean, variance, 1.0))
        return np.asarray(ndtr(mean / np.sqrt(1 + variance)))


def _probit_slopes(z: Vector) -> Slopes:
    """The derivatives of the logarithm of the normal distribution function."""
    with np.errstate(over="ignore"):  # far above 0 the slope is 0
        slope = np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))
    far = z < _FAR
    away = np.where(far, 1.0, slope + z)
    curvature, ratio = slope * away, 2 * slope + z - 1 / away
    if far.any():
        curvature[far], ratio[far] = 1 - z[far] ** -2, -2 * z[far] ** -3
    return Slopes(slope, curvature, ratio)
