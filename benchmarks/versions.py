"""Two versions of Espalier side by side: written to ``docs/results/versions.md``.

``python -m benchmarks.versions OTHER_PYTHON`` runs each task in fresh processes of this interpreter and of another one
that has the other version, in turns, so that both meet the same machine. Tasks use names that both versions have.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "versions.md"
ENOUGH = 1.0  # seconds: shorter tasks are repeated for as long
N_TREES, N_SMALL = 2000, 500


def questions(n: int) -> tuple[list[str], list[str]]:
    """Trees and labels: TREC's questions where the data is found, else the demo's."""
    import gzip

    file = Path(os.environ.get("ESPALIER_DATA", ROOT.parent / "shared" / "data")) / "trec" / "constituency_train.tsv.gz"
    if not file.exists():
        from espalier.demo import generate

        table = generate(n, seed=1)
        return [tree.to_brackets() for tree in table["tree"]], list(table["label"])
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line, _ in zip(lines, range(n), strict=False)]
    return [row[2] for row in rows], [row[0].split(":")[0] for row in rows]


def matrix(kernel: str, n: int) -> Callable[[], object]:
    import espalier as es

    forest = es.Forest.from_trees(questions(n)[0])
    made = getattr(es, kernel)(0.4)
    return lambda: made(forest, n_threads=1)


def gradient() -> Callable[[], object]:
    import espalier as es

    forest = es.Forest.from_trees(questions(N_TREES)[0])
    kernel = es.Normalized(es.SubsetTree(es.PerLabel(0.4)))
    plan = kernel.plan(forest, n_threads=1)

    def run() -> object:
        values, pull_back = plan.vjp(kernel)
        return pull_back(values)

    return run


def subsequences() -> Callable[[], object]:
    import espalier as es

    texts = [" ".join(es.Tree.from_brackets(tree).words()) for tree in questions(N_SMALL)[0]]
    kernel = es.Normalized(es.Subsequence(3, gap_decay=0.5))
    return lambda: kernel(texts, n_threads=1)


def machine() -> Callable[[], object]:
    import espalier as es

    trees, labels = questions(N_TREES)
    forest = es.Forest.from_trees(trees)
    return lambda: es.KernelSVC(es.Normalized(es.SubsetTree()), C=10.0, n_threads=1).fit(forest, labels)


def process(n: int = N_SMALL) -> Callable[[], object]:
    import espalier as es

    forest = es.Forest.from_trees(questions(n)[0])
    sizes = [float(tree.size) for tree in forest]
    kernel = 1.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.3)))
    return lambda: es.GPRegressor(kernel, max_iterations=10, n_threads=1).fit(forest, sizes)


def mining() -> Callable[[], object]:
    import espalier as es

    trees, labels = questions(N_TREES)
    model = es.KernelSVC(es.Normalized(es.SubsetTree(0.4)), C=10.0).fit(trees, labels)
    return lambda: es.mine_fragments(model, n=1000, n_threads=1)


def parsing() -> Callable[[], object]:
    import espalier as es
    from espalier.parsing import PCFG

    trees = [es.Tree.from_brackets(tree) for tree in questions(N_TREES)[0]]
    grammar = PCFG.from_treebank(trees)
    words = [tree.words() for tree in trees[:100]]
    return lambda: grammar.parse_all(words, 10, n_threads=1)


TASKS: dict[str, Callable[[], Callable[[], object]]] = {
    "matrix of 2,000 questions, `SubsetTree`": lambda: matrix("SubsetTree", N_TREES),
    "matrix of 2,000 questions, `PartialTree`": lambda: matrix("PartialTree", N_TREES),
    "matrix and gradients, `Normalized`, one decay per label": gradient,
    "matrix of 500 texts, `Subsequence`": subsequences,
    "`KernelSVC` on 2,000 questions": machine,
    "`GPRegressor` on 500 questions, ten steps": process,
    "the 1,000 heaviest fragments of a machine": mining,
    "ten parses of each of 100 questions": parsing,
}


def measure(task: str) -> None:
    """Print the CPU seconds of one task and the peak memory of the process, in MiB."""
    warnings.simplefilter("ignore")  # ten steps are too few to converge
    run = TASKS[task]()
    seconds, began, kept = [], time.perf_counter(), None
    while not seconds or time.perf_counter() - began < ENOUGH:
        kept = None
        start = time.process_time()
        kept = run()
        seconds.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    del kept
    print(json.dumps({"seconds": min(seconds), "peak": peak / 2**20}))


def fitted_memory() -> None:
    """Print what a fitted process holds beyond its libraries and its corpus, in MiB."""
    process(20)()  # loads the libraries
    make = process(N_TREES)
    page = os.sysconf("SC_PAGE_SIZE")

    def resident() -> float:
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * page / 2**20

    before = resident()
    model = make()
    print(json.dumps({"held": resident() - before}))
    del model


def _run(python: str, *arguments: str) -> dict[str, float]:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    if python == sys.executable and "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    command = [python, str(Path(__file__).resolve()), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd="/")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", help="a Python that has the other version")
    parser.add_argument("--name", default="the other version")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    from benchmarks.report import Report, cpu_name, write_page

    pythons = {"this": sys.executable, "other": arguments.other}
    report = Report()
    report.say("# This version against another\n\nMade by `python -m benchmarks.versions OTHER_PYTHON`.")
    report.aim(
        "A redesign changes neither speed nor memory by more than noise.",
        f"CPU time of each task with one thread, the best of a fresh process; medians of {arguments.runs} processes, "
        "both versions in turns. Peak memory is that of the whole process.",
        f"This version with {arguments.name}.",
    )
    report.say(f"\nPython {platform.python_version()}, {os.cpu_count()} cores, {cpu_name()}.")
    rows = []
    for task in TASKS:
        found = [{name: _run(python, task) for name, python in pythons.items()} for _ in range(arguments.runs)]
        ratios = sorted(own["this"]["seconds"] / own["other"]["seconds"] for own in found)

        def middle(name: str, key: str, found: list[dict[str, dict[str, float]]] = found) -> float:
            return statistics.median(own[name][key] for own in found)

        rows.append(
            [
                task,
                f"{middle('other', 'seconds'):.3f}",
                f"{middle('this', 'seconds'):.3f}",
                f"{statistics.median(ratios):.2f}",
                f"{ratios[0]:.2f} to {ratios[-1]:.2f}",
                f"{middle('other', 'peak'):.0f}",
                f"{middle('this', 'peak'):.0f}",
            ]
        )
    header = ["task", "other, s", "this, s", "ratio", "least to largest", "other, peak MiB", "this, peak MiB"]
    report.table("Time and memory", header, rows)
    held = {name: _run(python, "--fitted")["held"] for name, python in pythons.items()}
    report.say(
        f"\nA `GPRegressor` that is fitted to {N_TREES:,} questions holds {held['this']:.0f} MiB beyond its corpus; in "
        f"{arguments.name} it held {held['other']:.0f} MiB. One matrix has {8 * N_TREES**2 / 2**20:.0f} MiB."
    )
    write_page(report, PAGE)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] == "--fitted":
        fitted_memory()
    elif len(sys.argv) == 2 and sys.argv[1] in TASKS:
        measure(sys.argv[1])
    else:
        main()
