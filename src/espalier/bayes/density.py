"""The posterior density of hyperparameters, in coordinates that run from minus to plus infinity.

An optimiser may stop at a bound; a sampler must not meet one. So every number has a coordinate ``u``. Its place in the
searched space (``gp/parameters.py``: the logarithm of a positive number, the logit of one with a ``Beta`` prior) is

    place = low + (high - low) / (1 + exp(-u))

between two finite bounds, ``low + exp(u)`` or ``high - exp(u)`` beside a single one, and ``u`` without any. The density
of ``u`` is the evidence times the priors times the derivatives of both steps, so that it is that of the numbers
themselves. A number without a prior is as probable anywhere between its bounds in the searched space: a positive
number has a flat logarithm. A joint prior, such as that of all labels, is a density of places already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from espalier.errors import InputError
from espalier.gp.objective import Objective
from espalier.gp.parameters import Parameters, Vector

_LOG_LARGEST = 700.0  # exponentials of larger numbers overflow
EDGE = 1e-3  # the share of the interval between bounds that a start keeps away from each


class Density:
    """The log density of all learned numbers of an objective, as a function of their coordinates."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.parameters = Parameters(objective.parameters())
        bounds = np.array(self.parameters.bounds(), np.float64).reshape(-1, 2)
        self._has_low, self._has_high = np.isfinite(bounds).T
        self._low, self._high = np.where(np.isfinite(bounds), bounds, 0.0).T
        self._between = self._has_low & self._has_high
        self._has_prior = np.array([p.prior is not None for p in self.parameters], bool)
        self._in_units = np.array([p.has_natural_density for p in self.parameters], bool)
        self._width = np.where(self._between, self._high - self._low, 0.0)
        self._log_width = np.log(np.where(self._between & self._has_prior, self._width, 1.0))
        self.n_evaluations = 0
        if not len(self.parameters):
            raise InputError("There is nothing to average over: every hyperparameter of this model is fixed.")
        for p, is_proper in zip(self.parameters, self._between | self._has_prior, strict=True):
            if not is_proper:
                raise InputError(
                    f"{p.path} has neither a prior nor finite bounds, ({p.low:g}, {p.high:g}), so that no value of it "
                    "is more probable than another. Declare one of them: Learned(value, bounds=(low, high), prior=...)."
                )

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the numbers, in the order of coordinates."""
        return tuple(p.path for p in self.parameters)

    def values(self, u: Vector) -> dict[str, float]:
        """The numbers by path, in natural units."""
        return self.parameters.values(self._places(u)[0])

    def coordinates(self, values: Mapping[str, float]) -> Vector:
        """The coordinates of some numbers; one at a bound, whose coordinate is infinite, is moved inside a little."""
        place = self.parameters.theta(values)
        u = place.copy()
        share = np.clip(
            ((place - self._low) / np.where(self._between, self._width, 1.0))[self._between], EDGE, 1 - EDGE
        )
        u[self._between] = np.log(share) - np.log1p(-share)
        above, below = self._has_low & ~self._has_high, self._has_high & ~self._has_low
        u[above] = np.log(np.maximum(place - self._low, EDGE)[above])
        u[below] = np.log(np.maximum(self._high - place, EDGE)[below])
        return u

    def value(self, u: Vector) -> float:
        """The log density at some coordinates; raise if it is not finite."""
        return self._measured(u, wants_gradient=False)[0]

    def gradient(self, u: Vector) -> tuple[float, Vector]:
        """The log density and its gradient; raise if they are not finite."""
        return self._measured(u, wants_gradient=True)

    def _measured(self, u: Vector, *, wants_gradient: bool) -> tuple[float, Vector]:
        self.n_evaluations += 1
        if not np.isfinite(u).all():
            raise FloatingPointError("A coordinate is not finite.")
        place, slope, log_slope, log_slope_back = self._places(u)
        values = self.parameters.values(place)
        log_prior, prior_slopes = self.parameters.log_prior(values)
        numbers = [(p, values[p.path]) for p in self.parameters]
        log_rate, log_rate_back = np.array([_log_rate(p.space, x) for p, x in numbers]).T
        natural: dict[str, float] = {}
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found below
            if wants_gradient:
                log_likelihood, natural = self.objective.gradient(values)
            else:
                log_likelihood = self.objective.value(values)
            total = log_likelihood + log_prior + float(log_slope.sum()) + float(log_rate[self._in_units].sum())
            slopes = np.array([natural.get(p.path, 0.0) + prior_slopes.get(p.path, 0.0) for p in self.parameters])
            rates = np.array([p.rate(x) for p, x in numbers])
            gradient = (slopes * rates + np.where(self._in_units, log_rate_back, 0.0)) * slope + log_slope_back
        if not (math.isfinite(total) and np.isfinite(gradient).all()):
            raise FloatingPointError("The evidence or its gradient is not finite here.")
        return total, gradient

    def _places(self, u: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """The places, the derivative of each, the log of that, and its own derivative; a flat density is normalised."""
        share, rest = expit(u), expit(-u)
        place = self._low + self._width * share
        slope, log_slope = self._width * share * rest, log_expit(u) + log_expit(-u) + self._log_width
        back = rest - share
        if not self._between.all():
            for some, sign in ((self._has_low & ~self._has_high, 1.0), (self._has_high & ~self._has_low, -1.0)):
                away = np.exp(np.minimum(u[some], _LOG_LARGEST))
                place[some] = np.where(self._has_low, self._low, self._high)[some] + sign * away
                slope[some], log_slope[some], back[some] = sign * away, u[some], 1.0
            free = ~(self._has_low | self._has_high)
            place[free], slope[free], log_slope[free], back[free] = u[free], 1.0, 0.0, 0.0
        return place, slope, log_slope, back


def _log_rate(space: str, value: float) -> tuple[float, float]:
    """The log of the derivative of a number with respect to its place, and the derivative of that."""
    if space == "linear":
        return 0.0, 0.0
    if space == "log":
        return (math.log(value) if value > 0 else -math.inf), 1.0
    return (math.log(value) + math.log1p(-value) if 0 < value < 1 else -math.inf), 1.0 - 2.0 * value


def density_of(model: Any) -> Density:
    """The posterior density of the hyperparameters of a fitted learner, given all its training examples."""
    if not hasattr(model, "_evidence"):
        raise TypeError(
            "Hyperparameters of a fitted Gaussian process can be averaged over (GPRegressor, GPClassifier, "
            f"GPOrdinal, GPPreference), got {model!r:.80}."
        )
    return Density(model._evidence())
