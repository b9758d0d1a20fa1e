"""Beyond the paper: learned kernels, other kernels, other votes and targets, and the weight of the grammar's score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from espalier.gp import LogNormal
from espalier.kernels import Kernel, Learned, Normalized, PartialTree, PerLabel, Scaled, SubsetTree
from espalier.rerank import RankingSVM, VotedPerceptron
from espalier_experiments.collins2001.candidates import Lists
from espalier_experiments.collins2001.learning import PAPER, UPDATES, add_test, best_trial, choose, trial
from espalier_experiments.collins2001.questions import (
    GP_DECAY,
    SVM_C,
    SVM_PASSES,
    common_options,
    lists_of,
    preference_settings,
    preference_trial,
)
from espalier_experiments.collins2001.questions import settings as questions_settings
from espalier_experiments.collins2001.tables import HEADER, HOW_MEASURED, counted, measures
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "beyond"
SPLITS = 5
DECAY, EPOCHS = 0.5, 2
PARTIAL_DECAY, PARTIAL_SAMPLE = 0.4, 5  # partial trees are kept, not compressed, so fewer candidates are drawn
N_LABELS = 8  # of which learned decays are shown, from either end

BASE = "subset trees"
KERNELS: dict[str, Kernel] = {
    BASE: SubsetTree(DECAY),
    "subset trees, normalised": Normalized(SubsetTree(DECAY)),
    "partial trees": PartialTree(PARTIAL_DECAY, PARTIAL_DECAY),
    "partial trees, normalised": Normalized(PartialTree(PARTIAL_DECAY, PARTIAL_DECAY)),
}
VARIANTS: dict[str, dict[str, Any]] = {
    f"subset trees, {PARTIAL_SAMPLE} candidates": {"sample": PARTIAL_SAMPLE},
    "one epoch": {"epochs": 1},
    "five epochs": {"epochs": 5},
    "the best candidate as target": {"target": "best"},
    "all rivals that win taken away": {"updates": "all"},
    "the last perceptron": {"vote": "last"},
}
LEARNED: dict[str, Callable[[], Kernel]] = {
    "one decay learned": lambda: 1.0 * Normalized(SubsetTree(GP_DECAY)),
    "decays by label learned": lambda: 1.0 * Normalized(SubsetTree(PerLabel(GP_DECAY, prior=None))),
    "decays by label learned, with a prior": lambda: 1.0 * Normalized(SubsetTree(PerLabel(_around(GP_DECAY)))),
}
VOTING = "perceptrons that vote"
LEARNERS = {"gp": "GPPreference", "perceptron": "perceptron", "svm": "ranking SVM"}


def _around(decay: float) -> Learned:
    """A decay that is taken to be near a value: a third more or less is nothing unusual."""
    return Learned(decay, prior=LogNormal(decay, 0.3))


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    own = {"splits": 1 if quick else SPLITS, "epochs": EPOCHS, "decay": DECAY, "updates": UPDATES, "retrained": True}
    partial = {"partial_decay": PARTIAL_DECAY, "partial_sampled": PARTIAL_SAMPLE}
    of_questions = questions_settings(quick=quick)
    lists = {name: of_questions[name] for name in ("candidates", "sampled", "parts", "folds", "shares")}
    return {**own, **partial, **lists, "svm_C": SVM_C["small"], "passes": SVM_PASSES, **preference_settings()}


def tasks(setup: Setup) -> list[Task]:
    """One task for each model and split; those on the same candidates stand side by side."""
    groups: dict[Callable[..., Record], Sequence[str]] = {
        learn_kernel: list(KERNELS),
        learn_variant: list(VARIANTS),
        learn_voting: [VOTING],
        learn_hyperparameters: list(LEARNED),
    }
    return [
        Task({"split": split, "model": model}, function, setup.arguments)
        for split in range(settings(quick=setup.quick)["splits"])
        for function, models in groups.items()
        for model in models
    ]


def _lists(setup: Setup, split: int) -> Lists:
    return lists_of(setup, "small", "plain", split)[0]


def learn_kernel(split: int, model: str, setup: Setup) -> Record:
    """A perceptron with one of several kernels."""
    options = common_options(setup, split)
    if model.startswith("partial"):
        options["sample"] = PARTIAL_SAMPLE
    chooser = VotedPerceptron(KERNELS[model], epochs=EPOCHS, updates=UPDATES, **options)
    return {"perceptron": _tried(chooser, _lists(setup, split), unit=model == BASE)}


def learn_variant(split: int, model: str, setup: Setup) -> Record:
    """A perceptron that differs in one setting."""
    options = {**common_options(setup, split), "epochs": EPOCHS, "updates": UPDATES, **VARIANTS[model]}
    chooser = VotedPerceptron(SubsetTree(DECAY), **options)
    return {"perceptron": _tried(chooser, _lists(setup, split))}


def _tried(chooser: VotedPerceptron, lists: Lists, *, unit: bool = False) -> Record:
    """On development data with what training data teach, and on test data with what both do."""
    record = trial(chooser, lists, unit=unit)
    add_test(record, chooser, lists, unit=unit)
    return record


def learn_voting(split: int, model: str, setup: Setup) -> Record:
    """Every perceptron on the way chooses; the weight of the score is the one with which they choose best together."""
    lists = _lists(setup, split)
    options = {**common_options(setup, split), "epochs": EPOCHS, "updates": UPDATES, "vote": "vote"}
    chooser = VotedPerceptron(SubsetTree(DECAY), **{**options, "score_weight": "chosen"})
    chooser.fit(lists.train, development=lists.development.groups)
    weight = chooser.score_weight_
    again = VotedPerceptron(SubsetTree(DECAY), **options).fit([*lists.train, *lists.development.groups])
    out: Record = {"weight": short(weight)}
    for name, part, voters in (("development", lists.development, chooser), ("test", lists.test, again)):
        out[name] = {}
        for kind, own in (("weighed", weight), ("alone", 0.0)):
            voters.score_weight_ = own
            out[name][kind] = part.measured(part.evaluation(voters.chosen(part.groups).tolist()))
    return {"perceptron": out}


def learn_hyperparameters(split: int, model: str, setup: Setup) -> Record:
    """A Gaussian process learns a kernel; perceptron and machine then use it too."""
    lists = _lists(setup, split)
    record, kernel = preference_trial(LEARNED[model](), lists, setup, split)
    while isinstance(kernel, Scaled):  # a scale changes no perceptron, and C belongs to a kernel without
        kernel = kernel.kernel
    options = common_options(setup, split)

    def machine(C: float) -> RankingSVM:
        return RankingSVM(kernel, C=C, max_iterations=SVM_PASSES, **options)

    prices = SVM_C["small"][: 1 if setup.quick else None]
    machines = [{"C": C, **trial(machine(C), lists)} for C in prices]
    choose(machines, lists, lambda own: machine(own["C"]))
    perceptron = _tried(VotedPerceptron(kernel, epochs=EPOCHS, updates=UPDATES, **options), lists)
    return {"gp": record, "perceptron": perceptron, "svm": _best_of_each_kind(machines)}


def _best_of_each_kind(trials: Sequence[Record]) -> Record:
    """What is best beside the grammar's score, and for decisions without it what is best there."""
    out = dict(best_trial(trials))
    alone = best_trial(trials, "alone")
    out |= {part: {**out[part], "alone": alone[part]["alone"]} for part in ("development", "test")}
    return out | {"C_alone": alone["C"]}


