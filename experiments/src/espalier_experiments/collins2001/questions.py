"""Section 4: parses of short questions, reranked; by maximum depth, by decay, and with what is best on development."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from espalier.kernels import Kernel, Normalized, SubsetTree
from espalier.rerank import Chooser, GPPreference, RankingSVM, VotedPerceptron
from espalier_experiments.collins2001.candidates import (
    MARKOV_GRID,
    RARE_GRID,
    Lists,
    best_grammar,
    make_lists,
    shared_settings,
)
from espalier_experiments.collins2001.corpora import question_trees, shuffled
from espalier_experiments.collins2001.learning import SAMPLE, UPDATES, add_test, best_trial, choose, trial
from espalier_experiments.collins2001.questions_page import MACHINE, PERCEPTRON, questions_page, rows_of
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "questions"
# Training, development and test questions; the rest where None.
SIZES: dict[str, tuple[int, int, int | None]] = {"small": (800, 200, 336), "large": (2400, 400, None)}
PARSERS = ("plain", "markov")
SPLITS, K = {"small": 10, "large": 5}, 100

DEPTHS, DECAYS = (1, 2, 3, 4, 5, 6), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MARKOV_DECAYS = (0.2, 0.4, 0.6, 0.8)
DECAY = 0.5  # with which updates are compared
SVM_DECAY, SVM_PASSES = 0.4, 100
SVM_C = {"small": (0.03, 0.1, 0.3), "large": (0.03, 0.1)}
GP_CANDIDATES, GP_SAMPLE, GP_ITERATIONS, GP_DECAY = 2000, 2, 50, 0.3


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    counts = (
        {"candidates": 10, "sampled": 5, "splits": {"small": 1}}
        if quick
        else {"candidates": K, "sampled": SAMPLE, "splits": SPLITS}
    )
    fixed = {"passes": SVM_PASSES, "svm_decay": SVM_DECAY, "svm_C": SVM_C, "depths": DEPTHS, "decays": DECAYS}
    grammars = {"markov_grid": MARKOV_GRID, "rare_grid": RARE_GRID, "markov_decays": MARKOV_DECAYS}
    parts = {"parts": sizes(quick=quick), **shared_settings()}
    compared = {"updates": UPDATES, "compared_decay": DECAY, "retrained": True}
    return {**counts, **fixed, **grammars, **parts, **compared, **preference_settings()}


def preference_settings() -> dict[str, Any]:
    """How Gaussian processes of preferences learn."""
    return {"gp_candidates": GP_CANDIDATES, "gp_sampled": GP_SAMPLE, "gp_steps": GP_ITERATIONS, "gp_start": GP_DECAY}


def sizes(*, quick: bool) -> dict[str, tuple[int, int, int | None]]:
    """The parts of each kind of split."""
    return {"small": (60, 20, 20)} if quick else SIZES


def tasks(setup: Setup) -> list[Task]:
    """One task for each learner on each split; those on the same candidates stand side by side."""
    return [
        Task({"size": size, "parser": parser, "split": split, "learner": learner}, LEARNERS[learner], setup.arguments)
        for size in sizes(quick=setup.quick)
        for parser in PARSERS
        for split in range(settings(quick=setup.quick)["splits"][size])
        for learner in LEARNERS
    ]


@lru_cache(maxsize=1)
def lists_of(setup: Setup, size: str, parser: str, split: int) -> tuple[Lists, Record]:
    """The candidates of a split, made once for all learners; and the options of the grammar."""
    trees, _ = question_trees(setup.data)
    seed = 1000 * setup.seed + split
    parts = shuffled(trees, seed, sizes(quick=setup.quick)[size])
    options = {} if parser == "plain" else best_grammar(parts[0], parts[1])
    return make_lists(parts, k=settings(quick=setup.quick)["candidates"], seed=seed, **options), options


def learn_perceptron(size: str, parser: str, split: int, learner: str, setup: Setup) -> Record:
    """Perceptrons by depth and by decay, one epoch; then two with what is best on development data."""
    lists, grammar = lists_of(setup, size, parser, split)
    trials = [_perceptron_trial(setup, split, lists, {"epochs": 1, **own}) for own in _grid(setup, parser)]
    again = [best_trial(trials, kind) for kind in ("alone", "weighed")]
    twice = [{name: record[name] for name in ("depth", "decay")} for record in again]
    if parser == "plain":
        twice.append({"depth": 3, "decay": 1.0})  # the paper's
    trials += [
        _perceptron_trial(setup, split, lists, {"epochs": 2, **own})
        for row, own in enumerate(twice)
        if own not in twice[:row]
    ]
    wanted = [(row.kind, row.entries) for row in rows_of(parser) if row.learner == PERCEPTRON]
    choose(trials, lists, lambda record: _perceptron(setup, split, record), wanted)
    return {"grammar": grammar, "baselines": lists.baselines, "trials": trials}


def learn_updates(size: str, parser: str, split: int, learner: str, setup: Setup) -> Record:
    """Perceptrons that take away all rivals that win, or the best one; on development data alone."""
    lists, _ = lists_of(setup, size, parser, split)
    grid = [(epochs, updates) for epochs in (1, 2) for updates in ("all", "best")]
    settings = [{"epochs": epochs, "depth": None, "decay": DECAY, "updates": updates} for epochs, updates in grid]
    return {"trials": [_perceptron_trial(setup, split, lists, own) for own in settings]}


def _grid(setup: Setup, parser: str) -> Iterator[dict[str, Any]]:
    if parser == "markov":
        yield from ({"depth": None, "decay": decay} for decay in MARKOV_DECAYS[:: 3 if setup.quick else 1])
        return
    for depth in DEPTHS[:: 3 if setup.quick else 1]:
        yield {"depth": depth, "decay": 1.0}
    for decay in DECAYS[:: 4 if setup.quick else 1]:
        yield {"depth": None, "decay": decay}


def _perceptron_trial(setup: Setup, split: int, lists: Lists, setting: Record) -> Record:
    return {**setting, **trial(_perceptron(setup, split, setting), lists)}


def _perceptron(setup: Setup, split: int, setting: Record) -> Chooser:
    kernel = SubsetTree(setting["decay"], max_depth=setting["depth"])
    updates = setting.get("updates", UPDATES)
    return VotedPerceptron(kernel, epochs=setting["epochs"], updates=updates, **common_options(setup, split))


def common_options(setup: Setup, split: int) -> dict[str, Any]:
    """What learners share: candidates that are drawn, the grammar's score left to be weighed, a seed."""
    sample = settings(quick=setup.quick)["sampled"]
    return {"sample": sample, "score_weight": 0.0, "random_state": split, "n_threads": setup.n_threads}


