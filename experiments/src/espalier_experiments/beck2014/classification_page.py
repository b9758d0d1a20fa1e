"""The page of classes with probabilities: what cross-validation says of each method, and what test questions say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from espalier_experiments.beck2014.classifiers import BY_REGRESSION, METHODS
from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.page import COLOURS, GREY, Page, number
from espalier_experiments.records import Record
from espalier_experiments.store import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = ("coarse", "fine")
FOLDS, TEST, ALL = "folds", "test", "all"
MEASURES = {"log_loss": "log loss", "accuracy": "accuracy, per cent", "calibration_error": "calibration error"}
MACHINES = "SVM, kernel of "


def classification_page(results: Results) -> Page:
    """All that is shown."""
    records = list(results)
    out = Page(results.path.stem, "Questions: classes with probabilities")
    out.aim(
        "Choose how a Gaussian process learns classes, and measure whether its probabilities are right.",
        "Log loss, accuracy and calibration of six coarse and fifty fine classes.",
        "Likelihoods and inferences, label regression, and support vector machines on the same kernels.",
    )
    _explain(out, results)
    for labels in LABELS:
        _compare(out, records, FOLDS, labels)
        _say_best(out, records, labels)
    for labels in LABELS:
        _compare(out, records, TEST, labels)
    _compare(out, records, ALL, "coarse")
    _draw(out, records)
    return out


def _explain(out: Page, results: Results) -> None:
    rows, pilot = results.settings["rows"], results.settings["learning_rows"]
    whole = results.settings["all_learning_rows"]
    out.say(
        f"Gaussian processes for classes, which {PAPER}, leaves to the future, on the questions and on kernels of "
        "[the page of questions](questions.md): six coarse classes and fifty fine ones (Li and Roth, 2002). "
        "*probit* and *logit* have a latent function for each class against the rest, whose odds are normalised; "
        "*softmax* has one for each class at once. *EP* is expectation propagation, *Laplace* is Laplace's method, and "
        "*variational* the highest lower bound; *balanced* gives classes the same weight. All are "
        "`GPClassifier` with its defaults but for these, and each learns the kernel by its own evidence."
    )
    out.say(
        "*label regression* has a process for each class with targets 1 and 0, one kernel and one noise, learned by "
        "the evidence of regression. The probability of a class is that its process, noise included, is the largest: "
        "the share of draws in which it wins, for endlessly many draws. *probit, EP, kernel by regression* takes the "
        "kernel that regression has learned, and learns its scale anew. A machine (SVM) has the kernel that the "
        "method in its name learned, and C (2 or 10) chosen by 3-fold cross-validation on its training questions."
    )
    out.say(
        f"*Cross-validation*: {rows:,} training questions drawn at random, three folds, equal questions in one fold; "
        f"the kernel is learned from at most {pilot:,} questions outside the fold. *Test*: the same {rows:,} questions "
        f"to learn from, and the 500 test questions. *All*: all 5,452 training questions, of which {whole:,} learn the "
        "kernel. No test question took part in any choice; methods were compared by cross-validation of coarse "
        "classes. The calibration error is the expected one over ten bins of equal width of the largest probability; "
        "of a perfectly calibrated classifier it is about .02 to .03 for 500 questions. The log loss leaves out "
        "questions of classes that no training question has."
    )


def _found(records: Sequence[Record], part: str, labels: str) -> list[Record]:
    return [record for record in records if record["part"] == part and record["labels"] == labels]


def _names(records: Sequence[Record], entry: str) -> list[str]:
    """The methods or the kernels that occur, methods in their own order."""
    there = {record[entry] for record in records}
    return [name for name in METHODS if name in there] if entry == "method" else sorted(there)


def _value(record: Record, measure: str) -> float:
    value = float(record[measure])
    return 100 * value if measure == "accuracy" else value


def _compare(out: Page, records: Sequence[Record], part: str, labels: str) -> None:
    """A table for each measure: methods down, kernels across."""
    own = _found(records, part, labels)
    if not own:
        return
    title = {FOLDS: "Cross-validation", TEST: "Test questions", ALL: "Test questions, after all training questions"}
    out.section(f"{title[part]}: {labels} classes")
    models, cells = _names(own, "model"), {(r["method"], r["model"]): r for r in own}
    for measure, name in MEASURES.items():
        digits = 1 if measure == "accuracy" else 3
        rows = []
        for method in _names(own, "method"):
            there = [cells.get((method, model)) for model in models]
            rows.append([method, *(number(None if r is None else _value(r, measure), digits) for r in there)])
        if measure == "accuracy":
            for method in _names(own, "method"):
                if method not in BY_REGRESSION[1:]:
                    there = [cells.get((method, model)) for model in models]
                    shares = [None if r is None else 100 * r["machine"]["accuracy"] for r in there]
                    rows.append([MACHINES + method, *(number(share, digits) for share in shares)])
        out.table([name, *models], rows)
    unknown = max(record["unknown"] for record in own)
    if unknown:
        out.say(f"At most {unknown} questions have a class that no training question has.")


def best_by_folds(records: Sequence[Record], labels: str) -> list[tuple[float, str]]:
    """The mean log loss of each method in cross-validation over the kernels that all of them have, best first.

    Methods that lack the kernels of label regression are left out.
    """
    losses: dict[str, dict[str, float]] = {}
    for record in _found(records, FOLDS, labels):
        losses.setdefault(record["method"], {})[record["model"]] = record["log_loss"]
    models = set(losses.get(METHODS[0], {}))
    whole = {method: own for method, own in losses.items() if models and set(own) >= models}
    return sorted((float(np.mean([own[model] for model in sorted(models)])), method) for method, own in whole.items())


def _say_best(out: Page, records: Sequence[Record], labels: str) -> None:
    ranked = best_by_folds(records, labels)
    if len(ranked) < 2:
        return
    listed = "; ".join(f"*{method}* {number(loss, 3)}" for loss, method in ranked)
    said = f"Mean log loss over the kernels, of the methods that have them all: {listed}."
    out.say(said + (f" So *{ranked[0][1]}* is what is recommended." if labels == "coarse" else ""))


def _draw(out: Page, records: Sequence[Record]) -> None:
    """Confidence and the share of right answers, of the best method and of two others."""
    for part in (ALL, TEST):
        own = _found(records, part, "coarse")
        shown = [record for record in own if record["method"] in ("probit, EP", "probit, Laplace", METHODS[0])]
        models = [model for model in _names(own, "model") if sum(r["model"] == model for r in shown) == 3]
        if models:
            break
    else:
        return
    rows = "all training questions" if part == ALL else "some of the training questions"
    out.section("Calibration")
    out.say(
        f"How sure each method was of the class it gave to test questions after {rows}, and how often it was right; "
        "coarse classes. The area of a point is in proportion to its questions. On the line, confidence is deserved; "
        "above it, a method is too cautious."
    )
    panels = [partial(_panel, model, [r for r in shown if r["model"] == model]) for model in models]
    out.draw("calibration", "Confidence and share of right answers of three methods", panels)


def _panel(model: str, records: Sequence[Record], axes: Axes) -> None:
    axes.plot([0.2, 1], [0.2, 1], color=GREY, linewidth=1)
    for record, colour in zip(sorted(records, key=lambda r: METHODS.index(r["method"])), COLOURS, strict=False):
        count, confidence, share = np.array(record["bins"]).T
        axes.plot(confidence, share, color=colour, linewidth=1, label=record["method"])
        axes.scatter(confidence, share, s=count, color=colour, alpha=0.6, linewidths=0)
    axes.set_xlabel("probability of the class given")
    axes.set_ylabel("share right")
    axes.set_title(model, fontsize=9)
    axes.legend(loc="upper left", fontsize=8)
