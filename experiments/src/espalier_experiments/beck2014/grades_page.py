"""The page of grades: all learners with all kernels, and what development data choose."""

from __future__ import annotations

from collections.abc import Sequence

from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.page import Page, number
from espalier_experiments.selection import Record
from espalier_experiments.store import Results

LEARNERS = {
    "ordinal": "`GPOrdinal`",
    "regression": "`GPRegressor`",
    "softmax": "`GPClassifier`, softmax",
    "one against the rest": "`GPClassifier`, one against the rest",
    "shares": "shares of the grades",
}
SCORES = {
    "accuracy": "accuracy, %",
    "mae": "mean absolute error",
    "mae_of_modes": "the same, of the most probable grade",
    "log_loss": "log loss",
    "calibration": "calibration error",
}


def grades_page(results: Results) -> Page:
    """All that is shown."""
    settings = results.settings
    out = Page(results.path.stem, "Grades of film reviews")
    out.aim(
        "Predict ordered grades with probabilities from words, phrases and trees.",
        "Accuracy, distance from the true grade, log loss and calibration.",
        "Ordinal Gaussian processes, regression on the grades, and classification, with the same kernels.",
    )
    out.say(
        f"Learning the weights of combined kernels as in {PAPER}, on sentences of the Stanford Sentiment Treebank "
        "(Socher et al. 2013), each with a grade from 0 (very negative) to 4 (very positive). The treebank has a grade "
        "at every node; here all are taken out: every label of a tree becomes `X`, so that only the binary bracketing "
        "and the words, in lower case, are left. Models learn from the grades of whole sentences alone. Published "
        "systems also learn from the grades of all phrases, and from vectors of words, and are far better."
    )
    out.say(
        f"The variances of the kernels, the noise and the thresholds are learned on a pilot of {settings['pilot']:,} "
        f"training sentences drawn at random, by each learner for itself; it then conditions on {settings['rows']:,} "
        "of the 8,544 training sentences, the pilot among them. The decays of the kernels of phrases (.4) and trees "
        "(.1) are not learned. A regression gives a grade the mass of its prediction between the "
        "numbers half-way to its neighbours. *Mean absolute error* is that of the median grade, which minimises it."
    )
    records = list(results)
    models = list(dict.fromkeys(record["model"] for record in records if record["model"] != "none"))
    models.sort(key=lambda name: (name == "sum of all", name))
    _chosen(out, records)
    for part, name in (("dev", "Development data"), ("test", "Test data")):
        out.section(f"{name}, all kernels")
        rows = [
            [f"{model}, {LEARNERS[learner]}", *_cells(record, part)]
            for model in models
            for learner in LEARNERS
            for record in _of(records, model, learner)
        ]
        rows += [[LEARNERS["shares"], *_cells(record, part)] for record in _of(records, "none", "shares")]
        out.table(["", *SCORES.values()], rows)
    _learned(out, records, models)
    return out


def _of(records: Sequence[Record], model: str, learner: str) -> list[Record]:
    return [record for record in records if record["model"] == model and record["learner"] == learner]


def _cells(record: Record, part: str) -> list[str]:
    scores = record[part]
    return [number(100 * scores[name], 1) if name == "accuracy" else number(scores[name], 3) for name in SCORES]


def _chosen(out: Page, records: Sequence[Record]) -> None:
    """For each learner the kernel with the least log loss on development data."""
    out.section("Test data, with the kernel of each learner that has the least log loss on development data")
    rows = []
    for learner, name in LEARNERS.items():
        own = [record for record in records if record["learner"] == learner]
        if own:
            best = min(own, key=lambda record: (record["dev"]["log_loss"], record["model"]))
            rows.append([name, best["model"], *_cells(best, "test")])
    out.table(["", "kernel", *SCORES.values()], rows)


def _learned(out: Page, records: Sequence[Record], models: Sequence[str]) -> None:
    out.section("What was learned")
    rows = []
    for model in models:
        for record in _of(records, model, "ordinal"):
            learned = record["learned"]
            gaps = [learned[f"gap[{k}]"] for k in range(1, 4)]
            thresholds = [learned["first"] + sum(gaps[:k]) for k in range(4)]
            variances = [value for path, value in learned.items() if path.startswith("kernel.")]
            rows.append([model, ", ".join(number(v, 2) for v in variances), *(number(v, 2) for v in thresholds)])
    out.say("By `GPOrdinal`: the variance of each kernel, and the thresholds, in deviations of the noise.")
    out.table(["", "variance", "0 | 1", "1 | 2", "2 | 3", "3 | 4"], rows)
