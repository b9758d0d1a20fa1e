"""Predictions of a conditioned process for new examples, block by block, in modelled units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.parameters import Vector
from espalier.gp.prediction import Prediction
from espalier.gp.regression import Examples, Posterior
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.memory import parse_memory
from espalier.kernels.inputs import Inputs, take_rows


@dataclass(frozen=True, eq=False)
class Predictor:
    """The training examples, the conditioned process, and how to compute."""

    examples: Examples
    posterior: Posterior
    n_threads: int | None
    memory: int | str | None

    def like_training(self, X: object) -> Inputs:
        """New examples, read like those of training; a forest of another vocabulary is translated."""
        return Inputs.of(X, like=self.examples.inputs, translates=True)

    def means(self, X: object) -> Vector:
        """The mean of the function at new examples."""
        with naming_a_way_out():
            return np.concatenate([self.posterior.given.mean(*self._cross(part)) for part in self._blocks(X)])

    def distribution(self, X: object, noise: Callable[[int], Vector]) -> Prediction:
        """The distribution of new targets; ``noise(n)`` gives the variances of n observations."""
        mean, variance = [], []
        with naming_a_way_out():
            for part in self._blocks(X):
                cross, columns = self._cross(part)
                prior = self.posterior.kernel.diagonal(part, n_threads=self.n_threads, memory=self.memory)
                mean.append(self.posterior.given.mean(cross, columns))
                variance.append(self.posterior.given.variance(cross, prior, columns))
        total = np.concatenate(variance)
        return Prediction(np.concatenate(mean), np.sqrt(total + noise(len(total))), self.posterior.target)

    def joint(self, X: object) -> tuple[Vector, Vector]:
        """The mean and the covariances of the function at new examples."""
        inputs = self.like_training(X)
        with naming_a_way_out():
            cross, columns = self._cross(inputs)
            prior = self.posterior.kernel(inputs, n_threads=self.n_threads, memory=self.memory)
            covariance = self.posterior.given.covariance(cross, prior, columns)
        return self.posterior.given.mean(cross, columns), covariance

    def left_out(self) -> Prediction:
        """The distribution of each training target given all the others."""
        with blas_threads(self.n_threads):
            mean, variance = self.posterior.given.left_out()
        return Prediction(mean, np.sqrt(variance), self.posterior.target)

    def _cross(self, inputs: Inputs) -> tuple[Vector, Vector]:
        """The covariances of the training examples (rows) with others (columns), and what the mean reads of these."""
        kernel = self.posterior.kernel
        cross = kernel(self.examples.inputs, inputs, n_threads=self.n_threads, memory=self.memory)
        return cross, self.examples.basis.at(inputs)

    def _blocks(self, X: object) -> list[Inputs]:
        """New examples, at most so many at a time that their covariances with those of training take a quarter of
        the budget.
        """
        inputs = self.like_training(X)
        n, memory = len(inputs), parse_memory(self.memory)
        step = max(1, memory // (4 * 8 * max(1, len(self.examples.y))))
        if n <= step:
            return [inputs]
        starts = range(0, n, step)
        return [self.like_training(take_rows(inputs._data, slice(first, first + step))) for first in starts]
