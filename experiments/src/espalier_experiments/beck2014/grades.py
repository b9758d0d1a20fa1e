"""How good does a reviewer find a film? Five ordered grades, from words, phrases and trees without labels."""

from __future__ import annotations

import warnings
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from espalier.gp import GPClassifier, GPOrdinal, GPRegressor, calibration
from espalier.kernels import BagOfWords, Kernel, Normalized, Precomputed, Spectrum, SubsetTree, Subtree, fixed
from espalier.structures import Table
from espalier_experiments import data
from espalier_experiments.beck2014.grades_page import grades_page
from espalier_experiments.beck2014.learning import Matrix
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "grades"
N_GRADES, TOLERANCE = 5, 1e-3
VIEWS: dict[str, Kernel] = {
    "words": BagOfWords("binary", on="words"),
    "n-grams": Spectrum(2, 1, on="words"),
    "phrases": Subtree(0.4, on="tree"),
    "trees": SubsetTree(0.1, on="tree"),
}
MODELS: dict[str, tuple[str, ...]] = {**{name: (name,) for name in VIEWS}, "sum of all": tuple(VIEWS)}
LEARNERS = ("ordinal", "regression", "softmax", "one against the rest")

Labels = NDArray[Any]


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"rows": 60 if quick else 1_500, "pilot": 40 if quick else 1_000, "new_rows": 30 if quick else None}


def tasks(setup: Setup) -> list[Task]:
    """One task for each kernel and learner; and the shares of the grades, which need no kernel."""
    models = ["words", "sum of all"] if setup.quick else list(MODELS)
    own = [{"model": model, "learner": learner} for model in models for learner in LEARNERS]
    return [
        *(Task(key, learn, setup.arguments) for key in own),
        Task({"model": "none", "learner": "shares"}, shares, setup.arguments),
    ]


@cache
def _sentences(setup: Setup) -> tuple[Table, dict[str, slice]]:
    """Training rows in random order, of which the first are the pilot, then those of development and of test."""
    common, rng = settings(quick=setup.quick), np.random.default_rng(setup.seed)
    tables = []
    for part in ("train", "dev", "test"):
        table = data.graded_sentences(setup.data, part)
        n = common["rows"] if part == "train" else common["new_rows"]
        tables.append(table[rng.permutation(len(table))[:n]])
    ends = np.cumsum([len(table) for table in tables]).tolist()
    whole = Table({name: [value for table in tables for value in table[name]] for name in tables[0].columns})
    return whole, {"train": slice(0, ends[0]), "dev": slice(ends[0], ends[1]), "test": slice(ends[1], ends[2])}


@cache
def _gram(view: str, setup: Setup) -> Matrix:
    """The values of training sentences with all sentences. Nobody asks for two different new ones, which stay 0."""
    table, parts = _sentences(setup)
    kernel, n = Normalized(VIEWS[view]), parts["train"].stop
    gram = np.eye(len(table))
    gram[:n, :n] = kernel(table[:n], n_threads=setup.n_threads)
    gram[:n, n:] = kernel(table[:n], table[n:], n_threads=setup.n_threads)
    gram[n:, :n] = gram[:n, n:].T
    return gram


def _grades(setup: Setup) -> Labels:
    return np.array(_sentences(setup)[0]["grade"])


def learn(model: str, learner: str, setup: Setup) -> Record:
    """Learn variances (and noise, or thresholds) on the pilot, condition on all training rows, and predict new ones."""
    grades, parts = _grades(setup), _sentences(setup)[1]
    grams = [_gram(view, setup) for view in MODELS[model]]
    train = np.arange(parts["train"].stop)
    kernel = reduce(add, [(1 / len(grams)) * Precomputed(gram) for gram in grams])
    fitted = _fitted(learner, kernel, train, grades[train], setup)
    evaluations = sum(restart.n_evaluations for restart in fitted.restarts_)
    record: Record = {"learned": {path: short(value) for path, value in fitted.learned_.to_dict().items()}}
    for part in ("dev", "test"):
        rows = np.arange(parts[part].start, parts[part].stop)
        record[part] = scores(_probabilities(fitted, rows), grades[rows])
    return record | {"evaluations": evaluations}


def _fitted(learner: str, kernel: Kernel, rows: Labels, grades: Labels, setup: Setup) -> Any:
    pilot = settings(quick=setup.quick)["pilot"]
    options: dict[str, Any] = {"n_threads": setup.n_threads, "tolerance": TOLERANCE}
    if learner == "regression":
        own = _quietly(GPRegressor(kernel, mean="constant", **options), rows[:pilot], grades[:pilot].astype(float))
        noise = fixed(own.noise_)
        whole = GPRegressor(own.kernel_, noise=noise, mean="constant", learn=False, **options)
        whole.fit(rows, grades.astype(float))
        whole.restarts_, whole.learned_ = own.restarts_, own.learned_
        return whole
    if learner == "ordinal":
        made: Any = GPOrdinal(kernel, pilot=pilot, grades=range(N_GRADES), **options)
    else:
        likelihood: Any = "softmax" if learner == "softmax" else "probit"
        made = GPClassifier(kernel, likelihood=likelihood, pilot=pilot, **options)
    return _quietly(made, rows, grades)


def _quietly(model: Any, X: Any, y: Labels) -> Any:
    """Fit; that a climb ended early is no matter here."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def _probabilities(model: Any, rows: Labels) -> Matrix:
    """The probability of each grade; a regression gives it the mass between the numbers half-way to its neighbours."""
    if not isinstance(model, GPRegressor):
        return np.asarray(model.predict_proba(rows))
    mean, deviation = model.predict(rows, return_std=True)
    edges = np.concatenate([[-np.inf], np.arange(N_GRADES - 1) + 0.5, [np.inf]])
    return np.diff(norm.cdf((edges - mean[:, None]) / deviation[:, None]), axis=1)


def shares(model: str, learner: str, setup: Setup) -> Record:
    """What the shares of the grades among the training rows say of every sentence."""
    grades, parts = _grades(setup), _sentences(setup)[1]
    share = np.bincount(grades[parts["train"]], minlength=N_GRADES) / parts["train"].stop
    return {
        part: scores(np.tile(share, (len(grades[parts[part]]), 1)), grades[parts[part]]) for part in ("dev", "test")
    }


def scores(p: Matrix, grades: Labels) -> Record:
    """How good probabilities are: of the most probable grade, of the median, and of all."""
    mode, median = p.argmax(axis=1), (np.cumsum(p, axis=1)[:, :-1] < 0.5).sum(axis=1)
    return {
        "accuracy": float((mode == grades).mean()),
        "mae_of_modes": float(np.abs(mode - grades).mean()),
        "mae": float(np.abs(median - grades).mean()),
        "log_loss": float(-np.log(p[np.arange(len(p)), grades]).mean()),
        "calibration": calibration(p, grades, range(N_GRADES)).error,
    }


def page(results: Results) -> Page:
    """Scores of all learners with all kernels, and what development data choose."""
    return grades_page(results)