def page(results: Results) -> Page:
    """What each change does on test questions."""
    splits = len({record["split"] for record in results})
    out = Page(results.path.stem, "Beyond the paper: learned kernels, other kernels, votes and targets")
    out.aim(
        "Find out what else helps: other kernels, learned kernels, votes, targets and weights.",
        "The paper's score and F1 on test questions.",
        "The perceptron of the paper with everything else equal.",
    )
    out.say(
        f"After {PAPER}, on {'the first split' if splits == 1 else f'the first {splits} splits'} of "
        "[questions](questions.md) into 800 training, 200 development "
        f"and 336 test questions with the plain grammar. All perceptrons run for {EPOCHS} epochs; a row differs from "
        f"*{BASE}* (decay {DECAY}, averaged, the gold tree as target, 20 candidates of each question) in what it "
        f"names. Partial trees (decays {PARTIAL_DECAY}) keep their support trees and learn from {PARTIAL_SAMPLE} "
        "candidates. The weight of the grammar's score and the C of ranking machines are chosen on development "
        "questions, for each table by itself; learners are then trained again, on training and development questions "
        "together, and tested. Kernels that a process learned from training questions stay as they are."
    )
    out.say(HOW_MEASURED)
    for kind, title in (("weighed", "with the grammar's score"), ("alone", "alone")):
        out.section(f"Test questions, {title}")
        out.table(["", *HEADER], _rows(results, kind))
    _weights(out, results)
    _values(out, results)
    return out


def _rows(results: Results, kind: str) -> list[list[str]]:
    rows = []
    for model in [*KERNELS, *VARIANTS, VOTING, *LEARNED]:
        records = results.where(model=model)
        for learner, name in LEARNERS.items():
            found = [record[learner] for record in records if learner in record]
            if found:
                shown = f"{model}: {name}" if model in LEARNED else model
                rows.append([shown, *measures(found, f"test.{kind}")])
    return rows


def _weights(out: Page, results: Results) -> None:
    """The grammar's score with weights 0, 1 and chosen."""
    found = [record["perceptron"] for record in results.where(model=BASE)]
    if not found:
        return
    out.section("The weight of the grammar's score")
    shares = counted([f"{record['share']:g}" for record in found])
    out.say(
        f"*{BASE}*, test questions. The chosen weights are {shares} times the ratio of the spread of the learner's "
        f"values to that of the scores{'; in brackets how often' if len(found) > 1 else ''}."
    )
    kinds = {"alone": "weight 0", "unit": "weight 1", "weighed": "chosen on development questions"}
    out.table(["", *HEADER], [[name, *measures(found, f"test.{kind}")] for kind, name in kinds.items()])


def _values(out: Page, results: Results) -> None:
    """What the process learned."""
    out.section("Learned values")
    for model in LEARNED:
        records = [record["gp"]["learned"] for record in results.where(model=model)]
        if not records:
            continue
        paths = sorted(set.intersection(*(set(record) for record in records)))
        means = {path: float(np.exp(np.mean([np.log(record[path]) for record in records]))) for path in paths}
        if len(means) > 2 * N_LABELS:
            ordered = sorted(means, key=means.__getitem__)
            means = {path: means[path] for path in [*ordered[-N_LABELS:][::-1], *ordered[:N_LABELS][::-1]]}
        listed = ", ".join(f"{path} {value:.2g}" for path, value in means.items())
        out.say(
            f"*{model}* (geometric means over splits; the largest and the smallest where there are many): {listed}."
        )
