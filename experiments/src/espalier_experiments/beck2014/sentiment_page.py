"""The page of reviews: accuracies within and across kinds of products, and what was chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from espalier_experiments.beck2014.learning import N_FOLDS, PAPER
from espalier_experiments.page import Page, number
from espalier_experiments.selection import Record
from espalier_experiments.store import Results

LEARNERS = {"machine": "SVM", "process": "GP"}


def sentiment_page(results: Results) -> Page:
    """All that is shown."""
    settings = results.settings
    out = Page(results.path.stem, "Reviews of four kinds of products")
    out.aim(
        "Learn kernels over strings on one kind of products that hold for others.",
        "Accuracy within a kind of products and across kinds.",
        "Support vector machines and Gaussian processes with the same kernels, and bags of words.",
    )
    out.say(
        f"String kernels and their weights as in {PAPER}, on the reviews of Blitzer, Dredze and Pereira (2007): 1,000 "
        f"good and 1,000 bad ones of each of four kinds of products, their first {settings['tokens']} tokens in lower "
        f"case. *Within* a kind: {settings['folds']}-fold cross-validation, reviews with the same text in one fold. "
        "*Across* kinds: learned from all reviews of the source, tested on all of the target. All kernels are "
        "normalised. These are single-domain models: what models of several domains have to pass."
    )
    out.say(
        f"SVM: the kernel and C have the best accuracy in {N_FOLDS}-fold cross-validation inside the training reviews. "
        "GP: regression on the labels; the kernel, its weight and the noise have the largest evidence on "
        f"{settings['learning_rows']} training reviews drawn at random, and all training reviews are then conditioned "
        "on. In a sum both learners take the weights of the largest evidence."
    )
    records = list(results)
    models = list(dict.fromkeys(record["model"] for record in sorted(records, key=_rank)))
    sources = sorted({record["source"] for record in records})
    _means(out, records, models)
    _within(out, records, models, sources)
    _across(out, records, models, sources)
    _chosen(out, records, models, sources)
    return out


def _rank(record: Record) -> tuple[int, str]:
    """Models of one view first."""
    return record["model"].count("+"), record["model"]


def _means(out: Page, records: Sequence[Record], models: Sequence[str]) -> None:
    out.section("Accuracy, per cent, averaged")
    rows = []
    for model in models:
        own = [record for record in records if record["model"] == model]
        for learner, name in LEARNERS.items():
            within = [np.mean(record["in_domain"][learner]) for record in own]
            across = [found[learner] for record in own for found in record["across"].values()]
            rows.append([f"{model}, {name}", _per_cent(within), _per_cent(across), _per_cent(within, across)])
    out.table(["", "within", "across", "lost"], rows)


def _per_cent(values: Sequence[float], less: Sequence[float] = ()) -> str:
    if not values:
        return "-"
    return number(100 * (float(np.mean(values)) - (float(np.mean(less)) if less else 0.0)), 1)


def _within(out: Page, records: Sequence[Record], models: Sequence[str], sources: Sequence[str]) -> None:
    out.section("Within a kind, per cent")
    rows = []
    for model in models:
        for learner, name in LEARNERS.items():
            found = {r["source"]: r["in_domain"][learner] for r in records if r["model"] == model}
            cells = [
                f"{_per_cent(found[s])} ± {number(100 * float(np.std(found[s])), 1)}" if s in found else "-"
                for s in sources
            ]
            rows.append([f"{model}, {name}", *cells])
    out.table(["mean ± deviation over folds", *map(short_name, sources)], rows)


def _across(out: Page, records: Sequence[Record], models: Sequence[str], sources: Sequence[str]) -> None:
    out.section("Across kinds, per cent")
    pairs = sorted({(record["source"], target) for record in records for target in record["across"]})
    rows = []
    for source, target in pairs:
        cells = []
        for model in models:
            own = [r for r in records if r["model"] == model and r["source"] == source]
            cells += [_per_cent([r["across"][target][learner] for r in own]) for learner in LEARNERS]
        rows.append([f"{short_name(source)} to {short_name(target)}", *cells])
    out.table(["", *(f"{model}, {name}" for model in models for name in LEARNERS.values())], rows)


def _chosen(out: Page, records: Sequence[Record], models: Sequence[str], sources: Sequence[str]) -> None:
    out.section("What was chosen from all reviews of a kind")
    for model in models:
        own = [record for record in records if record["model"] == model]
        if model.count("+"):
            names = model.split(" + ")
            rows = [[short_name(r["source"]), *_shares(r["process"]["weights"]), _c(r)] for r in own]
            out.say(f"**{model}**: the share of each weight.")
            out.table(["", *names, "C"], rows)
        else:
            rows = []
            for r in own:
                kernels = [f"`{r['kernels'][r[learner]['kernel']]}`" for learner in LEARNERS]
                rows.append([short_name(r["source"]), *kernels, _c(r)])
            out.say(f"**{model}**")
            out.table(["", *LEARNERS.values(), "C"], rows)


def _shares(weights: Sequence[float]) -> list[str]:
    return [number(weight / sum(weights), 2) for weight in weights]


def _c(record: Record) -> str:
    return f"{record['machine']['C']:g}"


def short_name(domain: str) -> str:
    """The first word of a kind of products.

    Examples
    --------
    >>> short_name("kitchen_&_housewares")
    'kitchen'
    """
    return domain.split("_")[0]
