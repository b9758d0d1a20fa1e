"""Default threads against one thread, alone and beside a busy process: written to ``docs/results/threads.md``.

The README's examples, and small fits of the other learners. Each runs in fresh processes, with default settings and
with one thread in turns, so that both meet the same machine. Run it on an idle machine: what else runs is taken for a
busy process. ``python -m benchmarks.threads --runs 3`` is quicker.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.corpora import ROOT
from benchmarks.report import Report, cpu_name, write_page

PAGE = ROOT / "docs" / "results" / "threads.md"
GOAL = 1.1
ENOUGH = 0.5  # seconds: shorter examples are repeated for as long
VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
QUESTIONS = [
    "(SBARQ (WHNP (WP Who)) (SQ (VBZ runs) (NP (DT the) (NN bank))))",
    "(SBARQ (WHNP (WP Who)) (SQ (VBZ owns) (NP (DT the) (NN river))))",
    "(SBARQ (WHADVP (WRB Where)) (SQ (VBZ is) (NP (DT the) (NN bank))))",
]

Example = Callable[[int | None], Callable[[], object]]  # of a number of threads: what is timed


def three_questions(n_threads: int | None) -> Callable[[], object]:
    import espalier as es

    kernel = es.Normalized(es.SubsetTree(decay=0.4))
    return lambda: kernel(QUESTIONS, n_threads=n_threads)


def neighbours(n_threads: int | None) -> Callable[[], object]:
    import espalier as es

    kernel = es.Normalized(es.SubsetTree(decay=0.4))
    return lambda: es.nearest(kernel, QUESTIONS, QUESTIONS[:1], k=1, n_threads=n_threads)


def gradient(n_threads: int | None) -> Callable[[], object]:
    import espalier as es

    def run() -> object:
        matrix, pull_back = es.SubsetTree(decay=es.PerLabel(0.4)).vjp(QUESTIONS, n_threads=n_threads)
        return pull_back(matrix)

    return run


def _regressor(n_threads: int | None) -> tuple[Any, Any]:
    import espalier as es
    from espalier.demo import generate_translations

    table = generate_translations(300, seed=2)
    source = es.Normalized(es.SubsetTree(decay=es.PerLabel(0.3), on="source"))
    target = es.Normalized(es.SubsetTree(on="target"))
    kernel = 1.0 * source + 1.0 * target + 1.0 * es.RBF(on="features")
    return es.GPRegressor(kernel, target_transform="log", n_threads=n_threads), table


def process(n_threads: int | None) -> Callable[[], object]:
    model, table = _regressor(n_threads)
    return lambda: model.fit(table[:200], table["seconds"][:200])


def prediction(n_threads: int | None) -> Callable[[], object]:
    model, table = _regressor(n_threads)
    model.set_params(max_iterations=5).fit(table[:200], table["seconds"][:200])
    return lambda: model.predict(table[200:201], quantiles=[0.05, 0.95])


def matrix_of_questions(n_threads: int | None) -> Callable[[], object]:
    import espalier as es
    from espalier.demo import generate

    forest = es.Forest.from_trees(generate(1000, seed=1)["tree"])
    return lambda: es.PartialTree()(forest, n_threads=n_threads)


def machine(n_threads: int | None) -> Callable[[], object]:
    import espalier as es
    from espalier.demo import generate

    table = generate(400, seed=1)
    model = es.KernelSVC(es.Normalized(es.SubsetTree()), probability=True, n_threads=n_threads)
    return lambda: model.fit(table["tree"], table["label"]).predict_proba(table["tree"])


def vectors(n_threads: int | None) -> Callable[[], object]:
    import numpy as np

    import espalier as es

    rows = np.random.default_rng(0).standard_normal((300, 20))
    model = es.GPRegressor(1.0 * es.RBF(es.PerDimension(3.0)), mean="linear", max_iterations=20, n_threads=n_threads)
    return lambda: model.fit(rows, np.sin(rows).sum(axis=1))


def preference(n_threads: int | None) -> Callable[[], object]:
    import espalier as es
    from espalier.demo import generate_translations

    trees = generate_translations(150, seed=1)["source"]
    groups = [es.Group([tree, es.Tree("X", [tree])], gold=tree) for tree in trees]
    kernel = 1.0 * es.Normalized(es.PartialTree())
    model = es.GPPreference(kernel, max_iterations=10, random_state=0, n_threads=n_threads)
    return lambda: model.fit(groups).predict_proba(groups[:20])


def linear(n_threads: int | None) -> Callable[[], object]:
    import espalier as es
    from espalier.demo import generate

    table = generate(100, seed=1)
    model = es.LinearizedTreeClassifier(es.SubsetTree(), n_threads=n_threads)
    return lambda: model.fit(table["tree"], table["label"]).predict(table["tree"])


EXAMPLES: dict[str, tuple[str, Example]] = {
    "questions": ("README: the matrix of three questions", three_questions),
    "nearest": ("README: the nearest question", neighbours),
    "gradient": ("README: gradients by label", gradient),
    "process": ("README: `GPRegressor` on 200 rows", process),
    "prediction": ("README: one prediction with its interval", prediction),
    "matrix": ("partial trees of 1,000 demo questions", matrix_of_questions),
    "machine": ("`KernelSVC` on 400 demo questions", machine),
    "vectors": ("`GPRegressor` on 300 vectors", vectors),
    "preference": ("`GPPreference` on 300 candidates", preference),
    "linear": ("`LinearizedTreeClassifier` on 100 questions", linear),
}


def measured(name: str, n_threads: int | None) -> dict[str, float]:
    """Seconds of wall clock and of all cores for one call, after one that is not counted."""
    warnings.simplefilter("ignore")
    call = EXAMPLES[name][1](n_threads)
    call()
    times, began, cpu = [], time.perf_counter(), time.process_time()
    while not times or time.perf_counter() - began < ENOUGH:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return {"wall": statistics.median(times), "cpu": (time.process_time() - cpu) / len(times)}


def in_fresh_process(name: str, *, one: bool) -> dict[str, float]:
    """What one example takes, with one thread or with default settings."""
    environment = {key: value for key, value in os.environ.items() if key not in VARIABLES}
    if one:
        environment |= dict.fromkeys(VARIABLES, "1")
    program = [sys.executable, "-m", "benchmarks.threads", "--example", name, *(["--one"] if one else [])]
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextlib.contextmanager
def busy_process() -> Iterator[None]:
    """One process that needs a whole core."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process_beside:
        try:
            yield
        finally:
            process_beside.kill()


