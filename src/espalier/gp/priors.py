"""Priors over positive numbers: beliefs about hyperparameters before any data.

They are declared on the hyperparameter, ``Learned(0.1, prior=LogNormal(0.1, 1.0))``, and their log density is added
to the objective. Densities of single numbers are in natural units, so the result does not depend on the space that is
searched. A joint prior is about all numbers of one ``PerLabel``, and its density is that of their logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from espalier.kernels.hyperparameters import Weak
from espalier.kernels.stored import written
from espalier.structures.numbers import finite_number

Vector = NDArray[np.float64]


@runtime_checkable
class Prior(Protocol):
    """What a learner needs from a prior of one number; your own needs these three methods and must be hashable."""

    def log_density(self, value: float) -> float:
        """Return the log density at a value; minus infinity if the value is impossible."""

    def slope(self, value: float) -> float:
        """Return the derivative of the log density."""

    def draw(self, rng: np.random.Generator) -> float:
        """Return a random value."""


@runtime_checkable
class JointPrior(Protocol):
    """What a learner needs from a prior of all numbers of one ``PerLabel``; it must be hashable."""

    def log_density(self, values: Vector) -> float:
        """Return the log density of the logarithms of some numbers; minus infinity if a number is impossible."""

    def slopes(self, values: Vector) -> Vector:
        """Return its derivative with respect to each number."""

    def draw(self, rng: np.random.Generator, n: int) -> Vector:
        """Return ``n`` random numbers."""


@dataclass(frozen=True)
class _Positive:
    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            finite_number(f"{field.name} of a {type(self).__name__} prior", value)
            if isinstance(value, np.generic):  # would not print as Python reads it
                object.__setattr__(self, field.name, value.item())


@dataclass(frozen=True)
class LogNormal(_Positive):
    """The logarithm is normal around the logarithm of ``median``; ``spread`` is its standard deviation.

    A spread of 1 means: within a factor of 2.7 with probability 0.68, within 7 with 0.95.

    Examples
    --------
    >>> round(LogNormal(median=0.1, spread=1.0).log_density(0.1), 4)
    1.3836
    """

    median: float
    spread: float = 1.0

    def log_density(self, value: float) -> float:
        if value <= 0:
            return -math.inf
        z = (math.log(value) - math.log(self.median)) / self.spread
        return -0.5 * z * z - math.log(value) - math.log(self.spread) - 0.5 * math.log(2 * math.pi)

    def slope(self, value: float) -> float:
        return -(1 + (math.log(value) - math.log(self.median)) / self.spread / self.spread) / value

    def draw(self, rng: np.random.Generator) -> float:
        with np.errstate(over="ignore"):
            return float(self.median * np.exp(self.spread * rng.standard_normal()))


@dataclass(frozen=True)
class HalfNormal(_Positive):
    """The positive half of a normal around 0 with standard deviation ``scale``: small values are probable."""

    scale: float

    def log_density(self, value: float) -> float:
        if value < 0:
            return -math.inf
        z = value / self.scale
        return 0.5 * math.log(2 / math.pi) - math.log(self.scale) - 0.5 * z * z

    def slope(self, value: float) -> float:
        return -value / self.scale / self.scale

    def draw(self, rng: np.random.Generator) -> float:
        return float(abs(self.scale * rng.standard_normal()))


@dataclass(frozen=True)
class Gamma(_Positive):
    """Positive with mean ``shape * scale`` and variance ``shape * scale**2``."""

    shape: float
    scale: float = 1.0

    def log_density(self, value: float) -> float:
        if value <= 0:
            return -math.inf
        shape = self.shape
        return float((shape - 1) * math.log(value) - value / self.scale - gammaln(shape) - shape * math.log(self.scale))

    def slope(self, value: float) -> float:
        return (self.shape - 1) / value - 1 / self.scale

    def draw(self, rng: np.random.Generator) -> float:
        return float(rng.gamma(self.shape, self.scale))


@dataclass(frozen=True)
class Beta(_Positive):
    """Between 0 and 1 with mean ``a / (a + b)``: for a decay that must not reach 1. Searched in logit space."""

    a: float
    b: float

    def log_density(self, value: float) -> float:
        if not 0 < value < 1:
            return -math.inf
        return float((self.a - 1) * math.log(value) + (self.b - 1) * math.log1p(-value) - betaln(self.a, self.b))

    def slope(self, value: float) -> float:
        return (self.a - 1) / value - (self.b - 1) / (1 - value)

    def draw(self, rng: np.random.Generator) -> float:
        return float(rng.beta(self.a, self.b))


@dataclass(frozen=True, repr=False)
class AroundCommon(_Positive):
    """The numbers of one ``PerLabel`` are around a common value, which is itself unknown.

    The logarithm of each number is normal around that of the common value, and that of the common value is normal
    around the logarithm of ``median``. The common value is integrated out: it is no number to learn.

    Parameters
    ----------
    median
        What the common value is expected to be.
    spread
        The standard deviation of the logarithm of each number around that of the common value.
    common_spread
        The standard deviation of the logarithm of the common value.

    Notes
    -----
    A number that the targets say nothing about is pulled to the mean of the others. The density is that of the
    logarithms, so it is highest where all numbers are ``median``, however many there are.

    Examples
    --------
    >>> alike, unlike = np.array([0.2, 0.2]), np.array([0.1, 0.4])
    >>> prior = AroundCommon(median=0.4)
    >>> round(prior.log_density(alike) - prior.log_density(unlike), 4)
    1.9218
    """

    median: float
    spread: float = 0.5
    common_spread: float = 3.0

    def log_density(self, values: Vector) -> float:
        if np.any(values <= 0):
            return -math.inf
        n, away, common = self._away(values)
        total = self.spread**2 + n * self.common_spread**2  # the variance of the mean, times n
        quadratic = float(away @ away) / self.spread**2 + n * common**2 / total
        return -0.5 * (quadratic + (n - 1) * math.log(self.spread**2) + math.log(total) + n * math.log(2 * math.pi))

    def slopes(self, values: Vector) -> Vector:
        n, away, common = self._away(values)
        return -(away / self.spread**2 + common / (self.spread**2 + n * self.common_spread**2)) / values

    def draw(self, rng: np.random.Generator, n: int) -> Vector:
        common = self.common_spread * rng.standard_normal()
        with np.errstate(over="ignore"):
            return np.asarray(self.median * np.exp(common + self.spread * rng.standard_normal(n)))

    def __repr__(self) -> str:
        return written(self, repr(self.median))

    def _away(self, values: Vector) -> tuple[int, Vector, float]:
        """How many numbers there are, how far each logarithm is from their mean, and this from that of the median."""
        logs = np.log(values) - math.log(self.median)
        mean = float(logs.mean())
        return len(values), logs - mean, mean


def chosen_prior(prior: object) -> object:
    """A declared prior; the one that ``PerLabel`` means by ``"weak"`` is made here."""
    return AroundCommon(prior.start) if isinstance(prior, Weak) else prior
