"""gram and nearest: threads, tiles, progress, interruption."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from espalier.corpus import Forest
from espalier.errors import MemoryBudgetError
from espalier.gram import gram, nearest
from espalier.kernels.normalized import Normalized
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.subset_tree import SubsetTree, Subtree

KERNELS = [SubsetTree(), SubsetTree(0.3, 0.5), SubsetTree(max_depth=3), Subtree(), PartialTree()]


@pytest.fixture(scope="module")
def forest(data):
    texts = (data / "questionbank" / "trees.txt").read_text("utf-8").splitlines()
    return Forest.from_brackets(texts)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_threads_never_change_a_bit_and_tiles_hardly_do(forest, kernel) -> None:
    some = forest[:300]
    one = gram(kernel, some, n_threads=1)
    assert np.array_equal(one, gram(kernel, some, n_threads=3))
    assert np.array_equal(one, one.T)
    plan = kernel.plan(some)
    needed = plan._all.native.matrix_bytes(*kernel._native_arguments(plan._all.native))
    tiled = gram(kernel, some, memory=max(needed // 10, 24_000))
    np.testing.assert_allclose(tiled, one, rtol=1e-12)
    cross = gram(kernel, some[:100], some[100:])
    np.testing.assert_allclose(cross, one[:100, 100:], rtol=1e-12)
    np.testing.assert_allclose(
        gram(kernel, some[:100], some[100:], memory=max(needed // 20, 24_000)), cross, rtol=1e-12
    )
    np.testing.assert_allclose(kernel.diagonal(some), one.diagonal(), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_pulling_back_is_the_same_for_any_threads_and_tiles(forest, kernel) -> None:
    some = forest[:120]
    cotangent = np.random.default_rng(5).normal(size=(120, 120))
    one = kernel.vjp(some, n_threads=1)[1](cotangent)
    assert one == kernel.vjp(some, n_threads=3)[1](cotangent)
    plan = kernel.plan(some)
    needed = plan._all.native.pull_back_bytes(*kernel._native_arguments(plan._all.native))
    tiled = kernel.vjp(some, memory=max(needed // 10, 20_000))[1](cotangent)
    for path, value in one.items():
        assert tiled[path] == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_a_subtree_that_only_the_rows_repeat_counts_in_a_cross_matrix() -> None:
    rows, columns = ["(S (A (B b) (C c)) (A (B b) (C c)))"], ["(A (B b) (C c))", "(S (A (B b) (C d)))"]
    for kernel in KERNELS:
        together = gram(kernel, [*rows, *columns])
        np.testing.assert_allclose(gram(kernel, rows, columns), together[:1, 1:], rtol=1e-14)


def test_too_little_memory_for_one_pair_says_how_much_is_needed() -> None:
    with pytest.raises(MemoryBudgetError, match=r"alone needs .* Pass memory="):
        gram(PartialTree(), ["(A (B b) (B c) (A (B b)))"], memory=1)


def test_memory_is_bytes_or_a_text(forest) -> None:
    assert gram(SubsetTree(), forest[:3], memory="1 MiB").shape == (3, 3)
    for memory in ("lots", 0, -1, "1 parsec"):
        with pytest.raises(ValueError, match="memory must be"):
            gram(SubsetTree(), forest[:3], memory=memory)
    with pytest.raises(ValueError, match="n_threads must be"):
        gram(SubsetTree(), forest[:3], n_threads=0)


def test_progress_rises_to_at_most_one(forest) -> None:
    seen: list[float] = []
    gram(PartialTree(), forest[:1500], progress=lambda told: seen.append(told.fraction), n_threads=1)
    assert seen and all(0 <= fraction <= 1 for fraction in seen)
    assert seen == sorted(seen)


def test_an_error_in_the_progress_callback_stops_the_work(forest) -> None:
    def stop(fraction: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        gram(PartialTree(), forest[:1500], progress=stop)


def test_a_plan_works_again_after_it_was_interrupted(forest) -> None:
    stopped = False

    def stop(fraction: float) -> None:
        if stopped:
            raise RuntimeError("enough")

    kernel = PartialTree()
    some = forest[:1500]
    plan = kernel.plan(some, progress=stop)
    stopped = True
    with pytest.raises(RuntimeError, match="enough"):
        plan.matrix(kernel)
    stopped = False
    assert np.array_equal(plan.matrix(kernel), gram(kernel, some))


INTERRUPTED = """
    import sys, time
    import numpy as np
    from espalier.gram import gram
    from espalier.kernels.partial_tree import PartialTree
    rng = np.random.default_rng(0)
    wide = ["(W " + " ".join(f"w{k}" for k in rng.integers(0, 50, 60_000)) + ")" for _ in range(3)]
    print("ready", flush=True)
    try:
        gram(PartialTree(), wide)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_long_matrix() -> None:
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(INTERRUPTED)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.sched_yield()
    signal_after(process, 0.7)
    output, _ = process.communicate(timeout=60)
    assert output == "interrupted\n"


def signal_after(process: "subprocess.Popen[str]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)


@pytest.mark.parametrize("kernel", [SubsetTree(), Normalized(PartialTree())], ids=repr)
def test_nearest_is_the_top_of_the_matrix(forest, kernel) -> None:
    corpus, queries = forest[:200], forest[150:220]
    matrix = gram(kernel, queries, corpus)
    indices, values = nearest(kernel, corpus, queries, k=5)
    expected = np.argsort(-gram(kernel, corpus, queries).T, axis=1, kind="stable")[:, :5]
    assert np.array_equal(indices, expected)
    np.testing.assert_allclose(values, np.take_along_axis(matrix, indices, axis=1), rtol=1e-12)
    _, few = nearest(kernel, corpus, queries, k=5, memory=200 * 8 * 4 * 3)
    np.testing.assert_allclose(few, values, rtol=1e-12)


def test_nearest_takes_all_that_kernels_take_and_says_what_k_may_be(forest) -> None:
    texts = [tree.to_brackets() for tree in forest[:5]]
    indices, _ = nearest(SubsetTree(on="tree"), {"tree": texts}, {"tree": texts[2:3]}, k=5)
    assert sorted(indices[0]) == [0, 1, 2, 3, 4]
    for k in (0, 6, True, 1.5):
        with pytest.raises(ValueError, match="k must be an integer from 1"):
            nearest(SubsetTree(), texts, texts, k=k)
    with pytest.raises(ValueError, match="corpus is empty"):
        nearest(SubsetTree(), [], texts)
