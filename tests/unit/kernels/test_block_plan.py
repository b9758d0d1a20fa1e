"""Blocks of a matrix as jobs: small when pickled, and the same bits wherever they run."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import espalier as es
from espalier.demo import generate
from espalier.errors import MemoryBudgetError
from espalier.jobs import Processes
from espalier.kernels import Kernel, Precomputed
from espalier.kernels.block_plan import BlockPlan
from espalier.kernels.hyperparameters import Number, hyperparameter, number_of

TREES = list(generate(150)["tree"])
FOREST = es.Forest.from_trees(TREES)
WORDS = [" ".join(tree.words()) for tree in TREES]
ANIMALS = es.kernels.SimilarityTable(["what", "which"], [[1.0, 0.5], [0.5, 1.0]])
CASES = {
    "subset trees": (es.SubsetTree(es.PerLabel(0.4), 0.9), FOREST),
    "partial trees": (es.PartialTree(), FOREST),
    "smoothed trees": (es.SmoothedPartialTree(ANIMALS, soft="all"), FOREST),
    "subsequences": (es.Subsequence(3, similarity=ANIMALS, mix=0.5), WORDS),
    "tags": (es.Tagging(), TREES),
    "a sum": (1.0 * es.Normalized(es.SubsetTree()) + es.Radial(es.Subtree()), FOREST),
}


class Elsewhere:
    """Runs every job at once on what a pickle of it gives, as a worker far away would."""

    def __init__(self):
        self.sizes = []

    def submit(self, function, job):
        pickled = pickle.dumps(job)
        self.sizes.append(len(pickled))
        result = function(pickle.loads(pickled))
        return type("Done", (), {"result": lambda self: result, "cancel": lambda self: None})()


@dataclass(frozen=True, repr=False)
class SharedWords(Kernel):
    """A kernel in Python, whose values are not symmetric to the last bit."""

    power: Number = hyperparameter(0.5)

    def pair(self, x, y):
        words = x.split()
        return sum(0.1 * words.count(word) for word in y.split()) ** number_of(self.power)


@dataclass(frozen=True, repr=False)
class Worker(Kernel):
    """Where a pair is computed."""

    def pair(self, x, y):
        return float(os.getpid())


@pytest.mark.parametrize("case", CASES)
def test_an_executor_changes_no_value(case):
    kernel, items = CASES[case]
    elsewhere = Elsewhere()
    rng = np.random.default_rng(0)
    for b in (None, items[:40]):
        values, pullback = kernel.vjp(items, b)
        far, far_pullback = kernel.vjp(items, b, executor=elsewhere)
        np.testing.assert_allclose(far, values, rtol=1e-12, atol=1e-15)
        cotangent = rng.normal(size=values.shape)
        expected, found = pullback(cotangent), far_pullback(cotangent)
        for path, gradient in expected.items():
            assert found[path] == pytest.approx(gradient, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(kernel.diagonal(items, executor=elsewhere), kernel.diagonal(items), rtol=1e-12)
    assert len(elsewhere.sizes) > 10


def test_no_bit_depends_on_the_number_of_workers_or_on_where_they_are():
    kernel = es.SubsetTree()
    found = [es.gram(kernel, FOREST, executor=Elsewhere())]
    for n in (1, 3):
        with ThreadPoolExecutor(n) as pool:
            found.append(es.gram(kernel, FOREST, executor=pool))
    with Processes(2) as processes:
        found.append(es.gram(kernel, FOREST, executor=processes))
    for other in found[1:]:
        assert np.array_equal(other, found[0])


def test_an_executor_changes_no_bit_of_a_kernel_in_python():
    kernel, elsewhere = SharedWords(), Elsewhere()
    for b in (None, WORDS[:40]):
        values, pullback = kernel.vjp(WORDS, b)
        far, far_pullback = kernel.vjp(WORDS, b, executor=elsewhere)
        assert np.array_equal(far, values)
        assert far_pullback(np.ones(values.shape)) == pullback(np.ones(values.shape))
    assert len(elsewhere.sizes) > 10
    assert max(elsewhere.sizes) < len(pickle.dumps(WORDS))
    long, elsewhere = WORDS * 20, Elsewhere()
    assert np.array_equal(kernel.diagonal(long, executor=elsewhere), kernel.diagonal(long))
    assert len(elsewhere.sizes) > 1


def test_other_processes_compute_a_kernel_in_python():
    with Processes(2) as processes:
        found = es.gram(Worker(), WORDS, executor=processes)
    assert os.getpid() not in found
    assert (es.gram(Worker(), WORDS) == os.getpid()).all()


def test_no_job_holds_a_matrix_that_was_computed_before():
    elsewhere = Elsewhere()
    kernel = Precomputed(es.SubsetTree()(FOREST))
    rows = list(range(len(FOREST)))
    assert np.array_equal(kernel(rows, executor=elsewhere), kernel.matrix)
    assert elsewhere.sizes == []


def test_a_pickled_block_holds_its_own_subtrees_alone():
    labels = [f"({x} ({y} w{k}))" for k in range(4000) for x, y in [(f"A{k % 7}", f"B{k % 11}")]]
    forest = es.Forest.from_brackets(labels)
    whole, view = pickle.dumps(forest), pickle.dumps(forest[10:14])
    words = pickle.dumps(forest.vocabulary)  # which all views share
    assert len(view) - len(words) < 3000 < (len(whole) - len(words)) / 50
    again = pickle.loads(view)
    assert [tree.to_brackets() for tree in again] == labels[10:14]
    assert again.n_subtrees < 20
    assert np.array_equal(es.SubsetTree()(again), es.SubsetTree()(forest[10:14]))


def test_a_block_is_a_job_by_itself():
    kernel = es.SubsetTree()
    plan = kernel.plan(FOREST, executor=Elsewhere())
    assert isinstance(plan, BlockPlan)
    whole, jobs = kernel(FOREST), plan._jobs(kernel)
    assert sum(job.cost for job in jobs) == whole.size
    for job in jobs[:5]:
        values = pickle.loads(pickle.dumps(job))()
        np.testing.assert_allclose(values, whole[job.tile.rows, job.tile.columns], rtol=1e-12)


def test_an_error_of_memory_in_a_job_names_the_rows_of_the_whole():
    small = ["(A (B b))"] * 60
    large = "(S " + " ".join("(A (B b))" for _ in range(200)) + ")"
    trees = [*small, large, *small, large]
    kernel = es.PartialTree()
    needed = kernel.plan(trees)._memory_needed(kernel, pulling_back=False)
    for executor in (None, Elsewhere()):
        with pytest.raises(MemoryBudgetError, match=r"Tree (60|121) with tree (60|121) alone needs"):
            kernel(trees, memory=needed // 2, executor=executor)


def test_progress_goes_up_with_an_executor():
    told = []
    es.gram(es.SubsetTree(), FOREST, executor=Elsewhere(), progress=lambda progress: told.append(progress.fraction))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 10


def test_what_cannot_run_jobs_is_refused():
    with pytest.raises(TypeError, match="executor must have a method submit"):
        es.gram(es.SubsetTree(), FOREST, executor=4)


def test_nearest_items_are_found_with_an_executor():
    kernel = es.Normalized(es.SubsetTree())
    here = es.nearest(kernel, FOREST, FOREST[:120], k=3)
    elsewhere = Elsewhere()
    there = es.nearest(kernel, FOREST, FOREST[:120], k=3, executor=elsewhere)
    np.testing.assert_array_equal(there[0], here[0])
    np.testing.assert_allclose(there[1], here[1], rtol=1e-12)
    assert elsewhere.sizes
