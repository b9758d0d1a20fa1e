"""Seconds of interning, of matrices and of pull-backs, beside the prototype in the same run."""

from __future__ import annotations

from typing import Any

import numpy as np

import espalier as es
from benchmarks.corpora import CORPORA, QE, TREC, read_lines
from benchmarks.timing import best


class Alternating:
    """A kernel whose decay differs a little from call to call, so that no plan can reuse what it computed."""

    def __init__(self, kernel: Any) -> None:
        self._kernels = [kernel, kernel.with_parameters({"decay": kernel.parameters()["decay"] * (1 + 1e-9)})]

    def __call__(self) -> Any:
        self._kernels.reverse()
        return self._kernels[0]


def measure_subset_tree(
    prototype: Any,
) -> tuple[list[list[str]], list[list[str]], list[list[str]], list[list[str]]]:
    interning, matrix, pull_back, threads = [], [], [], []
    for name, file, n in CORPORA:
        lines = read_lines(file, n)
        forest = es.Forest.from_brackets(lines)
        size = len(forest)
        kernel = es.SubsetTree()
        fresh = {t: Alternating(kernel) for t in (1, 2)}
        plans = {t: kernel.plan(forest, n_threads=t) for t in (1, 2)}
        cotangent = np.full((size, size), 1e-6)
        aware = plans[1].bind(es.SubsetTree(decay=es.PerLabel(0.4), frontier=es.PerLabel(1.0)))
        pullbacks = {t: plans[t].vjp(aware)[1] for t in (1, 2)}
        ours = [
            lambda lines=lines: es.Forest.from_brackets(lines),
            lambda: plans[1].matrix(fresh[1]()),
            lambda forest=forest: kernel(forest, n_threads=1),
        ]
        theirs: list[Any] = []
        if prototype is not None:
            other = prototype.intern(lines)
            decay, frontier = np.full(other.n_symbols, 0.4), np.ones(other.n_symbols)
            delta, values = prototype.subset_tree(other, decay, frontier)
            check_equal(values, kernel(forest))
            prototype.pull_back(other, decay, frontier, delta, cotangent)
            theirs = [
                lambda lines=lines: prototype.intern(lines),
                lambda: prototype.subset_tree(other, decay, frontier),
            ]
        intern_s, one, shot, *peer = best(*ours, *theirs)
        runs = 25 if n else 7
        alone, two = best(lambda: plans[1].matrix(fresh[1]()), lambda: plans[2].matrix(fresh[2]()), runs=runs)
        for t in (1, 2):  # Delta is there when a pull-back starts, as after the matrix of a vjp
            plans[t].matrix(aware)
        backward = [lambda: pullbacks[1](cotangent), lambda: pullbacks[2](cotangent)]
        if prototype is not None:
            backward.append(lambda: prototype.pull_back(other, decay, frontier, delta, cotangent))
        back_one, _, *peer_back = best(*backward)
        back_alone, back_two = best(*backward[:2], runs=runs)
        peer = [*peer, *peer_back] or [float("nan")] * 3
        pairs = matching_pairs(forest)
        interning.append([name, f"{intern_s:.4f}", f"{peer[0]:.3f}", f"{peer[0] / intern_s:.1f}"])
        matrix.append(
            [
                name,
                f"{one:.4f}",
                f"{shot:.4f}",
                f"{peer[1]:.3f}",
                f"{peer[1] / one:.1f}",
                f"{peer[1] / shot:.1f}",
                f"{1e9 * one / pairs:.2f}",
            ]
        )
        pull_back.append(
            [
                name,
                f"{back_one:.4f}",
                str(len(aware.parameters())),
                f"{peer[2]:.3f}",
                f"{peer[2] / back_one:.1f}",
            ]
        )
        threads.append([name, "SubsetTree", f"{alone / two:.2f}", f"{back_alone / back_two:.2f}"])
        if n == 1000:
            PROTOTYPE_MATRIX["trec"] = peer[1]
    return interning, matrix, pull_back, threads


