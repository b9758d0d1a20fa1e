"""Predictions of several tasks: one distribution for each row and task, in the user's units."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from espalier.gp.cholesky import factorize
from espalier.gp.parameters import Vector
from espalier.gp.prediction import Prediction
from espalier.gp.task_units import TaskUnits
from espalier.gram.target_matrix import TargetMatrix


@dataclass(frozen=True, eq=False)
class TaskPrediction:
    """A distribution for each row and each task.

    ``prediction["fear"]`` is the :class:`Prediction` of one task. The numbers of all tasks have one row for each
    example and one column for each task.

    Attributes
    ----------
    tasks
        The names of the tasks.
    each
        The prediction of each.
    """

    tasks: tuple[str, ...]
    each: tuple[Prediction, ...]

    @staticmethod
    def of(mean: Vector, std: Vector, target: TaskUnits) -> TaskPrediction:
        """The prediction with these flat modelled moments: all tasks of the first row, then those of the next."""
        columns = zip(target.by_task(mean).T, target.by_task(std).T, target.each, strict=True)
        return TaskPrediction(target.tasks, tuple(Prediction(*column) for column in columns))

    def __len__(self) -> int:
        return len(self.each[0])

    def __getitem__(self, task: str) -> Prediction:
        if task not in self.tasks:
            raise KeyError(f"There is no task {task!r}; the tasks are {', '.join(map(repr, self.tasks))}.")
        return self.each[self.tasks.index(task)]

    @property
    def modelled_mean(self) -> Vector:
        """The means in modelled units."""
        return self._together(lambda own: own.modelled_mean)

    @property
    def modelled_std(self) -> Vector:
        """The deviations in modelled units."""
        return self._together(lambda own: own.modelled_std)

    @property
    def mean(self) -> Vector:
        """The means, which minimise the expected squared error."""
        return self._together(lambda own: own.mean)

    @property
    def std(self) -> Vector:
        """The standard deviations."""
        return self._together(lambda own: own.std)

    @property
    def median(self) -> Vector:
        """The medians, which minimise the expected absolute error."""
        return self._together(lambda own: own.median)

    def quantiles(self, levels: object) -> Vector:
        """Return the quantiles at some levels between 0 and 1: by row, task and level."""
        return self._together(lambda own: own.quantiles(levels))

    def interval(self, probability: float = 0.9) -> Vector:
        """Return the central intervals with this probability: by row and task, low and high."""
        return self._together(lambda own: own.interval(probability))

    def log_density(self, y: object) -> Vector:
        """Return the log density of each observed target; NaN where the target is missing."""
        values = TargetMatrix.of(y, len(self), self.tasks, known=True).values
        out = np.full(values.shape, np.nan)
        for k, own in enumerate(self.each):
            there = ~np.isnan(values[:, k])
            if there.any():  # a known target stands where one is missing, and its density is not returned
                known = np.where(there, values[:, k], values[there, k][0])
                out[there, k] = own.log_density(known)[there]
        return out

    def _together(self, column: Callable[[Prediction], Vector]) -> Vector:
        return np.stack([column(own) for own in self.each], axis=1)


def joint_log_densities(mean: Vector, covariance: Vector, y: Vector, target: TaskUnits) -> Vector:
    """The log density of all observed targets of each row together; 0 if a row has none.

    ``mean`` and ``covariance`` are flat and in modelled units, with the noise.
    """
    p, out = len(target.tasks), np.zeros(len(y))
    for row, values in enumerate(y):
        there = np.flatnonzero(~np.isnan(values))
        if not len(there):
            continue
        pairs = [target.each[k].modelled(values[[k]]) for k in there.tolist()]
        z, log_slope = np.array([[number[0] for number in pair] for pair in pairs]).T
        if not (np.isfinite(z).all() and np.isfinite(log_slope).all()):
            out[row] = -np.inf  # a transform excludes the value
            continue
        places = row * p + there
        factor = factorize(np.array(covariance[np.ix_(places, places)], order="C"), 0.0)
        residual = factor.half_solve(z - mean[places])
        fit = float(residual @ residual) + factor.log_determinant + len(there) * math.log(2 * math.pi)
        out[row] = float(log_slope.sum()) - 0.5 * fit
    return out
