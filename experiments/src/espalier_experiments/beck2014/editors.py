"""People who correct machine translations, as tasks: how long they take, and how much they change."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Forest
from espalier.kernels import RBF, BagOfWords, Kernel, Normalized, Precomputed, Spectrum, SubsetTree, fixed
from espalier.parsing import PCFG
from espalier.structures import Table
from espalier_experiments.beck2014.editors_page import editors_page
from espalier_experiments.beck2014.task_models import MODELS, Rows, predict_tasks
from espalier_experiments.collins2001.corpora import web_trees
from espalier_experiments.measures import mae, pearson
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.post_edits import EDITORS, PostEdits, post_edits, words_of
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "editors"
N_TEST, BEAM = 300, 8.0
DRAWS = {50: 10, 100: 10, 200: 4, 400: 1}  # random draws by training segments of each person
TARGETS, SIDES = ("time", "hter"), ("source", "translation")
SETS = {"strings": ("words", "characters", "length"), "strings + trees": ("words", "characters", "length", "trees")}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"test": 10 if quick else N_TEST, "every": 20 if quick else 1}


def tasks(setup: Setup) -> list[Task]:
    """One task for each target, model, number of training segments and draw; small numbers first."""
    if setup.quick:
        keys = [("strings + trees", "hter", model, 10, 0) for model in ("separate", "pooled", "Coregion, rank 1")]
    else:
        keys = [
            (kernels, target, model, n, draw)
            for n, n_draws in DRAWS.items()
            for draw in range(n_draws)
            for kernels in SETS
            for target in TARGETS
            for model in MODELS
            if kernels == "strings + trees" or (n == 100 and model in ("separate", "Coregion, rank 1"))
        ]
    names = ("kernels", "target", "model", "n", "draw")
    return [Task(dict(zip(names, key, strict=True)), learn, setup.arguments) for key in keys]


@cache
def segments(setup: Setup) -> tuple[PostEdits, dict[str, NDArray[np.float64]]]:
    """The segments, and the matrix of each kind of kernel, computed once; all values of a segment with itself are 1."""
    edits = post_edits(setup.data).every(settings(quick=setup.quick)["every"])
    grammar = PCFG.from_treebank(web_trees(setup.data, "dev" if setup.quick else "train"))
    parses = grammar.parse_all([words_of(text) for text in edits.source], 1, beam=BEAM, n_threads=1)
    trees = Forest.from_trees(found[0].tree.with_lower_case_leaves() for found in parses)
    return edits, {**string_matrices(edits), "trees": Normalized(SubsetTree(0.1, 0.5))(trees, n_threads=1)}


def string_matrices(edits: PostEdits) -> dict[str, NDArray[np.float64]]:
    """The matrices of words, characters and lengths; of source and translation, the mean."""
    columns: dict[str, Any] = {}
    for side, texts in zip(SIDES, (edits.source, edits.translation), strict=True):
        columns[side] = [text.lower() for text in texts]
        columns[f"{side}_words"] = [words_of(text.lower()) for text in texts]
    lengths = np.log([[len(words) for words in columns[f"{side}_words"]] for side in SIDES]).T
    columns["length"] = (lengths - lengths.mean(axis=0)) / lengths.std(axis=0)
    kinds: dict[str, list[Kernel]] = {
        "words": [BagOfWords(on=f"{side}_words") for side in SIDES],
        "characters": [Spectrum(5, 2, order_weights=1.0, of="characters", on=side) for side in SIDES],
        "length": [RBF(fixed(1.0), on="length")],
    }
    table = Table(**columns)
    return {
        name: np.mean([Normalized(kernel)(table, n_threads=1) for kernel in own], axis=0) for name, own in kinds.items()
    }


@cache
def kernel_of(kernels: str, setup: Setup) -> Kernel:
    """The mean of the matrices of a set, as a kernel of row numbers."""
    matrices = segments(setup)[1]
    return Precomputed(np.mean([matrices[name] for name in SETS[kernels]], axis=0), on="row")


def targets_of(edits: PostEdits, target: str) -> NDArray[np.float64]:
    """The logarithm of the seconds for each word, or HTER as it is; nothing is left out or cut."""
    return np.log(edits.seconds) if target == "time" else edits.hter


def drawn(known: NDArray[np.bool_], n_test: int, n: int, draw: int) -> tuple[Rows, Rows]:
    """Training and test rows: test segments are the same for all, and nobody learns from them."""
    rng = np.random.default_rng(draw)
    order = rng.permutation(len(known))
    test, pool = np.sort(order[:n_test]), order[n_test:]
    train: list[tuple[int, int]] = []
    for person in range(known.shape[1]):
        own = [row for row in rng.permutation(pool).tolist() if known[row, person]]
        train += [(row, person) for row in sorted(own[:n])]
    tested = [(row, person) for row in test.tolist() for person in range(known.shape[1]) if known[row, person]]
    return Rows.of(train, EDITORS), Rows.of(tested, EDITORS)


def learn(kernels: str, target: str, model: str, n: int, draw: int, setup: Setup) -> Record:
    """Learn from some segments of each person, and score all people on the test segments."""
    values = targets_of(segments(setup)[0], target)
    train, test = drawn(np.isfinite(values), settings(quick=setup.quick)["test"], n, draw)
    predicted = predict_tasks(MODELS[model], kernel_of(kernels, setup), train, test, values, setup)
    y = values[test.row, test.task]
    people = [test.task == person for person in range(len(EDITORS))]
    return {
        **predicted.record,
        "rows": len(train.row),
        "log_density": float(predicted.log_density.mean()),
        "mae": mae(y, predicted.mean),
        "pearson": pearson(y, predicted.mean),
        "pearson_by_person": float(np.mean([pearson(y[own], predicted.mean[own]) for own in people if own.sum() > 2])),
    }


def page(results: Results) -> Page:
    """Densities, errors and correlations by model and number of training segments."""
    return editors_page(results)
