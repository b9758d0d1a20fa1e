"""Many annotators with few segments each: simulated people, of whom a matrix of low rank is to be learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.gp import LogNormal
from espalier.kernels import Coregion, EasyAdapt, Kernel, Learned, PerLabel, Precomputed, fixed
from espalier_experiments.beck2014.annotators_page import annotators_page
from espalier_experiments.beck2014.editors import settings as settings_of_segments
from espalier_experiments.beck2014.editors import string_matrices
from espalier_experiments.beck2014.multitask import Near, weight
from espalier_experiments.beck2014.task_models import Rows
from espalier_experiments.measures import pearson
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.post_edits import post_edits
from espalier_experiments.records import fit_gp, short
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "annotators"
N_TEST, TRUE_RANK = 25, 2
SIZES = {10: (20, 5), 50: (10, 2), 200: (5, 1)}  # segments of each annotator and draws, by number of annotators
NOISE = 0.4  # the median deviation
Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class People:
    """Simulated annotators: each sees a weighted sum of two functions of segments, with a bias and noise."""

    names: tuple[str, ...]
    weights: Vector
    bias: Vector
    deviation: Vector

    @staticmethod
    def drawn(n: int, rng: np.random.Generator) -> People:
        """Most agree on the first function; the second one divides them."""
        weights = np.column_stack([rng.normal(0.8, 0.3, n), rng.normal(0.0, 0.5, n)])
        deviation = NOISE * np.exp(rng.normal(0.0, 0.4, n))
        return People(tuple(f"p{k}" for k in range(n)), weights, rng.normal(0.0, 0.5, n), deviation)

    @property
    def covariances(self) -> Vector:
        """What is to be found: the covariances of the annotators, without biases."""
        out: Vector = self.weights @ self.weights.T
        return out


Make = Callable[[People], Kernel]
START = 0.7  # of weights


def _coregion(rank: int, *, near: bool = False) -> Make:
    """Without a prior on weights, or with one under which annotators are alike."""
    kappa = Learned(0.1, prior=LogNormal(0.1, 1.0))
    weights = PerLabel(Learned(START, prior=Near(START, 0.3)) if near else START)
    return lambda people: Coregion(on="task", rank=rank, weights=weights, kappa=kappa)


def _true(people: People) -> Kernel:
    """The numbers that the data were made with."""
    names = people.names
    values = {f"{name},{k}": float(people.weights[i, k]) for i, name in enumerate(names) for k in range(TRUE_RANK)}
    weights = PerLabel(fixed(0.7), values=values)
    return Coregion(on="task", rank=TRUE_RANK, weights=weights, kappa=fixed(1e-6))


MODELS: dict[str, Make] = {
    "separate": lambda people: EasyAdapt(on="task", shared=fixed(0), own=weight(0.7)),
    "pooled": lambda people: EasyAdapt(on="task", shared=weight(0.7), own=fixed(0)),
    "EasyAdapt": lambda people: EasyAdapt(on="task", shared=weight(0.5), own=weight(0.3)),
    "Coregion, rank 1": _coregion(1),
    "Coregion, rank 1, weights near one another": _coregion(1, near=True),
    "Coregion, rank 2": _coregion(2),
    "true weights": _true,
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"test": 5 if quick else N_TEST, "true_rank": TRUE_RANK}


def tasks(setup: Setup) -> list[Task]:
    """One task for each number of annotators, draw and model."""
    sizes = {3: (5, 1)} if setup.quick else SIZES
    return [
        Task({"annotators": n, "each": each, "draw": draw, "model": model}, learn, setup.arguments)
        for n, (each, n_draws) in sizes.items()
        for draw in range(n_draws)
        for model in MODELS
    ]


@cache
def _segments(setup: Setup) -> Vector:
    """The kernel of segments: the mean of those of words, characters and lengths."""
    edits = post_edits(setup.data).every(settings_of_segments(quick=setup.quick)["every"])
    out: Vector = np.mean(list(string_matrices(edits).values()), axis=0)
    return out


def learn(annotators: int, each: int, draw: int, model: str, setup: Setup) -> Record:
    """Learn from a few segments of each annotator, and predict what all would say of new segments."""
    rng = np.random.default_rng((setup.seed, annotators, draw))
    matrix = _segments(setup)
    n = len(matrix)
    people = People.drawn(annotators, rng)
    functions = np.linalg.cholesky(matrix + 1e-8 * np.eye(n)) @ rng.normal(size=(n, TRUE_RANK))
    said = functions @ people.weights.T + people.bias
    heard = said + people.deviation * rng.normal(size=said.shape)
    order, n_test = rng.permutation(n), settings(quick=setup.quick)["test"]
    test, pool = order[:n_test], order[n_test:]
    chosen = [(int(row), k) for k in range(annotators) for row in rng.choice(pool, each, replace=False)]
    train = Rows.of(chosen, people.names)
    new = Rows.of([(int(row), k) for row in test for k in range(annotators)], people.names)
    bias = EasyAdapt(on="task", shared=fixed(0), own=weight(0.3))
    kernel = MODELS[model](people) * Precomputed(matrix, on="row") + bias
    fitted, seconds = fit_gp(
        kernel,
        train.table,
        heard[train.row, train.task],
        groups=train.table["task"],
        noise=PerLabel(Learned(NOISE**2, prior=LogNormal(NOISE**2, 0.8))),
        mean="constant",
        standardize=False,
        random_state=setup.seed,
        n_threads=setup.n_threads,
    )
    found = fitted.predict_distribution(new.table, noise_groups=new.table["task"])
    everyone = Rows.of([(0, k) for k in range(annotators)], people.names)
    apart = ~np.eye(annotators, dtype=bool)
    return {
        "fit_seconds": short(seconds),
        "evidence": float(fitted.log_marginal_likelihood_),
        "log_density": float(found.log_density(heard[new.row, new.task]).mean()),
        "pearson": pearson(said[new.row, new.task], found.mean),
        "covariances": pearson(people.covariances[apart], fitted.kernel_(everyone.table)[apart]),
    }


def page(results: Results) -> Page:
    """What was recovered, by number of annotators."""
    return annotators_page(results)