def learn_svm(size: str, parser: str, split: int, learner: str, setup: Setup) -> Record:
    """Ranking machines by C."""
    lists, _ = lists_of(setup, size, parser, split)
    trials = []
    for C in SVM_C[size][: 1 if setup.quick else None]:
        machine = _machine(setup, split, C)
        record = {"decay": SVM_DECAY, "C": C, **trial(machine, lists)}
        trials.append({**record, "passes": machine.n_passes_, "gap": short(machine.gap_)})
    wanted = [(row.kind, row.entries) for row in rows_of(parser) if row.learner == MACHINE]
    choose(trials, lists, lambda record: _machine(setup, split, record["C"]), wanted)
    return {"trials": trials}


def _machine(setup: Setup, split: int, C: float) -> RankingSVM:
    return RankingSVM(SubsetTree(SVM_DECAY), C=C, max_iterations=SVM_PASSES, **common_options(setup, split))


def learn_gp(size: str, parser: str, split: int, learner: str, setup: Setup) -> Record:
    """A Gaussian process of preferences that learns its kernel."""
    lists, _ = lists_of(setup, size, parser, split)
    return {"trials": [preference_trial(1.0 * Normalized(SubsetTree(GP_DECAY)), lists, setup, split)[0]]}


def preference_trial(kernel: Kernel, lists: Lists, setup: Setup, split: int) -> tuple[Record, Kernel]:
    """A Gaussian process of preferences: what is kept of it, and the kernel that it learned from training groups.

    It learns beside the grammar's score, whose weight is learned too; for decisions it is chosen as for other learners.
    """
    n_candidates, n_steps = (40, 3) if setup.quick else (GP_CANDIDATES, GP_ITERATIONS)
    process = GPPreference(
        kernel,
        sample=GP_SAMPLE,
        max_candidates=n_candidates,
        max_iterations=n_steps,
        score_weight="learned",
        random_state=split,
        n_threads=setup.n_threads,
    )
    record = trial(process, lists)
    evidence = short(process.log_marginal_likelihood_)
    fitted = process.kernel_
    learned = {path: short(value) for path, value in fitted.parameters().items()}
    record |= {"evidence": evidence, "groups": process.n_groups_, "learned": learned}
    add_test(record, process, lists)
    return record, fitted


LEARNERS = {"perceptron": learn_perceptron, "updates": learn_updates, "svm": learn_svm, "gp": learn_gp}


def page(results: Results) -> Page:
    """Tables 1 and 2, the choices on development data, and what they reach on test questions."""
    return questions_page(results)
