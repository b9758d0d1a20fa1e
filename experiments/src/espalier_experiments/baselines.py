"""Support vector regression chosen by grid search: the baseline that the paper's experiments share."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import Kernel
from espalier_experiments.records import Record, short

if TYPE_CHECKING:
    from espalier.svm import KernelGridSearch

N_FOLDS = 3
MAX_ITERATIONS = (
    200_000  # of the solver: candidates that need more have a scale that does not fit, and would take hours
)


def fit_svm(
    kernels: Sequence[Kernel],
    X: Any,
    y: NDArray[np.float64],
    *,
    C: Sequence[float],
    epsilon: Sequence[float],
    n_threads: int | None = None,
) -> tuple[KernelGridSearch, float]:
    """Choose kernel, C and epsilon by three-fold cross-validation of the squared error; return it with its seconds.

    Candidates that do not converge within ``MAX_ITERATIONS`` take part as they are; the warning about them is left out.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import KFold

    from espalier.svm import KernelGridSearch, KernelSVR

    start = time.perf_counter()
    search = KernelGridSearch(
        KernelSVR(kernels[0], max_iterations=MAX_ITERATIONS, n_threads=n_threads),
        {"kernel": list(kernels), "C": list(C), "epsilon": list(epsilon)},
        cv=KFold(N_FOLDS, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
        n_threads=n_threads,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(X, y)
    return search, time.perf_counter() - start


def search_record(search: KernelGridSearch, seconds: float) -> Record:
    """What a search found, and what it cost."""
    best: Mapping[str, Any] = search.best_params_
    return {
        "fit_seconds": short(seconds),
        "learned": {"kernel": repr(best["kernel"]), "C": float(best["C"]), "epsilon": float(best["epsilon"])},
    }
