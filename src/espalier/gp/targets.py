"""From the user's targets to the numbers a Gaussian process models, and back.

``z = (g(y) - location) / scale``: the transform, then standardising. Location and scale follow the transform when
that is learned, so that a scale of 1 keeps its meaning for kernel and noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from espalier.errors import InputError
from espalier.gp.parameters import Vector
from espalier.gp.transforms import Transform

# Gauss-Hermite nodes: exact for polynomials up to degree 99, far past what a smooth inverse needs.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(50)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class Target:
    """A transform with the location and scale that standardise what it gives."""

    transform: Transform
    location: float
    scale: float
    standardized: bool

    @staticmethod
    def of(transform: Transform, y: Vector, *, standardize: bool) -> tuple[Target, Vector, float]:
        """Return the target, the modelled numbers, and the log of the Jacobian of all of them."""
        transformed, log_slope = transform.forward(y)
        location, scale = (_location_and_scale(transformed)) if standardize else (0.0, 1.0)
        target = Target(transform, location, scale, standardize)
        jacobian = float(log_slope.sum()) - len(y) * math.log(scale)
        return target, (transformed - location) / scale, jacobian

    def pull_back(self, y: Vector, z: Vector, z_bar: Vector, scale_bar: float = 0.0) -> dict[str, float]:
        """Pull a gradient of ``z`` (and of the scale, where noise depends on it) back to the transform."""
        if not self.transform.parameters():
            return {}
        bar = z_bar / self.scale
        if self.standardized:
            n = len(y)
            bar = (z_bar - z_bar.mean() - z * float(z_bar @ z) / n - z) / self.scale + scale_bar * z / n
        return self.transform.pull_back(y, bar, np.ones(len(y)))

    def modelled(self, y: Vector) -> tuple[Vector, Vector]:
        """The modelled numbers of some targets, and the log slope of each."""
        transformed, log_slope = self.transform.forward(y)
        return (transformed - self.location) / self.scale, log_slope - math.log(self.scale)

    def restored(self, z: Vector) -> Vector:
        """The user's numbers from modelled ones."""
        return self.transform.inverse(self.location + self.scale * np.asarray(z))

    @property
    def is_linear(self) -> bool:
        """True where the target is only shifted and scaled."""
        return type(self.transform) is Transform

    def moments(self, mean: Vector, sd: Vector) -> tuple[Vector, Vector]:
        """The mean and standard deviation in the user's units of a normal in modelled ones."""
        if self.is_linear:
            return self.restored(mean), self.scale * sd
        values = self.restored(mean[:, None] + sd[:, None] * _NODES)
        first = values @ _WEIGHTS
        return first, np.sqrt(np.maximum(((values - first[:, None]) ** 2) @ _WEIGHTS, 0.0))

    @property
    def unit(self) -> str:
        """What the modelled numbers are measured in."""
        return f"standard deviations of {self.transform.name}" if self.standardized else self.transform.name


def check_targets(y: object, n: int) -> Vector:
    """Return the targets as numbers, or say what is wrong with them."""
    try:
        values = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        raise InputError("y must be numbers, one for each example.") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"y must hold one number for each example, got an array of shape {values.shape}.")
    if len(values) != n:
        raise InputError(f"X has {n:,} examples but y has {len(values):,} targets; they must be as many.")
    if n == 0:
        raise InputError("There are no examples to learn from: X and y are empty.")
    check_finite_numbers(values, "y")
    return values


def check_finite_numbers(values: Vector, name: str) -> None:
    """Refuse NaN and infinity, naming the first."""
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(
            f"{name}[{bad[0]}] is {values[bad[0]]}; {len(bad):,} of {len(values):,} values of {name} are not finite. "
            "Drop these examples or fill in their values."
        )


def _location_and_scale(z: Vector) -> tuple[float, float]:
    top = float(np.abs(z).max()) or 1.0
    part = z / top  # so that squares of huge numbers do not overflow
    location, scale = float(part.mean()) * top, float(part.std()) * top
    if not scale > 1e-12 * max(abs(location), 1e-300):
        scale = 1.0
    return location, scale


def is_constant(y: Vector) -> bool:
    """True where standardising has nothing to divide by."""
    return bool(y.max() - y.min() <= 1e-12 * max(abs(float(y.max())), abs(float(y.min()))))


def levels_of(quantiles: object) -> Vector:
    """Return quantile levels as an array, or say what is wrong with them."""
    levels = np.atleast_1d(np.asarray(quantiles, np.float64))
    if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"quantiles must lie between 0 and 1, both excluded, got {quantiles!r}.")
    return levels
