"""What every likelihood offers: a log density, its derivatives, its own learned numbers, and predictions.

A likelihood relates one target to one latent value. It holds numbers and no data: targets are an argument. To add one,
write a frozen dataclass with ``log_density`` and ``slopes``; Laplace's method and predictions then work. If some of its
numbers are learned, it also needs ``parameters``, ``with_parameters`` and ``parameter_slopes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, Self, TypeVar

from espalier.gp.likelihoods.quadrature import log_normal_mean
from espalier.gp.parameters import Parameter, Vector

T = TypeVar("T")  # the type of targets: mostly an array with one number for each latent value


class Slopes(NamedTuple):
    """Derivatives of the log density of each target by its latent value.

    Attributes
    ----------
    slope
        The first derivative.
    curvature
        Minus the second derivative. It must be positive, or 0 if it underflows: the likelihood is log-concave.
    ratio
        The third derivative divided by ``curvature``. In this form it stays exact if both vanish.
    """

    slope: Vector
    curvature: Vector
    ratio: Vector


class ParameterSlopes(NamedTuple):
    """Derivatives in one learned number, for each target: of the log density, of its slope in the latent value, and
    of the logarithm of the curvature.
    """

    log_density: Vector
    slope: Vector
    log_curvature: Vector


@dataclass(frozen=True)
class Likelihood(Generic[T]):
    """The base of all likelihoods."""

    def log_density(self, latent: Vector, targets: T) -> Vector:
        """Return the log density of each target, given its latent value."""
        raise NotImplementedError

    def slopes(self, latent: Vector, targets: T) -> Slopes:
        """Return the derivatives of the log density by the latent values."""
        raise NotImplementedError

    def parameters(self) -> list[Parameter]:
        """Return the numbers that are learned."""
        return []

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        """Return the likelihood with other numbers, by path; paths that are not its own are ignored."""
        return self

    def parameter_slopes(self, latent: Vector, targets: T) -> dict[str, ParameterSlopes]:
        """Return the derivatives by each learned number, by path."""
        return {}

    def log_predictive_density(self, mean: Vector, variance: Vector, targets: T) -> Vector:
        """Return the log density of each target if its latent value is normal; here by quadrature."""
        return log_normal_mean(
            lambda latent: self.log_density(latent, targets),
            lambda latent: self.slopes(latent, targets)[:2],
            mean,
            variance,
        )
