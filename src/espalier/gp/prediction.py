"""Predictions of a Gaussian process: whole distributions, in the user's units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from espalier.errors import InputError
from espalier.gp.parameters import Vector
from espalier.gp.units import TargetUnits
from espalier.gram.targets import target_numbers
from espalier.kept import kept
from espalier.structures.columns import refuse_masked
from espalier.structures.numbers import shown


@dataclass(frozen=True, eq=False)
class Prediction:
    """A distribution for each example: normal in the modelled units, transformed to the user's units.

    Attributes
    ----------
    modelled_mean, modelled_std
        In units of the transformed, standardised target.
    """

    modelled_mean: Vector
    modelled_std: Vector
    target: TargetUnits

    def __len__(self) -> int:
        return len(self.modelled_mean)

    @kept
    def _moments(self) -> tuple[Vector, Vector]:
        return self.target.moments(self.modelled_mean, self.modelled_std)

    @property
    def mean(self) -> Vector:
        """The mean, which minimises the expected squared error."""
        return self._moments[0]

    @property
    def std(self) -> Vector:
        """The standard deviation."""
        return self._moments[1]

    @property
    def median(self) -> Vector:
        """The median, which minimises the expected absolute error."""
        return self.target.restored(self.modelled_mean)

    def quantiles(self, levels: object) -> Vector:
        """Return the quantiles at some levels between 0 and 1, one column each."""
        steps = ndtri(levels_of(levels))
        return self.target.restored(self.modelled_mean[:, None] + self.modelled_std[:, None] * steps)

    def interval(self, probability: float = 0.9) -> Vector:
        """Return the central interval with this probability: two columns, low and high."""
        if not 0 < probability < 1:
            raise ValueError(f"probability must lie between 0 and 1, both excluded, got {shown(probability)}.")
        return self.quantiles([0.5 - probability / 2, 0.5 + probability / 2])

    def log_density(self, y: object) -> Vector:
        """Return the log density of an observed target for each example; minus infinity if the value is impossible.

        If the deviation is 0, it is infinite at the predicted value, and minus infinity elsewhere.
        """
        values = target_numbers(y)
        if values.shape != (len(self),):
            raise InputError(
                f"There are {len(self):,} predictions, so y must hold as many targets, got {values.shape}."
            )
        if np.isnan(values).any():
            raise InputError(f"y[{int(np.argmax(np.isnan(values)))}] is nan; a density needs a number.")
        z, log_slope = self.target.modelled(values)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            away = z - self.modelled_mean
            out = -0.5 * (away / self.modelled_std) ** 2 - np.log(self.modelled_std)
            out += log_slope - 0.5 * math.log(2 * math.pi)
        sure = self.modelled_std == 0
        out[sure] = np.where(away[sure] == 0, np.inf, -np.inf)
        possible = np.isfinite(z) & np.isfinite(log_slope)
        return np.where(possible, out, -np.inf)


def levels_of(quantiles: object) -> Vector:
    """Return quantile levels as an array; raise if they are not between 0 and 1."""
    refuse_masked(quantiles, "quantiles")
    try:
        levels = np.atleast_1d(np.asarray(quantiles, np.float64))
    except (TypeError, ValueError, OverflowError):
        levels = np.array([np.nan])
    if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(
            f"quantiles must lie between 0 and 1, both excluded, such as [0.05, 0.5, 0.95], got {quantiles!r:.80}."
        )
    return levels
