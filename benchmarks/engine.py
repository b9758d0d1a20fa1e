"""Speed and memory of the engine on real trees, as ratios measured in one run: ``make bench``.

Prints every figure as it comes and writes them to ``docs/results/engine.md``. Everything runs on one thread unless
said otherwise; a figure is the best of several runs that alternate with what it is compared with.
"""

from __future__ import annotations

import os
import platform
import sys

import numpy as np

from benchmarks.corpora import available, load_prototype
from benchmarks.import_time import cpu_seconds
from benchmarks.report import Report, cpu_name, write_page
from benchmarks.space import measure_memory, measure_scale, measure_tiles
from benchmarks.speed import measure_algebra, measure_partial_tree, measure_subset_tree


def main() -> None:
    if not available():
        sys.exit("The benchmarks read real corpora: set ESPALIER_DATA to the folder that holds them.")
    prototype = load_prototype()
    report = Report()
    report.say("# The engine: speed and memory\n")
    report.say(
        "Made by `make bench`. Seconds are the best of several alternating runs, on one thread unless said otherwise."
    )
    report.say(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {cpu_name()}.")
    report.aim(
        "Matrices and gradients several times as fast as the prototype, in little memory, on every core.",
        "Seconds, bytes, and speed-ups by threads, on real trees.",
        "The numba prototype of the same algorithm, one thread with two, tiled with whole.",
    )
    if prototype is None:
        report.say("\nThe numba prototype was not found (`ESPALIER_PROTOTYPE`, numba): its columns are empty.")
    interning, matrix, pull_back, threads = measure_subset_tree(prototype)
    peer = "the numba prototype of the same algorithm"
    report.table(
        "Interning from text",
        ["corpus", "seconds", "prototype", "ratio"],
        interning,
        f"Beside {peer}, whose interning is plain Python. Goal: 20 times.",
    )
    report.table(
        "The `SubsetTree` matrix",
        [
            "corpus",
            "planned",
            "one shot",
            "prototype",
            "planned ratio",
            "one-shot ratio",
            "ns per matching pair of nodes",
        ],
        matrix,
        f"*Planned*: `plan.matrix(kernel)` at new hyperparameters. *One shot*: `kernel(forest)`, which plans first. "
        f"Beside {peer}, prepared. Values agree to 1e-10, checked in this run. Goal: 4.5 times, 2-3 ns.",
    )
    report.table(
        "Pulling back every per-label decay and frontier",
        ["corpus", "seconds", "gradients", "prototype", "ratio"],
        pull_back,
        "Goal: 3 times.",
    )
    partial, partial_threads = measure_partial_tree()
    report.table(
        "The `PartialTree` matrix and its pull-back",
        ["corpus", "matrix", "to the prototype's `SubsetTree`", "pull-back, per label", "to its matrix"],
        partial,
        "Goal, on the first: at most 3 times the prototype's subset-tree time; a pull-back at most twice the matrix.",
    )
    report.table(
        "Two threads",
        ["corpus", "kernel", "matrix", "pull-back"],
        threads + partial_threads,
        "Speed-up over one thread; results are equal to the last bit (tested). Goal: 1.6 and 1.4.",
    )
    report.table(
        "Algebra",
        ["kernel", "matrix", "to the first", "pull-back", "to the first"],
        measure_algebra(),
        "All of TREC, one thread.",
    )
    report.table(
        "Memory",
        ["corpus", "job", "Delta", "returned", "peak", "(peak - returned) / Delta"],
        measure_memory(),
        "Peak resident memory above what the process held before, in a fresh process; Delta is 8 bytes for each pair. "
        "The cotangent of a pull-back was there before. Goal: at most 1.3 for a matrix, 2.3 for a vjp.",
    )
    report.table(
        "A tenth of the memory",
        ["corpus", "Delta", "budget", "seconds", "in tiles", "ratio", "largest relative difference"],
        measure_tiles(),
        "Goal: at most 3 times the time, the same matrix to 1e-12.",
    )
    report.table(
        "Scale",
        [
            "kernel",
            "trees",
            "distinct subtrees",
            "interning, s",
            "pairs",
            "matrix, s",
            "µs per value",
            "peak",
        ],
        measure_scale(),
        "The cross matrix of WSJ, GUM, EWT and QuestionBank together (37,715 trees, shuffled) with 500 of them. "
        "Planning is included; *distinct subtrees* counts those of all treebanks, which every row shares.",
    )
    cpu_seconds("import espalier", runs=1)
    bare, whole = cpu_seconds("pass"), cpu_seconds("import espalier")
    report.table(
        "Import",
        ["", "CPU seconds"],
        [["python alone", f"{bare:.3f}"], ["import espalier", f"{whole:.3f}"]],
        "A fresh process, best of several. Goal: under 0.3 s.",
    )
    write_page(report)


if __name__ == "__main__":
    main()
