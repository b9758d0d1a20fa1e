"""The page of two language pairs: what the larger one gives the smaller one."""

from __future__ import annotations

import numpy as np

from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.page import Page, number
from espalier_experiments.selection import mean_of
from espalier_experiments.store import Results


def pairs_page(results: Results) -> Page:
    """All that is shown."""
    out = Page(results.path.stem, "Two language pairs as two tasks")
    out.aim(
        "Predict how long corrections of a small language pair take, with the help of a larger one.",
        "Log density, mean absolute error and correlation on the small pair, over ten folds.",
        "A model of the small pair alone, one of both pooled, and feature augmentation (EasyAdapt).",
    )
    out.say(
        f"Several tasks as {PAPER}, section 4, proposes, on the data of the [quality page](../beck2015/quality.md): "
        f"{results.settings['large']} training rows of fr-en and 50 or 200 of en-es, drawn at random from the training "
        "part of each fold; tested on the fold of en-es. The target is the logarithm of the seconds for each word. "
        "The kernel is the mean of a Matern kernel of the 17 features (lengthscale 4, features standardised in each "
        "pair's training part) and of subset trees of the English side, which is the translation in fr-en and the "
        "source in en-es. *separate* is trained on en-es alone. Learned numbers have the same weak priors in "
        "all models."
    )
    records = list(results)
    rows = []
    for n in sorted({r["n"] for r in records}):
        here = [r for r in records if r["n"] == n]
        single = {r["fold"]: r["log_density"] for r in here if r["model"] == "separate"}
        for model in sorted(
            {r["model"] for r in here}, key=lambda name: (name != "separate", "pooled" not in name, name)
        ):
            own = [r for r in here if r["model"] == model]
            cells = [number(mean_of(own, name)) for name in ("log_density", "mae", "pearson")]
            won = [r["log_density"] > single[r["fold"]] for r in own if r["fold"] in single]
            cells.append("-" if model == "separate" or not won else f"{int(np.sum(won))} of {len(won)}")
            rows.append([f"{n} of en-es: {model}", *cells])
    out.table(["", "log density", "mean absolute error", "r", "above separate in"], rows)
    return out
