"""Subtree against its twin."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.kernels.hyperparameters import LEAF, PerLabel, fixed
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.testing import check_gradients, check_kernel, rename_labels
from random_trees import random_trees
from reference.subtree import subtree

TREES = random_trees(3, 25, max_size=30, depth=5)
FEW = random_trees(4, 7)


@pytest.mark.parametrize("lone_leaves", [False, True])
@pytest.mark.parametrize("decay", [0.1, 0.4, 1.0, 1.5])
def test_equals_the_listing_of_subtrees(decay, lone_leaves):
    kernel = Subtree(decay, lone_leaves=lone_leaves)
    expected = np.array([[subtree(s, t, lambda label: decay, lone_leaves=lone_leaves) for t in TREES] for s in TREES])
    np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(TREES[:9], TREES[9:]), expected[:9, 9:], rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(TREES), expected.diagonal(), rtol=1e-12)
    as_subset = SubsetTree(decay, fixed(0), lone_leaves=lone_leaves)
    np.testing.assert_allclose(as_subset(TREES), expected, rtol=1e-12)


def test_one_value_per_label():
    values = {"S": 0.9, "NP": 0.2, LEAF: 1.3}
    kernel = Subtree(PerLabel(0.4, values=values), lone_leaves=True)

    def decay(label):
        return values.get(LEAF if label is None else label, 0.4)

    expected = np.array([[subtree(s, t, decay, lone_leaves=True) for t in TREES] for s in TREES])
    np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-12)


def test_binding_adds_a_value_for_each_label():
    kernel = Subtree(PerLabel(0.4))
    bound = kernel.plan(["(A (B b))"]).bind(kernel)
    assert bound.parameters() == {"decay[A]": 0.4, "decay[B]": 0.4}


@pytest.mark.parametrize("kernel", [Subtree(), Subtree(1.4, lone_leaves=True), Subtree(PerLabel(0.4))], ids=repr)
def test_laws(kernel):
    check_kernel(kernel, FEW, rename=rename_labels)
    check_gradients(kernel, TREES)


def test_zero_decay_is_an_error():
    with pytest.raises(ValueError, match="decay must be positive"):
        Subtree(fixed(0))
