"""What the experiments with several tasks share: numbers with stated priors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from espalier.gp import LogNormal
from espalier.kernels import Coregion, Learned, PerLabel

START, SPREAD = 0.6, 0.4  # of the noise: the share of the variance of a standardised target, and a factor of 1.5


@dataclass(frozen=True)
class Near:
    """A prior of numbers of either sign: normal around one number."""

    mean: float
    spread: float

    def log_density(self, value: float) -> float:
        """The logarithm of the density."""
        return -0.5 * ((value - self.mean) / self.spread) ** 2 - math.log(self.spread * math.sqrt(2 * math.pi))

    def slope(self, value: float) -> float:
        """Its derivative."""
        return (self.mean - value) / self.spread**2

    def draw(self, rng: np.random.Generator) -> float:
        """A random number."""
        return float(rng.normal(self.mean, self.spread))


def weak_noise() -> Learned:
    """One noise. Without its prior, kernels that are near the identity take all noise for signal."""
    return Learned(START, prior=LogNormal(START, SPREAD))


def weight(start: float) -> Learned:
    """The weight of a kernel of items, within a factor of 4 of its start with probability 0.95."""
    return Learned(start, prior=LogNormal(start, 0.7))


def coregion(rank: int, on: str = "task") -> Coregion:
    """A kernel of tasks, its own variances under a prior: within a factor of 7 with probability 0.95."""
    return Coregion(on=on, rank=rank, kappa=PerLabel(Learned(0.3, prior=LogNormal(0.3, 1.0))))
