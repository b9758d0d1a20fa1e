"""Question classification: support vector machines and Gaussian processes on every view of a question."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import Kernel, Precomputed
from espalier.structures import Table
from espalier_experiments import data
from espalier_experiments.beck2014 import one_vs_rest
from espalier_experiments.beck2014.learning import accuracy, choose_machine, choose_on_matrices, matrices
from espalier_experiments.beck2014.question_models import (
    MODELS,
    VIEWS,
    grid_of,
    is_possible,
    kernel_of_view,
    named,
    start_of,
    weights_of,
)
from espalier_experiments.beck2014.questions_page import questions_page
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "questions"
LABELS = ("coarse", "fine")
C_GRID = (2.0, 10.0)
LEARNING_ROWS, MAX_ITERATIONS = 1000, 60
QUICK_MODELS = ("words", "character subsequences", "words x subset trees", "characters + trees")


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    if quick:
        return {"rows": 120, "learning_rows": 60, "iterations": 3}
    return {"rows": None, "learning_rows": LEARNING_ROWS, "iterations": MAX_ITERATIONS}


def tasks(setup: Setup) -> list[Task]:
    """One task for each model and kind of label, those with the most views first and the slowest view last.

    Models with WordNet are left out where it is not installed.
    """
    models = sorted(filter(is_possible, QUICK_MODELS if setup.quick else MODELS), key=_order)
    return [
        Task({"model": model, "labels": labels}, classify, setup.arguments)
        for model in models
        for labels in (LABELS[:1] if setup.quick else LABELS)
    ]


def _order(model: str) -> int:
    return 1 if model == "character subsequences" else -len(MODELS[model])


@cache
def _questions(setup: Setup) -> tuple[Table, int]:
    """Training questions and behind them test questions, with the number of each row; and how many are for training."""
    n_rows = settings(quick=setup.quick)["rows"]
    table = data.question_views(setup.data)
    rng, part = np.random.default_rng(setup.seed), np.array(table["part"])
    rows = [np.sort(rng.permutation(np.flatnonzero(part == name))[:n_rows]) for name in ("train", "test")]
    table = table[np.concatenate(rows)]
    return table.with_column("row", np.arange(len(table))), len(rows[0])


@cache
def _kernel_of(view: str, setup: Setup) -> Kernel:
    """The normalised kernel of a view at its start; the matrix of one that is only computed once."""
    table, n_train = _questions(setup)
    kernel = kernel_of_view(view, table[:n_train])
    if not VIEWS[view].once:
        return kernel
    return Precomputed(kernel(table, n_threads=setup.n_threads), on="row")


def classify(model: str, labels: str, setup: Setup) -> Record:
    """Choose a machine from a grid; learn the kernel by a Gaussian process and let both learners use it."""
    table, n_train = _questions(setup)
    train, test, y = table[:n_train], table[n_train:], np.array(table[labels])
    groups = np.unique([data.plain_text(text) for text in train["text"]], return_inverse=True)[1]
    search = choose_machine(grid_of(model, partial(_kernel_of, setup=setup)), C_GRID, train, y[:n_train], groups, setup)
    grid = {
        "cv_score": float(search.best_score_),
        "C": float(search.best_params_["C"]),
        "kernel": repr(search.best_params_["kernel"]),
        "accuracy": accuracy(y[n_train:], search.predict(test)),
    }
    return {"grid": grid, **_learned(model, y, groups, setup)}


def _learned(model: str, y: NDArray[Any], groups: NDArray[Any], setup: Setup) -> Record:
    """Learn the kernel from some training questions; condition on all, and let a machine use the kernel too."""
    common = settings(quick=setup.quick)
    table, n_train = _questions(setup)
    rows = np.sort(np.random.default_rng(setup.seed).permutation(n_train)[: common["learning_rows"]])
    start = start_of(model, partial(_kernel_of, setup=setup))
    options = {"max_iterations": common["iterations"], "n_threads": setup.n_threads}
    found = one_vs_rest.learn(start, table[rows], y[rows], **options)
    gram, cross = matrices(found.kernel, table[:n_train], table[n_train:], setup)
    # C belongs to the scale of a kernel, so machines are given the learned one with a mean of 1 on the diagonal.
    unit = float(gram.diagonal().mean())
    by_machine, _, machine = choose_on_matrices([gram / unit], [cross / unit], C_GRID, y[:n_train], groups, setup)
    by_process = one_vs_rest.predict(gram, cross, y[:n_train], found.noise)
    return {
        "process": {
            "accuracy": accuracy(y[n_train:], by_process),
            "evidence": found.evidence,
            "noise": short(found.noise),
            "evaluations": found.n_evaluations,
            "converged": found.converged,
        },
        "machine": {**machine, "accuracy": accuracy(y[n_train:], by_machine)},
        "weights": dict(zip(map(named, MODELS[model]), map(short, weights_of(found.kernel)), strict=True)),
        "learned": {path: short(value) for path, value in found.kernel.parameters().items()},
    }


def page(results: Results) -> Page:
    """The table of accuracies, what was chosen and learned, and what it says."""
    return questions_page(results)
