"""Sparse processes: time and memory by the number of trees. A part of ``make bench``.

The trees of four treebanks, and all questions of TREC. Seconds are CPU time of one thread. It writes
``docs/results/sparse.md``.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from typing import Any

import numpy as np

import espalier as es
from benchmarks.corpora import DATA, ROOT, available
from benchmarks.report import Report, cpu_name, write_page
from benchmarks.tasks import cpu_seconds, peak
from espalier.blas import blas_threads
from espalier.gp import Inducing
from espalier_experiments.data import questions

PAGE = ROOT / "docs" / "results" / "sparse.md"
TREEBANKS = (
    "wsj/sample.mrg.gz",
    "gum/trees.ptb.gz",
    *(f"ewt_srl/{part}.mrg.gz" for part in ("train", "dev", "test")),
    "questionbank/trees.txt",
)
SIZES, M = (5_000, 10_000, 20_000, 37_000), 200
KERNEL = 1.0 * es.Normalized(es.SubsetTree(0.3, 0.6))
OPTIONS: dict[str, Any] = {"learn": False, "pilot": 200, "inducing": Inducing(M, choose="random"), "n_threads": 1}


def measured(model: Any, X: Any, y: Any) -> list[str]:
    """Questions or trees a second, and megabytes, of one evaluation with its gradient after the first."""
    objective = model.fit(X, y)._examples.objective(n_threads=1)
    objective.gradient({})
    seconds = cpu_seconds(lambda: objective.gradient({}))
    memory = peak(lambda: objective.gradient({})) / 1e6
    return [f"{len(y):,}", f"{seconds:.2f}", f"{len(y) / seconds:,.0f}", f"{memory:,.0f}"]


def main() -> None:
    if not available():
        sys.exit("The benchmarks read real corpora: set ESPALIER_DATA to the folder that holds them.")
    warnings.simplefilter("ignore")
    report = Report()
    report.say("# Sparse processes: time and memory by trees\n")
    report.say(
        f"Made by `python -m benchmarks.sparse`, a part of `make bench`. {M} inducing trees, drawn at random; "
        f"`{KERNEL!r}`, its numbers as they stand."
    )
    report.say(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {cpu_name()}.")
    report.aim(
        "Learn from many trees in time and memory that grow with their number, and no faster.",
        "One evaluation of the bound with its gradient in all numbers of the kernel, with plans and sites of an "
        "earlier one: CPU seconds of one thread, the best of three; megabytes, the peak of what numpy holds.",
        f"The number of trees; the goal is 5,000 questions a second with {M} structures.",
    )
    table = questions(DATA)
    is_person = np.array(table["coarse"]) == "HUM"
    trees = [tree for name in TREEBANKS for tree in es.read_brackets(DATA / name) if tree.children]
    order = np.random.default_rng(0).permutation(len(trees))
    with blas_threads(1):
        rows = [
            [
                "questions, classes (person or not)",
                *measured(es.GPClassifier(KERNEL, **OPTIONS), table["tree"], is_person),
            ],
            ["questions, numbers", *measured(es.GPRegressor(KERNEL, **OPTIONS), table["tree"], is_person * 1.0)],
        ]
        for n in SIZES:
            forest = es.Forest.from_trees([trees[row] for row in order[:n].tolist()])
            lengths = np.log([len(tree.words()) + 1.0 for tree in forest])
            rows.append(["treebanks, lengths", *measured(es.GPRegressor(KERNEL, **OPTIONS), forest, lengths)])
    report.table("Bound and gradient", ["", "trees", "seconds", "trees a second", "MB"], rows)
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
