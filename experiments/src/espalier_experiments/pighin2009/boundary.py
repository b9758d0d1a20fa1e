"""Which constituents are arguments of a predicate: accuracy and cost as the training data grow to a million."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Forest
from espalier.kernels import Kernel, Normalized, SubsetTree
from espalier_experiments.papers import Setup
from espalier_experiments.pighin2009.boundary_page import page
from espalier_experiments.pighin2009.learning import TEST_RUNS, choose, learn_linear, machine, timed
from espalier_experiments.propositions import role_candidates
from espalier_experiments.records import Record
from espalier_experiments.store import Task

__all__ = ["NAME", "page", "settings", "tasks"]

NAME = "boundary"
N_SPLITS, N_FRAGMENTS = 10, 5_000  # fragments of each part
LARGEST_PART = 10_000
CHOICE_ROWS = 10_000
DECAYS, C_GRID = (0.1, 0.2, 0.4), (1.0, 3.0, 10.0, 30.0)
KERNEL_SIZES = (1_000, 3_000, 10_000, 30_000)
LINEAR_SIZES = (*KERNEL_SIZES, 100_000, 300_000, 1_000_000)
QUICK_SIZES = (400, 800)


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"fragments": 60 if quick else N_FRAGMENTS, "choice_rows": 400 if quick else CHOICE_ROWS}


def tasks(setup: Setup) -> list[Task]:
    """The kernel machine on what it can learn from, and the linear one on everything."""
    kernel_sizes, linear_sizes = (QUICK_SIZES, QUICK_SIZES) if setup.quick else (KERNEL_SIZES, LINEAR_SIZES)
    out = [Task({"method": "kernel", "rows": n}, measure, setup.arguments) for n in kernel_sizes]
    return out + [Task({"method": "linear", "rows": n}, measure, setup.arguments) for n in linear_sizes]


def measure(method: str, rows: int, setup: Setup) -> Record:
    """Learn from some candidates, test on all of the test part."""
    train, y = training_rows(setup, rows)
    test, y_test = held_out(setup)
    kernel, C, record = chosen(setup)
    record = {**record, "kernel": repr(kernel), "C": C, "positives": float(y.mean()), "test_rows": len(test)}
    own = _kernel(kernel, C, train, y, test, setup) if method == "kernel" else _linear(kernel, C, train, y, test, setup)
    predicted = own.pop("predicted")
    return {**record, **own, **_found(y_test, predicted)}


def _kernel(kernel: Kernel, C: float, train: Forest, y: NDArray[Any], test: Forest, setup: Setup) -> Record:
    learner, seconds = timed(lambda: machine(kernel, C, setup).fit(train, y))
    predicted, test_seconds = timed(lambda: learner.predict(test), TEST_RUNS)
    support = len(learner.support_)
    return {"train_seconds": seconds, "test_seconds": test_seconds, "support": support, "predicted": predicted}


def _linear(kernel: Kernel, C: float, train: Forest, y: NDArray[Any], test: Forest, setup: Setup) -> Record:
    n_splits = max(N_SPLITS, math.ceil(len(train) / LARGEST_PART))
    n_fragments = settings(quick=setup.quick)["fragments"]
    vectorizer, model, record = learn_linear(kernel, C, train, y, setup, n_fragments=n_fragments, n_splits=n_splits)
    scores, test_seconds = timed(lambda: vectorizer.weighed(test, model.coef_[0]) + model.intercept_, TEST_RUNS)
    return {**record, "test_seconds": test_seconds, "predicted": scores > 0}


def _candidates(setup: Setup, part: Any) -> tuple[Forest, NDArray[np.bool_]]:
    table = role_candidates(setup.data, part, 200 if setup.quick else None)
    return table["tree"], np.array(table["role"]) != ""


def training_rows(setup: Setup, n: int) -> tuple[Forest, NDArray[np.bool_]]:
    """The first ``n`` candidates in one random order: a smaller sample stands inside each larger one."""
    forest, y = _candidates(setup, "train")
    rows = np.sort(np.random.default_rng(setup.seed).permutation(len(forest))[:n])
    return forest[rows].compact(), y[rows]


def held_out(setup: Setup) -> tuple[Forest, NDArray[np.bool_]]:
    """All candidates of the test part."""
    return _candidates(setup, "test")


@cache
def chosen(setup: Setup) -> tuple[Kernel, float, Record]:
    """The decay and C of the best F1 in cross-validation on the first training candidates."""
    train, y = training_rows(setup, settings(quick=setup.quick)["choice_rows"])
    kernels = [Normalized(SubsetTree(decay)) for decay in DECAYS]
    return choose(kernels, C_GRID, train, y, setup, scoring="f1")


def _found(observed: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> Record:
    hits, given, true = (int(x.sum()) for x in (observed & predicted, predicted, observed))
    precision, recall = hits / max(given, 1), hits / max(true, 1)
    return {"precision": precision, "recall": recall, "f1": 2 * hits / max(given + true, 1)}