PROTOTYPE_MATRIX: dict[str, float] = {}


def check_equal(a: Any, b: Any) -> None:
    """Speed counts only where the values agree."""
    np.testing.assert_allclose(a, b, rtol=1e-10)


def matching_pairs(forest: es.Forest) -> float:
    """Pairs of nodes of two trees with equal productions, over all pairs s <= t of trees."""
    arrays = forest.arrays
    nodes = {}
    for u in range(forest.n_subtrees):
        children = arrays["child"][arrays["child_start"][u] : arrays["child_start"][u + 1]]
        if len(children):
            key = (
                int(arrays["label"][u]),
                tuple((int(arrays["label"][c]), int(arrays["height"][c] == 0)) for c in children),
            )
            nodes[u] = key
    totals: dict[Any, int] = {}
    for u, count in zip(arrays["tree_subtree"].tolist(), arrays["tree_count"].tolist(), strict=True):
        if u in nodes:
            totals[nodes[u]] = totals.get(nodes[u], 0) + count
    return sum(total * (total + 1) / 2 for total in totals.values())


def measure_partial_tree() -> tuple[list[list[str]], list[list[str]]]:
    rows, threads = [], []
    for name, file, n in [CORPORA[0], ("QE fr-en target, first 1,000", QE, 1000)]:
        forest = es.Forest.from_brackets(read_lines(file, n))
        kernel = es.PartialTree()
        fresh = {t: Alternating(kernel) for t in (1, 2)}
        plans = {t: kernel.plan(forest, n_threads=t) for t in (1, 2)}
        aware = plans[1].bind(es.PartialTree(decay=es.PerLabel(0.4), depth_decay=es.PerLabel(0.4)))
        pullbacks = {t: plans[t].vjp(aware)[1] for t in (1, 2)}
        cotangent = np.full((len(forest), len(forest)), 1e-6)
        one, two = best(lambda: plans[1].matrix(fresh[1]()), lambda: plans[2].matrix(fresh[2]()))
        for t in (1, 2):
            plans[t].matrix(aware)
        back_one, back_two = best(lambda: pullbacks[1](cotangent), lambda: pullbacks[2](cotangent))
        against = PROTOTYPE_MATRIX.get("trec", float("nan")) if file == TREC else float("nan")
        rows.append(
            [
                name,
                f"{one:.4f}",
                f"{one / against:.2f}" if against == against else "not run",
                f"{back_one:.4f}",
                f"{back_one / one:.2f}",
            ]
        )
        threads.append([name, "PartialTree", f"{one / two:.2f}", f"{back_one / back_two:.2f}"])
    return rows, threads


def measure_algebra() -> list[list[str]]:
    forest = es.Forest.from_brackets(read_lines(TREC))
    cotangent = np.full((len(forest), len(forest)), 1e-6)
    rows = []
    base = None
    for kernel in (
        es.SubsetTree(),
        es.Normalized(es.SubsetTree()),
        1.0 * es.Normalized(es.SubsetTree()),
        es.SubsetTree() + es.Subtree(),
        es.SubsetTree() * es.Subtree(),
    ):
        plan = kernel.plan(forest, n_threads=1)
        path = next(path for path in kernel.parameters() if path.endswith("decay"))
        kernels = [kernel, kernel.with_parameters({path: 0.4 * (1 + 1e-9)})]

        def run(plan: Any = plan, kernels: list[Any] = kernels) -> None:
            kernels.reverse()
            plan.matrix(kernels[0])

        pullback = plan.vjp(kernel)[1]
        pullback(cotangent)
        seconds, back = best(run, lambda pullback=pullback: pullback(cotangent), runs=3)
        base = base or (seconds, back)
        rows.append(
            [
                f"`{kernel!r}`",
                f"{seconds:.3f}",
                f"{seconds / base[0]:.2f}",
                f"{back:.3f}",
                f"{back / base[1]:.2f}",
            ]
        )
    return rows
