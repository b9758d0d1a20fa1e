"""Edges of the compiled engine: too many threads, calls from inside a call, huge counts, tiny numbers, wide nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from espalier import Forest, PartialTree, PerLabel, SubsetTree, Tree, _core
from espalier.corpus import Vocabulary

TEXTS = [
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (D a) (N cat)) (VP (V saw) (NP (D the) (N dog))))",
    "(S (NP (N dogs)) (VP (V sat)))",
]
LEAFY = ["(S (NP (D the)) (D the) x the)", "(S (D the) x (NP (D the) the))", "(S the (NP the))"]

limits_memory = pytest.mark.skipif(
    "ESPALIER_SANITIZED" in os.environ or sys.platform != "linux",
    reason="a sanitizer takes memory of its own, and other systems count it otherwise",
)


def wide_documents(n: int, width: int) -> list[str]:
    rng = np.random.default_rng(0)
    sentence = "(S (NP (D d{}) (N n{})) (VP v{}))"
    return [
        "(DOC " + " ".join(sentence.format(*rng.integers(20, size=3)) for _ in range(width)) + ")" for _ in range(n)
    ]


@limits_memory
def test_more_threads_than_the_system_grants_are_no_crash() -> None:
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "from espalier import SubsetTree\n"
        f"print(SubsetTree()({TEXTS!r}, n_threads=5000).sum())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == SubsetTree()(TEXTS).sum()


def test_a_progress_callback_that_uses_its_own_plan_is_an_error_and_no_hang() -> None:
    calls = []

    def progress(_: float) -> None:
        if not calls:
            calls.append(True)
            plan.matrix(kernel)

    kernel = PartialTree(decay=0.1, depth_decay=0.1)
    texts = wide_documents(150, 60)  # so many that progress is told, which short work does not
    plan = kernel.plan(texts, progress=progress)
    with pytest.raises(RuntimeError, match="This plan is computing"):
        plan.matrix(kernel)
    assert calls
    np.testing.assert_array_equal(plan.matrix(kernel), kernel(texts))


def test_labels_of_one_tree_are_counted_past_two_to_the_31() -> None:
    def pile(word: str) -> Tree:
        node = Tree("X", [Tree(word)])
        for level in range(30):
            node = Tree(f"Y{level}", [node, node])
        return node

    tree = Tree("R", [pile("a"), pile("b"), pile("c")])
    forest = Forest.from_trees([tree, Tree("X", [Tree("z")])])
    kernel = PartialTree(decay=1.0, depth_decay=1.0)
    assert kernel(forest[[0]], forest[[1]]) == 3 * 2**30
    values, pull_back = kernel.vjp(forest[[0]], forest[[1]])
    assert pull_back(np.ones_like(values)) == {"decay": 2.0 * 3 * 2**30, "depth_decay": 1.0 * 3 * 2**30}


@pytest.mark.parametrize("columns", [None, LEAFY[:2]])
@pytest.mark.parametrize("leaf", [1e-160, 1e-170])
def test_partial_trees_have_gradients_where_the_weight_of_a_leaf_underflows(
    leaf: float, columns: list[str] | None
) -> None:
    kernel = PartialTree(decay=PerLabel(0.4, values={"<leaf>": leaf}), depth_decay=0.4)
    values, pull_back = kernel.vjp(LEAFY, columns)
    gradient = pull_back(np.ones_like(values))
    small = PartialTree(decay=PerLabel(0.4, values={"<leaf>": 1e-100}), depth_decay=0.4)
    expected = small.vjp(LEAFY, columns)[1](np.ones_like(values))
    # The leaves' weight is leaf^2 and its derivative 2 * leaf; all else is the same.
    expected["decay[<leaf>]"] *= leaf / 1e-100
    assert gradient == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("frontier", [1.1e-3, 0.9e-3])
def test_a_tiny_decay_times_a_tiny_frontier_is_not_lost(frontier: float) -> None:
    width = 60
    tree = "(Q (P " + " ".join(["(A (B (C c)))"] * width) + "))"
    kernel = SubsetTree(
        decay=PerLabel(1.0, values={"P": 1e-200, "A": 1e4}), frontier=PerLabel(1.0, values={"P": frontier})
    )
    child = 1e4 * (1.0 + 2.0)  # C: 1, B: 2, A: 1e4 * 3
    production = 1e-200 * (frontier + child) ** width
    others = width**2 * (1.0 + 2.0 + child) + 1.0
    assert kernel([tree])[0, 0] == pytest.approx(2 * production + others, rel=1e-10)


@pytest.mark.parametrize("frontier", [0.0, 1e-300, 1e-8, 0.999e-3, 1.001e-3])
@pytest.mark.parametrize("max_depth", [None, 1, 2, 3])
def test_gradients_near_a_frontier_of_zero_agree_with_differences_of_values(
    frontier: float, max_depth: int | None
) -> None:
    # The last two share productions above others that they do not share.
    forest = Forest.from_brackets([*TEXTS[:2], "(A (B (C (D c))) (E e))", "(A (B (C (D d))) (E e))"])
    native = _core.SubsetTreePlan(forest.arrays, None, False, False, False)
    n = len(native.labels) + 1
    cotangent = np.arange(16.0).reshape(4, 4)
    gradient = [np.zeros(n), np.zeros(n)]

    def objective(decay: float, frontier: float) -> float:
        out = np.empty((4, 4))
        native.matrix(np.full(n, decay), np.full(n, frontier), max_depth or 0, 1, None, out)
        return float((cotangent * out).sum())

    native.pull_back(np.full(n, 0.4), np.full(n, frontier), max_depth or 0, cotangent, 1, None, *gradient)
    step = 1e-6  # values are polynomials of the frontier, defined below 0 too
    by_decay = (objective(0.4 + step, frontier) - objective(0.4 - step, frontier)) / (2 * step)
    by_frontier = (objective(0.4, frontier + step) - objective(0.4, frontier - step)) / (2 * step)
    assert gradient[0].sum() == pytest.approx(by_decay, rel=1e-6)
    assert gradient[1].sum() == pytest.approx(by_frontier, rel=1e-6)


def test_wide_nodes_pull_back_the_same_bits_for_any_number_of_threads() -> None:
    texts = wide_documents(30, 12)
    kernel = PartialTree(decay=PerLabel(0.3), depth_decay=0.3)
    results = []
    for n_threads in (1, 2, 3, 8):
        values, pull_back = kernel.vjp(texts, n_threads=n_threads)
        results.append((values.tobytes(), pull_back(np.ones_like(values))))
    assert all(result == results[0] for result in results)


@limits_memory
def test_wide_nodes_pull_back_within_the_memory_that_was_announced() -> None:
    program = """
