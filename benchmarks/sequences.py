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
from espalier.structures import read_conllu
from espalier_experiments.data import question_dependencies, questions

PAGE = ROOT / "docs" / "results" / "sequences.md"
LENGTH = 4
N_PAIRS = 300  # that the peer computes
N_TREES, N_DIMENSIONS = 1_000, 100


def numpy_value(s: NDArray[Any], t: NDArray[Any], gap: float, match: float, table: NDArray[Any] | None = None) -> float:
    """All orders of one pair, each as products of matrices."""
    matches = match**2 * (s[:, None] == t[None, :] if table is None else table[np.ix_(s, t)])
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
    gap, match = es.kernels.number_of(kernel.gap_decay), es.kernels.number_of(kernel.match_decay)
    table = None if kernel.similarity is None else kernel.similarity(list(corpus.vocabulary))
    begin = time.perf_counter()
    values = [numpy_value(items[i], items[j], gap, match, table) for i, j in rows.tolist()]
    seconds = time.perf_counter() - begin
    np.testing.assert_allclose(values, kernel(corpus, n_threads=1)[rows[:, 0], rows[:, 1]], rtol=1e-10)
    return 1e6 * seconds / N_PAIRS


def subsequence_row(name: str, corpus: es.Sequences, kernel: es.Subsequence, goal: str) -> list[str]:
    """The row of a kernel, and between its cells those of its peer."""
    peer = peer_microseconds(corpus, kernel)
    label, values, both, gradients, _, *threads = row(name, corpus, kernel)
    return [label, values, both, gradients, f"{peer:.0f}", f"{peer / float(both):.0f}", goal, *threads]


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


def smoothed_rows() -> list[list[str]]:
    """Partial trees, and the same with words that match softly: seconds, and how many times as long it takes."""
    forest = question_dependencies(DATA)["grct"]
    rng = np.random.default_rng(0)
    trees = forest[np.sort(rng.choice(len(forest), N_TREES, replace=False))]
    words = [forest.vocabulary[k] for k in np.unique(trees.arrays["label"]).tolist()]
    vectors = rng.standard_normal((len(words), N_DIMENSIONS))
    similarity = es.Embedding.from_arrays(words, vectors, clip=False)
    kernels = {
        "`PartialTree`": es.PartialTree(),
        "`SmoothedPartialTree`": es.SmoothedPartialTree(similarity),
        "the same, `mix` learned": es.SmoothedPartialTree(similarity, mix=0.3),
    }
    cotangent = np.ones((N_TREES, N_TREES))
    work: list[Any] = []
    for kernel in kernels.values():
        plan = kernel.plan(trees, n_threads=1)
        plan.matrix(kernel)  # makes the table of similar words, once
        # A plan keeps what it computed last: two kernels in turn, so that each is computed afresh.
        other = kernel.with_parameters({"decay": 0.5})
        work += [
            lambda plan=plan, kernel=other: plan.matrix(kernel),
            lambda plan=plan, kernel=kernel: plan.vjp(kernel)[1](cotangent),
        ]
    seconds = best(*work, runs=5)
    return [
        [
            name,
            f"{seconds[2 * k]:.3f}",
            f"{seconds[2 * k] / seconds[0]:.1f}",
            f"{seconds[2 * k + 1]:.3f}",
            f"{seconds[2 * k + 1] / seconds[1]:.1f}",
            "-" if k == 0 else "5",
        ]
        for k, name in enumerate(kernels)
    ]


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
    report.aim(
        "Kernels over sequences many times as fast as numpy, with gradients at little cost.",
        "Microseconds for a pair, values and gradients, by threads.",
        "The recursion in numpy, bag of words and subset trees, and each figure with its goal.",
    )
    report.table(
        f"`Subsequence({LENGTH})`, microseconds for a pair",
        [
            "corpus",
            "values",
            "values and all gradients",
            "gradients",
            "numpy, values",
            "ratio",
            "goal",
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
            subsequence_row(
                "the same, matched softly by 100 dimensions",
                words,
                es.Subsequence(LENGTH, similarity=es.kernels.LatentSemantic.fit(words, N_DIMENSIONS)),
                "-",
            ),
            subsequence_row("300 questions as characters", characters, es.Subsequence(LENGTH, of="characters"), "-"),
        ],
        "One thread where nothing else is said. The ratio is of numpy's values to our values and gradients together. "
        "Two threads: speed-up over one; results are equal to the last bit (tested). Goal: 1.6.",
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
            row(
                "`Tagging` with gaps",
                sentences,
                es.Tagging(es.PerLabel(0.5), es.PerLabel(1.0), es.PerLabel(0.5)),
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
    report.table(
        "Soft matching, seconds",
        [
            f"{N_TREES:,} dependency trees of TREC (GRCT)",
            "matrix",
            "ratio",
            "values and all gradients",
            "ratio",
            "goal, at most",
        ],
        smoothed_rows(),
        f"One thread. Words have random vectors of {N_DIMENSIONS} dimensions; what is similar changes no time. "
        "The table of similar words is a part of the plan, as pairs of nodes are, and not timed.",
    )
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
