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

from espalier.gp.priors import Beta, JointPrior, Prior, chosen_prior
from espalier.gp.priors import Vector as Vector

SearchSpace = Literal["log", "logit", "linear"]

TINY = 1e-12  # the largest number that replaces a bound of 0 in log space; the distance of the logit's interval from 1
REACH = 1e3  # a start is drawn at most this factor away from the declared value
_LOG_MAX = math.log(np.finfo(np.float64).max)
JITTER = 0.5  # standard deviation, in the searched space, of values drawn for one family (one PerLabel)


@dataclass(frozen=True)
class Parameter:
    """A number to learn: its path, start, bounds, prior and unit."""

    path: str
    start: float
    low: float
    high: float
    prior: Any = None
    unit: str = ""
    signed: bool = False
    declared: bool = True  # whether a user may declare its bounds

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", chosen_prior(self.prior))
        if self.prior is not None and (isinstance(self.prior, type) or not isinstance(self.prior, Prior | JointPrior)):
            hint = f" Write {self.prior.__name__}(...), with its numbers." if isinstance(self.prior, type) else ""
            raise TypeError(
                f"The prior of {self.path} must be LogNormal, HalfNormal, Gamma, Beta, AroundCommon or an object with "
                f"log_density, slope and draw, got {self.prior!r}.{hint}"
            )
        if not self.low <= self.start <= self.high:
            wider = ", or declare wider bounds: Learned(value, bounds=(low, high))" if self.declared else ""
            raise ValueError(
                f"{self.path} starts at {self.start:.6g}, outside its bounds ({self.low:.6g}, {self.high:.6g}). "
                f"Start inside{wider}."
            )
        if self.prior is not None and not math.isfinite(self._density_of_start()):
            raise ValueError(
                f"{self.path} starts at {self.start:.6g}, which its prior {self.prior!r} excludes. "
                "Start where the prior has mass, or choose another prior."
            )

    def _density_of_start(self) -> float:
        start: Any = np.array([self.start]) if isinstance(self.prior, JointPrior) else self.start
        return float(self.prior.log_density(start))

    @property
    def has_natural_density(self) -> bool:
        """Whether its prior is a density of the number itself; a joint prior is one of logarithms."""
        return self.prior is not None and not isinstance(self.prior, JointPrior)

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
            if p.has_natural_density:
                total += _finite(p.prior.log_density(values[p.path]), p.path, values[p.path])
                slopes[p.path] = p.prior.slope(values[p.path])
        for members in self.joint():
            own = np.array([values[p.path] for p in members])
            prior = members[0].prior
            total += _finite(prior.log_density(own), members[0].family, own)
            slopes |= {p.path: float(slope) for p, slope in zip(members, prior.slopes(own), strict=True)}
        return total, slopes

    def joint(self) -> list[list[Parameter]]:
        """The numbers that have a joint prior, by family."""
        found: dict[tuple[str, Any], list[Parameter]] = {}
        for p in self:
            if isinstance(p.prior, JointPrior):
                found.setdefault((p.family, p.prior), []).append(p)
        return list(found.values())

    def draw(self, rng: np.random.Generator) -> Vector:
        """A random start: from the prior, or log-uniform between the bounds, at most a factor 1,000 from the start.

        The numbers of one ``PerLabel`` are drawn around a common value; numbers that differ by six orders of magnitude
        would be an implausible start.
        """
        common: dict[str, float] = {}
        drawn: dict[str, float] = {}
        for members in self.joint():
            values = members[0].prior.draw(rng, len(members)).tolist()
            drawn |= {p.path: value for p, value in zip(members, values, strict=True)}
        out = []
        for p in self:
            if p.path in drawn:
                place = p.encode(drawn[p.path])
            elif p.prior is not None:
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


def _finite(density: float, path: str, values: Any) -> float:
    """A log density; raise if it is not finite, because a prior excludes values inside the bounds."""
    if not math.isfinite(density):
        shown = ", ".join(f"{value:.6g}" for value in np.atleast_1d(values)[:3])
        raise FloatingPointError(
            f"The prior of {path} has a log density of {density} at {shown}. Declare bounds inside which it is finite: "
            "Learned(value, bounds=(low, high), prior=...)."
        )
    return density
