"""The page of the emotions: correlations of each model, and the weights that the sums learned."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.beck2015.emotion_page import joined_pearson
from espalier_experiments.data import EMOTIONS
from espalier_experiments.headlines import table_by_emotion
from espalier_experiments.page import Page, number
from espalier_experiments.selection import Record, choose, mean_of
from espalier_experiments.store import Results

CHOSEN = "chosen by leave-one-out density in each training fold"


def emotion_page(results: Results, models: Sequence[str]) -> Page:
    """All that is shown."""
    out = Page(results.path.stem, "Emotions of headlines, from strings and trees")
    out.aim(
        "Combine strings and trees, and learn how much each counts.",
        "Pearson's correlation with the emotions of headlines, by folds.",
        "Single kernels, sums of them, and the models of the [emotion analysis](../beck2015/emotion.md).",
    )
    out.say(
        f"String kernels and their combinations with trees, as {PAPER}, proposes them, on the 1,000 headlines of the "
        "[emotion analysis](../beck2015/emotion.md), with its folds, its parses and its measures, so that the figures "
        "compare with those of that page. Gaussian processes throughout; every number of a kernel is learned by the "
        "evidence from one start, except for two whose matrices are computed once and weighed: *character "
        "subsequences* (length 4, decays 0.5) and *subsequences by WordNet* (gaps weigh 0.5, matches 0.7 times the "
        "third power of the similarity of Wu and Palmer)."
    )
    out.say(
        "*r* is Pearson's correlation over the six emotions joined, in points, averaged over folds; *r, means off* "
        "leaves the training means off both sides. *LOO* is the log density of a training headline given the others, "
        "averaged. Words and characters are in lower case; subsequences have up to three words, n-grams of characters "
        "two to five; the tree has lower-case leaves; *root* is the square root of the score plus 1."
    )
    records = list(results)
    found = [{**r, "model": CHOSEN} for r in choose(records, within=("emotion", "fold"), by="leave_one_out")]
    shown = [model for model in models if any(record["model"] == model for record in records)]
    _table(out, [*records, *found], [*shown, CHOSEN])
    table_by_emotion(out, [*records, *found], [*shown, CHOSEN])
    _weights(out, records, [model for model in shown if "+" in model])
    return out


def _table(out: Page, records: Sequence[Record], models: Sequence[str]) -> None:
    rows = []
    for model in models:
        own = [record for record in records if record["model"] == model]
        cells = [number(joined_pearson(own, in_points=True)), number(joined_pearson(own))]
        rows.append([model, *cells, number(mean_of(own, "leave_one_out"))])
    out.section("Correlations")
    out.table(["model", "r", "r, means off", "LOO"], rows)


def _weights(out: Page, records: Sequence[Record], models: Sequence[str]) -> None:
    """The share of each term's weight, averaged over folds."""
    for model in models:
        names = model.split(", ")[0].split(" + ")
        own = [record for record in records if record["model"] == model]
        rows = []
        for k, name in enumerate(names):
            cells = []
            for emotion in EMOTIONS:
                found = [shares(record)[k] for record in own if record["emotion"] == emotion]
                cells.append(number(float(np.mean(found)), 2) if found else "-")
            rows.append([name, *cells])
        out.section(f"Learned weights: {model}")
        out.say("The share of each term in the sum of the weights, averaged over folds.")
        out.table(["", *EMOTIONS], rows)


def shares(record: Record) -> list[float]:
    """The share of each term of a sum in its weights.

    Examples
    --------
    >>> shares({"learned": {"kernel.terms[0].scale": 3.0, "kernel.terms[1].scale": 1.0, "noise": 0.5}})
    [0.75, 0.25]
    """
    found = {
        int(match[1]): value
        for path, value in record["learned"].items()
        if (match := re.fullmatch(r"kernel\.terms\[(\d+)\]\.scale", path))
    }
    total = sum(found.values())
    return [found[k] / total for k in sorted(found)]
