"""Sparse processes on trees: ways of choosing structures, noise learned by the bound, weighted combinations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from espalier.gp import Inducing
from espalier.kernels import Kernel, Normalized, Precomputed, SubsetTree
from espalier.structures import Table
from espalier_experiments import data, measures
from espalier_experiments.beck2014.sparse_page import sparse_page
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, Vector, fit_gp, short
from espalier_experiments.store import Results, Task

if TYPE_CHECKING:
    from espalier.gp import GPRegressor

NAME = "sparse"
Choice = Literal["greedy", "random", "medoids", "variance"]
CHOICES: tuple[Choice, ...] = ("greedy", "random", "medoids", "variance")
SIZES, COMBINED, SHARE = (50, 100, 200, 500), 100, 5
PILOT, QUESTIONS, N_FOLDS = 1_000, 2_000, 5
CLASS, EMOTION = "HUM", "joy"
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """Structures with numbers, the transform of these, and the rows of training and test."""

    kernel: Kernel
    table: Table
    y: Vector
    transform: str | None
    train: Rows
    test: Rows


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    sizes = [4, 8] if quick else list(SIZES)
    return {
        "sizes": sizes,
        "combined": 4 if quick else COMBINED,
        "pilot": 30 if quick else PILOT,
        "share": SHARE,
        "folds": N_FOLDS,
    }


def tasks(setup: Setup) -> list[Task]:
    """Five test folds of the translations; one test part of the questions and of the headlines."""
    folds = {"fr-en": 1 if setup.quick else N_FOLDS, "questions": 1, "headlines": 1}
    return [
        Task({"data": name, "fold": fold}, compare, setup.arguments) for name, n in folds.items() for fold in range(n)
    ]


def side(on: str) -> Kernel:
    """A normalised subset tree kernel."""
    return 1.0 * Normalized(SubsetTree(decay=0.1, frontier=0.5, on=on))


def _translations(setup: Setup, fold: int) -> Problem:
    table = data.quality(setup.data)
    folds = np.asarray(table["fold"])
    is_test = folds == np.unique(folds)[fold]
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    return Problem(side("source") + side("target"), table, np.asarray(table["response"]), "log", train, test)


def _questions(setup: Setup, fold: int) -> Problem:
    """A part of the questions, and the official test part."""
    parts = [data.questions(setup.data, part) for part in ("train", "test")]
    labels = [label for part in parts for label in part["coarse"]]
    trees = [tree for part in parts for tree in part["tree"]]
    n, n_test = len(parts[0]), len(parts[1])
    train = np.sort(np.random.default_rng(setup.seed).permutation(n)[:QUESTIONS])
    y = np.where(np.array(labels) == CLASS, 1.0, -1.0)
    return Problem(side("tree"), Table(tree=trees), y, None, train, n + np.arange(n_test))


def _headlines(setup: Setup, fold: int) -> Problem:
    """Four of five folds, and the fifth."""
    table = data.affective(setup.data)
    folds = data.emotion_folds(table, seed=setup.seed)
    y = np.asarray(table["emotions"])[:, data.EMOTIONS.index(EMOTION)]
    return Problem(side("tree"), table, y, None, np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))


PROBLEMS: dict[str, Callable[[Setup, int], Problem]] = {
    "fr-en": _translations,
    "questions": _questions,
    "headlines": _headlines,
}


def compare(data: str, fold: int, setup: Setup) -> Record:
    """Learn numbers exactly on a pilot, and condition all training rows exactly and through few structures."""
    common, problem = settings(quick=setup.quick), PROBLEMS[data](setup, fold)
    train, test = (rows[: 60 if setup.quick else None] for rows in (problem.train, problem.test))
    rng = np.random.default_rng(setup.seed)
    pilot = np.sort(rng.permutation(train)[: common["pilot"]])
    options: dict[str, Any] = {"target_transform": problem.transform, "n_threads": setup.n_threads}
    first, _ = fit_gp(problem.kernel, problem.table[pilot], problem.y[pilot], **options)
    rows = np.concatenate([train, test])
    gram = first.kernel_(problem.table[rows], n_threads=setup.n_threads)
    own, new = np.arange(len(train)), len(train) + np.arange(len(test))
    y, y_new = problem.y[train], problem.y[test]
    kept = {**options, "noise": first.noise_, "learn": False}

    def scores(inducing: Any, kernel: Kernel | None = None, **numbers: Any) -> Record:
        model, seconds = fit_gp(kernel or Precomputed(gram), own, y, inducing=inducing, **{**kept, **numbers})
        return {**_scores(model, new, y, y_new), "fit_seconds": short(seconds)}

    choices = CHOICES if fold == 0 else CHOICES[:1]
    sizes = [m for m in common["sizes"] if m < len(train)]
    m, s = common["combined"], common["share"] * common["combined"]
    out: Record = {"n": len(train), "kernel": repr(first.kernel_), "noise": short(cast(float, first.noise_))}
    out["exact"] = scores(None)
    out["chosen"] = {choice: {str(m): scores(Inducing(m, choose=choice)) for m in sizes} for choice in choices}
    ways = {"best": Inducing(m), "weighted": Inducing(m, combine=s), "all": Inducing(s)}
    out["combined"] = {way: scores(inducing) for way, inducing in ways.items()}
    if fold == 0:
        by_bound = {"inducing": Inducing(s, learn="bound"), "pilot": common["pilot"]}
        model, _ = fit_gp(1.0 * Precomputed(gram), own, y, **options, **by_bound)
        numbers = {"kernel": model.kernel_, "noise": model.noise_}
        out["by_bound"] = {way: scores(inducing, **numbers) for way, inducing in ways.items()}
        out["fitc"] = {str(m): scores(Inducing(m, power=1.0)) for m in sizes}
        out["learned"] = _learned(gram, own, y, sizes, common["pilot"], options)
    return out


def _scores(model: GPRegressor, new: Rows, y: Vector, y_new: Vector) -> Record:
    prediction = model.predict_distribution(new)
    return {
        "bound": model.log_marginal_likelihood_ / len(y),
        "rmse": measures.rmse(y_new, prediction.mean),
        "nlpd": measures.nlpd(prediction.log_density(y_new)),
        "structures": len(getattr(model, "inducing_rows_", y)),
    }


def _learned(gram: Vector, own: Rows, y: Vector, sizes: list[int], pilot: int, options: dict[str, Any]) -> Record:
    """A variance of the whole kernel and the noise, learned from all rows: exactly, and by the bound."""
    kernel = 1.0 * Precomputed(gram)
    out: Record = {}
    for m in [None, *sizes]:
        own_options = {} if m is None else {"inducing": Inducing(m, learn="bound"), "pilot": pilot}
        model, _ = fit_gp(kernel, own, y, **options, **own_options)
        values = model.learned_.to_dict()
        out["exact" if m is None else str(m)] = {path: short(value) for path, value in values.items()}
    return out


def page(results: Results) -> Page:
    """Bounds and errors by the number of structures, learned noise, and combinations."""
    return sparse_page(results)
