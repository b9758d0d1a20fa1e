"""The space in which each hyperparameter is searched, with its bounds and its prior; only this module knows it.

Kernels, noise and target transforms use natural units; an optimiser moves in a space where steps make sense:
the logarithm of a positive number, the logit of one with a ``Beta`` prior, the number itself if it may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.gp.priors import Beta, Prior

Vector = NDArray[np.float64]
SearchSpace = Literal["log", "logit", "linear"]

TINY = 1e-12  # the largest number that replaces a bound of 0 in log space; the distance of the logit's interval from 1
REACH = 1e3  # a start is drawn at most this factor away from the declared value
_LOG_MAX = math.log(np.finfo(np.float64).max)
JITTER = 0.5  # standard deviation, in the searched space, of values drawn for one family (one PerLabel)


@dataclass(frozen=True)
class Parameter:
    """A number to learn: its path, start, bounds and unit."""

    path: str
    start: float
    low: float
    high: float
    prior: Any = None
    unit: str = ""
    signed: bool = False
    declared: bool = True  # whether a user may declare its bounds

    def __post_init__(self) -> None:
        if self.prior is not None and (isinstance(self.prior, type) or not isinstance(self.prior, Prior)):
            hint = f" Write {self.prior.__name__}(...), with its numbers." if isinstance(self.prior, type) else ""
            raise TypeError(
                f"The prior of {self.path} must be LogNormal, HalfNormal, Gamma, Beta or an object with "
                f"log_density, slope and draw, got {self.prior!r}.{hint}"
            )
        if not self.low <= self.start <= self.high:
            wider = ", or declare wider bounds: Learned(value, bounds=(low, high))" if self.declared else ""
            raise ValueError(
                f"{self.path} starts at {self.start:.6g}, outside its bounds ({self.low:.6g}, {self.high:.6g}). "
                f"Start inside{wider}."
            )
        if self.prior is not None and not math.isfinite(self.prior.log_density(self.start)):
            raise ValueError(
                f"{self.path} starts at {self.start:.6g}, which its prior {self.prior!r} excludes. "
                "Start where the prior has mass, or choose another prior."
            )

    @property
    def space(self) -> SearchSpace:
        """The space in which the number is searched."""
        if self.signed:
            return "linear"
        return "logit" if isinstance(self.prior, Beta) else "log"

    @property
    def family(self) -> str:
        """What the numbers of one ``PerLabel`` or ``PerDimension`` share."""
        return self.path[: self.path.rindex("[")] if self.path.endswith("]") else self.path

    def encode(self, value: float) -> float:
        """The number in the searched space."""
        if self.space == "linear":
            return value
        value = max(value, self.low or min(TINY, 1e-6 * self.start))
        if self.space == "log":
            return math.log(value)
        value = min(value, 1 - TINY)
        return math.log(value) - math.log1p(-value)

    def decode(self, place: float) -> float:
        """The number from its place in the searched space, within its bounds to the last bit."""
        if self.space == "linear":
            value = place
        elif self.space == "log":
            value = math.exp(place) if place < _LOG_MAX else math.inf
        else:
            value = 1 / (1 + math.exp(-place))
        return min(max(value, self.low), self.high)

    def rate(self, value: float) -> float:
        """The derivative of the number with respect to its place."""
        if self.space == "linear":
            return 1.0
        return value if self.space == "log" else value * (1 - value)


class Parameters(tuple[Parameter, ...]):
    """Numbers to learn, in order, as one vector for an optimiser."""

    def start(self) -> Vector:
        """The declared start."""
        return self.theta({p.path: p.start for p in self})

    def theta(self, values: Mapping[str, float]) -> Vector:
        """The place of some numbers by path."""
        return np.array([p.encode(values[p.path]) for p in self])

    def bounds(self) -> list[tuple[float, float]]:
        """The bounds of each place."""
        return [(p.encode(p.low), p.encode(p.high)) for p in self]

    def values(self, theta: Vector) -> dict[str, float]:
        """The numbers by path, in natural units."""
        return {p.path: p.decode(float(place)) for p, place in zip(self, theta, strict=True)}

    def gradient(self, values: Mapping[str, float], natural: Mapping[str, float]) -> Vector:
        """The gradient in the searched space from the one in natural units."""
        return np.array([natural.get(p.path, 0.0) * p.rate(values[p.path]) for p in self])

    def log_prior(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """The sum of the log densities, and its derivative by path."""
        total, slopes = 0.0, {}
        for p in self:
            if p.prior is not None:
                density = p.prior.log_density(values[p.path])
                if not math.isfinite(density):
                    raise FloatingPointError(
                        f"The prior of {p.path} has a log density of {density} at {values[p.path]:.6g}. Declare bounds "
                        "inside which it is finite: Learned(value, bounds=(low, high), prior=...)."
                    )
                total += density
                slopes[p.path] = p.prior.slope(values[p.path])
        return total, slopes

    def draw(self, rng: np.random.Generator) -> Vector:
        """A random start: from the prior, or log-uniform between the bounds, at most a factor 1,000 from the start.

        The numbers of one ``PerLabel`` are drawn around a common value; numbers that differ by six orders of magnitude
        would be an implausible start.
        """
        common: dict[str, float] = {}
        out = []
        for p in self:
            if p.prior is not None:
                place = p.encode(p.prior.draw(rng))
            else:
                reach = 3.0 if p.space == "linear" else math.log(REACH)
                centre = p.encode(p.start)
                low, high = max(p.encode(p.low), centre - reach), min(p.encode(p.high), centre + reach)
                if p.family not in common:
                    common[p.family] = rng.uniform(low, high)
                place = common[p.family]
                if p.family != p.path:
                    place += JITTER * rng.standard_normal()
            out.append(min(max(place, p.encode(p.low)), p.encode(p.high)))
        return np.array(out)
