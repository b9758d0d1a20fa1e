r"""Ordered grades: a latent value, seen with normal noise, falls between two of several learned thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri

from espalier.gp.likelihoods.base import Likelihood, ParameterSlopes, Slopes, Tilt
from espalier.gp.parameters import Parameter, Vector

Grades = NDArray[np.intp]

_FIRST, _GAP = (-10.0, 10.0), (1e-4, 20.0)  # bounds
_UNIT = "deviations of the noise"


@dataclass(frozen=True)
class Ordinal(Likelihood[Grades]):
    r"""The probability of each of several ordered grades.

    .. math:: p(y = k \mid f) = \Phi(b_{k+1} - f) - \Phi(b_k - f), \qquad b_0 = -\infty < b_1 < \dots < \infty

    Targets are the places of the grades, from 0. The unit of the latent value is the deviation of the noise, so the
    kernel needs a scale.

    Parameters
    ----------
    first
        The lowest threshold.
    gaps
        How far each further threshold lies above the one before; one less than there are thresholds.

    Examples
    --------
    >>> Ordinal(-1.0, (2.0,)).probabilities(np.array([0.0]), np.array([0.0])).round(3)
    array([[0.159, 0.683, 0.159]])
    """

    first: float = -1.0
    gaps: tuple[float, ...] = (2.0,)

    def __post_init__(self) -> None:
        if not np.isfinite(self.first) or not all(0 < gap < np.inf for gap in self.gaps):
            raise ValueError(f"first must be a finite number and gaps positive, got {self.first!r} and {self.gaps!r}.")

    @property
    def thresholds(self) -> Vector:
        """The thresholds, from the lowest one up."""
        return np.cumsum([self.first, *self.gaps])

    @property
    def n_grades(self) -> int:
        """How many grades there are."""
        return len(self.gaps) + 2

    def log_density(self, latent: Vector, targets: Grades) -> Vector:
        return self._log_mass(*self._between(latent, targets, 1.0))

    def slopes(self, latent: Vector, targets: Grades) -> Slopes:
        return self._slopes(*self._between(latent, targets, 1.0))

    def parameters(self) -> list[Parameter]:
        first = Parameter("first", self.first, *_FIRST, None, _UNIT, signed=True, declared=False)
        return [first] + [
            Parameter(f"gap[{k}]", gap, *_GAP, None, _UNIT, declared=False) for k, gap in enumerate(self.gaps, 1)
        ]

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        gaps = tuple(float(values.get(f"gap[{k}]", gap)) for k, gap in enumerate(self.gaps, 1))
        return replace(self, first=float(values.get("first", self.first)), gaps=gaps)

    def parameter_slopes(self, latent: Vector, targets: Grades) -> dict[str, ParameterSlopes]:
        low, high = self._between(latent, targets, 1.0)
        at_low, at_high = self._edges(low, high)
        bend = (at_low - at_high) ** 2 + _times(high, at_high) - _times(low, at_low)
        out = {}
        for path, moves_low, moves_high in self._moved(targets):
            by_high, by_low = moves_high * at_high, moves_low * at_low
            log_density = by_high - by_low
            # The change of both edges' densities, divided by the mass between them.
            high_change = -_times(high, by_high) - at_high * log_density
            low_change = -_times(low, by_low) - at_low * log_density
            slope = low_change - high_change
            curvature = 2 * (at_low - at_high) * slope + by_high - by_low
            curvature += _times(high, high_change) - _times(low, low_change)
            with np.errstate(divide="ignore", invalid="ignore"):
                log_curvature = np.where(bend > 0, curvature / bend, 0.0)
            out[path] = ParameterSlopes(log_density, slope, log_curvature)
        return out

    def tilt(self, mean: Vector, variance: Vector, targets: Grades) -> Tilt:
        scale = np.sqrt(1 + variance)
        low, high = self._between(mean, targets, scale)
        own = self._slopes(low, high)
        return Tilt(self._log_mass(low, high), own.slope / scale, own.curvature / (1 + variance))

    def tilt_slopes(self, mean: Vector, variance: Vector, targets: Grades) -> dict[str, Vector]:
        scale = np.sqrt(1 + variance)
        at_low, at_high = self._edges(*self._between(mean, targets, scale))
        return {path: (high * at_high - low * at_low) / scale for path, low, high in self._moved(targets)}

    def target_moments(self, latent: Vector) -> tuple[Vector, Vector]:
        p = self.probabilities(latent, np.zeros(len(latent)))
        places = np.arange(self.n_grades)
        mean = p @ places
        return mean, np.maximum(p @ places**2 - mean**2, 0.0)

    def log_predictive_density(self, mean: Vector, variance: Vector, targets: Grades) -> Vector:
        return self._log_mass(*self._between(mean, targets, np.sqrt(1 + variance)))

    def probabilities(self, mean: Vector, variance: Vector) -> Vector:
        """Return the probability of each grade, one column each, if the latent value is normal."""
        grades = np.arange(self.n_grades)
        each = [self.log_predictive_density(mean, variance, np.full(len(mean), grade)) for grade in grades]
        out = np.exp(np.stack(each, axis=1))
        return np.asarray(out / out.sum(axis=1, keepdims=True))

    def _between(self, latent: Vector, targets: Grades, scale: Vector | float) -> tuple[Vector, Vector]:
        """The thresholds on both sides of each grade, seen from the latent value."""
        edges = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        return (edges[targets] - latent) / scale, (edges[targets + 1] - latent) / scale

    @staticmethod
    def _log_mass(low: Vector, high: Vector) -> Vector:
        """The log probability of a standard normal value between two others, exact in both tails."""
        mirrored = low > 0
        below, above = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
        whole = log_ndtr(above)
        with np.errstate(divide="ignore"):
            return np.asarray(whole + np.log(-np.expm1(np.minimum(log_ndtr(below) - whole, 0.0))))

    @classmethod
    def _edges(cls, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        """The normal density at both ends, divided by the mass between them."""
        mass = cls._log_mass(low, high)
        with np.errstate(over="ignore"):
            at = [np.exp(-0.5 * edge**2 - 0.5 * np.log(2 * np.pi) - mass) for edge in (low, high)]
        return at[0], at[1]

    @classmethod
    def _slopes(cls, low: Vector, high: Vector) -> Slopes:
        at_low, at_high = cls._edges(low, high)
        slope = at_low - at_high
        bend = _times(high, at_high) - _times(low, at_low)
        curvature = np.maximum(slope**2 + bend, 0.0)
        third = _times(low, _times(low, at_low)) - _times(high, _times(high, at_high)) - slope
        cubic = third + 3 * slope * bend + 2 * slope**3
        with np.errstate(divide="ignore", invalid="ignore"):
            return Slopes(slope, curvature, np.where(curvature > 0, cubic / curvature, 0.0))

    def _moved(self, targets: Grades) -> list[tuple[str, Vector, Vector]]:
        """By learned number: how far it moves the lower and the upper edge of each grade."""
        n = len(self.gaps)
        inner_low, inner_high = targets > 0, targets <= n
        moved = {"first": (inner_low, inner_high)}
        moved |= {f"gap[{k}]": (targets > k, (targets >= k) & inner_high) for k in range(1, n + 1)}
        return [(path, low.astype(np.float64), high.astype(np.float64)) for path, (low, high) in moved.items()]


def _times(edge: Vector, at: Vector) -> Vector:
    """An edge times its density, which is 0 at infinity."""
    return np.where(np.isinf(edge), 0.0, edge) * np.where(np.isinf(edge), 0.0, at)


def start_of_thresholds(counts: Vector) -> Ordinal:
    """Thresholds that give grades their frequencies if latent values are normal with variance 1 and noise as large."""
    shares = np.cumsum(counts)[:-1] / np.sum(counts)
    places = np.sqrt(2.0) * ndtri(np.clip(shares, 1e-3, 1 - 1e-3))
    return Ordinal(float(places[0]), tuple(np.maximum(np.diff(places), 1e-2).tolist()))
