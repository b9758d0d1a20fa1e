"""Six emotions of a headline as six tasks: one model of all, which learns how alike they are, against six."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import BagOfWords, Kernel, Normalized, PerLabel, Precomputed, Spectrum, SubsetTree
from espalier.structures import Table
from espalier_experiments.beck2014.multitask import coregion, weak_noise, weight
from espalier_experiments.beck2014.shared_emotions_page import shared_emotions_page
from espalier_experiments.data import EMOTIONS, plain_text
from espalier_experiments.headlines import N_FOLDS, headlines
from espalier_experiments.measures import pearson
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import fit_gp, short
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "tasks"
N_TRAIN, N_SPLITS = 100, 10
N_TASKS = len(EMOTIONS)
RANKS = (2, 1, 3, 4, 5)
OTHERS = (("single, no priors", (0,)), ("ICM, noise by emotion", (2,)))

VIEWS: dict[str, Kernel] = {
    "words": Normalized(BagOfWords(on="words")),
    "characters": Normalized(Spectrum(5, 2, order_weights=1.0, of="characters", on="text")),
    "trees": Normalized(SubsetTree(0.1, 0.5, on="lowered")),
}
SETS: dict[str, tuple[str, ...]] = {**{name: (name,) for name in VIEWS}, "words + trees": ("words", "trees")}
Shares = Callable[[int, list[Kernel]], Kernel]


@dataclass(frozen=True)
class Sharing:
    """How the emotions share; ``kernel`` makes the kernel from a rank and the kernels of headlines, None if apart."""

    kernel: Shares | None
    noise_by_emotion: bool = False
    priors: bool = True  # of the variances of single models


def _intrinsic(rank: int, views: list[Kernel]) -> Kernel:
    """All kernels of headlines are weighed and summed first: one matrix of tasks."""
    first, *others = views
    for other in others:
        first = first + weight(1.0) * other
    return coregion(rank) * first


def _linear(rank: int, views: list[Kernel]) -> Kernel:
    """Each kernel of headlines has a matrix of tasks of its own."""
    out: Kernel = coregion(rank) * views[0]
    for view in views[1:]:
        out = out + coregion(rank) * view
    return out


SHARINGS: dict[str, Sharing] = {
    "single": Sharing(None),
    "single, no priors": Sharing(None, priors=False),
    "ICM": Sharing(_intrinsic),
    "LMC": Sharing(_linear),
    "ICM, noise by emotion": Sharing(_intrinsic, noise_by_emotion=True),
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"rows": 60 if quick else 1000, "training": 20 if quick else N_TRAIN}


def tasks(setup: Setup) -> list[Task]:
    """One task for each set of kernels, way of sharing, rank and split; the larger splits last."""
    if setup.quick:
        keys = [("words", "single", 0, "file order"), ("words + trees", "LMC", 1, "random 0")]
        keys += [("words", "ICM", 1, split) for split in ("file order", "fold 0")]
    else:
        small = ["file order", *(f"random {k}" for k in range(N_SPLITS))]
        keys = [(*own, split) for own in _models() for split in small]
        # With a matrix for each kernel, the covariances of 4,800 targets would have to be factorized.
        keys += [(*own, f"fold {k}") for own in _models() if own[1] != "LMC" for k in range(N_FOLDS)]
    names = ("kernels", "sharing", "rank", "split")
    return [Task(dict(zip(names, key, strict=True)), learn, setup.arguments) for key in keys]


def _models() -> Iterator[tuple[str, str, int]]:
    """The models, those that the others are compared with first: an interrupted run has them."""
    for sharing, ranks in (("single", (0,)), ("ICM", RANKS), ("LMC", RANKS), *OTHERS):
        for rank in ranks:
            for name, views in SETS.items():
                if sharing != "LMC" or len(views) > 1:
                    yield name, sharing, rank


@cache
def _headlines(folder: Path, seed: int, n_rows: int) -> tuple[Table, NDArray[np.int64], dict[str, Kernel]]:
    """The headlines, their folds, and the matrix of each view, computed once, as a kernel of row numbers."""
    table, folds = headlines(folder, seed, n_rows)
    texts = [" ".join(text.lower().split()) for text in table["headline"]]
    table = table.with_column("text", texts).with_column("words", [plain_text(text).split() for text in texts])
    views: dict[str, Kernel] = {
        name: Precomputed(kernel(table, n_threads=1), on="row") for name, kernel in VIEWS.items()
    }
    return table, folds, views


def split_rows(split: str, n: int, n_train: int, folds: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The training and the test rows of a split, by its name."""
    kind, _, number = split.partition(" ")
    if kind == "fold":
        return np.flatnonzero(folds != int(number)), np.flatnonzero(folds == int(number))
    order = np.arange(n) if split == "file order" else np.random.default_rng(int(number)).permutation(n)
    return np.sort(order[:n_train]), np.sort(order[n_train:])


