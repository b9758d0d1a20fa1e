r"""The probit likelihood: a target is 1 or -1, and 1 with probability :math:`\Phi(f)`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from espalier.gp.likelihoods.base import Likelihood, Slopes
from espalier.gp.parameters import Vector

_FAR = -1e3  # below this, series replace differences of nearly equal numbers


@dataclass(frozen=True)
class Probit(Likelihood[Vector | float]):
    r"""The sign of a latent value that is observed with normal noise of variance 1.

    .. math:: p(y \mid f) = \Phi(y f), \qquad y \in \{-1, 1\}

    Examples
    --------
    >>> Probit().probability(np.array([0.0, 1.0]), np.array([3.0, 3.0])).round(3)
    array([0.5  , 0.691])
    """

    def log_density(self, latent: Vector, targets: Vector | float) -> Vector:
        return np.asarray(log_ndtr(targets * latent))

    def slopes(self, latent: Vector, targets: Vector | float) -> Slopes:
        z = targets * latent
        with np.errstate(over="ignore"):  # far above 0 the slope is 0
            slope = np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))
        far = z < _FAR
        away = np.where(far, 1.0, slope + z)
        curvature, ratio = slope * away, 2 * slope + z - 1 / away
        if far.any():
            curvature[far], ratio[far] = 1 - z[far] ** -2, -2 * z[far] ** -3
        return Slopes(targets * slope, curvature, targets * ratio)

    def log_predictive_density(self, mean: Vector, variance: Vector, targets: Vector | float) -> Vector:
        return np.asarray(log_ndtr(targets * mean / np.sqrt(1 + variance)))

    def probability(self, mean: Vector, variance: Vector) -> Vector:
        """Return the probability of 1 if the latent value is normal."""
        return np.asarray(ndtr(mean / np.sqrt(1 + variance)))
