"""The folds of a search, as jobs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from espalier.kernels.base import Matrix
from espalier.svm.estimator import KernelMachine
from espalier.svm.rows import MatrixRows


@dataclass(frozen=True, eq=False)
class Fold:
    """A job: fit machines that share a kernel on the rows of one fold, and score them on its other rows.

    The result is their scores, and how many machines stopped early.
    """

    gram: Matrix
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    models: tuple[KernelMachine, ...]
    scorer: Callable[..., float]

    @property
    def cost(self) -> float:
        """The rows to learn from."""
        return float(len(self.train))

    def __call__(self) -> tuple[list[float], int]:
        train, test, weights = self.train, self.test, self.weights
        inside, outside = self.gram[np.ix_(train, train)], MatrixRows(self.gram[np.ix_(test, train)])
        own = None if weights is None else weights[train]
        weighing = {} if weights is None or not _takes_weights(self.scorer) else {"sample_weight": weights[test]}
        scores, n_early = [], 0
        for unfitted in self.models:
            model = clone(unfitted)._fit_matrix(inside, self.y[train], own)
            scores.append(float(self.scorer(model, outside, self.y[test], **weighing)))
            n_early += model._n_early
        return scores, n_early


def _takes_weights(scorer: Callable[..., float]) -> bool:
    says = getattr(scorer, "_accept_sample_weight", None)  # scikit-learn's own scorers, since 1.7
    return bool(says()) if says is not None else "sample_weight" in inspect.signature(scorer).parameters
