"""How far predictions are from what was observed.

Each measure is a function of arrays. ``Moments`` sums what a correlation needs, so that correlations over several
test sets joined into one can be computed from what was stored of each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InputError


def mae(observed: ArrayLike, predicted: ArrayLike) -> float:
    """The mean absolute error; medians minimise its expectation.

    Examples
    --------
    >>> mae([1.0, 2.0], [1.5, 4.0])
    1.25
    """
    y, p = _pair(observed, predicted)
    return float(np.mean(np.abs(y - p)))


def rmse(observed: ArrayLike, predicted: ArrayLike) -> float:
    """The root of the mean squared error; means minimise its expectation."""
    y, p = _pair(observed, predicted)
    return float(np.sqrt(np.mean((y - p) ** 2)))


def pearson(observed: ArrayLike, predicted: ArrayLike) -> float:
    """Pearson's correlation; NaN where either side is constant, for then there is none."""
    return Moments.of(observed, predicted).pearson()


def nlpd(log_density: ArrayLike) -> float:
    """The negative log predictive density, averaged over examples, from the log density of each."""
    values = np.asarray(log_density, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise InputError(f"Log densities must be one number per example, got an array of shape {values.shape}.")
    return float(-np.mean(values))


@dataclass(frozen=True)
class Moments:
    """The sums of observations ``y`` and predictions ``p`` that their correlation is made of.

    Examples
    --------
    >>> joined = Moments.of([1.0, 2.0], [1.0, 2.5]) + Moments.of([4.0], [3.0])
    >>> round(joined.pearson(), 4)
    0.891
    """

    n: float
    y: float
    p: float
    yy: float
    pp: float
    yp: float

    @classmethod
    def of(cls, observed: ArrayLike, predicted: ArrayLike) -> Moments:
        """Sum over one set of examples."""
        y, p = _pair(observed, predicted)
        return cls(float(len(y)), *(float(value) for value in (y.sum(), p.sum(), y @ y, p @ p, y @ p)))

    @classmethod
    def joined(cls, parts: Iterable[Moments]) -> Moments:
        """Sum over several sets, as if they were one."""
        total = cls(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for part in parts:
            total = total + part
        return total

    def __add__(self, other: Moments) -> Moments:
        return Moments(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def shifted(self, amount: float) -> Moments:
        """The sums after ``amount`` has been added to every observation and every prediction."""
        n, y, p = self.n, self.y, self.p
        square = n * amount**2
        return Moments(
            n,
            y + n * amount,
            p + n * amount,
            self.yy + 2 * amount * y + square,
            self.pp + 2 * amount * p + square,
            self.yp + amount * (y + p) + square,
        )

    def pearson(self) -> float:
        """The correlation of all that was summed; NaN where either side is constant."""
        if self.n < 2:
            return float("nan")
        covariance = self.yp - self.y * self.p / self.n
        y_spread, p_spread = self.yy - self.y**2 / self.n, self.pp - self.p**2 / self.n
        if y_spread <= 1e-14 * self.yy or p_spread <= 1e-14 * self.pp:
            return float("nan")
        return float(np.clip(covariance / np.sqrt(y_spread) / np.sqrt(p_spread), -1, 1))


@dataclass(frozen=True)
class Calibration:
    """How sure predictions were of their class, and how often they were right, in bins of equal width.

    Examples
    --------
    >>> half = Calibration.of([0.95, 0.95, 0.55, 0.55], [True, True, True, False], n_bins=2)
    >>> half.rows, round(half.error, 3)
    ([(4, 0.75, 0.75)], 0.0)
    >>> round(Calibration.of([0.95, 0.95, 0.55, 0.55], [True, True, True, False]).error, 3)
    0.05
    """

    rows: list[tuple[int, float, float]]  # of each bin that is not empty: examples, mean confidence, share correct

    @staticmethod
    def of(confidence: ArrayLike, correct: ArrayLike, n_bins: int = 10) -> Calibration:
        """Put examples into bins by the probability of the class that was predicted."""
        p, hits = _pair(confidence, correct)
        places = np.minimum((p * n_bins).astype(np.intp), n_bins - 1)
        inside = [places == place for place in np.unique(places).tolist()]
        return Calibration([(int(own.sum()), float(p[own].mean()), float(hits[own].mean())) for own in inside])

    @property
    def error(self) -> float:
        """The expected calibration error: how far confidence is from the share correct, on average over examples."""
        n = sum(row[0] for row in self.rows)
        return sum(count * abs(confidence - share) for count, confidence, share in self.rows) / n


def _pair(observed: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    y, p = np.asarray(observed, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if y.ndim != 1 or y.shape != p.shape:
        raise InputError(f"Observations and predictions must be equally many numbers, got {y.shape} and {p.shape}.")
    if not len(y):
        raise InputError("There is nothing to measure: no example was given.")
    return y, p