def row(name: str, runs: int) -> tuple[list[str], float]:
    """One line of the table, and its ratio of wall clocks."""
    found: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for run in range(runs):
        for one in (run % 2 == 0, run % 2 == 1):
            found[one].append(in_fresh_process(name, one=one))
    wall, cpu = (
        {one: statistics.median(part[clock] for part in parts) for one, parts in found.items()}
        for clock in ("wall", "cpu")
    )
    ratio = wall[False] / wall[True]
    cells = [f"{1e3 * wall[True]:,.2f}", f"{1e3 * wall[False]:,.2f}", f"{ratio:.2f}", f"{cpu[False] / cpu[True]:.2f}"]
    return [EXAMPLES[name][0], *cells, "yes" if ratio <= GOAL else "**no**"], ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--example", choices=list(EXAMPLES), help="measure one example in this process")
    parser.add_argument("--one", action="store_true", help="with one thread")
    parser.add_argument("--runs", type=int, default=5, help="processes for each example and setting")
    options = parser.parse_args()
    if options.example:
        print(json.dumps(measured(options.example, 1 if options.one else None)))
        return
    report = Report()
    report.say("# Threads: default settings against one thread\n")
    report.say(
        "Made by `python -m benchmarks.threads`, a part of `make bench`.\n\n"
        f"**Goal.** Default settings take at most {GOAL} times as long as one thread, alone and beside a process that "
        "needs a whole core.\n\n"
        "**Measured.** The README's examples and small fits of the other learners, each in fresh processes; medians of "
        f"{options.runs} processes. The last ratio is the work of all cores: threads that spin would raise it.\n\n"
        "**Compared.** Default settings with one thread (`n_threads=1`, and one thread for each BLAS), in turns."
    )
    report.say(f"\nPython {platform.python_version()}, {os.cpu_count()} cores, {cpu_name()}.")
    header = ["example", "one thread, ms", "default, ms", "ratio", "ratio of CPU time", f"at most {GOAL}"]
    worst = 0.0
    for title, beside in (("Alone", contextlib.nullcontext), ("Beside a busy process", busy_process)):
        with beside():
            rows, ratios = zip(*(row(name, options.runs) for name in EXAMPLES), strict=True)
        report.table(title, header, list(rows))
        worst = max(worst, *ratios)
    report.say(f"\nThe largest ratio of all is {worst:.2f}.")
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
