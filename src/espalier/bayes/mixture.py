"""Predictions averaged over hyperparameters: mixtures of normal distributions, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr

from espalier.gp.parameters import Vector
from espalier.gp.prediction import Prediction, levels_of
from espalier.kept import kept
from espalier.structures.numbers import shown

_HALVINGS = 200  # at most; a bracket of floating-point numbers is at its end after about 60


@dataclass(frozen=True, eq=False)
class Mixture:
    """A distribution for each example: that of each draw of the hyperparameters, with its weight.

    Attributes
    ----------
    parts
        The prediction of each draw.
    weights
        The weight of each; all sum to 1.
    """

    parts: tuple[Prediction, ...]
    weights: Vector

    def __len__(self) -> int:
        return len(self.parts[0])

    @kept
    def _moments(self) -> tuple[Vector, Vector, Vector]:
        """The mean, and the two variances that add up: inside the parts, and between them."""
        means = np.stack([part.mean for part in self.parts])
        mean = self.weights @ means
        inside = self.weights @ np.stack([part.std**2 for part in self.parts])
        return mean, inside, self.weights @ (means - mean) ** 2

    @property
    def mean(self) -> Vector:
        """The mean, which minimises the expected squared error."""
        return self._moments[0]

    @property
    def std(self) -> Vector:
        """The standard deviation: that of each draw, and the spread of their means."""
        return np.asarray(np.sqrt(self._moments[1] + self._moments[2]))

    @property
    def std_between(self) -> Vector:
        """The part of the deviation that comes from not knowing the hyperparameters: the spread of the means."""
        return np.asarray(np.sqrt(self._moments[2]))

    @property
    def median(self) -> Vector:
        """The median, which minimises the expected absolute error."""
        return self.quantiles([0.5])[:, 0]

    def probability_below(self, y: Vector) -> Vector:
        """Return the probability of a target of at most ``y``, for each example: the distribution function."""
        total = np.zeros(np.shape(y))
        for part, weight in zip(self.parts, self.weights.tolist(), strict=True):
            away = part.target.modelled(np.asarray(y, np.float64))[0] - part.modelled_mean
            with np.errstate(divide="ignore", invalid="ignore"):
                total += weight * np.where(part.modelled_std > 0, ndtr(away / part.modelled_std), away >= 0)
        return total

    def quantiles(self, levels: object) -> Vector:
        """Return the quantiles at some levels between 0 and 1, one column each, as roots of the distribution function.

        The quantile of a mixture lies between the least and the largest of its parts, and is found there by halving.
        """
        wanted = levels_of(levels)
        each = np.stack([part.quantiles(wanted) for part in self.parts])
        low, high = each.min(axis=0), each.max(axis=0)
        for _ in range(_HALVINGS):
            middle = low + 0.5 * (high - low)
            if ((middle <= low) | (middle >= high)).all():
                break
            is_below = np.stack([self.probability_below(column) for column in middle.T], axis=1) < wanted
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return np.asarray(high)

    def interval(self, probability: float = 0.9) -> Vector:
        """Return the central interval with this probability: two columns, low and high."""
        if not 0 < probability < 1:
            raise ValueError(f"probability must lie between 0 and 1, both excluded, got {shown(probability)}.")
        return self.quantiles([0.5 - probability / 2, 0.5 + probability / 2])

    def log_density(self, y: object) -> Vector:
        """Return the log density of an observed target for each example; minus infinity if the value is impossible."""
        own = np.stack([part.log_density(y) for part in self.parts])
        return np.asarray(logsumexp(own, axis=0, b=self.weights[:, None]))
