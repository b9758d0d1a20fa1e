"""Speed and memory of learning a kernel on real trees: ``make bench``, written to ``docs/results/learning.md``.

The first fold of French-English quality estimation: 2,247 pairs of trees with 17 features. Seconds are wall clock of
one run with all threads, so run it on an idle machine.
"""

from __future__ import annotations

import os
import platform
import sys
import time
import tracemalloc
import warnings
from typing import Any

import numpy as np

import espalier as es
from benchmarks.corpora import DATA, ROOT, available
from benchmarks.report import Report, cpu_name, write_page
from espalier.structures.table import Table
from espalier_experiments.data import quality

PAGE = ROOT / "docs" / "results" / "learning.md"
N_FOR_MEMORY = 1000
TOLERANCE = 1e-4  # of the gradient per example, as in the experiments


def training_fold() -> tuple[Table, Table]:
    """The rows of the first training fold and of its test fold, features standardised on the former."""
    table = quality(DATA, "fr-en")
    parts = [table[table["fold"] != 0], table[table["fold"] == 0]]
    mean, spread = parts[0]["features"].mean(axis=0), parts[0]["features"].std(axis=0)
    train, test = (part.with_column("features", (part["features"] - mean) / spread) for part in parts)
    return train, test


def trees(decay: Any, frontier: Any) -> es.Kernel:
    """Source and target, summed, beside the features."""
    sides = [es.Normalized(es.SubsetTree(decay, frontier, on=on)) for on in ("source", "target")]
    return 1.0 * es.Matern(4.0, on="features") + 1.0 * sides[0] + 1.0 * sides[1]


def learned(name: str, kernel: es.Kernel, train: Table, goal: str) -> tuple[es.GPRegressor, list[str]]:
    """Learn to convergence from one start; the row of the table."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = es.GPRegressor(kernel, noise=0.5, target_transform="log", tolerance=TOLERANCE)
        model.fit(train, train["response"])
    seconds = time.perf_counter() - start
    climb = model.restarts_[0]
    cells = [f"{len(model.learned_)}", f"{climb.n_evaluations}", f"{seconds / climb.n_evaluations:.2f}"]
    return model, [name, *cells, "yes" if climb.converged else "no", f"{seconds:.0f}", goal]


def prediction_row(name: str, kernel: es.Kernel, train: Table, test: Table, columns: list[str]) -> list[str]:
    """Milliseconds to predict one example, with its deviation, from text."""
    model = es.GPRegressor(kernel, noise=0.5, target_transform="log", learn=False).fit(train, train["response"])
    seconds = []
    for row in range(30):
        one = {c: [test[c][row].to_brackets()] if c != "features" else test[c][row : row + 1] for c in columns}
        start = time.perf_counter()
        model.predict(one, return_std=True)
        seconds.append(time.perf_counter() - start)
    later = sorted(seconds[1:])
    return [name, f"{1e3 * seconds[0]:.0f}", f"{1e3 * later[len(later) // 2]:.1f}", f"{1e3 * later[-1]:.1f}"]


def matrices(kernel: es.Kernel, train: Table) -> float:
    """The most memory of numpy that one evaluation with its gradient takes, in matrices of n x n numbers."""
    part = train[:N_FOR_MEMORY]
    problem = es.GPRegressor(kernel, learn=False).fit(part, part["response"])._examples.objective()
    problem.gradient({})
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    problem.gradient({})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - before) / (8 * len(part) ** 2)


def main() -> None:
    if not available():
        sys.exit("The benchmarks read real corpora: set ESPALIER_DATA to the folder that holds them.")
    train, test = training_fold()
    plain = trees(0.1, 0.5)
    report = Report()
    report.say("# Learning a kernel: speed and memory\n")
    report.say(
        "Made by `python -m benchmarks.learning`, a part of `make bench`. The first training fold of French-English "
        f"quality estimation: {len(train):,} pairs of trees with 17 features; the logarithm of the response."
    )
    report.say(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {cpu_name()}.")
    report.aim(
        "Learn a kernel of thousands of trees in minutes, and predict one example at once.",
        "Seconds and bytes of learning and of predicting.",
        "Each figure with its goal.",
    )
    source = 1.0 * es.Normalized(es.SubsetTree(0.1, on="source"))
    report.table(
        f"Predicting one example from text after {2000:,}",
        ["kernel", "first, ms", "median, ms", "slowest, ms"],
        [
            prediction_row("one normalised tree kernel", source, train[:2000], test, ["source"]),
            prediction_row("two trees and features", plain, train[:2000], test, ["source", "target", "features"]),
        ],
        "Mean and deviation. The first prediction also computes the diagonal of the training trees. Goal: 20 ms.",
    )
    memory = {
        "one tree kernel": es.SubsetTree(0.1, on="source"),
        "one normalised tree kernel with a scale": source,
        "two normalised tree kernels and features, each with a scale": plain,
        "the same, trees multiplied": 1.0 * es.Matern(on="features")
        + 1.0 * es.Normalized(es.SubsetTree(on="source")) * es.Normalized(es.SubsetTree(on="target")),
    }
    report.table(
        "Memory of one evaluation",
        ["kernel", "n x n matrices"],
        [[name, f"{matrices(kernel, train):.2f}"] for name, kernel in memory.items()],
        f"Evidence and gradient of {N_FOR_MEMORY:,} examples, the peak of what numpy holds; the kernels' own buffers "
        "(Delta) are not in it. Goal: 6.",
    )
    rows = [
        learned("two trees summed and features", plain, train, "120")[1],
        learned(
            "the same, symbol-aware", trees(es.PerLabel(0.1, prior=None), es.PerLabel(0.5, prior=None)), train, "240"
        )[1],
    ]
    report.table(
        "Learning to convergence from one start",
        ["model", "learned numbers", "evaluations", "seconds each", "converged", "seconds", "goal"],
        rows,
        f"All threads; until no gradient per example is above {TOLERANCE:g}, or 200 iterations.",
    )
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
