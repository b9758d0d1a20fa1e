"""Pairs of sequences that do not fit the memory are refused before anything is allocated."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.errors import MemoryBudgetError
from espalier.jobs.schedule import Schedule
from espalier.jobs.tiles import Items
from espalier.kernels import SimilarityTable
from espalier.kernels.sequence_memory import ALL, DIAGONAL, SYMMETRIC, Grids, Shared, threads_within

SEQUENCES = Items("sequence")
HUGE = np.array([10**7, 3, 10**7])


def sides(texts, others):
    a = es.Sequences.from_items(texts)
    return a, es.Sequences.from_items(others, vocabulary=a.vocabulary)


def threads(kernel, a, b, pairs, schedule, *, pulling_back):
    return threads_within(schedule, kernel._grids((a,), (b,), pulling_back=pulling_back), pairs, SEQUENCES)


def test_cells_are_those_of_counting():
    rng = np.random.default_rng(0)
    texts, others = ([" ".join(rng.choice(list("abcdef"), size=rng.integers(0, 8))) for _ in range(n)] for n in (9, 7))
    shared = Shared(*(side.arrays for side in sides(texts, others)))
    for i, s in enumerate(map(str.split, texts)):
        grid, equal = shared.grid(i), shared.equal(i)
        for j, t in enumerate(map(str.split, others)):
            assert grid[j] == (sum(x in t for x in s) + 1) * (sum(y in s for y in t) + 1)
            assert equal[j] == sum(x == y for x in s for y in t)


def test_what_fits_keeps_its_threads():
    a, b = sides(["a b c", "a"], ["b", "c c"])
    schedule = Schedule(4, 10_000)
    assert threads(es.Subsequence(3), a, b, ALL, schedule, pulling_back=True) == 4
    assert threads(es.Tagging(), a, b, ALL, schedule, pulling_back=True) == 4
    for pairs, none in ((SYMMETRIC, sides([], [])), (ALL, sides(["a"], [])), (ALL, sides([], ["a"]))):
        assert threads(es.Subsequence(3), *none, pairs, Schedule(2, 1), pulling_back=False) == 2


def test_threads_share_the_budget():
    grids = Grids((np.array([99, 9]), np.array([99])), 8)
    assert threads_within(Schedule(4, 400_000), grids, ALL, SEQUENCES) == 4
    assert threads_within(Schedule(4, 250_000), grids, ALL, SEQUENCES) == 3
    assert threads_within(Schedule(4, 80_000), grids, ALL, SEQUENCES) == 1


def test_a_pair_beyond_the_budget_is_named():
    grids = Grids((np.array([5, 99, 9]), np.array([3, 199])), 8)
    message = r"Sequence 1 with sequence 1 alone needs 156.2 KiB of memory, but the budget is 78.1 KiB. "
    with pytest.raises(MemoryBudgetError, match=message + "Pass memory=160000 or more, or cut the sequences"):
        threads_within(Schedule(1, 80_000), grids, ALL, SEQUENCES)
    assert threads_within(Schedule(1, 160_000), grids, ALL, SEQUENCES) == 1


def test_only_pairs_that_are_computed_count():
    with pytest.raises(MemoryBudgetError, match=r"Tree 0 with tree 0 alone needs 727.6 TiB"):
        threads_within(Schedule(2, 10**9), Grids((HUGE, HUGE), 8), DIAGONAL, Items("tree"))
    with pytest.raises(MemoryBudgetError, match="Sequence 0 with sequence 2"):
        threads_within(Schedule(2, 10**9), Grids((HUGE[:2], np.array([5, 3, 10**7])), 8), ALL, SEQUENCES)
    sizes = np.array([10**7, 3])
    assert threads_within(Schedule(2, 10**15), Grids((sizes, sizes), 8), SYMMETRIC, SEQUENCES) == 1
    assert threads_within(Schedule(2, 10**9), Grids((sizes[1:], sizes[1:]), 8), DIAGONAL, SEQUENCES) == 2


def test_what_a_pair_does_not_share_costs_nothing():
    a, b = sides(["a " * 2000, "c " * 2000], ["b " * 2000 + "a", "c " * 2000])
    schedule = Schedule(1, 10**6)
    kernel = es.Subsequence(3)
    with pytest.raises(MemoryBudgetError, match="Sequence 1 with sequence 1"):
        threads(kernel, a, b, ALL, schedule, pulling_back=False)
    assert threads(kernel, a[:1], b[:1], ALL, schedule, pulling_back=False) == 1
    soft = es.Subsequence(3, similarity=SimilarityTable(["a", "b"], np.eye(2)))
    with pytest.raises(MemoryBudgetError, match="Sequence 0 with sequence 0"):
        threads(soft, a[:1], b[:1], ALL, schedule, pulling_back=False)
    assert threads(es.Tagging(), a, b, ALL, schedule, pulling_back=False) == 1
    with pytest.raises(MemoryBudgetError, match="Sequence 1 with sequence 1"):
        threads(es.Tagging(), a, b, ALL, schedule, pulling_back=True)


def test_pulling_back_needs_more():
    a, b = sides(["a " * 99], ["a " * 99])
    needed = 8 * 100 * 100 * (3 + 1)
    assert threads(es.Subsequence(3), a, b, ALL, Schedule(1, needed), pulling_back=False) == 1
    with pytest.raises(MemoryBudgetError, match=f"memory={8 * 100 * 100 * 7}"):
        threads(es.Subsequence(3), a, b, ALL, Schedule(1, needed), pulling_back=True)


def test_kernels_refuse_a_pair_beyond_the_memory():
    texts = ["a b", "a " * 400]
    kernel = es.Subsequence(2, 0.5, 1e-3)
    with pytest.raises(MemoryBudgetError, match=r"Sequence 1 with sequence 1 alone needs 3.7 MiB"):
        kernel(texts, memory="1 MiB")
    values, pull_back = kernel.vjp(texts, memory="5 MiB", n_threads=2)
    np.testing.assert_array_equal(values, kernel(texts))
    with pytest.raises(MemoryBudgetError, match=r"needs 7.4 MiB"):
        pull_back(values)
    assert kernel(["a " * 400, "b " * 400], ["c " * 400], memory="1 MiB").tolist() == [[0.0], [0.0]]
    tagged = [es.TaggedSequence(["w"] * 400, ["N"] * 400)]
    values, pull_back = es.Tagging(0.1).vjp(tagged, memory="1 MiB")
    with pytest.raises(MemoryBudgetError, match=r"Sequence 0 with sequence 0 alone needs 9.8 MiB"):
        pull_back(values)
