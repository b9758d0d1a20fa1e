"""What the paper's experiments share: kernel machines and how they are chosen, linear ones, and clocks."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Forest
from espalier.fragments import FragmentVectorizer
from espalier.kernels import Kernel
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short

if TYPE_CHECKING:
    from espalier.svm import KernelSVC

PAPER = (
    "Pighin and Moschitti, [Reverse Engineering of Tree Kernel Feature Spaces](https://aclanthology.org/D09-1012), "
    "EMNLP 2009"
)
N_FOLDS = 3
TEST_RUNS = 5  # a test may take a tenth of a second


def machine(kernel: Kernel, C: float, setup: Setup) -> KernelSVC:
    """A kernel machine that is not fitted yet."""
    from espalier.svm import KernelSVC

    return KernelSVC(kernel, C=C, n_threads=setup.n_threads)


def linear_machine(C: float) -> Any:
    """A linear machine with the loss of kernel machines."""
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, loss="hinge", random_state=0, max_iter=20_000)


def choose(
    kernels: Sequence[Kernel], grid: Sequence[float], X: Forest, y: NDArray[Any], setup: Setup, *, scoring: str
) -> tuple[Kernel, float, Record]:
    """Choose a kernel and C by cross-validation on training data."""
    from sklearn.model_selection import StratifiedKFold

    from espalier.svm import KernelGridSearch

    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=setup.seed)
    settings = {"kernel": list(kernels), "C": list(grid)}
    search = KernelGridSearch(
        machine(kernels[0], 1.0, setup), settings, cv=folds, scoring=scoring, refit=False, n_threads=setup.n_threads
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
        _, seconds = timed(lambda: search.fit(X, y))
    best: Mapping[str, Any] = search.best_params_
    return best["kernel"], float(best["C"]), {"cv_score": float(search.best_score_), "search_seconds": seconds}


def fit_linear(C: float, features: Any, y: NDArray[Any]) -> tuple[Any, float]:
    """Fit a linear machine; return it with the seconds that took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence
        return timed(lambda: linear_machine(C).fit(features, y))


def learn_linear(
    kernel: Kernel, C: float, X: Forest, y: NDArray[Any], setup: Setup, *, n_fragments: int, n_splits: int
) -> tuple[FragmentVectorizer, Any, Record]:
    """All stages of linear learning: machines on parts, their fragments, features, and a linear machine."""
    vectorizer = FragmentVectorizer(
        kernel,
        learner=machine(kernel, C, setup),
        n_fragments=n_fragments,
        n_splits=n_splits,
        random_state=setup.seed,
        n_threads=setup.n_threads,
    )
    _, mine_seconds = timed(lambda: vectorizer.fit(X, y))
    features, extract_seconds = timed(lambda: vectorizer.transform(X))
    model, learn_seconds = fit_linear(C, features, y)
    record = {
        "splits": n_splits,
        "features": vectorizer.n_features_out_,
        "mine_seconds": mine_seconds,
        "extract_seconds": extract_seconds,
        "learn_seconds": learn_seconds,
        "train_seconds": mine_seconds + extract_seconds + learn_seconds,
    }
    return vectorizer, model, record


def timed(work: Callable[[], Any], runs: int = 1) -> tuple[Any, float]:
    """What a call returns, and the seconds it took, the best of several runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        out = work()
        best = min(best, time.perf_counter() - start)
    return out, short(best)


def scores(observed: NDArray[Any], predicted: NDArray[Any]) -> Record:
    """The accuracy, and F1 by class where there are few."""
    from sklearn.metrics import f1_score

    labels = np.unique(observed)
    f1 = f1_score(observed, predicted, labels=labels, average=None, zero_division=0.0)
    by_class = dict(zip(labels.tolist(), map(float, f1), strict=True))
    return {"accuracy": float((observed == predicted).mean()), "f1": by_class if len(by_class) <= 6 else {}}
