"""Which role an argument plays: ARG0 to ARG5, by the kernel and by a linear machine over its fragments."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Forest
from espalier.kernels import Kernel, Normalized, SubsetTree
from espalier_experiments.page import Page, number
from espalier_experiments.papers import Setup
from espalier_experiments.pighin2009 import published
from espalier_experiments.pighin2009.learning import (
    N_FOLDS,
    PAPER,
    TEST_RUNS,
    choose,
    learn_linear,
    machine,
    scores,
    timed,
)
from espalier_experiments.propositions import role_candidates
from espalier_experiments.records import Record
from espalier_experiments.store import Results, Task

NAME = "roles"
ROLES = tuple(f"ARG{k}" for k in range(6))
N_FRAGMENTS, N_SPLITS = 50_000, 10  # fragments of each role, over all parts
KERNEL_ROWS, CHOICE_ROWS = 30_000, 10_000
DECAYS, C_GRID = (0.1, 0.2, 0.4), (1.0, 3.0, 10.0, 30.0)


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    if quick:
        return {"fragments": 500, "kernel_rows": 300, "choice_rows": 200}
    return {"fragments": N_FRAGMENTS, "kernel_rows": KERNEL_ROWS, "choice_rows": CHOICE_ROWS}


def tasks(setup: Setup) -> list[Task]:
    """Both methods on what the kernel machine can learn from, and the linear one on all arguments."""
    pairs = (("kernel", "kernel's"), ("linear", "kernel's"), ("linear", "all"))
    return [Task({"method": method, "arguments": rows}, classify, setup.arguments) for method, rows in pairs]


def classify(method: str, arguments: str, setup: Setup) -> Record:
    """Learn from arguments whose boundaries are known; test on all of the test part."""
    common = settings(quick=setup.quick)
    train, y = _arguments(setup, "train", common["kernel_rows"] if arguments == "kernel's" else None)
    test, y_test = _arguments(setup, "test", None)
    kernel, C, record = _chosen(setup)
    record = {**record, "kernel": repr(kernel), "C": C, "rows": len(train), "test_rows": len(test)}
    if method == "kernel":
        learner, seconds = timed(lambda: machine(kernel, C, setup).fit(train, y))
        predicted, test_seconds = timed(lambda: learner.predict(test), TEST_RUNS)
        record |= {"support": len(learner.support_), "train_seconds": seconds}
    else:
        n = common["fragments"] // N_SPLITS
        vectorizer, model, stages = learn_linear(kernel, C, train, y, setup, n_fragments=n, n_splits=N_SPLITS)
        values, test_seconds = timed(lambda: vectorizer.weighed(test, model.coef_.T) + model.intercept_, TEST_RUNS)
        predicted = model.classes_[values.argmax(axis=1)]
        record |= stages
    return {**record, "test_seconds": test_seconds, **scores(y_test, predicted)}


@cache
def _arguments(setup: Setup, part: Any, n: int | None) -> tuple[Forest, NDArray[Any]]:
    """Some arguments of a part, in one random order, and their roles."""
    table = role_candidates(setup.data, part, 200 if setup.quick else None)
    role = np.array(table["role"])
    rows = np.flatnonzero(np.isin(role, ROLES))
    rows = np.sort(np.random.default_rng(setup.seed).permutation(rows)[:n])
    return table["tree"][rows].compact(), role[rows]


@cache
def _chosen(setup: Setup) -> tuple[Kernel, float, Record]:
    """The decay and C of the best accuracy in cross-validation on the first arguments."""
    train, y = _arguments(setup, "train", settings(quick=setup.quick)["choice_rows"])
    return choose([Normalized(SubsetTree(decay)) for decay in DECAYS], C_GRID, train, y, setup, scoring="accuracy")


def page(results: Results) -> Page:
    """Accuracy, F1 by role, and seconds."""
    records = list(results)
    first = records[0]
    out = Page(results.path.stem, "Semantic roles of arguments")
    out.aim(
        "A linear model over mined fragments tells roles apart as well as the kernel machine.",
        "F1 by role, accuracy on the test part, and seconds.",
        "The kernel machine on the same arguments, and the paper's table 1.",
    )
    out.say(
        f"The role classification of {PAPER}, on PropBank's arguments in the English Web Treebank: which of {ROLES[0]} "
        f"to {ROLES[-1]} an argument plays whose boundary is known, from the smallest tree with the words of predicate "
        f"and argument, both nodes marked. {first['test_rows']:,} arguments to test on. Parses are gold. "
        f"`{first['kernel']}` and C {first['C']:g} have the best accuracy in {N_FOLDS}-fold cross-validation on the "
        f"first {results.settings['choice_rows']:,} training arguments. *Linear*: one kernel machine for each role on "
        f"each of {N_SPLITS} parts, {results.settings['fragments'] // N_SPLITS:,} fragments mined of each machine, one "
        "dictionary for all, and linear machines with the same loss and C. Seconds on one thread, all stages; "
        f"those of testing are the best of {TEST_RUNS} runs."
    )
    order = sorted(records, key=lambda r: (r["rows"], r["method"]))
    roles = [role for role in ROLES if role in first["f1"]]
    out.section("F1 by role, and accuracy, per cent")
    out.table(
        ["", *roles, "accuracy"],
        [[_name(r), *(number(100 * r["f1"][role], 1) for role in roles), number(100 * r["accuracy"], 2)] for r in order]
        + [
            [
                f"table 1 of the paper: {name}, {published.N_ROLES:,} training arguments",
                *(number(published.ROLES[role][k], 1) for role in roles),
                number(published.ROLE_ACCURACY[k], 1),
            ]
            for k, name in enumerate(("kernel", "linear"))
        ],
    )
    out.say(
        "The paper's arguments are those of the Wall Street Journal, and its F1 are of each binary machine by itself; "
        "ours are of the role with the largest score. In its test part two arguments are ARG5."
    )
    out.section("Seconds")
    out.table(
        ["", "training", "testing", "features"],
        [[_name(r), f"{r['train_seconds']:.3g}", f"{r['test_seconds']:.3g}", _features(r)] for r in order],
    )
    return out


def _features(record: Record) -> str:
    return f"{record['features']:,}" if "features" in record else "-"


def _name(record: Record) -> str:
    return f"{record['method']}, {record['rows']:,} training arguments"
