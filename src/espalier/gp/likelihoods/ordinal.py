r"""Ordered grades: a latent value, seen with normal noise, falls between two of several learned thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp, ndtri

from espalier.gp.likelihoods.base import Likelihood, ParameterSlopes, Slopes, Tilt, setting_parameters
from espalier.gp.parameters import Parameter, Vector
from espalier.kernels.hyperparameters import Fixed, Learned, fixed, number_of, with_number

Grades = NDArray[np.intp]
Number = float | Learned | Fixed

_FIRST, _GAP = (-1e4, 1e4), (1e-4, 1e4)  # bounds
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
        The lowest threshold: a number, which is learned, ``fixed`` or ``Learned``.
    gaps
        How far each further threshold lies above the one before; one less than there are thresholds. Each is a number
        like ``first``.

    Examples
    --------
    >>> Ordinal(-1.0, (2.0,)).probabilities(np.array([0.0]), np.array([0.0])).round(3)
    array([[0.159, 0.683, 0.159]])
    """

    first: Number = -1.0
    gaps: tuple[Number, ...] = (2.0,)

    def __post_init__(self) -> None:
        gaps = [number_of(gap) for gap in self.gaps]
        if not np.isfinite(number_of(self.first)) or not all(0 < gap < np.inf for gap in gaps):
            raise ValueError(f"first must be a finite number and gaps positive, got {self.first!r} and {self.gaps!r}.")

    @property
    def thresholds(self) -> Vector:
        """The thresholds, from the lowest one up."""
        return np.cumsum([number_of(own) for own in (self.first, *self.gaps)])

    @property
    def n_grades(self) -> int:
        """How many grades there are."""
        return len(self.gaps) + 2

    def log_density(self, latent: Vector, targets: Grades) -> Vector:
        return self._log_mass(*self._between(latent, targets, 1.0))

    def slopes(self, latent: Vector, targets: Grades) -> Slopes:
        return self._slopes(*self._between(latent, targets, 1.0))

    def parameters(self) -> list[Parameter]:
        first = setting_parameters("first", self.first, _FIRST, _UNIT)
        gaps = [(f"gap[{k}]", gap) for k, gap in enumerate(self.gaps, 1)]
        return [replace(own, signed=True) for own in first] + [
            own for path, gap in gaps for own in setting_parameters(path, gap, _GAP, _UNIT)
        ]

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        paths = ["first", *(f"gap[{k}]" for k in range(1, len(self.gaps) + 1))]
        first, *gaps = (
            with_number(own, values[path]) if path in values else own
            for path, own in zip(paths, (self.first, *self.gaps), strict=True)
        )
        return replace(self, first=first, gaps=tuple(gaps))

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

    @property
    def has_closed_tilt(self) -> bool:
        return True

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
        return np.exp(self.log_probabilities(mean, variance))

    def log_probabilities(self, mean: Vector, variance: Vector) -> Vector:
        """Return the log probability of each grade, one column each, if the latent value is normal."""
        grades = np.arange(self.n_grades)
        each = [self.log_predictive_density(mean, variance, np.full(len(mean), grade)) for grade in grades]
        out = np.stack(each, axis=1)
        return np.asarray(out - logsumexp(out, axis=1, keepdims=True))

    @classmethod
    def of_counts(cls, counts: NDArray[Any], variance: float = 1.0, *, keeps_first: bool = False) -> Self:
        """Thresholds that give each grade its share of the rows if latent values are normal around 0.

        A grade counts half a row more than it has. No row says how wide a grade without rows is, so this width is
        ``fixed``; with ``keeps_first`` the lowest threshold is fixed, too.

        Parameters
        ----------
        counts
            How many rows each grade has.
        variance
            The prior variance of the latent values.

        Examples
        --------
        >>> Ordinal.of_counts(np.array([50, 0, 50])).thresholds.round(3)
        array([-0.009,  0.009])
        """
        shares = np.cumsum(counts + 0.5)[:-1] / np.sum(counts + 0.5)
        places = np.sqrt(1 + variance) * ndtri(shares)
        numbers: list[Number] = [float(places[0]), *np.diff(places).tolist()]
        kept = {min(grade, len(numbers) - 1) for grade in np.flatnonzero(np.asarray(counts) == 0).tolist()}
        for k in kept | ({0} if keeps_first else set()):
            numbers[k] = fixed(number_of(numbers[k]))
        return cls(numbers[0], tuple(numbers[1:]))

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
        learned = [parameter.path for parameter in self.parameters()]
        return [(path, moved[path][0].astype(np.float64), moved[path][1].astype(np.float64)) for path in learned]


def _times(edge: Vector, at: Vector) -> Vector:
    """An edge times its density, which is 0 at infinity."""
    return np.where(np.isinf(edge), 0.0, edge) * np.where(np.isinf(edge), 0.0, at)
