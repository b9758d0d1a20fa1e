r"""Numbers with outliers: a target is its latent value plus noise from Student's t distribution.

The distribution is a mixture of normal ones, whose precision has a gamma distribution, so means over a normal latent
value are integrals over that precision. Its density is not log-concave: a target far from all others is not pulled
towards them, and the posterior may have several peaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import gammaln, logsumexp

from espalier.gp.likelihoods.base import Likelihood, ParameterSlopes, Slopes, Tilt, setting_parameters
from espalier.gp.parameters import Parameter, Vector
from espalier.kernels.hyperparameters import Number, check_setting, number_of, with_number
from espalier.structures.numbers import finite_number

_NODES = 400  # of the integral over the precision, in equal steps of its logarithm


@dataclass(frozen=True)
class StudentT(Likelihood[Vector]):
    r"""A target is its latent value plus noise with heavy tails.

    .. math::

       p(y \mid f) = \frac{\Gamma(\frac{\nu + 1}{2})}{\Gamma(\frac{\nu}{2}) \sqrt{\nu \pi} s}
       \Big(1 + \frac{(y - f)^2}{\nu s^2}\Big)^{-\frac{\nu + 1}{2}}

    Parameters
    ----------
    scale
        The scale of the noise, :math:`s`: a number, which is learned, ``fixed`` or ``Learned``.
    freedom
        The degrees of freedom, :math:`\nu`: the fewer, the more outliers. It stays as it is.
    """

    is_log_concave: ClassVar[bool] = False

    scale: Number = 0.3
    freedom: float = 4.0

    def __post_init__(self) -> None:
        check_setting("scale", self.scale, zero=False)
        finite_number("freedom", self.freedom)

    def log_density(self, latent: Vector, targets: Vector) -> Vector:
        nu = self.freedom
        constant = (
            gammaln(0.5 * (nu + 1)) - gammaln(0.5 * nu) - 0.5 * np.log(nu * np.pi) - np.log(number_of(self.scale))
        )
        return np.asarray(
            constant - 0.5 * (nu + 1) * np.log1p((targets - latent) ** 2 / (nu * number_of(self.scale) ** 2))
        )

    def slopes(self, latent: Vector, targets: Vector) -> Slopes:
        away, nu = targets - latent, self.freedom
        width = nu * number_of(self.scale) ** 2
        whole = away**2 + width
        slope = (nu + 1) * away / whole
        curvature = (nu + 1) * (width - away**2) / whole**2
        third = (nu + 1) * 2 * away * (away**2 - 3 * width) / whole**3
        with np.errstate(divide="ignore", invalid="ignore"):
            return Slopes(slope, curvature, third / curvature)

    def parameters(self) -> list[Parameter]:
        return setting_parameters("scale", self.scale, (1e-4, 1e4), "targets")

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        return replace(self, scale=with_number(self.scale, values["scale"])) if "scale" in values else self

    def parameter_slopes(self, latent: Vector, targets: Vector) -> dict[str, ParameterSlopes]:
        away, nu = targets - latent, self.freedom
        square, width = away**2, nu * number_of(self.scale) ** 2
        whole = square + width
        by_width = 2 * width / number_of(self.scale)  # the derivative of the width by the scale
        log_density = ((nu + 1) * square / whole - 1) / number_of(self.scale)
        slope = -(nu + 1) * away / whole**2 * by_width
        with np.errstate(divide="ignore", invalid="ignore"):
            log_curvature = (1 / (width - square) - 2 / whole) * by_width
        return {"scale": ParameterSlopes(log_density, slope, log_curvature)}

    def target_moments(self, latent: Vector) -> tuple[Vector, Vector]:
        spread = self.freedom / (self.freedom - 2) * number_of(self.scale) ** 2 if self.freedom > 2 else np.inf
        return latent, np.full(np.shape(latent), spread)

    def tilt(self, mean: Vector, variance: Vector, targets: Vector) -> Tilt:
        log_part, noise, away = self._mixture(mean, variance, targets)
        total = noise + variance
        log_mass = logsumexp(log_part, axis=0)
        weight = np.exp(log_part - log_mass)
        slopes = away / total
        slope = (weight * slopes).sum(axis=0)
        curvature = (weight * (1 / total - slopes**2)).sum(axis=0) + slope**2
        return Tilt(np.asarray(log_mass), slope, curvature)

    def tilt_slopes(self, mean: Vector, variance: Vector, targets: Vector) -> dict[str, Vector]:
        log_part, noise, away = self._mixture(mean, variance, targets)
        total = noise + variance
        weight = np.exp(log_part - logsumexp(log_part, axis=0))
        by_noise = 0.5 * ((away / total) ** 2 - 1 / total)
        return {"scale": (weight * by_noise * 2 * noise / number_of(self.scale)).sum(axis=0)}

    def log_predictive_density(self, mean: Vector, variance: Vector, targets: Vector) -> Vector:
        return self.tilt(mean, variance, targets).log_mass

    def _mixture(self, mean: Vector, variance: Vector, targets: Vector) -> tuple[Vector, Vector, Vector]:
        """By precision (a row each) and target: the log of its share of the density, and its noise; the distances."""
        half = 0.5 * self.freedom
        # The gamma density of the precision, as a function of its logarithm, and far into the tail of small ones.
        low, high = -90.0 / (half + 0.5) - 3.0, np.log(1 + 60 / half) + 2.0
        logs, step = np.linspace(low, high, _NODES, retstep=True)
        log_weight = half * np.log(half) - gammaln(half) + half * logs - half * np.exp(logs) + np.log(step)
        noise = number_of(self.scale) ** 2 * np.exp(-logs)[:, None]
        away, total = targets - mean, noise + variance
        log_part = log_weight[:, None] - 0.5 * (away**2 / total + np.log(2 * np.pi * total))
        return log_part, noise, np.asarray(away)