import json, resource, sys
import numpy as np
from espalier import PartialTree
kernel = PartialTree(decay=0.1, depth_decay=0.1)
plan = kernel.plan(json.load(sys.stdin), n_threads=2)
values, pull_back = plan.vjp(kernel)
plan._all.native.release()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
pull_back(np.ones_like(values))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before, plan._all.native.pull_back_bytes())
"""
    texts = json.dumps(wide_documents(130, 60))
    done = subprocess.run(
        [sys.executable, "-c", program], input=texts, capture_output=True, text=True, timeout=120, check=True
    )
    used, announced = map(int, done.stdout.split())
    assert used < announced + 100 * 2**20  # lists of pushes, bounded for each thread


def test_a_vocabulary_extended_very_often_is_no_deep_recursion() -> None:
    vocabulary = Vocabulary(["first"])
    for k in range(20_000):
        vocabulary = vocabulary.extended([f"label {k}"] if k % 4 == 0 else [])
    assert len(vocabulary) == 5_001
    assert vocabulary[0] == "first"
    assert vocabulary[5_000] == "label 19996"
    assert "other" not in vocabulary
    for _ in range(100_000):
        vocabulary = vocabulary.extended()
    assert vocabulary.extends(Vocabulary(["first", "label 0"]))
    del vocabulary  # an iterative end, too
