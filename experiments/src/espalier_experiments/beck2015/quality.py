"""Quality estimation: how long a translation takes to correct, predicted from trees and features."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from espalier.kernels import PerLabel
from espalier.structures import Table
from espalier_experiments import data
from espalier_experiments.baselines import fit_svm, search_record
from espalier_experiments.beck2015.quality_models import (
    BASELINES,
    MODELS,
    OTHER_TRANSFORMS,
    TRANSFORMED,
    Transform,
)
from espalier_experiments.beck2015.quality_page import quality_page
from espalier_experiments.beck2015.settings import Setup
from espalier_experiments.page import Page
from espalier_experiments.records import fit_gp, fit_record, point_scores, regression_scores
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "quality"
N_FOLDS = 10
N_LENGTHS = 5  # groups of translations by length, for noise that depends on it
RESTARTS = 0
TOLERANCE = 5e-4  # of the gradient per example: a nat or two from the optimum, in a third of the evaluations of 1e-4
QUICK_MODELS = ("features, Matern", "Matern + trees summed")


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"restarts": RESTARTS, "noise": 0.5, "tolerance": TOLERANCE, "rows": 80 if quick else None}


def tasks(setup: Setup) -> list[Task]:
    """One task per model, transform, pair and fold; what learns hundreds of numbers last."""
    pairs = (data.PAIRS[-1],) if setup.quick else data.PAIRS[::-1]
    folds = range(1) if setup.quick else range(N_FOLDS)
    names = QUICK_MODELS if setup.quick else tuple(MODELS)
    slow = [name for name in names if "symbol-aware" in name]
    models: list[tuple[str, Transform]] = [(name, "log") for name in names if name not in slow]
    if not setup.quick:
        models += [(name, other) for other in OTHER_TRANSFORMS for name in TRANSFORMED]
    models += [(name, "none") for name in (list(BASELINES)[:1] if setup.quick else BASELINES)]
    models += [(name, "log") for name in slow]
    return [
        Task({"pair": pair, "model": model, "transform": transform, "fold": fold}, learn, setup.arguments)
        for model, transform in models
        for pair in pairs
        for fold in folds
    ]


@cache
def _split(folder: Path, pair: data.Pair, fold: int, n_rows: int | None, seed: int) -> tuple[Table, Table]:
    """Training and test rows of a fold; features in units of the training rows' mean and standard deviation."""
    table = data.quality(folder, pair)
    if n_rows is not None:
        table = table[np.sort(np.random.default_rng(seed).permutation(len(table))[:n_rows])]
    parts = [table[table["fold"] != fold], table[table["fold"] == fold]]
    features = parts[0]["features"]
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)  # a constant feature stays constant
    train, test = (part.with_column("features", (part["features"] - mean) / spread) for part in parts)
    return train, test


def learn(pair: data.Pair, model: str, transform: Transform, fold: int, setup: Setup) -> Record:
    """Learn from one training fold; keep what a choice needs, and the errors on the test fold."""
    common = settings(quick=setup.quick)
    train, test = _split(setup.data, pair, fold, common["rows"], setup.seed)
    y, y_test = np.array(train["response"]), np.array(test["response"])
    if model in BASELINES:
        return _baseline(model, train, y, test, y_test, setup)
    chosen = MODELS[model]
    groups = length_groups(train, test) if chosen.noise_by_length else (None, None)
    fitted, seconds = fit_gp(
        chosen.kernel(),
        train,
        y,
        groups=groups[0],
        noise=PerLabel(common["noise"], prior=None) if chosen.noise_by_length else common["noise"],
        target_transform=None if transform == "none" else transform,
        restarts=common["restarts"],
        tolerance=common["tolerance"],
        random_state=setup.seed,
        n_threads=setup.n_threads,
    )
    return {**fit_record(fitted, y, seconds), **regression_scores(fitted, test, y_test, groups=groups[1])}


def length_groups(train: Table, test: Table) -> tuple[list[str], list[str]]:
    """The fifth of the training translations, from short to long, that each row belongs to."""
    edges = np.quantile(train["length"], np.arange(1, N_LENGTHS) / N_LENGTHS)
    first, second = (
        [f"fifth {place + 1}" for place in np.searchsorted(edges, part["length"])] for part in (train, test)
    )
    return first, second


def _baseline(model: str, train: Table, y: Any, test: Table, y_test: Any, setup: Setup) -> Record:
    chosen = BASELINES[model]
    kernels, C, epsilon = chosen.kernels(), chosen.C, chosen.epsilon
    if setup.quick:
        kernels, C, epsilon = kernels[:2], C[:2], epsilon[:1]
    search, seconds = fit_svm(kernels, train, y, C=C, epsilon=epsilon, n_threads=setup.n_threads)
    return {**search_record(search, seconds), **point_scores(search.predict(test), y_test)}


def page(results: Results) -> Page:
    """All models, the one that is chosen without test data, and the decays of source and target."""
    return quality_page(results)
