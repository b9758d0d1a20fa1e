"""The page of question classification: accuracies, what was chosen and learned, and what the weights say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from espalier_experiments.beck2014.learning import N_FOLDS, PAPER
from espalier_experiments.beck2014.question_models import MODELS, VIEWS, named
from espalier_experiments.page import Page, number
from espalier_experiments.selection import Record
from espalier_experiments.store import Results

LABELS = ("coarse", "fine")
# How a label was found: a machine chosen from a grid, the process that learned the kernel, a machine with its kernel.
LEARNERS = {"grid": "SVM, grid", "process": "GP", "machine": "SVM, learned"}
PROTOTYPE = "prototype: both subset trees + words + bigrams"
N_LABELS = 8  # of which learned decays are shown, from either end

ByModel = Mapping[tuple[str, str], Record]  # by model and kind of label


def questions_page(results: Results) -> Page:
    """All that is shown."""
    found = {(record["model"], record["labels"]): record for record in results}
    models = [model for model in MODELS if any((model, labels) in found for labels in LABELS)]
    out = Page(results.path.stem, "Questions: every view of them, weighed")
    out.aim(
        "Weigh strings, trees and soft matching in one kernel by gradients, not by a grid.",
        "Accuracy on the test questions, coarse and fine, and the weights that were learned.",
        "Each view alone, sums of them, and machines whose settings a grid chose.",
    )
    _explain(out, results)
    _accuracies(out, found, models)
    _choices(out, found, models)
    _selection(out, found, models)
    _weights(out, found, [model for model in models if len(MODELS[model]) > 1])
    _values(out, found, [model for model in models if len(MODELS[model]) == 1])
    return out


def _explain(out: Page, results: Results) -> None:
    rows = results.settings["learning_rows"]
    out.say(
        f"Structural kernels, their sums and their products, learned as {PAPER}, proposes, on the questions of TREC: "
        "5,452 to learn from and 500 to test on, six coarse classes and fifty fine ones (Li and Roth, 2002). Words and "
        "characters are in lower case; constituents are automatic parses; GRCT, LCT and LOCT are dependency trees "
        "written as trees (Croce, Moschitti and Basili, 2011). All kernels are normalised. Ten test questions also "
        "stand in the training part, as published; the standard error of an accuracy of 93 is 1.1 points."
    )
    out.say(
        f"*SVM, grid*: the kernel's values and C (2 or 10) with the best accuracy in {N_FOLDS}-fold "
        "cross-validation on the training questions, equal ones in one fold; in sums and products all terms weigh the "
        "same and only C is chosen. *GP*: regression on the labels, one process for each class against the rest, one "
        f"kernel for all; its weights, its other values and the noise maximise the evidence on {rows:,} training "
        "questions drawn at random, and all training questions are then conditioned on. *SVM, learned*: a machine with "
        "the kernel that the GP learned, only C chosen. One machine or process for each class; the largest value wins. "
        "No test question took part in any choice."
    )
    out.say(
        "The four terms of *characters + trees* are those with the largest learned weights in *strings + trees*, "
        "coarse. Powers and dimensions of similarities were settled by cross-validation on 1,500 training questions. "
        "The list of models was made while their results were seen; the choices within and among them were not."
    )
    out.say(
        "Soft matching: *LSA* is the cosine of two words in latent semantic analysis of the training questions, 200 "
        "dimensions; *WordNet* the third power of their similarity of Wu and Palmer in WordNet 3.0, each word in its "
        "most frequent sense. In trees the words, which are lemmas, match softly (Croce, Moschitti and Basili, 2011). "
        "Matrices that take a minute or more were computed at one setting, and only weighed: soft subsequences up to "
        "three words (gaps weigh 0.5, matches 0.7), soft trees at their defaults (0.4 and 0.4), and *character "
        "subsequences* up to four characters (0.5 and 0.5)."
    )


def _cells(found: ByModel, model: str, entry: str, digits: int = 1, scale: float = 100.0) -> list[str]:
    cells = []
    for labels in LABELS:
        for learner in LEARNERS:
            value = found.get((model, labels), {}).get(learner, {}).get(entry)
            cells.append("-" if value is None else number(scale * value, digits))
    return cells


def _accuracies(out: Page, found: ByModel, models: Sequence[str]) -> None:
    out.section("Accuracy on the test questions, per cent")
    header = [f"{labels}: {name}" for labels in LABELS for name in LEARNERS.values()]
    out.table(["", *header], [[model, *_cells(found, model, "accuracy")] for model in models])
    for labels in LABELS:
        _compare(out, found, labels, models)


def _compare(out: Page, found: ByModel, labels: str, models: Sequence[str]) -> None:
    """What the numbers say of learned weights, in words."""
    sums = [found[model, labels] for model in models if len(MODELS[model]) > 1 and (model, labels) in found]
    if not sums or (PROTOTYPE, labels) not in found:
        return
    base = found[PROTOTYPE, labels]["grid"]["accuracy"]
    learned = [(record[learner]["accuracy"], record["model"]) for record in sums for learner in ("process", "machine")]
    above = sum(value > base for value, _ in learned)
    gain = 100 * float(np.mean([record["machine"]["accuracy"] - record["grid"]["accuracy"] for record in sums]))
    out.say(
        f"{labels.capitalize()}: the prototype with equal weights has {number(100 * base, 1)}; of the {len(sums)} sums "
        f"with learned weights, each with two learners, {above} of {len(learned)} results lie above it, from "
        f"{number(100 * min(learned)[0], 1)} to {number(100 * max(learned)[0], 1)} (*{max(learned)[1]}*). Against "
        f"equal weights, learned ones change the machine's accuracy by {gain:+.1f} points on average over these sums."
    )


BY_LABEL = "by label"  # in the names of models with a decay for each label


def _choices(out: Page, found: ByModel, models: Sequence[str]) -> None:
    """The rows that would have been taken without test questions."""
    out.section("Rows chosen without test questions")
    rows = []
    for labels in LABELS:
        records = [found[model, labels] for model in models if (model, labels) in found]
        if not records:
            continue
        by_cv = max(records, key=lambda record: record["grid"]["cv_score"])
        rows.append(_choice(f"{labels}: SVM, grid, by cross-validation", by_cv, "grid"))
        by_cv = max(records, key=lambda record: record["machine"]["cv_score"])
        rows.append(_choice(f"{labels}: SVM, learned, by cross-validation", by_cv, "machine"))
        by_evidence = max(records, key=lambda record: record["process"]["evidence"])
        rows.append(_choice(f"{labels}: GP, by evidence", by_evidence, "process"))
        if BY_LABEL in by_evidence["model"]:
            tied = [record for record in records if BY_LABEL not in record["model"]]
            by_evidence = max(tied, key=lambda record: record["process"]["evidence"])
            rows.append(_choice(f"{labels}: GP, by evidence, without a decay for each label", by_evidence, "process"))
    out.table(["", "model", "accuracy"], rows)
    if any("without" in row[0] for row in rows):
        out.say(
            "A decay for each of some sixty labels has the largest evidence on the questions that it is learned from, "
            "and does badly on others: it fits them too closely. The rows without it were added after this was seen."
        )


def _choice(name: str, record: Record, learner: str) -> list[str]:
    return [name, record["model"], number(100 * record[learner]["accuracy"], 1)]


def _selection(out: Page, found: ByModel, models: Sequence[str]) -> None:
    out.section("What choices were made by")
    out.say(
        "Accuracy in cross-validation on the training questions, per cent, and the log evidence of all classes on the "
        "questions that the kernel was learned from. A learned kernel has seen some of the questions that its "
        "cross-validation leaves out, so that its figure is a little too high beside that of a grid."
    )
    header, rows = ["SVM, grid", "SVM, learned", "evidence"], []
    for model in models:
        cells = []
        for labels in LABELS:
            record = found.get((model, labels))
            if record is None:
                cells += ["-"] * 3
                continue
            cells += [number(100 * record[learner]["cv_score"], 1) for learner in ("grid", "machine")]
            cells.append(f"{record['process']['evidence']:,.0f}")
        rows.append([model, *cells])
    out.table(["", *(f"{labels}: {name}" for labels in LABELS for name in header)], rows)


def _weights(out: Page, found: ByModel, models: Sequence[str]) -> None:
    """The share of each term, and in words which terms carry a sum."""
    if not models:
        return
    out.section("Learned weights")
    out.say("The share of each term in the sum of a model's weights; terms are normalised, so shares compare.")
    for model in models:
        shares = {labels: _shares(found[model, labels]) for labels in LABELS if (model, labels) in found}
        out.say(f"**{model}**. " + " ".join(_said(labels, of) for labels, of in shares.items()))
        rows = [
            [named(term), *(number(shares[labels].get(named(term)), 3) for labels in shares)] for term in MODELS[model]
        ]
        out.table(["", *shares], rows)


def _shares(record: Record) -> dict[str, float]:
    total = sum(record["weights"].values())
    return {name: weight / total for name, weight in record["weights"].items()}


def _said(labels: str, shares: Mapping[str, float]) -> str:
    ranked = sorted(shares, key=lambda name: -shares[name])
    small = sum(share < 0.01 for share in shares.values())
    first = f"{labels.capitalize()}: *{ranked[0]}* has {number(shares[ranked[0]], 2)}"
    first += f", *{ranked[1]}* {number(shares[ranked[1]], 2)}" if len(ranked) > 1 else ""
    return first + (f"; {small} of {len(ranked)} terms have less than .01." if small else ".")


def _values(out: Page, found: ByModel, models: Sequence[str]) -> None:
    if not models:
        return
    out.section("Values of single views")
    out.say("What the grid chose, and what the evidence learned beside the weight.")
    rows = []
    for model in models:
        for labels in LABELS:
            if (model, labels) not in found:
                continue
            record = found[model, labels]
            kernel = "one setting" if model in VIEWS and VIEWS[model].once else f"`{record['grid']['kernel']}`"
            grid = f"{kernel}, C {record['grid']['C']:g}"
            rows.append([f"{model}, {labels}", grid, _listed(record), f"{record['process']['noise']:.2g}"])
    out.table(["", "grid", "learned", "noise"], rows)


def _listed(record: Record) -> str:
    """The learned values of one kernel; of many decays those of the largest and the smallest."""
    # A path may begin with those of the kernels around it; a label may itself be a full stop.
    named = {re.sub(r"^(?:\w+(?:\[\d+\])?\.)+", "", path): value for path, value in record["learned"].items()}
    values = {path: value for path, value in named.items() if path != "scale"}
    by_label = {match[1]: v for path, v in values.items() if (match := re.fullmatch(r"decay\[(.*)\]", path))}
    ranked = sorted(by_label, key=lambda label: (-by_label[label], label))
    if len(ranked) > 2 * N_LABELS:
        shown = ", ".join(f"{label} {number(by_label[label], 3)}" for label in ranked[:N_LABELS])
        low = ", ".join(f"{label} {number(by_label[label], 3)}" for label in ranked[-N_LABELS:])
        rest = [f"{path} {number(v, 3)}" for path, v in values.items() if not path.startswith("decay[")]
        return "; ".join([f"largest decays: {shown}", f"smallest: {low}", *rest])
    return ", ".join(f"{path} {number(value, 3)}" for path, value in values.items()) or "-"
