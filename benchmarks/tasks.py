"""Several targets of each row: how the cost grows with the tasks. A part of ``make bench``.

The Kronecker path beside the path that any kernel takes, in the same run, on translations of the demo with random
targets. Seconds are CPU time of one thread. It writes ``docs/results/tasks.md``.
"""

from __future__ import annotations

import os
import platform
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import espalier as es
from benchmarks.corpora import ROOT
from benchmarks.report import Report, cpu_name, write_page
from espalier.blas import blas_threads
from espalier.demo import generate_translations
from espalier.gp.regression import RegressionObjective

PAGE = ROOT / "docs" / "results" / "tasks.md"
N, TASKS, MOST_DENSE = 300, (2, 4, 8, 16, 64), 16
KERNEL = es.Coregion(on="task") * es.Normalized(es.SubsetTree(on="target"))


def cpu_seconds(function: Callable[[], Any], runs: int = 3) -> float:
    """The CPU time of a call in this thread, the best of several."""
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def peak(function: Callable[[], Any]) -> float:
    """The most bytes of numpy that a call holds."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    function()
    most = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return most


def row(sentences: es.Table, p: int) -> list[str]:
    """Evidence and gradient of p random targets of each sentence, by both paths."""
    y = np.random.default_rng(p).normal(size=(len(sentences), p))
    model = es.GPRegressor(KERNEL, learn=False, n_threads=1).fit(sentences, y)
    examples = model._examples
    values = {parameter.path: parameter.start for parameter in examples.parameters()}
    fast = examples.objective(n_threads=1)
    cells = [str(p), f"{len(y) * p:,}", *_measured(fast, values)]
    if p > MOST_DENSE:
        return [*cells, "not run", "not run", "", ""]
    slow = RegressionObjective(examples, examples.kernel.plan(examples.inputs, n_threads=1), {})
    cells += _measured(slow, values)
    away = abs(fast.value(values) / slow.value(values) - 1)
    return [*cells, f"{float(cells[4]) / float(cells[2]):.1f}", f"{away:.0e}"]


def _measured(objective: RegressionObjective, values: Mapping[str, float]) -> list[str]:
    objective.gradient(values)
    seconds = cpu_seconds(lambda: objective.gradient(values))
    return [f"{seconds:.3f}", f"{peak(lambda: objective.gradient(values)) / 1e6:,.0f}"]


def main() -> None:
    report = Report()
    report.say("# Several targets of each row: cost by tasks\n")
    report.say(
        f"Made by `python -m benchmarks.tasks`, a part of `make bench`. {N} translations of the demo with 2 to "
        f"{max(TASKS)} random targets each; `{KERNEL!r}`, one noise for each task."
    )
    report.say(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {cpu_name()}.")
    report.aim(
        "Learn many tasks in the time that one needs.",
        "One evaluation of the evidence with its gradient: CPU seconds of one thread, the best of three, with plans "
        "made; megabytes, the peak of what numpy holds.",
        "The Kronecker path with the path that any kernel takes, in the same run.",
    )
    sentences = generate_translations(N, seed=1)
    header = ["tasks", "targets", "Kronecker, s", "MB", "any kernel, s", "MB", "ratio", "relative difference"]
    with blas_threads(1):
        rows = [row(sentences, p) for p in TASKS]
    report.table("Evidence and gradient", header, rows, "The last column compares the two evidences.")
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
