"""Question classification: the kernel machine, its fragments, and linear models over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from espalier.corpus import Forest
from espalier.fragments import FragmentVectorizer
from espalier.kernels import Kernel, Normalized, PartialTree, SubsetTree
from espalier_experiments import data
from espalier_experiments.page import Page, number
from espalier_experiments.papers import Setup
from espalier_experiments.pighin2009 import published
from espalier_experiments.pighin2009.learning import N_FOLDS, PAPER, choose, fit_linear, machine, scores, timed
from espalier_experiments.records import short
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "questions"
N_FRAGMENTS, MAX_EXPANSIONS = 50_000, 4
PAPER_DECAY, PAPER_C = 0.4, 1.0
C_GRID = (1.0, 10.0, 100.0)
N_SHOWN = 10  # fragments of each class


def _subset(decay: float) -> Kernel:
    return Normalized(SubsetTree(decay))


def _partial(decay: float) -> Kernel:
    return Normalized(PartialTree(decay, 0.4))


# What is classified by what: the trees, the labels, the kernel by its decay, and decays to choose from.
PROBLEMS: dict[str, tuple[str, str, Callable[[float], Kernel], tuple[float, ...]]] = {
    "coarse classes": ("tree", "coarse", _subset, (0.1, 0.2, 0.3, 0.4)),
    "fine classes": ("tree", "fine", _subset, (0.1, 0.2, 0.3, 0.4)),
    "coarse classes, dependencies, partial trees": ("grct", "coarse", _partial, (0.2, 0.4)),
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"fragments": 300 if quick else N_FRAGMENTS, "rows": 200 if quick else None}


def tasks(setup: Setup) -> list[Task]:
    """The paper's settings and chosen ones, for each problem."""
    problems = ["coarse classes"] if setup.quick else list(PROBLEMS)
    return [
        Task({"problem": problem, "values": values}, classify, setup.arguments)
        for problem in problems
        for values in ("paper", "chosen")
        if not (values == "paper" and problem != "coarse classes")
    ]


@cache
def _questions(folder: Path, column: str, target: str, n_rows: int | None, seed: int) -> tuple[Any, ...]:
    """Training trees and labels, and test trees and labels."""
    out: list[Any] = []
    parts: tuple[data.Part, ...] = ("train", "test")
    for part in parts:
        read = data.questions if column == "tree" else data.question_dependencies
        table = read(folder, part)
        rows = np.random.default_rng(seed).permutation(len(table))[:n_rows]
        forest: Forest = table[column][np.sort(rows)]
        out += [forest, np.array(table[target])[np.sort(rows)]]
    return tuple(out)


def classify(problem: str, values: str, setup: Setup) -> Record:
    """Train the kernel machine, mine it in both ways, and train linear models over what was mined."""
    column, target, kernel_of, decays = PROBLEMS[problem]
    common = settings(quick=setup.quick)
    train, y, test, y_test = _questions(setup.data, column, target, common["rows"], setup.seed)
    kernel, C, record = kernel_of(PAPER_DECAY), PAPER_C, Record()
    if values == "chosen":
        kernel, C, record = choose([kernel_of(decay) for decay in decays], C_GRID, train, y, setup, scoring="accuracy")
    record |= {"kernel": repr(kernel), "C": C}
    learner, seconds = timed(lambda: machine(kernel, C, setup).fit(train, y))
    predicted, test_seconds = timed(lambda: learner.predict(test))
    record["machine"] = {**scores(y_test, predicted), "fit_seconds": seconds, "test_seconds": test_seconds}
    n = common["fragments"]
    for strategy in ("exact", "greedy") if column == "tree" else ("exact",):
        record[strategy] = _linearized(learner, C, strategy, n, (train, y, test, y_test), setup)
    return record


