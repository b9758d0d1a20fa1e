"""Speed of sequence kernels on real questions: ``make bench``, written to ``docs/results/sequences.md``.

Ratios are of runs that alternate in one process; the peer is the same kernel written with numpy, pair by pair.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import espalier as es
from benchmarks.corpora import DATA, ROOT, available
from benchmarks.report import Report, cpu_name, write_page
from benchmarks.timing import best
from espalier.corpus.arcs import TEMPLATES
from espalier.reproduce.data import questions
from espalier.structures import read_conllu

PAGE = ROOT / "docs" / "results" / "sequences.md"
LENGTH = 4
N_PAIRS = 300  # that the peer computes


def numpy_value(s: NDArray[Any], t: NDArray[Any], gap: float, match: float) -> float:
    """All orders of one pair, each as products of matrices."""
    matches = match**2 * (s[:, None] == t[None, :])
    gaps = [
        np.triu(gap ** np.maximum(np.arange(n)[None, :] - np.arange(n)[:, None] - 1, 0), 1) for n in (len(s), len(t))
    ]
    ending, total = matches, matches.sum()
    for _ in range(LENGTH - 1):
        ending = matches * (gaps[0].T @ ending @ gaps[1])
        total += ending.sum()
    return float(total)


def peer_microseconds(corpus: es.Sequences, kernel: es.Subsequence) -> float:
    """What numpy takes for a pair; the values are compared."""
    symbol, start = corpus.arrays
    rows = np.random.default_rng(0).integers(len(corpus), size=(N_PAIRS, 2))
    items = [symbol[start[k] : start[k + 1]] for k in range(len(corpus))]
    gap, match = es.number_of(kernel.gap_decay), es.number_of(kernel.match_decay)
    begin = time.perf_counter()
    values = [numpy_value(items[i], items[j], gap, match) for i, j in rows.tolist()]
    seconds = time.perf_counter() - begin
    np.testing.assert_allclose(values, kernel(corpus, n_threads=1)[rows[:, 0], rows[:, 1]], rtol=1e-10)
    return 1e6 * seconds / N_PAIRS


def subsequence_row(name: str, corpus: es.Sequences, kernel: es.Subsequence, asked: str) -> list[str]:
    """The row of a kernel, and between its cells those of its peer."""
    peer = peer_microseconds(corpus, kernel)
    label, values, both, gradients, _, *threads = row(name, corpus, kernel)
    return [label, values, both, gradients, f"{peer:.0f}", f"{peer / float(both):.0f}", asked, *threads]


def row(name: str, corpus: Any, kernel: es.Kernel) -> list[str]:
    """Microseconds a pair for values and for values and gradients, and what two threads gain."""
    n = len(corpus)
    n_pairs = n * (n + 1) // 2
    cotangent = np.ones((n, n))
    plans = [kernel.plan(corpus, n_threads=threads) for threads in (1, 2)]
    bound = plans[0].bind(kernel)
    work: list[Any] = []
    for plan in plans:
        work += [lambda plan=plan: plan.matrix(bound), lambda plan=plan: plan.vjp(bound)[1](cotangent)]
    one, one_all, two, two_all = best(*work, runs=3)
    cells = [f"{1e6 * one / n_pairs:.3g}", f"{1e6 * one_all / n_pairs:.3g}", f"{len(bound.parameters()):,}"]
    return [name, *cells, f"{one:.2f}", f"{one / two:.2f}", f"{one_all / two_all:.2f}"]


def main() -> None:
    if not available():
        sys.exit("The benchmarks read real corpora: set ESPALIER_DATA to the folder that holds them.")
    texts = list(questions(DATA)["question"])
    words = es.Sequences.from_items(texts[:1000])
    characters = es.Sequences.from_items(texts[:300], "characters")
    report = Report()
    report.say("# Sequences: speed\n")
    report.say("Made by `python -m benchmarks.sequences`, a part of `make bench`. Questions of TREC.")
    report.say(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {cpu_name()}.")
    report.table(
        f"`Subsequence({LENGTH})`, microseconds for a pair",
        [
            "corpus",
            "values",
            "values and all gradients",
            "gradients",
            "numpy, values",
            "ratio",
            "asked",
            "two threads, values",
            "two threads, gradients",
        ],
        [
            subsequence_row("1,000 questions as words", words, es.Subsequence(LENGTH), "100"),
            subsequence_row(
                "the same, a decay for each word",
                words,
                es.Subsequence(LENGTH, es.PerLabel(0.5), es.PerLabel(0.5)),
                "-",
            ),
            subsequence_row("300 questions as characters", characters, es.Subsequence(LENGTH, of="characters"), "-"),
        ],
        "One thread where nothing else is said. The ratio is of numpy's values to our values and gradients together. "
        "Two threads: speed-up over one; results are equal to the last bit (tested). Asked: 1.6.",
    )
    sentences = read_conllu(DATA / "ewt_ud" / "en_ewt-ud-train.conllu.gz")[:1000]
    report.table(
        "Tags and arcs, microseconds for a pair",
        [
            "1,000 sentences of the English Web Treebank",
            "values",
            "values and all gradients",
            "gradients",
            "matrix, seconds",
            "two threads, values",
            "two threads, gradients",
        ],
        [
            row(
                "`Tagging`, a decay and a word weight for each tag",
                sentences,
                es.Tagging(es.PerLabel(0.5), es.PerLabel(1.0)),
            ),
            row("`DependencySubtree`, four templates", sentences, es.DependencySubtree(weight=es.PerLabel(1.0))),
            row(
                "`DependencySubtree`, seven templates",
                sentences,
                es.DependencySubtree(tuple(TEMPLATES), weight=es.PerLabel(1.0)),
            ),
        ],
        "One thread where nothing else is said.",
    )
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
