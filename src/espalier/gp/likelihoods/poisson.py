r"""Counts: the logarithm of the mean is the latent value plus a learned one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import gammaln

from espalier.gp.likelihoods.base import Expected, Likelihood, ParameterSlopes, Slopes, setting_parameters
from espalier.gp.parameters import Parameter, Vector
from espalier.kernels.hyperparameters import Number, check_setting, number_of, with_number


@dataclass(frozen=True)
class Poisson(Likelihood[Vector]):
    r"""Counts of events that do not depend on each other.

    .. math:: p(y \mid f) = \frac{m^y e^{-m}}{y!}, \qquad m = \text{rate} \cdot e^f

    Parameters
    ----------
    rate
        The mean count where the latent value is 0: a number, which is learned, ``fixed`` or ``Learned``.
    """

    rate: Number = 1.0

    def __post_init__(self) -> None:
        check_setting("rate", self.rate, zero=False)

    def log_density(self, latent: Vector, targets: Vector) -> Vector:
        return np.asarray(targets * (np.log(number_of(self.rate)) + latent) - self._mean(latent) - gammaln(targets + 1))

    def slopes(self, latent: Vector, targets: Vector) -> Slopes:
        mean = self._mean(latent)
        return Slopes(targets - mean, mean, np.full(np.shape(latent), -1.0))

    def parameters(self) -> list[Parameter]:
        return setting_parameters("rate", self.rate, (1e-6, 1e6), "events")

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        return replace(self, rate=with_number(self.rate, values["rate"])) if "rate" in values else self

    def parameter_slopes(self, latent: Vector, targets: Vector) -> dict[str, ParameterSlopes]:
        rate = number_of(self.rate)
        growth = self._mean(latent) / rate
        each = np.full(np.shape(latent), 1 / rate)
        return {"rate": ParameterSlopes(targets / rate - growth, -growth, each)}

    def expected(self, mean: Vector, variance: Vector, targets: Vector) -> Expected:
        events = self._mean(mean + 0.5 * variance)
        value = targets * (np.log(number_of(self.rate)) + mean) - events - gammaln(targets + 1)
        return Expected(np.asarray(value), targets - events, events)

    def expected_slopes(self, mean: Vector, variance: Vector, targets: Vector) -> dict[str, Vector]:
        return {"rate": (targets - self._mean(mean + 0.5 * variance)) / number_of(self.rate)}

    def target_moments(self, latent: Vector) -> tuple[Vector, Vector]:
        mean = self._mean(latent)
        return mean, mean

    def predictive_moments(self, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
        events = self._mean(mean + 0.5 * variance)
        with np.errstate(over="ignore"):
            return events, events + events**2 * np.expm1(variance)

    def _mean(self, latent: Vector) -> Vector:
        with np.errstate(over="ignore"):
            return np.asarray(number_of(self.rate) * np.exp(latent))
