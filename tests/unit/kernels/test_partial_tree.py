"""PartialTree against its twin."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.errors import KernelOverflowError
from espalier.kernels.hyperparameters import LEAF, PerLabel, fixed
from espalier.structures import Tree
from espalier.testing import check_gradients, check_kernel, rename_labels
from random_trees import random_trees
from reference.partial_tree import partial_tree

PartialTree = pytest.importorskip("espalier.kernels.partial_tree").PartialTree

TREES = random_trees(5, 16, max_size=18)
FEW = random_trees(6, 6)
WIDE = [
    Tree("S", [Tree("N", [word]) for word in "abcab"]),
    Tree("S", [Tree("N", [word]) for word in "bacb"]),
    Tree("S", ["a", Tree("N", ["a"]), "b", Tree("a", ["b"]), "a"]),
]


def twin(a, b, decay, depth_decay):
    def value(setting):
        return setting if callable(setting) else lambda label: setting

    return np.array([[partial_tree(s, t, value(decay), value(depth_decay)) for t in b] for s in a])


@pytest.mark.parametrize("trees", [TREES, WIDE], ids=["random", "wide"])
@pytest.mark.parametrize(("decay", "depth_decay"), [(0.4, 0.4), (1.0, 1.0), (0.05, 0.9), (1.2, 0.3), (1e-6, 1e-6)])
def test_equals_the_listing_of_subsequences(trees, decay, depth_decay):
    kernel = PartialTree(decay, depth_decay)
    expected = twin(trees, trees, decay, depth_decay)
    np.testing.assert_allclose(kernel(trees), expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose(kernel(trees[:2], trees[2:]), expected[:2, 2:], rtol=1e-12, atol=0)
    np.testing.assert_allclose(kernel.diagonal(trees), expected.diagonal(), rtol=1e-12, atol=0)


def test_one_value_per_label():
    decays, depths = {"S": 0.9, "NP": 0.2, LEAF: 0.3}, {"N": 0.5, LEAF: 1.1}
    kernel = PartialTree(PerLabel(0.4, values=decays), PerLabel(0.6, values=depths))

    def named(label):
        return LEAF if label is None else label

    for trees in (TREES, WIDE):
        expected = twin(
            trees,
            trees,
            lambda label: decays.get(named(label), 0.4),
            lambda label: depths.get(named(label), 0.6),
        )
        np.testing.assert_allclose(kernel(trees), expected, rtol=1e-12)


@pytest.mark.parametrize("settings", [(0.4, 0.4), (1.2, 0.3), (1e-4, 0.5), (fixed(0.4), 0.4)])
def test_gradients_at_the_edges(settings):
    for trees in (FEW, WIDE):
        check_gradients(PartialTree(*settings), trees)
        check_gradients(PartialTree(PerLabel(settings[0]), PerLabel(settings[1])), trees)


@pytest.mark.parametrize("kernel", [PartialTree(), PartialTree(PerLabel(0.4), PerLabel(0.6))], ids=repr)
def test_laws(kernel):
    check_kernel(kernel, FEW, rename=rename_labels)


def test_overflow_names_the_tree():
    with pytest.raises(KernelOverflowError, match=r"tree 1 with itself.*smaller decay"):
        PartialTree(1.0, 1.0)(["(A a)", "(S " + "(X x) " * 3000 + ")"])
