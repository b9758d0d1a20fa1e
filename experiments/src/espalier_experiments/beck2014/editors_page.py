"""The page of post-editors: densities, errors and correlations by number of training segments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.page import Page, number
from espalier_experiments.selection import Record, mean_of
from espalier_experiments.store import Results

TITLES = {"time": "Seconds for each word, in logarithms", "hter": "Edits for each word (HTER)"}
MEASURES = {"log_density": 4, "mae": 4, "pearson": 4, "pearson_by_person": 4}
HEADER = ("log density", "mean absolute error", "r", "r by person", "above separate in", "above pooled in")


def editors_page(results: Results) -> Page:
    """All that is shown."""
    out = Page(results.path.stem, "Six people who correct translations, as six tasks")
    out.aim(
        "Learn how six people correct the same translations, from few segments of each.",
        "Log density, mean absolute error and correlation on segments that no model was trained on.",
        "A model for each person, one pooled model, and feature augmentation (EasyAdapt).",
    )
    out.say(
        f"The setting of Cohn and Specia (ACL 2013), which {PAPER}, section 4.1, names: people who correct machine "
        "translations are tasks. 1,047 English-Spanish segments by Scarton and others (IWSLT 2019); four people "
        "corrected all of them, `annotator1` 329 and `annotator2` the other 718. Each draw (seeds from 0) has "
        f"{results.settings['test']} test segments, the same for all people and in nobody's training; of the others, "
        "each person's training segments are drawn independently, so that some are shared. Where a person has fewer "
        "than asked, all are used: at 400, that is so for `annotator1`."
    )
    out.say(
        "Targets: the logarithm of the seconds for each word of the translation (.36 to 71 s; none is 0, and long "
        "pauses stay as they are), and HTER as it is (0 to 2). The kernel of segments is the mean of normalised "
        "kernels: words and sequences of two to five characters of source and translation, a Gaussian kernel of the "
        "logarithms of both lengths, and subset trees (decay 0.1, frontier 0.5) of parses of the source by `PCFG`, "
        "learned from the English Web Treebank. Learned numbers have the same weak priors in all models."
    )
    out.say(
        "*separate*: a model for each person. *pooled*: one for all. *own means and noise*: pooled, but each person's "
        "targets have mean 0 and variance 1, as in all models of tasks. *and items*: a second matrix of tasks for "
        "what people share about one segment beyond the kernel. *r by person* is the mean of six correlations; *r* is "
        "over all rows. *above* counts draws with a larger log density."
    )
    records = list(results)
    for target, title in TITLES.items():
        for kernels in sorted({r["kernels"] for r in records}, key=len, reverse=True):
            own = [r for r in records if r["target"] == target and r["kernels"] == kernels]
            if own:
                out.section(f"{title}: {kernels}")
                _table(out, own)
    return out


def _table(out: Page, records: Sequence[Record]) -> None:
    rows = []
    for n in sorted({r["n"] for r in records}):
        here = [r for r in records if r["n"] == n]
        models = list(dict.fromkeys(r["model"] for r in sorted(here, key=_rank)))
        for model in models:
            own = {r["draw"]: r for r in here if r["model"] == model}
            cells = [number(mean_of(list(own.values()), name), digits) for name, digits in MEASURES.items()]
            cells += [_above(own, here, other) for other in ("separate", "pooled")]
            rows.append([f"{n} of each: {model}", *cells])
    out.table(["", *HEADER], rows)


def _rank(record: Record) -> tuple[bool, str]:
    """Models that share nothing or everything first."""
    return record["model"] not in ("separate", "pooled", "pooled, own means and noise"), record["model"]


def _above(own: dict[int, Record], records: Sequence[Record], model: str) -> str:
    """In how many draws a model gives the test targets a larger density than another."""
    other = {r["draw"]: r for r in records if r["model"] == model}
    both = sorted(set(own) & set(other))
    if not both or own == other:
        return "-"
    won = np.array([own[draw]["log_density"] > other[draw]["log_density"] for draw in both])
    return f"{won.sum()} of {len(won)}"
