"""Hashed fragments: all small ones, the same in every corpus, without a dictionary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.random_trees import random_trees
from tests.reference.fragment_weights import subset_tree_features

import espalier as es
from espalier.fragments import HashedFragments

TREES = [tree for tree in random_trees(3, 60, max_size=11) if tree.children][:25]


@pytest.mark.parametrize("max_depth", [None, 2])
@pytest.mark.parametrize("max_size", [1, 3, 11])
def test_rows_multiply_as_listed_fragments_do(max_size, max_depth):
    kernel = es.SubsetTree(es.PerLabel(0.5, values={"S": 1.3}), 0.7, max_depth)
    features = subset_tree_features(lambda label: 1.3 if label == "S" else 0.5, lambda label: 0.7, max_depth)
    rows = [
        {f: v for f, v in features(tree).items() if es.Fragment.from_brackets(f).n_productions <= max_size}
        for tree in TREES
    ]
    true = [[sum(v * b.get(f, 0.0) for f, v in a.items()) for b in rows] for a in rows]
    hashed = HashedFragments(kernel, max_size=max_size, n_features=2**22).transform(TREES)
    assert (hashed @ hashed.T).toarray() == pytest.approx(np.array(true), rel=1e-9)


def test_normalised_rows_have_the_kernel_as_their_product():
    kernel = 2.0 * es.Normalized(es.SubsetTree(0.4))
    hashed = HashedFragments(kernel, max_size=11, n_features=2**22).fit_transform(TREES)
    assert (hashed @ hashed.T).toarray() == pytest.approx(kernel(TREES), rel=1e-9)


def test_subtrees_are_whole():
    kernel = es.Subtree(0.4)
    hashed = HashedFragments(kernel, max_size=11, n_features=2**22).transform(TREES)
    assert (hashed @ hashed.T).toarray() == pytest.approx(kernel(TREES), rel=1e-9)


def test_columns_are_the_same_in_every_corpus():
    whole = HashedFragments().transform(TREES)
    parts = [HashedFragments().transform([es.Tree("Q", [tree]), tree])[1] for tree in TREES]
    assert all(abs(whole[k] - part).max() < 1e-12 for k, part in enumerate(parts))


def test_counts_and_signs():
    counts = HashedFragments(values="count", max_size=1).transform(["(A (B b) (B b))"])
    assert sorted(abs(counts.data)) == [1.0, 2.0]
    assert set(abs(HashedFragments(values="binary", max_size=1).transform(["(A (B b) (B b))"]).data)) == {1.0}


def test_columns_that_meet_still_give_the_kernel_on_average():
    kernel = es.SubsetTree(1.0)
    few = HashedFragments(kernel, max_size=11, n_features=256).transform(TREES)
    true = kernel(TREES)
    assert few.shape == (len(TREES), 256)
    assert np.corrcoef((few @ few.T).toarray().ravel(), true.ravel())[0, 1] > 0.9


def test_an_iterator_is_read_in_chunks():
    model = HashedFragments(chunk_size=4)
    assert abs(model.transform(iter(TREES)) - model.transform(TREES)).max() < 1e-12
    assert model.transform(iter([])).shape == (0, 2**20)
    assert [block.shape[0] for block in model.stream(TREES)] == [4] * 6 + [1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kernel": "SubsetTree"}, TypeError, "kernel must be a kernel"),
        ({"kernel": es.PartialTree()}, es.InputError, "one SubsetTree or Subtree can be hashed"),
        ({"kernel": es.SubsetTree() + es.Subtree()}, es.InputError, "one SubsetTree or Subtree can be hashed"),
        ({"max_size": 0}, ValueError, "max_size must be a positive integer"),
        ({"values": "x"}, ValueError, "values must be"),
    ],
)
def test_mistakes_are_one_clear_error(options, error, message):
    with pytest.raises(error, match=message):
        HashedFragments(**options).fit(TREES)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="The memory in use is read from /proc.")
def test_memory_follows_the_trees_and_not_the_number_of_columns():
    import resource

    trees = ["(NP (D the) (N cat))", "(NP (D a) (N cat))"]
    few = HashedFragments(es.SubsetTree(), n_features=2**20).transform(trees)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + 2**30, before[1]))  # one array of a byte a column is too much
    try:
        many = HashedFragments(es.SubsetTree(), n_features=2**31 - 1).transform(trees)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert many.shape == (2, 2**31 - 1)
    np.testing.assert_array_equal(np.sort(abs(many.data)), np.sort(abs(few.data)))


def test_progress_is_told():
    told = []
    HashedFragments(es.SubsetTree(1.0), progress=told.append).transform(["(A a)"])
    assert [done.fraction for done in told] == [1.0] and told[0].what == "hashing fragments"
