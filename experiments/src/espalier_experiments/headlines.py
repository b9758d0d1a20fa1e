"""What the experiments on the emotions of headlines share: rows and folds, tasks, and a table by emotion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Forest
from espalier.structures import Table
from espalier_experiments.data import EMOTIONS, affective, emotion_folds
from espalier_experiments.page import Page, number
from espalier_experiments.papers import Setup
from espalier_experiments.selection import Record, mean_of
from espalier_experiments.store import Task

N_FOLDS = 5


def headlines(folder: Path, seed: int, n_rows: int) -> tuple[Table, NDArray[np.int64]]:
    """Some headlines, drawn at random, also with trees in lower case, and their folds."""
    table = affective(folder)
    rows = np.random.default_rng(seed).permutation(len(table))[:n_rows]
    table = table[np.sort(rows)]
    lowered = Forest.from_trees(tree.with_lower_case_leaves() for tree in table["tree"])
    return table.with_column("lowered", lowered), emotion_folds(table, N_FOLDS, seed=seed)


def emotion_tasks(setup: Setup, models: Sequence[str], learn: Callable[..., Record]) -> list[Task]:
    """One task for each model, emotion and fold."""
    emotions, folds = (EMOTIONS[:2], range(1)) if setup.quick else (EMOTIONS, range(N_FOLDS))
    return [
        Task({"model": model, "emotion": emotion, "fold": fold}, learn, setup.arguments)
        for model in models
        for fold in folds
        for emotion in emotions
    ]


def table_by_emotion(out: Page, records: Sequence[Record], models: Sequence[str]) -> None:
    """Write the correlations of each model, emotion by emotion."""
    rows = []
    for model in models:
        own = [[r for r in records if r["model"] == model and r["emotion"] == emotion] for emotion in EMOTIONS]
        rows.append([model, *(number(mean_of(listed, "pearson")) for listed in own)])
    out.section("By emotion")
    out.table(["r, mean over folds", *EMOTIONS], rows)
