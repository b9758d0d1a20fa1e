"""What every likelihood offers: a log density, its derivatives, its own learned numbers, and means of these.

A likelihood relates one target to one latent value. It holds numbers and no data: targets are an argument. To add one,
write a frozen dataclass with ``log_density`` and ``slopes``; Laplace's method, expectation propagation, variational
inference and predictions then work, by quadrature where there is no closed form. If some of its numbers are learned, it
also needs ``parameters``, ``with_parameters`` and ``parameter_slopes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.gp.likelihoods.quadrature import Tilted, log_normal_mean, normal_means, tilted
from espalier.gp.parameters import Parameter, Vector
from espalier.kernels.hyperparameters import declared

T = TypeVar("T")  # the type of targets: mostly an array with one number for each latent value

_WIDE = 0.5  # the share of its variance that a tilted normal keeps if its target says little


class Slopes(NamedTuple):
    """Derivatives of the log density of each target by its latent value.

    Attributes
    ----------
    slope
        The first derivative.
    curvature
        Minus the second derivative. If the likelihood is log-concave, it must be positive, or 0 if it underflows.
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


class Tilt(NamedTuple):
    """What a target says of a normal latent value: the log of its mean density, which is its predictive density.

    Attributes
    ----------
    log_mass
        The logarithm of the mean density of the target.
    slope, curvature
        Its derivative by the mean of the latent value, and minus its second one. The latent value given the target has
        the mean ``mean + variance * slope`` and the variance ``variance - variance**2 * curvature``.
    """

    log_mass: Vector
    slope: Vector
    curvature: Vector


class Expected(NamedTuple):
    """The mean log density of each target if its latent value is normal, with derivatives.

    Attributes
    ----------
    value
        The mean log density.
    slope, curvature
        The mean of its first derivative by the latent value, and of minus the second one: the derivative by the mean of
        the latent value, and minus twice the derivative by its variance.
    """

    value: Vector
    slope: Vector
    curvature: Vector


@dataclass(frozen=True)
class Likelihood(Generic[T]):
    """The base of all likelihoods."""

    is_log_concave: ClassVar[bool] = True  # Laplace's method and expectation propagation need this

    @property
    def has_closed_tilt(self) -> bool:
        """Whether :meth:`tilt` takes little time, since it is no quadrature."""
        return False

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

    def target_moments(self, latent: Vector) -> tuple[Vector, Vector]:
        """Return the mean and the variance of a new target, given its latent value."""
        raise NotImplementedError(f"{type(self).__name__} does not say the mean and the variance of a target.")

    # What follows from these by quadrature; a likelihood with closed forms gives its own.

    def tilt(self, mean: Vector, variance: Vector, targets: T) -> Tilt:
        """Return what each target says of its latent value, which is normal."""
        own = self._tilted(mean, variance, targets)
        deviation = np.sqrt(variance)
        centre = own.mean(own.z)
        spread = own.mean((own.z - centre) ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope, curvature = centre / deviation, (1 - spread) / variance
        wide = spread > _WIDE
        if wide.any():  # there the difference of the variances loses digits
            at = [self.slopes(mean + deviation * z, targets) for z in own.z]
            slopes = np.stack([place.slope for place in at])
            slope = np.where(wide, own.mean(slopes), slope)
            bend = own.mean(np.stack([place.curvature for place in at])) - own.mean((slopes - slope) ** 2)
            curvature = np.where(wide, bend, curvature)
        return Tilt(own.log_mass, slope, curvature)

    def tilt_slopes(self, mean: Vector, variance: Vector, targets: T) -> dict[str, Vector]:
        """Return the derivatives of the log mass of :meth:`tilt` by each learned number."""
        if not self.parameters():
            return {}
        own = self._tilted(mean, variance, targets)
        at = [self.parameter_slopes(mean + np.sqrt(variance) * z, targets) for z in own.z]
        return {path: own.mean(np.stack([place[path].log_density for place in at])) for path in at[0]}

    def expected(self, mean: Vector, variance: Vector, targets: T) -> Expected:
        """Return the mean log density of each target if its latent value is normal."""
        return Expected(
            *normal_means(
                lambda latent: (self.log_density(latent, targets), *self.slopes(latent, targets)[:2]), mean, variance
            )
        )

    def expected_slopes(self, mean: Vector, variance: Vector, targets: T) -> dict[str, Vector]:
        """Return the derivatives of the value of :meth:`expected` by each learned number."""
        paths = list(self.parameter_slopes(mean, targets))
        if not paths:
            return {}

        def slopes(latent: Vector) -> tuple[Vector, ...]:
            own = self.parameter_slopes(latent, targets)
            return tuple(own[path].log_density for path in paths)

        return dict(zip(paths, normal_means(slopes, mean, variance), strict=True))

    def log_predictive_density(self, mean: Vector, variance: Vector, targets: T) -> Vector:
        """Return the log density of each target if its latent value is normal."""
        return log_normal_mean(
            lambda latent: self.log_density(latent, targets),
            lambda latent: self.slopes(latent, targets)[:2],
            mean,
            variance,
        )

    def predictive_moments(self, mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
        """Return the mean and the variance of a new target if its latent value is normal."""

        def parts(latent: Vector) -> tuple[Vector, ...]:
            centre, spread = self.target_moments(latent)
            return centre, spread, centre**2

        centre, spread, square = normal_means(parts, mean, variance)
        return centre, spread + np.maximum(square - centre**2, 0.0)

    def _tilted(self, mean: Vector, variance: Vector, targets: T) -> Tilted:
        return tilted(
            lambda latent: self.log_density(latent, targets),
            lambda latent: self.slopes(latent, targets)[:2],
            mean,
            variance,
        )


def setting_parameters(name: str, setting: object, bounds: tuple[float, float], unit: str) -> list[Parameter]:
    """The learned numbers of a field of a likelihood; none if it is ``fixed``."""
    levels = declared(name, setting, bounds, unit)
    return [Parameter(path, value, *own, prior, unit) for path, (value, own, prior, _) in levels.items()]


def rows_of(targets: Any, rows: NDArray[np.intp]) -> Any:
    """Some of the targets, of any type that a likelihood takes; rows may repeat."""
    if isinstance(targets, float | int):
        return targets
    if isinstance(targets, np.ndarray):
        return targets[rows]
    if hasattr(targets, "part"):
        return targets.part(rows)
    made = [rows_of(own, rows) for own in targets]
    return made if isinstance(targets, list) else type(targets)(*made)
