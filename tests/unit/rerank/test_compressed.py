"""Combinations of trees against the kernel's own matrices."""

from __future__ import annotations

import numpy as np
import pytest
from tests.random_trees import random_tree

import espalier as es
from espalier.rerank import CompressedModel

KERNELS = [
    es.SubsetTree(0.4),
    es.SubsetTree(0.9, 0.3),
    es.SubsetTree(0.6, es.fixed(0.0)),
    es.SubsetTree(0.4, max_depth=1),
    es.SubsetTree(0.7, 0.8, max_depth=3),
    es.SubsetTree(0.4, lone_leaves=True),
    es.SubsetTree(es.PerLabel(0.4, values={"A": 0.9, "B": 0.1}), es.PerLabel(0.5, values={"A": 1.0})),
    es.Normalized(es.SubsetTree(0.3)),
]


def forest_of(seed, n=30):
    rng = np.random.default_rng(seed)
    return es.Forest.from_trees([random_tree(rng) for _ in range(n)])


@pytest.mark.parametrize("kernel", KERNELS)
def test_values_are_those_of_the_sum(kernel):
    forest = forest_of(0)
    coefficients = np.random.default_rng(1).normal(size=20)
    model = CompressedModel(kernel, forest)
    for row, coefficient in enumerate(coefficients):
        model.add(forest, row, coefficient)
    expected = kernel(forest, forest[:20]) @ coefficients
    np.testing.assert_allclose(model(forest), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model(forest, 3, 11), expected[3:11], rtol=1e-9, atol=1e-12)
    # A tree that is taken away again leaves nothing.
    model.add(forest, 25, 2.0)
    model.add(forest, 25, -2.0)
    np.testing.assert_allclose(model(forest), expected, rtol=1e-9, atol=1e-9)


def test_fragments_that_weigh_too_little_are_told():
    forest = es.Forest.from_trees(["(S (A a))", "(B b)"])
    model = CompressedModel(es.Normalized(es.SubsetTree(1e-310)), forest)
    with pytest.raises(FloatingPointError, match=r"2 of 2 items have fragments.*Use a larger decay"):
        model.add(forest, 0, 1.0)


def test_trees_of_another_corpus():
    forest = forest_of(2)
    others = es.Forest.from_trees(
        [random_tree(np.random.default_rng(9)) for _ in range(5)], vocabulary=forest.vocabulary
    )
    kernel = es.SubsetTree(0.5)
    model = CompressedModel(kernel, forest)
    assert model(forest).tolist() == [0.0] * 30
    model.add(forest, 4, 1.5)
    np.testing.assert_allclose(model(others), 1.5 * kernel(others, forest[4:5])[:, 0])
    with pytest.raises(es.errors.VocabularyMismatchError):
        model(forest_of(3))


def test_labels_that_come_later():
    forest = forest_of(2)
    kernel = es.SubsetTree(0.5)
    model = CompressedModel(kernel, forest)
    later = es.Forest.from_trees(["(NEW (NEWER new))", "(NEW (NEWER old))"], vocabulary=forest.vocabulary)
    model.add(later, 0, 1.0)
    np.testing.assert_allclose(model(later), kernel(later)[0])


def test_many_trees_need_no_more_memory_than_some():
    # Their rows of Delta, 6.25 million values, are more than are kept.
    forest = es.Forest.from_trees([f"(S (A a{k}) (B b{k % 7}))" for k in range(2500)])
    kernel, coefficients = es.SubsetTree(0.5), np.random.default_rng(0).normal(size=2500)
    model = CompressedModel(kernel, forest)
    for row, coefficient in enumerate(coefficients):
        model.add(forest, row, coefficient)
    np.testing.assert_allclose(model(forest), kernel(forest) @ coefficients, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model(forest, 2490), model(forest)[2490:])
    assert 0 < model.n_bytes < model.n_bytes_in_all


@pytest.mark.parametrize("kernel", [es.SubsetTree(1.0), es.SubsetTree(1.0, max_depth=4)])
def test_values_too_large_name_the_tree(kernel):
    wide = "(S " + " ".join(f"(A a{k})" for k in range(1100)) + ")"
    forest = es.Forest.from_trees(["(S (A a))", wide])
    model = CompressedModel(kernel, forest)
    model.add(forest, 1, 1.0)
    assert model(forest, 0, 1).tolist() == [0.0]
    with pytest.raises(es.errors.KernelOverflowError, match="at tree 1 is too large"):
        model(forest)


def test_kernels_that_are_refused():
    with pytest.raises(TypeError, match="needs a SubsetTree, normalized or not, got PartialTree"):
        CompressedModel(es.PartialTree(), forest_of(0))


def test_the_work_follows_the_trees_and_not_the_limit_of_depth():
    rng = np.random.default_rng(5)
    forest = es.Forest.from_trees([random_tree(rng, depth=6) for _ in range(30)])
    values = []
    for max_depth in (None, 7, 10**6, 10**9):
        model = CompressedModel(es.SubsetTree(0.3, max_depth=max_depth), forest)
        for row in range(len(forest)):
            model.add(forest, row, float(rng.integers(1, 2)))
        values.append(model(forest))
    for own in values[1:]:
        np.testing.assert_array_equal(own, values[0])


def test_trees_that_are_not_there_are_an_error():
    forest = es.Forest.from_trees(["(S (A a))", "(S (B b))"])
    model = CompressedModel(es.SubsetTree(0.3), forest)
    for row in (-1, 2, 10**9):
        with pytest.raises(IndexError, match="the forest has 2 trees"):
            model.add(forest, row, 1.0)
    for first, last in ((0, 3), (-1, 2), (2, 1), (10**9, None)):
        with pytest.raises(IndexError, match="the forest has 2 trees"):
            model(forest, first, last)
