"""Classes of questions with probabilities: Gaussian processes with several likelihoods, beside a machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.structures import Table
from espalier_experiments import data
from espalier_experiments.beck2014.classification_page import classification_page
from espalier_experiments.beck2014.classifiers import BY_REGRESSION, METHODS, Classified, classify
from espalier_experiments.beck2014.learning import accuracy, choose_on_matrices, matrices
from espalier_experiments.beck2014.question_models import WEIGHT, kernel_of_view, start_of
from espalier_experiments.measures import Calibration
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "classification"
C_GRID = (2.0, 10.0)
N_FOLDS = 3
SCALE = 4.0  # where the sum of a classifier's weights starts
MODELS = ("words", "word subsequences", "constituents, subset trees", "GRCT, partial trees", "characters + trees")
LABELS = ("coarse", "fine")
# Cross-validation; test questions after some training questions; and after all of them.
FOLDS, TEST, ALL = "folds", "test", "all"
# Compared by cross-validation of coarse labels alone: fifty classes, or quadrature in every sweep, take them too long.
COARSE_ONLY = ("probit, variational", "logit, Laplace", "softmax, Laplace", "probit, EP, balanced")
MODELS_OF_ALL = ("constituents, subset trees", "characters + trees")


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    if quick:
        return {"rows": 90, "all_rows": 120, "learning_rows": 40, "all_learning_rows": 40, "iterations": 2}
    return {"rows": 2000, "all_rows": None, "learning_rows": 500, "all_learning_rows": 1000, "iterations": 60}


def tasks(setup: Setup) -> list[Task]:
    """One task for each kernel, kind of label, method and part; the methods that take longest last."""
    methods = [method for method in METHODS if method not in COARSE_ONLY]
    if setup.quick:
        return [_task(part, "coarse", MODELS[0], method, setup) for part in (FOLDS, ALL) for method in methods]
    plan: list[tuple[str, str, Sequence[str], Sequence[str]]] = [(ALL, "coarse", MODELS_OF_ALL, methods)]
    for labels in LABELS:
        plan += [(part, labels, MODELS, methods) for part in (FOLDS, TEST)]
    plan.append((FOLDS, "coarse", MODELS, COARSE_ONLY))
    return [
        _task(part, labels, model, method, setup)
        for part, labels, models, methods in plan
        for method in methods
        for model in models
    ]


def _task(part: str, labels: str, model: str, method: str, setup: Setup) -> Task:
    return Task({"part": part, "labels": labels, "model": model, "method": method}, part_of, setup.arguments)


@cache
def _questions(setup: Setup) -> tuple[Table, Table, NDArray[np.intp]]:
    """Training questions, test questions, and for each of the former the number of its text: equal ones share it."""
    table = data.question_views(setup.data)
    part = np.array(table["part"])
    train, test = table[part == "train"], table[part == "test"]
    if setup.quick:
        test = test[:60]
    groups = np.unique([data.plain_text(text) for text in train["text"]], return_inverse=True)[1]
    return train, test, groups


def part_of(model: str, labels: str, method: str, part: str, setup: Setup) -> Record:
    """Measure a method by cross-validation on some training questions, or on the test questions."""
    common = settings(quick=setup.quick)
    train, test, groups = _questions(setup)
    rows = np.random.default_rng(setup.seed).permutation(len(train))
    rows = np.sort(rows[: common["all_rows" if part == ALL else "rows"]])
    own, y = train[rows], np.array(train[labels])[rows]
    if part == FOLDS:
        return _by_folds(model, method, own, y, groups[rows], setup)
    pilot = common["all_learning_rows" if part == ALL else "learning_rows"]
    options = {"pilot": pilot, "max_iterations": common["iterations"], "setup": setup}
    found = classify(method, _start(model, method, own, setup), own, y, test, **options)
    wanted = np.array(test[labels])
    measured = _measured([found], [wanted])
    return {**measured, "n_train": len(rows), "machine": _machine(found, own, y, groups[rows], test, wanted, setup)}


def _by_folds(model: str, method: str, train: Table, y: NDArray[Any], groups: NDArray[np.intp], setup: Setup) -> Record:
    """Condition on each part of the rows but one, in turn, and measure on the one."""
    from sklearn.model_selection import StratifiedGroupKFold

    common = settings(quick=setup.quick)
    found, wanted, by_machine = [], [], []
    folds = StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=setup.seed)
    for inside, outside in _silent(folds, y, groups):
        own = train[inside]
        kernel = _start(model, method, own, setup)
        options = {"pilot": common["learning_rows"], "max_iterations": common["iterations"], "setup": setup}
        found.append(classify(method, kernel, own, y[inside], train[outside], **options))
        wanted.append(y[outside])
        machine = _machine(found[-1], own, y[inside], groups[inside], train[outside], y[outside], setup)
        by_machine.append(machine["accuracy"] * len(outside))
    return {**_measured(found, wanted), "machine": {"accuracy": sum(by_machine) / len(y)}}


def _silent(folds: Any, y: NDArray[Any], groups: NDArray[np.intp]) -> list[tuple[Any, Any]]:
    """The folds; some classes have fewer rows than there are folds, and that is no reason to warn."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return list(folds.split(np.zeros(len(y)), y, groups))


def _start(model: str, method: str, train: Table, setup: Setup) -> Any:
    """The kernel of a model with the weights from which a method learns."""
    return start_of(model, partial(kernel_of_view, train=train), WEIGHT if method in BY_REGRESSION else SCALE)


def _measured(found: list[Classified], wanted: list[NDArray[Any]]) -> Record:
    """Accuracy, log loss and calibration over all parts; a class that was not learned has no probability."""
    confidence, correct, log_density = [], [], []
    for own, labels in zip(found, wanted, strict=True):
        best = own.log_probability.argmax(axis=1)
        confidence.append(np.exp(own.log_probability.max(axis=1)))
        correct.append(own.classes[best] == labels)
        known = np.isin(labels, own.classes)
        places = np.searchsorted(own.classes, labels[known])
        log_density.append(own.log_probability[known, places])
    calibration = Calibration.of(np.concatenate(confidence), np.concatenate(correct))
    return {
        "accuracy": float(np.concatenate(correct).mean()),
        "log_loss": -float(np.concatenate(log_density).mean()),
        "unknown": sum(len(own) for own in wanted) - sum(len(own) for own in log_density),
        "calibration_error": calibration.error,
        "bins": calibration.rows,
        "evaluations": sum(own.evaluations for own in found),
        "learned": [{path: short(value) for path, value in own.kernel.parameters().items()} for own in found],
    }


def _machine(
    found: Classified,
    train: Table,
    y: NDArray[Any],
    groups: NDArray[np.intp],
    new: Table,
    wanted: NDArray[Any],
    setup: Setup,
) -> Record:
    """A support vector machine with the kernel that was learned, its C chosen on the training questions."""
    gram, cross = matrices(found.kernel, train, new, setup)
    unit = float(gram.diagonal().mean())
    predicted, _, chosen = choose_on_matrices([gram / unit], [cross / unit], C_GRID, y, groups, setup)
    return {**chosen, "accuracy": accuracy(wanted, predicted)}


def page(results: Results) -> Page:
    """What each method measured in cross-validation and on test questions, and which is recommended."""
    return classification_page(results)
