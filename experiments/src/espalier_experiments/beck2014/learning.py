"""What the experiments of this paper share: machines that are chosen on training data, and matrices."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import Kernel, Precomputed
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record

if TYPE_CHECKING:
    from espalier.svm import KernelGridSearch

PAPER = (
    "Beck, [Bayesian Kernel Methods for Natural Language Processing](https://aclanthology.org/P14-3001), "
    "ACL Student Research Workshop 2014"
)
Matrix = NDArray[np.float64]

N_FOLDS = 3  # in which machines are chosen


def choose_machine(
    kernels: Sequence[Kernel], C: Sequence[float], X: Any, y: NDArray[Any], groups: NDArray[Any], setup: Setup
) -> KernelGridSearch:
    """Choose a kernel and C by cross-validation on training rows, equal texts in one fold, and fit them on all."""
    from sklearn.model_selection import StratifiedGroupKFold

    from espalier.svm import KernelGridSearch, KernelSVC

    search = KernelGridSearch(
        KernelSVC(kernels[0], n_threads=setup.n_threads),
        {"kernel": list(kernels), "C": list(C)},
        cv=StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=setup.seed),
        n_threads=setup.n_threads,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
        return search.fit(X, y, groups=groups)


def choose_on_matrices(
    grams: Sequence[Matrix], crosses: Sequence[Matrix], C: Sequence[float], y: NDArray[Any], groups: Any, setup: Setup
) -> tuple[NDArray[Any], int, Record]:
    """As ``choose_machine``, where matrices are there already: of the training rows, and of new rows with them.

    Returns
    -------
    The classes of the new rows, the number of the matrix that was chosen, and what is kept of the choice.
    """
    from espalier.svm import MatrixRows

    kernels = [Precomputed(gram) for gram in grams]
    search = choose_machine(kernels, C, np.arange(len(y)), y, groups, setup)
    chosen = next(number for number, kernel in enumerate(kernels) if kernel is search.best_params_["kernel"])
    predicted = np.asarray(search.best_estimator_.predict(MatrixRows(crosses[chosen])))
    return predicted, chosen, {"cv_score": float(search.best_score_), "C": float(search.best_params_["C"])}


def matrices(kernel: Kernel, train: Any, test: Any, setup: Setup) -> tuple[Matrix, Matrix]:
    """The matrix of the training rows, and that of the test rows (rows) with them (columns)."""
    cross = kernel(train, test, n_threads=setup.n_threads)
    return kernel(train, n_threads=setup.n_threads), np.ascontiguousarray(cross.T)


def accuracy(observed: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The share of rows whose class was found."""
    return float((observed == predicted).mean())