class _Fitted:
    """A machine that was fitted already, where a vectorizer asks for one to fit."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine

    def fit(self, X: Any, y: Any) -> Any:
        return self.machine

    def __sklearn_clone__(self) -> _Fitted:
        return self


def _linearized(learner: Any, C: float, strategy: str, n: int, parts: tuple[Any, ...], setup: Setup) -> Record:
    train, y, test, y_test = parts
    vectorizer = FragmentVectorizer(
        learner=_Fitted(learner),
        n_fragments=n,
        strategy=strategy,  # type: ignore[arg-type]
        max_expansions=MAX_EXPANSIONS if strategy == "greedy" else None,
        n_threads=setup.n_threads,
    )
    _, mine_seconds = timed(lambda: vectorizer.fit(train, y))
    features, extract_seconds = timed(lambda: vectorizer.transform(train))
    model, fit_seconds = fit_linear(C, features, y)
    predicted, test_seconds = timed(lambda: model.predict(vectorizer.transform(test)))
    (mined,) = vectorizer.mined_
    best = {
        part.name: [[str(fragment), short(weight)] for (fragment, weight), _ in zip(part, range(N_SHOWN), strict=False)]
        for part in mined
    }
    return {
        **scores(y_test, predicted),
        "features": vectorizer.n_features_out_,
        "visited": sum(part.n_visited for part in mined),
        "proven": mined.proven,
        "mine_seconds": mine_seconds,
        "extract_seconds": extract_seconds,
        "fit_seconds": fit_seconds,
        "test_seconds": test_seconds,
        "best": best if len(best) <= 6 else {},
        "best_by_level": _best_by_level(mined)
        if len(best) <= 6 and isinstance(mined[0].term.kernel, SubsetTree)
        else {},
    }


def _best_by_level(mined: Any) -> dict[str, list[list[Any]]]:
    """The heaviest mined fragments of each class where each level costs one decay, as in the paper, not each node."""
    out = {}
    for part in mined:
        saved = part.fragments.n_productions - part.fragments.depths
        weights = part.weights * part.term.kernel.decay ** (-saved / 2)
        rows = np.argsort(-np.abs(weights), kind="stable")[:N_SHOWN]
        out[part.name] = [[str(part.fragments[row]), short(weights[row])] for row in rows.tolist()]
    return out


def page(results: Results) -> Page:
    """Accuracies beside the paper's, F1 by class, costs, and the fragments of each class."""
    out = Page(results.path.stem, "Questions: a tree kernel, mined and made linear")
    out.aim(
        "A linear model over mined fragments answers questions as well as the kernel machine that was mined.",
        "Accuracy on the test questions, F1 by class, seconds of each stage, and the heaviest fragments.",
        "The kernel machine, exact and greedy mining, and the paper's tables 2 and 4 to 9 ([fragments](fragments.md)).",
    )
    out.say(
        f"The question classification of {PAPER}: 5,452 questions of TREC to learn from, 500 to test on, six classes, "
        f"one machine for each class against the rest. The paper's values are a decay of {PAPER_DECAY}, "
        f"{N_FRAGMENTS:,} fragments for each class and at most {MAX_EXPANSIONS} expansions; its accuracies are "
        f"{published.QUESTION_ACCURACY[0]} % with the kernel and {published.QUESTION_ACCURACY[1]} % made linear, on "
        "parses of its own. "
        f"*Chosen* values of decay and C are those of the best accuracy in {N_FOLDS}-fold cross-validation on the "
        "training questions. Linear models are linear support vector machines with the same loss and C; features are "
        "those of the kernel, normalised. Ten test questions also stand in the training part, as published."
    )
    records = list(results)
    rows = []
    for record in records:
        name = f"{record['problem']}, {record['values']}: {record['kernel']}, C {record['C']:g}"
        cells = [number(100 * record["machine"]["accuracy"], 1)]
        cells += [number(100 * record[kind]["accuracy"], 1) if kind in record else "-" for kind in ("exact", "greedy")]
        rows.append([name, *cells, number(100 * record["cv_score"], 1) if "cv_score" in record else "-"])
    out.section("Accuracy on the test questions, per cent")
    out.table(["", "kernel", "linear, exact mining", "linear, greedy mining", "cross-validation"], rows)
    _f1(out, records)
    _costs(out, records)
    for record in records:
        _fragments(out, "The heaviest fragments", record, record["exact"]["best"])
    by_level = [(record, record["greedy"]["best_by_level"]) for record in records if "greedy" in record]
    for record, best in by_level:
        _fragments(out, "By the paper's ranking, one decay for each level", record, best)
    return out


def _fragments(out: Page, title: str, record: Record, best: Mapping[str, Any]) -> None:
    if best:
        out.section(f"{title}: {record['problem']}, {record['values']}")
        for name, fragments in best.items():
            shown = "; ".join(f"`{fragment}` {weight:+.2f}" for fragment, weight in fragments)
            out.say(f"**{name}**: {shown}.")


_BY_ITSELF = (
    "Ours are of the class with the largest score. The paper's are of each binary machine by itself, which may give a "
    "question several classes or none."
)


def _f1(out: Page, records: Sequence[Record]) -> None:
    for record in records:
        classes = list(record["machine"]["f1"])
        if classes:
            out.section(f"F1 by class: {record['problem']}, {record['values']}")
            rows = [
                [name, *(number(100 * record[kind]["f1"][label], 1) for label in classes)]
                for kind, name in (("machine", "kernel"), ("exact", "linear, exact"), ("greedy", "linear, greedy"))
                if kind in record
            ]
            if list(published.QUESTIONS) == classes and record["problem"] == "coarse classes":
                rows += [
                    [f"table 2 of the paper: {name}", *(number(published.QUESTIONS[label][k], 1) for label in classes)]
                    for k, name in enumerate(("kernel", "linear"))
                ]
                out.say(_BY_ITSELF)
            out.table(["", *classes], rows)


def _costs(out: Page, records: Sequence[Record]) -> None:
    out.section("Seconds on one thread")
    rows = []
    for record in records:
        machine = record["machine"]
        seconds = [_s(machine, name) for name in ("fit_seconds", "test_seconds")]
        rows.append([f"{record['problem']}, {record['values']}: kernel", "-", "-", "-", *seconds])
        for kind in ("exact", "greedy"):
            if kind in record:
                own = record[kind]
                names = ("mine_seconds", "extract_seconds", "fit_seconds", "test_seconds")
                rows.append([f"linear, {kind}", f"{own['features']:,}", *(_s(own, name) for name in names)])
    out.table(["", "features", "mining", "extraction", "learning", "testing"], rows)


def _s(record: Mapping[str, Any], name: str) -> str:
    return f"{record[name]:.3g}"
