"""Peak memory of one matrix or one pull-back, measured in this process: run by ``benchmarks.engine``.

python -m benchmarks.memory trec 1000 SubsetTree matrix
python -m benchmarks.memory treebanks 37715 SubsetTree cross
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

import espalier as es
from benchmarks.corpora import DATA, QE, TREC, TREEBANKS, read_lines
from benchmarks.timing import reset_peak, resident


def load(corpus: str, n: int) -> es.Forest:
    if corpus == "treebanks":
        vocabulary = es.corpus.Vocabulary()
        parts = [es.Forest.from_file(DATA / name, vocabulary=vocabulary) for name in TREEBANKS]
        forest = es.corpus.concatenate(parts)
        order = np.random.default_rng(0).permutation(len(forest))
        return forest[order[:n]]
    return es.Forest.from_brackets(read_lines(TREC if corpus == "trec" else QE, n))


def main() -> None:
    corpus, n, name, job = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    kernel = getattr(es, name)()
    start = time.perf_counter()
    forest = load(corpus, n)
    interning = time.perf_counter() - start
    cotangent = np.full((len(forest), len(forest)), 1e-6) if job == "vjp" else None
    kernel(forest[:20])  # whatever is loaded at first use
    before = resident()
    reset_peak()
    start = time.perf_counter()
    other = forest[np.random.default_rng(1).permutation(len(forest))[:500]] if job == "cross" else None
    plan = kernel.plan(forest, other, n_threads=1)
    if job == "vjp":
        values, pullback = plan.vjp(kernel)
        pullback(cotangent)
    else:
        values = plan.matrix(kernel)
    seconds = time.perf_counter() - start
    n_pairs = plan._all.native.n_pairs
    print(
        json.dumps(
            {
                "seconds": seconds,
                "interning": interning,
                "trees": len(forest),
                "subtrees": forest.n_subtrees,
                "pairs": n_pairs,
                "delta": 8 * n_pairs,
                "returned": values.nbytes,
                "before": before,
                "peak": resident(peak=True) - before,
            }
        )
    )


if __name__ == "__main__":
    main()
