"""Reviews of one kind of product with few labels, learned together with many of another kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.gp import GPClassifier, LogNormal
from espalier.kernels import (
    Coregion,
    EasyAdapt,
    Kernel,
    Learned,
    Normalized,
    PerLabel,
    Precomputed,
    Spectrum,
    Subsequence,
    fixed,
)
from espalier.structures import Table
from espalier_experiments import data
from espalier_experiments.beck2014.learning import accuracy
from espalier_experiments.beck2014.multitask import Near
from espalier_experiments.beck2014.sentiment import DOMAINS
from espalier_experiments.beck2014.shared_reviews_page import shared_reviews_page
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "reviews"
N_SOURCE, N_TEST, N_TOKENS = 400, 400, 100
LABELS = (50, 200, 0)  # of the target
DRAWS = {"n-grams": 2, "subsequences": 1}  # of each kernel
VARIANCE = 10.0  # where a latent variance starts, and the median of its prior

KERNELS: dict[str, Kernel] = {
    "n-grams": Normalized(Spectrum(2, 1, on="words")),
    "subsequences": Normalized(Subsequence(3, 0.3, 0.7, order_weights=fixed(1.0), on="words")),
}


def _variance(start: float) -> Learned:
    return Learned(start, prior=LogNormal(start, 1.0))


@dataclass(frozen=True)
class Model:
    """A kernel of rows from that of reviews, and the reviews that are learned from."""

    kernel: Callable[[Kernel], Kernel]
    reads: tuple[str, ...] = ("source", "target")
    without_labels: bool = False  # whether it says something of a target without labels


def _coregion(kernel: Kernel, *, near: bool = False) -> Kernel:
    """Weights without a prior, or with one under which both kinds of products are alike."""
    start = 0.9 * VARIANCE**0.5
    weights = PerLabel(Learned(start, prior=Near(start, start / 4) if near else None))
    return Coregion(on="task", weights=weights, kappa=PerLabel(_variance(0.2 * VARIANCE))) * kernel


def _easy_adapt(kernel: Kernel) -> Kernel:
    return EasyAdapt(on="task") * (_variance(VARIANCE / 2) * kernel)


def _learned_shares(kernel: Kernel) -> Kernel:
    shared, own = _variance(0.8 * VARIANCE), _variance(0.2 * VARIANCE)
    return EasyAdapt(on="task", shared=shared, own=own) * kernel


MODELS: dict[str, Model] = {
    "single": Model(lambda kernel: _variance(VARIANCE) * kernel, reads=("target",)),
    "pooled": Model(lambda kernel: _variance(VARIANCE) * kernel, without_labels=True),
    "EasyAdapt": Model(_easy_adapt, without_labels=True),
    "EasyAdapt, learned": Model(_learned_shares, without_labels=True),
    "Coregion": Model(_coregion),
    "Coregion, weights near one another": Model(lambda kernel: _coregion(kernel, near=True)),
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    if quick:
        return {"source": 20, "test": 20, "tokens": 10}
    return {"source": N_SOURCE, "test": N_TEST, "tokens": N_TOKENS}


def tasks(setup: Setup) -> list[Task]:
    """One task for each kernel, pair of kinds, number of labels, draw and model."""
    pairs = list(permutations(DOMAINS, 2))
    if setup.quick:
        keys = [("n-grams", *pairs[0], 10, 0, model) for model in MODELS]
    else:
        keys = [
            (kernel, source, target, n, draw, model)
            for kernel in KERNELS
            for n in (LABELS if kernel == "n-grams" else LABELS[:1])
            for draw in range(DRAWS[kernel])
            for source, target in pairs
            for model, own in MODELS.items()
            if n > 0 or own.without_labels
        ]
    names = ("kernel", "source", "target", "labels", "draw", "model")
    return [Task(dict(zip(names, key, strict=True)), learn, setup.arguments) for key in keys]


@cache
def _reviews(kernel: str, draw: int, setup: Setup) -> tuple[Table, Kernel]:
    """Different reviews drawn from each kind, as many as are ever needed, and their matrix as a kernel of rows."""
    common = settings(quick=setup.quick)
    table = data.reviews(setup.data, common["tokens"])
    order = np.random.default_rng((setup.seed, draw)).permutation(len(table))
    _, first = np.unique(table["group"][order], return_index=True)  # one row of those with equal texts
    order = order[np.sort(first)]
    domain = np.array(table["domain"])[order]
    n = common["test"] + max(common["source"], *LABELS)
    chosen = table[np.concatenate([order[domain == name][:n] for name in DOMAINS])]
    return chosen, Precomputed(KERNELS[kernel](chosen, n_threads=1), on="row")


def learn(kernel: str, source: str, target: str, labels: int, draw: int, model: str, setup: Setup) -> Record:
    """Learn from labelled reviews of the source and some of the target; test on others of the target."""
    common = settings(quick=setup.quick)
    table, matrix = _reviews(kernel, draw, setup)
    domain, polarity = np.array(table["domain"]), np.array(table["polarity"])
    own = np.flatnonzero(domain == target)
    test, few = own[: common["test"]], own[common["test"] :][:labels]
    many = np.flatnonzero(domain == source)[common["test"] :][: common["source"]]
    parts = {"source": many, "target": few}
    train = np.concatenate([parts[name] for name in MODELS[model].reads])
    fitted = GPClassifier(MODELS[model].kernel(matrix), random_state=setup.seed, n_threads=setup.n_threads)
    fitted.fit(_rows(train, domain), polarity[train])
    rows = _rows(test, domain)
    return {
        "evidence": float(fitted.log_marginal_likelihood_),
        "accuracy": accuracy(polarity[test], fitted.predict(rows)),
        "log_loss": -float(fitted.log_density(rows, polarity[test]).mean()),
        "learned": {path: float(f"{value:.5g}") for path, value in fitted.learned_.to_dict().items()},
    }


def _rows(rows: NDArray[np.intp], domain: NDArray[Any]) -> Table:
    return Table(row=rows, task=domain[rows].tolist())


def page(results: Results) -> Page:
    """Accuracies and log losses by number of labels."""
    return shared_reviews_page(results)
