"""The candidates of a grid search, checked before anything is computed and sorted by kernel, and its folds, as jobs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from espalier.kernels.base import Kernel, Matrix
from espalier.svm.estimator import KernelMachine, MatrixRows


@dataclass(frozen=True, eq=False)
class Trial:
    """One point of the grid: its parameters, and an estimator that has them."""

    params: dict[str, Any]
    model: KernelMachine


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


def make_candidates(estimator: object, grid: object) -> list[Trial]:
    """Return every point of the grid, in the order of scikit-learn's ``ParameterGrid``."""
    _check_names(grid, estimator)
    candidates = [Trial(params, clone(estimator).set_params(**params)) for params in ParameterGrid(grid)]
    if not candidates:
        raise ValueError(f"param_grid contains nothing to try, got {grid!r}.")
    for candidate in candidates:
        try:
            candidate.model._check_settings()
        except (TypeError, ValueError) as error:
            raise type(error)(f"The grid contains {candidate.params}: {error}") from None
    return candidates


def by_kernel(candidates: list[Trial]) -> list[tuple[Kernel, list[int]]]:
    """The distinct kernels, each with the numbers of its candidates."""
    groups: dict[Any, tuple[Kernel, list[int]]] = {}
    for number, candidate in enumerate(candidates):
        kernel = candidate.model.kernel
        groups.setdefault(_key(kernel), (kernel, []))[1].append(number)
    return list(groups.values())


def columns_of(listed: list[dict[str, Any]]) -> dict[str, object]:
    """Return for each ``param_<name>`` the values of all candidates, masked if a candidate does not set it."""
    out: dict[str, object] = {}
    for name in sorted({name for params in listed for name in params}):
        column = np.empty(len(listed), dtype=object)
        for number, params in enumerate(listed):
            column[number] = params.get(name)
        out[f"param_{name}"] = np.ma.MaskedArray(column, mask=[name not in params for params in listed])
    return out


def _check_names(grid: object, estimator: Any) -> None:
    known = sorted(estimator.get_params(deep=False))
    parts = list(grid) if isinstance(grid, Sequence) and not isinstance(grid, str) else [grid]
    for part in parts:
        if not isinstance(part, Mapping):
            raise TypeError(f"param_grid must be a dict of lists, or a list of such dicts, got {part!r}.")
        for name in part:
            # What a kernel takes is known once it is set: the grid may name several kernels.
            if name not in known and not name.startswith("kernel__"):
                raise ValueError(
                    f"{type(estimator).__name__} has no parameter {name!r}; it has {', '.join(known)}. "
                    "Arguments of the kernel are tried by their names, {'kernel__decay': [0.2, 0.4]}, or as several "
                    "kernels, {'kernel': [SubsetTree(decay=d) for d in (0.2, 0.4)]}."
                )


def _key(kernel: Kernel) -> object:
    try:
        hash(kernel)
    except TypeError:  # a user's kernel with a list inside: it is only ever itself
        return id(kernel)
    return kernel


def _takes_weights(scorer: Callable[..., float]) -> bool:
    says = getattr(scorer, "_accept_sample_weight", None)  # scikit-learn's own scorers, since 1.7
    return bool(says()) if says is not None else "sample_weight" in inspect.signature(scorer).parameters
