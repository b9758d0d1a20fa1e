"""The emotion analysis: the emotions of headlines, predicted from words and from trees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.gp import SquareRoot
from espalier.structures import Table
from espalier_experiments import data
from espalier_experiments.baselines import fit_svm, search_record
from espalier_experiments.beck2015.emotion_models import MODELS, OWN, PAPER_FIGURES, Model
from espalier_experiments.beck2015.emotion_page import emotion_page
from espalier_experiments.beck2015.settings import Setup
from espalier_experiments.headlines import N_FOLDS, emotion_tasks, headlines
from espalier_experiments.measures import Moments
from espalier_experiments.page import Page
from espalier_experiments.records import fit_gp, fit_record
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "emotion"
RESTARTS = 1
QUICK_MODELS = ("SVM bag of words", "SVM subset tree", "GP symbol-aware, all", "own: tree + words + characters")


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"folds": N_FOLDS, "restarts": 0 if quick else RESTARTS, "rows": 60 if quick else 1000}


def tasks(setup: Setup) -> list[Task]:
    """One task per model, emotion and fold; the paper's models first."""
    models = QUICK_MODELS if setup.quick else (*PAPER_FIGURES, *OWN)
    return emotion_tasks(setup, models, learn)


_headlines = cache(headlines)


@cache
def _split(folder: Path, seed: int, n_rows: int, fold: int) -> tuple[Table, Table]:
    """Training and test rows of a fold, with vectors of words and of characters that only saw the training rows."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    table, folds = _headlines(folder, seed, n_rows)
    parts = [table[folds != fold], table[folds == fold]]
    words = r"\w+|[^\w\s]+"  # as nltk's wordpunct_tokenize splits them
    vectorizers = {
        "counts": CountVectorizer(token_pattern=words),
        "words": TfidfVectorizer(token_pattern=words, sublinear_tf=True),
        "characters": TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
        "pieces": TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 7), sublinear_tf=True),
    }
    for name, vectorizer in vectorizers.items():
        vectorizer.fit(parts[0]["headline"])
        parts = [part.with_column(name, vectorizer.transform(part["headline"])) for part in parts]
    return parts[0], parts[1]


def learn(model: str, emotion: str, fold: int, setup: Setup) -> Record:
    """Learn one emotion from one training fold; keep what the correlations of the test fold are made of."""
    common = settings(quick=setup.quick)
    train, test = _split(setup.data, setup.seed, common["rows"], fold)
    column = data.EMOTIONS.index(emotion)
    mean = float(train["emotions"][:, column].mean())
    y, y_test = train["emotions"][:, column] - mean, test["emotions"][:, column] - mean
    labels = data.inner_labels(_headlines(setup.data, setup.seed, common["rows"])[0]["tree"])
    chosen = MODELS[model]
    if chosen.kind == "svm":
        predicted, record = _svm(chosen, train, y, test, setup)
    else:
        predicted, record = _gp(chosen, labels, train, y, mean, test, setup)
    moments = Moments.of(y_test, predicted)
    return {**record, "mean": mean, "moments": vars(moments), "pearson": moments.pearson()}


def _gp(
    model: Model, labels: Sequence[str], train: Table, y: NDArray[np.float64], mean: float, test: Table, setup: Setup
) -> tuple[NDArray[np.float64], Record]:
    restarts = settings(quick=setup.quick)["restarts"]
    options = {"noise": 0.5, "restarts": restarts, "random_state": setup.seed, "n_threads": setup.n_threads}
    if model.root:  # a root needs the scores themselves
        scores = np.maximum(y + mean, 0.0)  # what rounding left below 0
        fitted, seconds = fit_gp(model.kernel(labels), train, scores, target_transform=SquareRoot(1.0), **options)
        return fitted.predict(test) - mean, fit_record(fitted, scores, seconds)
    fitted, seconds = fit_gp(model.kernel(labels), train, y, **options)
    return fitted.predict(test), fit_record(fitted, y, seconds)


def _svm(
    model: Model, train: Table, y: NDArray[np.float64], test: Table, setup: Setup
) -> tuple[NDArray[np.float64], Record]:
    kernels = model.grid()[:2] if setup.quick else model.grid()
    C, epsilon = ([1.0, 10.0], [1.0]) if setup.quick else (model.C, model.epsilon)
    search, seconds = fit_svm(kernels, train, y, C=C, epsilon=epsilon, n_threads=setup.n_threads)
    return search.predict(test), search_record(search, seconds)


def page(results: Results) -> Page:
    """The paper's table and its table 3, and our own models."""
    return emotion_page(results)
