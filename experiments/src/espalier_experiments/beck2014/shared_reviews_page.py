"""The page of reviews with few labels: accuracies and log losses, averaged over pairs of kinds of products."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.page import Page, number
from espalier_experiments.selection import Record
from espalier_experiments.store import Results

SHORT = {"kitchen_&_housewares": "kitchen"}
Pair = tuple[str, str]


def shared_reviews_page(results: Results) -> Page:
    """All that is shown."""
    settings = results.settings
    out = Page(results.path.stem, "Reviews of four kinds of products, two kinds at a time")
    out.aim(
        "Learn from many reviews of one kind of product and few of another.",
        "Accuracy and log loss on the other kind, averaged over the twelve pairs of kinds.",
        "The few reviews alone, all reviews pooled, and feature augmentation (EasyAdapt).",
    )
    out.say(
        f"Several tasks, as {PAPER}, section 4, proposes, on the reviews of the [page of reviews](sentiment.md): their "
        f"first {settings['tokens']} tokens. Each draw has {settings['source']} labelled reviews of the source, 0, 50 "
        f"or 200 of the target, and {settings['test']} others of the target for testing, all with different texts. "
        "`GPClassifier` with probit and expectation propagation; kernels are normalised."
    )
    out.say(
        "*single*: the target's reviews alone. *pooled*: all, as if of one kind. *EasyAdapt*: both halves of the "
        "variance alike; *learned*: their sizes are learned. *Coregion*: a learned matrix of tasks, rank 1. All "
        "variances have the same kind of prior; weights of `Coregion` have none, except *near one another*: normal "
        "around their start. Without labels of the target, `Coregion` knows nothing of it, and EasyAdapt is what is "
        "shared. *Better in* counts pairs whose mean over draws is better."
    )
    records = list(results)
    for kernel in sorted({r["kernel"] for r in records}):
        for labels in sorted({r["labels"] for r in records if r["kernel"] == kernel}):
            own = [r for r in records if r["kernel"] == kernel and r["labels"] == labels]
            out.section(f"{kernel}, {labels} labels of the target")
            _means(out, own)
            _pairs(out, own)
    return out


def _by_pair(records: Sequence[Record], model: str, name: str) -> dict[Pair, float]:
    """The mean over draws for each pair of kinds."""
    found: dict[Pair, list[float]] = defaultdict(list)
    for record in records:
        if record["model"] == model:
            found[record["source"], record["target"]].append(record[name])
    return {pair: float(np.mean(values)) for pair, values in sorted(found.items())}


def _models(records: Sequence[Record]) -> list[str]:
    order = ["single", "pooled"]
    return sorted({r["model"] for r in records}, key=lambda m: (order.index(m) if m in order else 2, len(m), m))


def _means(out: Page, records: Sequence[Record]) -> None:
    rows = []
    for model in _models(records):
        right, loss = (_by_pair(records, model, name) for name in ("accuracy", "log_loss"))
        cells = [number(100 * float(np.mean(list(right.values()))), 1), number(float(np.mean(list(loss.values()))), 4)]
        for other in ("single", "pooled"):
            cells.append(_won(right, _by_pair(records, other, "accuracy"), larger=True))
            cells.append(_won(loss, _by_pair(records, other, "log_loss"), larger=False))
        rows.append([model, *cells])
    header = [f"{name} better than {other} in" for other in ("single", "pooled") for name in ("accuracy", "loss")]
    out.table(["mean of pairs", "accuracy, per cent", "log loss", *header], rows)


def _won(own: dict[Pair, float], other: dict[Pair, float], *, larger: bool) -> str:
    both = sorted(set(own) & set(other))
    if not both or own == other:
        return "-"
    won = sum((own[pair] > other[pair]) if larger else (own[pair] < other[pair]) for pair in both)
    return f"{won} of {len(both)}"


def _pairs(out: Page, records: Sequence[Record]) -> None:
    models = _models(records)
    found = {model: _by_pair(records, model, "accuracy") for model in models}
    pairs = sorted({pair for own in found.values() for pair in own})
    rows = []
    for source, target in pairs:
        cells = [number(100 * found[m][source, target], 1) if (source, target) in found[m] else "-" for m in models]
        rows.append([f"{SHORT.get(source, source)} to {SHORT.get(target, target)}", *cells])
    out.say("Accuracy, per cent, mean of draws:")
    out.table(["", *models], rows)
