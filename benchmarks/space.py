"""Peak memory, the cost of a small budget, and growth with the corpus."""

from __future__ import annotations

import numpy as np

import espalier as es
from benchmarks.corpora import CORPORA, read_lines
from benchmarks.report import megabytes
from benchmarks.timing import best, fresh_process


def measure_memory() -> list[list[str]]:
    rows = []
    for name, corpus, n, kernel in [
        ("TREC, all 5,452", "trec", 5452, "SubsetTree"),
        ("QE fr-en target", "qe", 2497, "SubsetTree"),
        ("QE, first 1,000", "qe", 1000, "PartialTree"),
    ]:
        for job in ("matrix", "vjp"):
            got = fresh_process("benchmarks.memory", corpus, str(n), kernel, job)
            ratio = (got["peak"] - got["returned"]) / got["delta"]
            rows.append(
                [
                    name,
                    f"{kernel} {job}",
                    megabytes(got["delta"]),
                    megabytes(got["returned"]),
                    megabytes(got["peak"]),
                    f"{ratio:.2f}",
                ]
            )
    return rows


def measure_tiles() -> list[list[str]]:
    rows = []
    for name, file, n in CORPORA:
        forest = es.Forest.from_brackets(read_lines(file, n))
        kernel = es.SubsetTree()
        plan = kernel.plan(forest, n_threads=1)
        delta = 8 * plan._all.native.n_pairs
        whole, tiled = best(
            lambda forest=forest, kernel=kernel: kernel(forest, n_threads=1),
            lambda forest=forest, kernel=kernel, delta=delta: kernel(forest, n_threads=1, memory=delta // 10),
            runs=3,
        )
        a, b = kernel(forest), kernel(forest, memory=delta // 10)
        error = float(np.max(np.abs(a - b) / np.maximum(np.abs(a), 1e-300)))
        rows.append(
            [
                name,
                megabytes(delta),
                megabytes(delta // 10),
                f"{whole:.3f}",
                f"{tiled:.3f}",
                f"{tiled / whole:.2f}",
                f"{error:.1e}",
            ]
        )
    return rows


def measure_scale() -> list[list[str]]:
    rows = []
    for kernel in ("SubsetTree", "PartialTree"):
        for n in (1000, 4000, 16000, 37715):
            got = fresh_process("benchmarks.memory", "treebanks", str(n), kernel, "cross")
            rows.append(
                [
                    kernel,
                    f"{got['trees']:,}",
                    f"{got['subtrees']:,}",
                    f"{got['interning']:.2f}",
                    f"{got['pairs']:,}",
                    f"{got['seconds']:.2f}",
                    f"{1e6 * got['seconds'] / (got['trees'] * 500):.2f}",
                    megabytes(got["peak"]),
                ]
            )
    return rows
