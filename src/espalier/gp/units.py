"""From the user's targets to the numbers a Gaussian process models, and back.

``z = (g(y) - location) / scale``: the transform, then standardising. Location and scale follow the transform when
that is learned, so that a scale of 1 keeps its meaning for kernel and noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from espalier.gp.parameters import Vector
from espalier.gp.transforms import Transform, is_constant, location_and_scale

# Equal steps: for a smooth inverse as good as any quadrature of a normal, and better than Gauss-Hermite where the
# inverse has a kink (the end of a root's range) or climbs in steps (a warping).
_NODES = np.linspace(-13.0, 13.0, 521)
_WEIGHTS = np.exp(-0.5 * _NODES**2)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class TargetUnits:
    """A transform with the location and scale that standardise the transformed targets."""

    transform: Transform
    location: float
    scale: float
    standardized: bool
    constant: bool = False  # all targets are equal, so their spread is unknown and their value is predicted

    @staticmethod
    def of(transform: Transform, y: Vector, *, standardize: bool) -> tuple[TargetUnits, Vector, float]:
        """Return the target, the modelled numbers, and the log of the Jacobian of all of them."""
        transformed, log_slope = transform.forward(y)
        if not np.isfinite(transformed).all():
            raise FloatingPointError(
                f"A target is too large for a float64 as {transform.name}. Use smaller units, or 'log'."
            )
        location, scale = location_and_scale(transformed) if standardize else (0.0, 1.0)
        target = TargetUnits(transform, location, scale, standardize, standardize and is_constant(transformed))
        jacobian = float(log_slope.sum()) - len(y) * math.log(scale)
        return target, (transformed - location) / scale, jacobian

    def pull_back(self, y: Vector, z: Vector, z_bar: Vector, known_bar: float = 0.0) -> dict[str, float]:
        """Pull a gradient of ``z`` (and of the log of the scale, if noise is known in its units) to the transform."""
        if not self.transform.parameters():
            return {}
        bar = z_bar / self.scale
        # Divide step by step: the cube of a huge or tiny scale overflows or underflows.
        scale_bar = known_bar / self.scale
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

    def covariances(self, modelled: Vector) -> Vector:
        """Covariances in the user's units, from modelled ones of a target that is only shifted and scaled."""
        scale = np.float64(self.scale)
        with np.errstate(over="ignore"):  # covariances of targets near 1e300 are infinite
            return np.asarray(modelled * scale * scale)

    @property
    def is_linear(self) -> bool:
        """True if the target is only shifted and scaled."""
        return type(self.transform) is Transform

    def moments(self, mean: Vector, sd: Vector) -> tuple[Vector, Vector]:
        """The mean and standard deviation in the user's units of a normal in modelled ones."""
        if self.is_linear:
            return self.restored(mean), self.scale * sd
        values = self.restored(mean[:, None] + sd[:, None] * _NODES)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            first = values @ _WEIGHTS
            away = values - first[:, None]
            size = np.abs(away).max(axis=1, initial=0.0, keepdims=True)  # squares of huge numbers overflow
            second = size[:, 0] * np.sqrt(((away / np.where(size > 0, size, 1.0)) ** 2) @ _WEIGHTS)
        second = np.where(np.isfinite(first), second, np.inf)
        # A scale of 1 is as good as any for equal targets, so the mean must not depend on it.
        return (self.restored(mean) if self.constant else first), second

    @property
    def unit(self) -> str:
        """The unit of the modelled numbers."""
        return f"standard deviations of {self.transform.name}" if self.standardized else self.transform.name
