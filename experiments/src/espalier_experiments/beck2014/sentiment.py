"""Is a review good or bad? Words and subsequences, learned from one kind of product and tested on each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import BagOfWords, Kernel, Normalized, Precomputed, Spectrum, Subsequence, fixed
from espalier.structures import Table
from espalier_experiments import data
from espalier_experiments.beck2014 import one_vs_rest
from espalier_experiments.beck2014.learning import Matrix, accuracy, choose_on_matrices
from espalier_experiments.beck2014.question_models import weights_of
from espalier_experiments.beck2014.sentiment_page import sentiment_page
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "sentiment"
DOMAINS = ("books", "dvd", "electronics", "kitchen_&_housewares")
N_TOKENS, N_FOLDS, LEARNING_ROWS = 100, 5, 600
C_GRID = (0.3, 1.0, 3.0, 10.0)

# What each view may be; the first of each stands in sums.
VIEWS: dict[str, tuple[Kernel, ...]] = {
    "words": (BagOfWords("binary", on="words"), BagOfWords(on="words")),
    "n-grams": (Spectrum(2, 1, on="words"), Spectrum(3, 1, on="words")),
    "subsequences": (
        Subsequence(3, 0.3, 0.7, order_weights=fixed(1.0), on="words"),
        Subsequence(3, 0.6, 0.7, order_weights=fixed(1.0), on="words"),
    ),
}
MODELS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in VIEWS},
    "words + n-grams + subsequences": tuple(VIEWS),
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    common = {"folds": N_FOLDS, "tokens": 10 if quick else N_TOKENS}
    return {**common, "rows": 40 if quick else None, "learning_rows": 30 if quick else LEARNING_ROWS}


def tasks(setup: Setup) -> list[Task]:
    """One task for each model and kind of product that it learns from."""
    return [
        Task({"model": model, "source": source}, learn, setup.arguments)
        for source in (DOMAINS[:1] if setup.quick else DOMAINS)
        for model in MODELS
    ]


@cache
def _reviews(setup: Setup) -> Table:
    """Reviews of all kinds, one kind after the other."""
    common = settings(quick=setup.quick)
    table = data.reviews(setup.data, common["tokens"])
    domain = np.array(table["domain"])
    drawn = np.random.default_rng(setup.seed).permutation(len(table))
    rows = [np.sort(drawn[domain[drawn] == name][: common["rows"]]) for name in DOMAINS]
    chosen: Table = table[np.concatenate(rows)]
    return chosen


@cache
def _block(kernel: Kernel, rows: str, columns: str, setup: Setup) -> Matrix:
    """The values of two kinds; each pair of kinds is computed once."""
    if rows > columns:
        return _block(kernel, columns, rows, setup).T
    table = _reviews(setup)
    domain = np.array(table["domain"])
    sides = [table[domain == name] for name in (rows, columns)]
    return kernel(sides[0], None if rows == columns else sides[1], n_threads=setup.n_threads)


def learn(model: str, source: str, setup: Setup) -> Record:
    """Learn from the reviews of one kind of product: cross-validated there, and tested on all other kinds."""
    table = _reviews(setup)
    y, domain = np.array(table["polarity"]), np.array(table["domain"])
    inside, others = domain == source, domain[domain != source]
    views = [VIEWS[name] for name in MODELS[model]]
    is_sum = len(views) > 1
    # One kernel to choose from several, or one of each view to weigh.
    kernels = [Normalized(kernel) for kernel in ([view[0] for view in views] if is_sum else views[0])]
    targets = [name for name in DOMAINS if name != source]
    grams = [_block(kernel, source, source, setup) for kernel in kernels]
    crosses = [np.concatenate([_block(kernel, name, source, setup) for name in targets]) for kernel in kernels]
    groups = table["group"][inside]
    predicted, chosen = _both(grams, crosses, y[inside], groups, setup, is_sum=is_sum)
    across = {
        name: {learner: accuracy(y[domain == name], labels[others == name]) for learner, labels in predicted.items()}
        for name in targets
    }
    return {
        "in_domain": _cross_validated(grams, y[inside], groups, setup, is_sum=is_sum),
        "across": across,
        "kernels": [repr(kernel) for kernel in kernels],
        **chosen,
    }


def _cross_validated(
    grams: Sequence[Matrix], y: NDArray[Any], groups: NDArray[Any], setup: Setup, *, is_sum: bool
) -> dict[str, list[float]]:
    """The accuracy of each learner on each fold; equal texts stand in one, and all choices are made without it."""
    from sklearn.model_selection import StratifiedGroupKFold

    folds = StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=setup.seed)
    out: dict[str, list[float]] = {}
    for train, test in folds.split(y, y, groups):
        inner = [gram[np.ix_(train, train)] for gram in grams]
        outer = [gram[np.ix_(test, train)] for gram in grams]
        predicted, _ = _both(inner, outer, y[train], groups[train], setup, is_sum=is_sum)
        for learner, labels in predicted.items():
            out.setdefault(learner, []).append(accuracy(y[test], labels))
    return out


def _both(
    grams: Sequence[Matrix],
    crosses: Sequence[Matrix],
    y: NDArray[Any],
    groups: NDArray[Any],
    setup: Setup,
    *,
    is_sum: bool,
) -> tuple[dict[str, NDArray[Any]], Record]:
    """What both learners say of new rows, and what they chose: one matrix, or the weights of all."""
    common = settings(quick=setup.quick)
    rows = np.sort(np.random.default_rng(setup.seed).permutation(len(y))[: common["learning_rows"]])
    parts = [Precomputed(gram[np.ix_(rows, rows)]) for gram in grams]
    starts = [reduce(add, [(1 / len(parts)) * part for part in parts])] if is_sum else [1.0 * part for part in parts]
    numbers = np.arange(len(rows))
    found = [one_vs_rest.learn(start, numbers, y[rows], n_threads=setup.n_threads) for start in starts]
    best = max(range(len(found)), key=lambda number: found[number].evidence)
    weights = weights_of(found[best].kernel)
    own = range(len(grams)) if is_sum else (best,)
    gram = reduce(add, [weight * grams[number] for weight, number in zip(weights, own, strict=True)])
    cross = reduce(add, [weight * crosses[number] for weight, number in zip(weights, own, strict=True)])
    record: Record = {
        "process": {
            "evidence": found[best].evidence,
            "noise": short(found[best].noise),
            "weights": [short(weight) for weight in weights],
            "kernel": None if is_sum else best,
        }
    }
    if is_sum:  # machines take the learned weights
        unit = float(gram.diagonal().mean())
        by_machine, _, machine = choose_on_matrices([gram / unit], [cross / unit], C_GRID, y, groups, setup)
        record["machine"] = {**machine, "kernel": None}
    else:
        by_machine, number, machine = choose_on_matrices(grams, crosses, C_GRID, y, groups, setup)
        record["machine"] = {**machine, "kernel": number}
    by_process = one_vs_rest.predict(gram, cross, y, found[best].noise)
    return {"machine": by_machine, "process": by_process}, record


def page(results: Results) -> Page:
    """Accuracies within and across kinds of products."""
    return sentiment_page(results)
