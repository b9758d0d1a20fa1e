"""Laws and twins of tree kernels on whatever trees hypothesis thinks of."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.kernels.hyperparameters import PerLabel, fixed
from espalier.kernels.normalized import Normalized
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.radial import Radial
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.structures import Tree
from espalier.testing import check_gradients, check_kernel
from reference.partial_tree import partial_tree
from reference.subset_tree import subset_tree
from reference.subtree import subtree

LABELS = st.sampled_from(["A", "B", "x"])  # the same for leaves and inner nodes
TREES = st.recursive(
    LABELS.map(Tree),
    lambda below: st.one_of(
        st.builds(Tree, LABELS, st.lists(below, min_size=1, max_size=4)),
        st.builds(lambda labels, tree: _chain(labels, tree), st.lists(LABELS, min_size=1, max_size=4), below),
        st.builds(lambda label, tree, n: Tree(label, [tree] * n), LABELS, below, st.integers(1, 3)),
    ),
    max_leaves=6,
).filter(lambda tree: tree.size <= 16)
CORPORA = st.lists(TREES, min_size=3, max_size=5).flatmap(lambda trees: st.just(trees) | st.just([*trees, trees[0]]))
WEIGHTS = st.sampled_from([1e-6, 1e-4, 5e-4, 2e-3, 0.3, 1.0, 2.0])


def _chain(labels, tree):
    for label in labels:
        tree = Tree(label, [tree])
    return tree


def _matrix(twin, trees):
    return np.array([[twin(s, t) for t in trees] for s in trees])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(CORPORA, WEIGHTS, WEIGHTS, st.sampled_from([None, 1, 2, 3]), st.booleans())
def test_subset_tree_equals_its_twin(trees, decay, frontier, max_depth, lone_leaves):
    options = {"max_depth": max_depth, "lone_leaves": lone_leaves}
    expected = _matrix(lambda s, t: subset_tree(s, t, lambda _: decay, lambda _: frontier, **options), trees)
    np.testing.assert_allclose(SubsetTree(decay, frontier, **options)(trees), expected, rtol=1e-11, atol=0)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(CORPORA, WEIGHTS, st.booleans())
def test_subtree_equals_its_twin(trees, decay, lone_leaves):
    expected = _matrix(lambda s, t: subtree(s, t, lambda _: decay, lone_leaves=lone_leaves), trees)
    np.testing.assert_allclose(Subtree(decay, lone_leaves=lone_leaves)(trees), expected, rtol=1e-11, atol=0)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(CORPORA, WEIGHTS, WEIGHTS)
def test_partial_tree_equals_its_twin(trees, decay, depth_decay):
    expected = _matrix(lambda s, t: partial_tree(s, t, lambda _: decay, lambda _: depth_decay), trees)
    np.testing.assert_allclose(PartialTree(decay, depth_decay)(trees), expected, rtol=1e-11, atol=0)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(CORPORA, st.sampled_from([0.05, 0.4, 1.2]), WEIGHTS)
def test_gradients_equal_differences(trees, decay, weight):
    check_gradients(SubsetTree(PerLabel(decay), PerLabel(weight)), trees)
    check_gradients(SubsetTree(decay, fixed(0), max_depth=2, lone_leaves=True), trees)
    check_gradients(PartialTree(PerLabel(decay), PerLabel(weight)), trees)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(CORPORA)
def test_compositions_keep_the_laws(trees):
    kernel = Normalized(SubsetTree(PerLabel(0.4)) + Subtree(0.3, lone_leaves=True)) * Radial(PartialTree(0.3), 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_kernel(kernel + 0.5 * PartialTree(0.2), trees, trees=False)
