"""The emotions of headlines from subsequences, n-grams and trees, in the frame of the paper that followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.gp import SquareRoot
from espalier.kernels import (
    BagOfWords,
    Kernel,
    Normalized,
    Precomputed,
    Spectrum,
    Subsequence,
    SubsetTree,
    Tagging,
    WordNet,
    fixed,
)
from espalier.structures import Table
from espalier_experiments import data
from espalier_experiments.beck2014.emotion_page import emotion_page
from espalier_experiments.beck2014.question_models import has_wordnet
from espalier_experiments.headlines import N_FOLDS, emotion_tasks, headlines
from espalier_experiments.measures import Moments
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import fit_gp, fit_record
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "emotion"
QUICK_MODELS = ("character subsequences", "tree x subsequences", "tree + subsequences + characters, root")


@dataclass(frozen=True)
class Model:
    """A kernel to learn; ``root`` models the square root of the score plus 1, for scores are skewed."""

    kernel: Callable[[Table], Kernel]  # made for all headlines, of which some kernels keep a matrix
    root: bool = False


def _words() -> Kernel:
    return Normalized(BagOfWords(on="words"))


def _subsequences(of: Any = "words", on: str = "words", length: int = 3) -> Kernel:
    return Normalized(Subsequence(length, 0.5, 0.5, order_weights=fixed(1.0), of=of, on=on))


def _bigrams() -> Kernel:
    return Normalized(Spectrum(2, 1, order_weights=1.0, on="words"))


def _characters() -> Kernel:
    return Normalized(Spectrum(5, 2, order_weights=1.0, of="characters", on="text"))


def _character_subsequences(table: Table) -> Kernel:
    """Computed once, at one setting: a matrix with gradients would take minutes."""
    return Precomputed(_subsequences("characters", "text", 4)(table), on="row")


def _soft_subsequences(table: Table) -> Kernel:
    """Words that match by WordNet, computed once as well."""
    soft = Subsequence(3, 0.5, 0.7, order_weights=fixed(1.0), similarity=WordNet(power=3), on="words")
    return Precomputed(Normalized(soft)(table), on="row")


def _tagging() -> Kernel:
    return Normalized(Tagging(on="lowered"))


def _tree() -> Kernel:
    return Normalized(SubsetTree(0.1, 0.5, on="lowered"))


MODELS: dict[str, Model] = {
    "words": Model(lambda table: 1.0 * _words()),
    "words and bigrams": Model(lambda table: 1.0 * _bigrams()),
    "subsequences": Model(lambda table: 1.0 * _subsequences()),
    "subsequences by WordNet": Model(lambda table: 1.0 * _soft_subsequences(table)),
    "characters": Model(lambda table: 1.0 * _characters()),
    "character subsequences": Model(lambda table: 1.0 * _character_subsequences(table)),
    "tagged words": Model(lambda table: 1.0 * _tagging()),
    "tree": Model(lambda table: 1.0 * _tree()),
    "tree + subsequences": Model(lambda table: 1.0 * _tree() + 1.0 * _subsequences()),
    "tree x subsequences": Model(lambda table: 1.0 * (_tree() * _subsequences())),
    "tree + subsequences + characters": Model(
        lambda table: 1.0 * _tree() + 1.0 * _subsequences() + 1.0 * _characters()
    ),
    "tree + subsequences + characters, root": Model(
        lambda table: 1.0 * _tree() + 1.0 * _subsequences() + 1.0 * _characters(), root=True
    ),
    "tree + subsequences by WordNet + characters, root": Model(
        lambda table: 1.0 * _tree() + 1.0 * _soft_subsequences(table) + 1.0 * _characters(), root=True
    ),
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"folds": N_FOLDS, "rows": 60 if quick else 1000}


def tasks(setup: Setup) -> list[Task]:
    """One task for each model, emotion and fold; models with WordNet are left out where it is not installed."""
    models = [model for model in (QUICK_MODELS if setup.quick else MODELS) if "WordNet" not in model or has_wordnet()]
    return emotion_tasks(setup, models, learn)


@cache
def _headlines(folder: Path, seed: int, n_rows: int) -> tuple[Table, NDArray[np.int64]]:
    """The headlines in every form that a kernel reads, and their folds, which are those of the later paper."""
    table, folds = headlines(folder, seed, n_rows)
    texts = [" ".join(text.lower().split()) for text in table["headline"]]
    columns = {
        "row": np.arange(len(table)),
        "text": texts,
        "words": [data.plain_text(text).split() for text in texts],
    }
    for name, values in columns.items():
        table = table.with_column(name, values)
    return table, folds


@cache
def _kernel(model: str, folder: Path, seed: int, n_rows: int) -> Kernel:
    return MODELS[model].kernel(_headlines(folder, seed, n_rows)[0])


def learn(model: str, emotion: str, fold: int, setup: Setup) -> Record:
    """Learn one emotion from one training fold; keep what the correlations of the test fold are made of."""
    place = (setup.data, setup.seed, settings(quick=setup.quick)["rows"])
    table, folds = _headlines(*place)
    train, test = table[folds != fold], table[folds == fold]
    scores = table["emotions"][:, data.EMOTIONS.index(emotion)]
    mean = float(scores[folds != fold].mean())
    options: dict[str, Any] = {"noise": 0.5, "random_state": setup.seed, "n_threads": setup.n_threads}
    if MODELS[model].root:  # a root needs the scores themselves
        y = scores[folds != fold]
        fitted, seconds = fit_gp(_kernel(model, *place), train, y, target_transform=SquareRoot(1.0), **options)
        predicted = fitted.predict(test) - mean
    else:
        y = scores[folds != fold] - mean
        fitted, seconds = fit_gp(_kernel(model, *place), train, y, **options)
        predicted = fitted.predict(test)
    moments = Moments.of(scores[folds == fold] - mean, predicted)
    record = fit_record(fitted, y, seconds)
    return {**record, "mean": mean, "moments": vars(moments), "pearson": moments.pearson()}


def page(results: Results) -> Page:
    """The table of correlations, the choice among models, and the learned values."""
    return emotion_page(results, list(MODELS))
