"""Two language pairs as tasks: does the larger one help to predict how long corrections of the smaller one take?"""

from __future__ import annotations

from functools import cache

import numpy as np

from espalier.corpus import Forest
from espalier.kernels import Kernel, Matern, Normalized, Precomputed, SubsetTree, fixed
from espalier_experiments import data
from espalier_experiments.beck2014.pairs_page import pairs_page
from espalier_experiments.beck2014.task_models import MODELS, Rows, Vector, predict_tasks
from espalier_experiments.beck2015.quality_models import DECAY, FRONTIER, LENGTHSCALE
from espalier_experiments.measures import mae, pearson
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "pairs"
LARGE, SMALL = data.PAIRS
ENGLISH = {"fr-en": "target", "en-es": "source"}
SHARED = ("separate", "pooled", "pooled, own means and noise", "EasyAdapt", "Coregion, rank 1")
SIZES, N_LARGE, N_FOLDS = (50, 200), 400, 10


def settings(*, quick: bool) -> dict[str, int]:
    """What all results have in common."""
    return {"large": 20 if quick else N_LARGE}


def tasks(setup: Setup) -> list[Task]:
    """One task for each number of training rows of the small pair, fold and model."""
    sizes, folds = ((10,), range(1)) if setup.quick else (SIZES, range(N_FOLDS))
    return [
        Task({"n": n, "fold": fold, "model": model}, learn, setup.arguments)
        for n in sizes
        for fold in folds
        for model in (SHARED[-1:] if setup.quick else SHARED)
    ]


@cache
def _drawn(fold: int, setup: Setup) -> tuple[Kernel, Vector, dict[str, list[int]]]:
    """The kernel of all rows that a fold needs, their responses by task, and which rows are for what.

    Features have the mean and the deviation of their pair's training rows. The trees are those of the English side,
    which both pairs have.
    """
    rng = np.random.default_rng((setup.seed, fold))
    vectors, trees, columns, n_before = [], [], [], 0
    parts: dict[str, list[int]] = {}
    for task, pair in enumerate((LARGE, SMALL)):
        table = data.quality(setup.data, pair)
        inside = rng.permutation(np.flatnonzero(table["fold"] != fold))
        rows = inside[: settings(quick=setup.quick)["large"] if pair == LARGE else max(SIZES)]
        parts[pair] = list(range(n_before, n_before + len(rows)))
        if pair == SMALL:
            tested = np.flatnonzero(table["fold"] == fold)
            parts["test"] = list(range(n_before + len(rows), n_before + len(rows) + len(tested)))
            rows = np.concatenate([rows, tested])
        features = table["features"]
        spread = features[inside].std(axis=0)
        vectors.append((features[rows] - features[inside].mean(axis=0)) / np.where(spread > 0, spread, 1.0))
        trees += [table[ENGLISH[pair]][row] for row in rows.tolist()]
        own = np.full((len(rows), 2), np.nan)
        own[:, task] = np.log(table["response"][rows])
        columns.append(own)
        n_before += len(rows)
    kinds = (
        Matern(fixed(LENGTHSCALE))(np.concatenate(vectors), n_threads=1),
        Normalized(SubsetTree(DECAY, FRONTIER))(Forest.from_trees(trees), n_threads=1),
    )
    return Precomputed(np.mean(kinds, axis=0), on="row"), np.concatenate(columns), parts


def learn(n: int, fold: int, model: str, setup: Setup) -> Record:
    """Learn from some rows of the small pair and more of the large one; test on the small pair's fold."""
    kernel, values, parts = _drawn(fold, setup)
    pairs = [(row, 0) for row in parts[LARGE]] + [(row, 1) for row in parts[SMALL][:n]]
    train, test = (Rows.of(rows, data.PAIRS) for rows in (pairs, [(row, 1) for row in parts["test"]]))
    predicted = predict_tasks(MODELS[model], kernel, train, test, values, setup)
    y = values[test.row, test.task]
    return {
        **predicted.record,
        "log_density": float(predicted.log_density.mean()),
        "mae": mae(y, predicted.mean),
        "pearson": pearson(y, predicted.mean),
    }


def page(results: Results) -> Page:
    """Densities, errors and correlations on the small pair."""
    return pairs_page(results)
