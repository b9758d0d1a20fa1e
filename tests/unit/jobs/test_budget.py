"""Errors of memory: the number that they name suffices, and no matrix is asked for that no process could hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import espalier as es
from espalier.errors import MemoryBudgetError
from espalier.gram import gram, nearest
from espalier.jobs import budget, memory
from espalier.rerank import GPPreference
from espalier.structures.group import Group

TREES = [
    "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog))))",
    "(S (NP (D the) (N dog)) (VP (V saw) (NP (D the) (N cat)) (PP (P in) (NP (D a) (N house)))))",
    "(S (NP (NP (D a) (N cat)) (PP (P in) (NP (D the) (N house)))) (VP (V saw) (NP (NP (D a) (N dog)) (PP (P in)))))",
    "(S (N cat))",
    "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog))))",
]
TEXTS = ["a b c a b", "a b", "c c c b a c b a", "b", "a b a b a b a b a b a b"]
ARCS = [
    es.DependencyTree([f"w{k % 3}" for k in range(n)], ["T"] * n, [0, *range(1, n)], ["root", *["r"] * (n - 1)])
    for n in (2, 9, 4)
]
SIMILAR = es.kernels.SimilarityTable(["a", "b", "c"], 0.5 * np.eye(3) + 0.5)
CASES = [
    (es.SubsetTree(0.4), TREES),
    (es.SubsetTree(0.4, max_depth=3), TREES),
    (es.PartialTree(0.4, 0.4), TREES),
    (es.SubsetTree(0.4) + es.PartialTree(0.4, 0.4) + es.Subtree(0.3), TREES),
    (2.0 * es.Normalized(es.SubsetTree(0.4)) * es.PartialTree(0.3, 0.4), TREES),
    (es.Subsequence(3), TEXTS),
    (es.Subsequence(3, similarity=SIMILAR), TEXTS),
    (es.Tagging(0.4), [es.TaggedSequence(text.split(), text.upper().split()) for text in TEXTS]),
    (es.DependencySubtree(), ARCS),
]


def named(error: pytest.ExceptionInfo[MemoryBudgetError]) -> int:
    found = re.search(r"Pass memory=(\d+) or more", str(error.value))
    assert found is not None, str(error.value)
    return int(found[1])


def sides(items):
    return [(items, None), (items[:2], items[1:])]


# Values of taggings need no tables.
@pytest.mark.parametrize(("kernel", "items"), [case for case in CASES if not isinstance(case[0], es.Tagging)])
def test_the_memory_that_an_error_names_suffices_for_values(kernel, items):
    for a, b in sides(items):
        with pytest.raises(MemoryBudgetError) as error:
            kernel(a, b, memory=1)
        np.testing.assert_allclose(kernel(a, b, memory=named(error)), kernel(a, b), rtol=1e-12)
        if named(error) > 2:
            with pytest.raises(MemoryBudgetError):
                kernel(a, b, memory=named(error) // 2 - 1 or 1)


@pytest.mark.parametrize(("kernel", "items"), CASES)
def test_the_memory_that_an_error_names_suffices_for_gradients(kernel, items):
    for a, b in sides(items):
        values, pull_back = kernel.vjp(a, b)
        expected = pull_back(np.ones_like(values))
        with pytest.raises(MemoryBudgetError) as error:
            kernel.vjp(a, b, memory=1)[1](np.ones_like(values))
        values, pull_back = kernel.vjp(a, b, memory=named(error))
        found = pull_back(np.ones_like(values))
        assert found.keys() == expected.keys()
        for path, value in expected.items():
            assert found[path] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("kernel", "items"), [case for case in CASES if not isinstance(case[0], es.Tagging)])
def test_the_memory_that_an_error_names_suffices_for_neighbours(kernel, items):
    longer = [*items, *items[::-1]]
    with pytest.raises(MemoryBudgetError) as error:
        nearest(kernel, items, longer, k=1, memory=1)
    found = nearest(kernel, items, longer, k=1, memory=named(error))
    np.testing.assert_allclose(found[1], nearest(kernel, items, longer, k=1)[1], rtol=1e-12)


def test_the_memory_that_an_error_names_suffices_for_neighbours_of_long_chains():
    chains = ["(A " * n + "a" + ")" * n for n in (600, 500, 550)]
    with pytest.raises(MemoryBudgetError) as error:
        nearest(es.SubsetTree(), chains, chains, k=1, memory=20_000)
    assert nearest(es.SubsetTree(), chains, chains, k=1, memory=named(error))[0].tolist() == [[0], [0], [0]]


@pytest.mark.parametrize("kernel", [es.SubsetTree(0.4), es.PartialTree(0.4, 0.4)])
def test_a_pattern_that_is_over_the_budget_is_not_made(monkeypatch, kernel):
    trees = [f"(S (NP (D the) (N n{k % 7})) (VP (V v{k % 5}) (NP (D a) (N m{k}))))" for k in range(300)]
    forest = es.Forest.from_trees(trees)
    memory = 12_000
    assert 8 * len(forest.arrays["tree_subtree"]) > memory
    kernel = replace(kernel, decay=es.PerLabel(0.4))
    made = []
    real = type(kernel)._native_plan

    def counted(self, a, b, **options):
        made.append(len(a))
        return real(self, a, b, **options)

    for a, b in ((forest, None), (forest[:200], forest[100:])):
        values, pull_back = kernel.vjp(a, b)
        cotangent = np.random.default_rng(0).normal(size=values.shape)
        monkeypatch.setattr(type(kernel), "_native_plan", counted)
        made.clear()
        tiled, pull_back_tiled = kernel.vjp(a, b, memory=memory)
        np.testing.assert_allclose(tiled, values, rtol=1e-12)
        gradient, own = pull_back(cotangent), pull_back_tiled(cotangent)
        assert list(own) == list(gradient)
        np.testing.assert_allclose(list(own.values()), list(gradient.values()), rtol=1e-9)
        assert made and max(made) < 150
        monkeypatch.undo()


@pytest.mark.parametrize("kernel", [es.SubsetTree(0.4), es.PartialTree(0.4, 0.4)])
def test_patterns_count_in_the_budget(kernel):
    native = kernel.plan(TREES)._all.native
    needed = native.pattern_bytes + kernel._bytes_needed(native, 10**9, pulling_back=False)
    assert native.pattern_bytes > 1_000
    for n_bytes, at_once in ((needed, True), (needed - 1, False)):
        plan = kernel.plan(TREES, memory=n_bytes)
        np.testing.assert_allclose(plan.matrix(kernel), kernel(TREES), rtol=1e-12)
        # In tiles, the pattern of all trees is given back.
        assert ("_all" in vars(plan)) == at_once
        np.testing.assert_allclose(plan.matrix(kernel), kernel(TREES), rtol=1e-12)


@pytest.fixture
def small_process(monkeypatch):
    monkeypatch.setattr(budget, "usable_memory", lambda: 10_000)


@pytest.mark.parametrize(
    "call",
    [
        lambda trees: gram(es.SubsetTree(), trees),
        lambda trees: es.SubsetTree().vjp(trees),
        lambda trees: es.KernelSVC(es.SubsetTree()).fit(trees, [0, 1] * 30),
        lambda trees: es.KernelSVR(es.SubsetTree()).fit(trees, np.arange(60.0)),
        lambda trees: es.GPRegressor(es.SubsetTree()).fit(trees, np.arange(60.0)),
        lambda trees: GPPreference(es.SubsetTree(), sample=None).fit([Group(trees, gold=trees[0])]),
        lambda trees: nearest(es.SubsetTree(), trees, trees, k=50),
    ],
)
def test_a_matrix_that_no_process_can_hold_is_refused_with_the_linear_model_named(call, small_process):
    trees = [f"(S (N{k} n) (V{k % 7} v))" for k in range(60)]
    with pytest.raises(MemoryBudgetError, match=r"takes 2[0-9.]+ KiB|takes 4[0-9.]+ KiB") as error:
        call(trees)
    assert "LinearizedTreeClassifier" in str(error.value)


LIMITED = """
import resource
import numpy as np
import espalier as es
from espalier.errors import MemoryBudgetError
X = np.random.default_rng(0).normal(size=(9000, 2))
model = es.GPRegressor(es.RBF(), learn=False).fit(X[:1000], X[:1000, 0])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 900 * 2**20,) * 2)
for call in (
    lambda: es.RBF()(X) + es.RBF()(X),
    lambda: (es.RBF() + es.Linear())(X),
    lambda: es.GPRegressor(es.RBF()).fit(X, X[:, 0]),
    lambda: es.KernelSVR(es.RBF()).fit(X, X[:, 0]),
):
    try:
        call()
    except MemoryBudgetError as error:
        assert "Take fewer rows" in str(error), error
        print("told")
    except MemoryError as error:
        print("raw", error)
print(len(model.predict(np.repeat(X, 20, axis=0))))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="this system has no /proc")
def test_allocations_that_fail_name_a_way_out_and_predictions_need_none():
    run = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=300)
    lines = run.stdout.split()
    assert run.returncode == 0, run.stderr
    assert set(lines[:-1]) == {"told"} and lines[-1] == "180000", run.stdout


def test_a_hundred_thousand_trees_are_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(budget, "usable_memory", lambda: 16 * 2**30)
    monkeypatch.setattr(memory, "usable_memory", lambda: 16 * 2**30)
    forest = es.Forest.from_trees(["(S (N a))"])[[0] * 100_000]
    with pytest.raises(MemoryBudgetError, match=r"100,000 x 100,000 values takes 74\.5 GiB, .* may use 16\.0 GiB"):
        es.KernelSVC(es.SubsetTree()).fit(forest, [0, 1] * 50_000)
