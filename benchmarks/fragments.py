"""Speed of mining fragments, extracting them and scoring by them: ``make bench``, written to ``docs/results/``.

Everything runs on one thread; a figure that is compared with another is the best of several alternating runs.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import espalier as es
from benchmarks.corpora import DATA, ROOT, available
from benchmarks.report import Report, cpu_name, write_page
from benchmarks.timing import best
from espalier.corpus.forest import Forest
from espalier.fragments import FragmentVectorizer, MinedFragments, mine_fragments
from espalier_experiments.data import question_dependencies, questions

PAGE = ROOT / "docs" / "results" / "fragments.md"
N_FRAGMENTS = 50_000
SETTINGS = {"the paper's": (0.4, 1.0), "chosen": (0.1, 10.0)}  # decay and C


def machine(kernel: es.Kernel, C: float, forest: Forest, labels: Any) -> es.KernelSVC:
    return es.KernelSVC(kernel, C=C, n_threads=1).fit(forest, labels)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    out = work()
    return out, time.perf_counter() - start


def mined_row(name: str, mined: MinedFragments, seconds: float, goal: str) -> list[str]:
    listed = sum(len(part) for part in mined)
    visited = sum(part.n_visited for part in mined)
    return [name, f"{seconds:.1f}", f"{listed:,}", f"{visited:,}", "yes" if mined.proven else "no", goal]


def mining_rows(forest: Forest, labels: Any) -> list[list[str]]:
    """Exact and greedy mining of all six classes."""
    rows = []
    for name, (decay, C) in SETTINGS.items():
        model = machine(es.Normalized(es.SubsetTree(decay)), C, forest, labels)
        exact, seconds = timed(lambda: mine_fragments(model, n=N_FRAGMENTS, n_threads=1))
        rows.append(mined_row(f"exact, {name} values: decay {decay:g}, C {C:g}", exact, seconds, "60"))
        greedy, seconds = timed(
            lambda: mine_fragments(model, n=N_FRAGMENTS, strategy="greedy", max_expansions=4, n_threads=1)
        )
        rows.append(mined_row(f"greedy, {name} values", greedy, seconds, "60"))
    table = question_dependencies(DATA)
    model = machine(es.Normalized(es.PartialTree(0.4, 0.4)), 10.0, table["grct"], table["coarse"])
    exact, seconds = timed(lambda: mine_fragments(model, n=N_FRAGMENTS, n_threads=1))
    return [*rows, mined_row("exact, partial trees of dependencies, at most 8 nodes", exact, seconds, "-")]


def extraction_rows(forest: Forest, labels: Any) -> list[list[str]]:
    """Trees a second: sparse rows, and only their products with weights."""
    rows = []
    texts = [tree.to_brackets() for tree in forest]
    for n in (N_FRAGMENTS, 5_000):
        kernel = es.Normalized(es.SubsetTree(0.4))
        one = np.where(np.array(labels) == "HUM", "HUM", "other")
        vectorizer = FragmentVectorizer(kernel, n_fragments=n, n_threads=1).fit(forest, one)
        weights = np.random.default_rng(0).normal(size=vectorizer.n_features_out_)
        whole, score, read = best(
            lambda: vectorizer.transform(forest),
            lambda: vectorizer.weighed(forest, weights),
            lambda: vectorizer.transform(texts),
        )
        rates = [f"{len(forest) / seconds:,.0f}" for seconds in (read, whole, score)]
        rows.append([f"{vectorizer.n_features_out_:,} fragments", *rates, "20,000"])
    return rows


def diagonal_rows(forest: Forest) -> list[list[str]]:
    """The values of trees with themselves: at once, and by the plan that gradients need."""
    kernel = es.SubsetTree(0.4)
    pull_back = np.ones(len(forest))
    direct, planned = best(
        lambda: kernel.diagonal(forest, n_threads=1),
        lambda: kernel.diagonal_vjp(forest, n_threads=1)[1](pull_back),
    )
    return [["TREC, all 5,452", f"{1e3 * direct:.2f}", f"{1e3 * planned:.1f}", f"{planned / direct:.0f}"]]


def main() -> None:
    if not available():
        sys.exit("The benchmarks read real corpora: set ESPALIER_DATA to the folder that holds them.")
    table = questions(DATA)
    forest, labels = table["tree"], table["coarse"]
    report = Report()
    report.say("# Fragments: mining, extraction, scores\n")
    report.say(
        "Made by `python -m benchmarks.fragments`, a part of `make bench`. The 5,452 training questions of TREC with "
        "their six classes; one thread. How learning and testing grow to a million trees stands in "
        "[boundary detection](pighin2009/boundary.md)."
    )
    report.say(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {cpu_name()}.")
    report.aim(
        "Mine and score at a speed that suits daily work.",
        "Seconds of mining, of extraction and of scoring.",
        "Exact search with greedy search, and each with its goal.",
    )
    report.table(
        f"Mining the {N_FRAGMENTS:,} heaviest fragments of each of six classes",
        ["search", "seconds", "listed", "visited", "proven", "goal, seconds"],
        mining_rows(forest, labels),
        "One run each. Every exact list is proven: no fragment that was left out weighs more.",
    )
    report.table(
        "Question trees a second",
        ["dictionary", "from brackets to rows", "from interned trees to rows", "to scores", "goal"],
        extraction_rows(forest, labels),
        "Rows are sparse, normalised features; scores are their products with one vector of weights, without rows.",
    )
    report.table(
        "Trees with themselves",
        ["corpus", "ms", "by a plan, with its pull-back, ms", "ratio"],
        diagonal_rows(forest),
        "What normalised features are divided by.",
    )
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