def learn(kernels: str, sharing: str, rank: int, split: str, setup: Setup) -> Record:
    """Learn six emotions from the training headlines; test headlines are new in all of them."""
    common = settings(quick=setup.quick)
    table, folds, matrices = _headlines(setup.data, setup.seed, common["rows"])
    views = [matrices[name] for name in SETS[kernels]]
    train, test = split_rows(split, len(table), common["training"], folds)
    scores = np.array(table["emotions"])
    location = scores[train].mean(axis=0)
    options = {"random_state": setup.seed, "n_threads": setup.n_threads}
    rows, new, chosen = Table(row=train), Table(row=test), SHARINGS[sharing]
    record: Record
    if chosen.kernel is None:
        record, predicted, log_density = _apart(views, chosen, rows, scores[train], new, scores[test], options)
    else:
        noise = PerLabel(weak_noise()) if chosen.noise_by_emotion else weak_noise()
        kernel = chosen.kernel(rank, views)
        fitted, seconds = fit_gp(kernel, rows, scores[train], tasks=EMOTIONS, noise=noise, **options)
        predicted, log_density = fitted.predict(new), fitted.log_predictive_density(new, scores[test], joint=True)
        one = Table(row=train[:1].repeat(N_TASKS), task=list(EMOTIONS))
        record = {
            "evidence": float(fitted.log_marginal_likelihood_),
            "fit_seconds": short(seconds),
            "tasks": correlations(fitted.kernel_(one)),
        }
    return {
        **record,
        "log_density": float(log_density.mean()),
        "pearson": pearson(scores[test].ravel(), predicted.ravel()),
        "pearson_means_off": pearson((scores[test] - location).ravel(), (predicted - location).ravel()),
        "by_emotion": [pearson(scores[test, k], predicted[:, k]) for k in range(N_TASKS)],
    }


def _apart(
    views: list[Kernel], sharing: Sharing, rows: Table, y: Any, new: Table, y_new: Any, options: dict[str, Any]
) -> tuple[Record, Any, Any]:
    """A model for each emotion: the density of a headline is the product of six."""
    noise: Any = weak_noise()
    starts: list[Any] = [weight(0.4 / len(views)) for _ in views]
    if not sharing.priors:
        noise, starts = noise.value, [start.value for start in starts]
    kernel: Kernel = starts[0] * views[0]
    for start, view in zip(starts[1:], views[1:], strict=True):
        kernel = kernel + start * view
    means, log_density, evidence, seconds = [], np.zeros(len(new)), 0.0, 0.0
    for k in range(N_TASKS):
        model, spent = fit_gp(kernel, rows, y[:, k], noise=noise, **options)
        predicted = model.predict_distribution(new)
        means.append(predicted.mean)
        log_density += predicted.log_density(y_new[:, k])
        evidence += float(model.log_marginal_likelihood_)
        seconds += spent
    record = {"evidence": evidence, "fit_seconds": short(seconds)}
    return record, np.stack(means, axis=1), log_density


def correlations(covariance: Any) -> list[list[float]]:
    """The correlations in a matrix of covariances."""
    spread = np.sqrt(np.diag(covariance))
    return [[short(value) for value in row] for row in covariance / np.outer(spread, spread)]


def page(results: Results) -> Page:
    """Correlations and densities by split, and how alike the emotions are."""
    return shared_emotions_page(results)
