"""The page of six emotions as six tasks: correlations and joint densities, and how alike the emotions are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.data import EMOTIONS
from espalier_experiments.page import Page, number
from espalier_experiments.selection import Record, choose, mean_of
from espalier_experiments.store import Results

CHOSEN = "ICM or LMC, chosen by evidence"
MEASURES = {"pearson": "r", "pearson_means_off": "r, means off", "log_density": "log density"}
SHOWN_RANK = 2  # of the tables by emotion


def shared_emotions_page(results: Results) -> Page:
    """All that is shown."""
    settings = results.settings
    out = Page(results.path.stem, "Six emotions as six tasks")
    out.aim(
        "Learn six emotions of headlines with one model, which learns how alike they are.",
        "Pearson's correlation over all emotions joined and for each; the joint log density of a headline's emotions.",
        "Six single models with the same kernels of headlines, priors and splits.",
    )
    out.say(
        f"{PAPER}, section 4, names emotions as an application; Beck, Cohn, Hardmeier and Specia (2015), section 5.1, "
        "name several tasks with tree kernels as possible. The 1,000 headlines of the "
        f"[emotion analysis](../beck2015/emotion.md), split into {settings['training']} for training and all others "
        "for testing, in the order of the file as in Beck (2014) and ten times at random (seeds 0 to 9), and into the "
        "five folds of that page. A test headline is new in all six emotions."
    )
    out.say(
        "*single*: a model for each emotion. *ICM*: a learned matrix of tasks (`Coregion`) times one kernel of "
        "headlines, for sums one sum. *LMC*: a matrix of tasks for each kernel of the sum, on the small splits only. "
        "Each emotion has mean 0 and variance 1 in the training headlines, and the models of several tasks have one "
        "noise for all six, except *noise by emotion*. The kernels of headlines are normalised, and have no learned "
        "numbers inside: words are counted; characters are sequences of two to five; trees have lower-case leaves, "
        "decay 0.1 and frontier 0.5. Learned variances have weak priors, the same in all models. *no priors*: kernels "
        "near the identity then take noise for signal, and repeated headlines have densities near 0."
    )
    out.say(
        "*r* is the correlation of all scores joined, in points, as on the other pages. *Log density* is that of the "
        "six scores of a test headline, averaged, in points too: joint for models of several tasks, and the sum of "
        "six for single ones. *Better in* counts splits."
    )
    records = list(results)
    small = [r for r in records if not r["split"].startswith("fold")]
    chosen = choose(
        [{**r, "model": f"{r['sharing']} {r['rank']}"} for r in small if r["sharing"] in ("ICM", "LMC")],
        within=("kernels", "split"),
        by="evidence",
    )
    small += [{**r, "sharing": CHOSEN, "rank": 0} for r in chosen]
    _splits(out, "Trained on few headlines, in file order", [r for r in small if r["split"] == "file order"])
    _splits(out, "Trained on few headlines, mean of random splits", [r for r in small if r["split"] != "file order"])
    folds = [r for r in records if r["split"].startswith("fold")]
    if folds:
        _splits(out, "Trained on four folds of five, mean of folds", folds)
    _by_emotion(out, [r for r in records if r["split"].startswith("random")])
    _alike(out, [r for r in records if r["split"].startswith("random")])
    return out


def _models(records: Sequence[Record]) -> list[tuple[str, str, int]]:
    """The models of each set of kernels, the single ones first."""
    order = {"single": 0, "ICM": 1, "LMC": 2}
    found = {(r["kernels"], r["sharing"], r["rank"]) for r in records}
    return sorted(found, key=lambda own: (own[0].count("+"), own[0], order.get(own[1], 3), own[1], own[2]))


def _of(records: Sequence[Record], kernels: str, sharing: str, rank: int) -> dict[str, Record]:
    """The records of a model by split."""
    return {r["split"]: r for r in records if (r["kernels"], r["sharing"], r["rank"]) == (kernels, sharing, rank)}


def _splits(out: Page, title: str, records: Sequence[Record]) -> None:
    """Each model beside the single ones on the same splits."""
    if not records:
        return
    rows = []
    for kernels, sharing, rank in _models(records):
        own, single = _of(records, kernels, sharing, rank), _of(records, kernels, "single", 0)
        cells = [number(mean_of(list(own.values()), name), 3 if name == "log_density" else 4) for name in MEASURES]
        both = sorted(set(own) & set(single))
        if sharing == "single" or not both:
            gains = ["-"] * 4
        else:
            gains = []
            for name, digits in (("pearson", 4), ("log_density", 3)):
                gain = np.array([own[split][name] - single[split][name] for split in both])
                mean = number(float(gain.mean()), digits)
                gains += [mean if mean.startswith("-") else f"+{mean}", f"{(gain > 0).sum()} of {len(gain)}"]
        rows.append([f"{kernels}: {sharing}" + (f", rank {rank}" if rank else ""), *cells, *gains])
    out.section(title)
    out.table(["", *MEASURES.values(), "r gained", "better in", "log density gained", "better in"], rows)


def _by_emotion(out: Page, records: Sequence[Record]) -> None:
    rows = []
    for kernels, sharing, rank in _models(records):
        if rank not in (0, SHOWN_RANK) or sharing not in ("single", "ICM", "LMC"):
            continue
        own = [r["by_emotion"] for r in _of(records, kernels, sharing, rank).values()]
        means = np.mean(np.array(own, dtype=np.float64), axis=0)
        rows.append([f"{kernels}: {sharing}", *(number(float(value), 3) for value in means)])
    if rows:
        out.section("By emotion")
        out.say(f"Pearson's r, mean of the random splits; several tasks with rank {SHOWN_RANK}.")
        out.table(["r", *EMOTIONS], rows)


def _alike(out: Page, records: Sequence[Record]) -> None:
    """The learned correlations of the emotions of a headline."""
    own = list(_of(records, "words", "ICM", SHOWN_RANK).values())
    if own:
        means = np.mean([r["tasks"] for r in own], axis=0)
        out.section("How alike the emotions are")
        out.say(
            f"Correlations in the learned matrix of tasks, words, ICM of rank {SHOWN_RANK}, mean of the random splits."
        )
        rows = [[name, *(number(float(v), 2) for v in line)] for name, line in zip(EMOTIONS, means, strict=True)]
        out.table(["", *EMOTIONS], rows)
