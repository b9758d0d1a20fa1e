"""PartialTree against its twin."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.errors import KernelOverflowError
from espalier.kernels.hyperparameters import LEAF, PerLabel, fixed
from espalier.kernels.subset_tree import SubsetTree, Subtree
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


def test_a_leaf_and_an_inner_node_with_one_label_match():
    assert PartialTree(0.5, 0.4).value("(cat)", "(cat (D the))") == pytest.approx(0.4 * 0.5**2)
    kernel = PartialTree(PerLabel(0.5, values={LEAF: 0.2}), PerLabel(0.4, values={"cat": 0.9}))
    assert kernel.value("(cat)", "(cat (D the))") == pytest.approx(np.sqrt(0.4 * 0.9) * 0.2 * 0.5)
    # Below a parent as well: S, cat, and S above cat.
    assert PartialTree(1.0, 1.0).value("(S cat)", "(S (cat x))") == pytest.approx(3.0)


def test_subset_trees_tell_words_from_nodes():
    for kernel in (SubsetTree(lone_leaves=True), Subtree(lone_leaves=True)):
        assert kernel.value("(cat)", "(cat (D the))") == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_rows_and_columns_may_hold_a_label_in_one_form_each(seed):
    rng = np.random.default_rng(seed)
    labels = ["S", "N", "cat", "dog", "D"]

    def tree(depth, inner):
        label = str(rng.choice(labels[:2] if depth == 2 else inner))
        children = [tree(depth - 1, inner) for _ in range(int(rng.integers(1, 4)))] if depth else []
        return Tree(label, children)

    rows = [tree(2, labels[:3]) for _ in range(4)] + [Tree("cat", ["D"]), Tree("S", ["dog"])]
    columns = [tree(2, labels[2:]) for _ in range(4)] + [Tree("cat"), Tree("S", [Tree("dog", ["x"]), "N"])]
    decays, depths = {"cat": 0.9, "S": 0.2, LEAF: 0.3}, {"dog": 0.5, LEAF: 1.1}
    kernel = PartialTree(PerLabel(0.4, values=decays), PerLabel(0.6, values=depths))
    expected = twin(
        rows,
        columns,
        lambda label: decays.get(LEAF if label is None else label, 0.4),
        lambda label: depths.get(LEAF if label is None else label, 0.6),
    )
    np.testing.assert_allclose(kernel(rows, columns), expected, rtol=1e-12)
    cotangent = np.zeros((12, 12))
    cotangent[:6, 6:] = rng.standard_normal((6, 6))
    own = kernel.vjp(rows + columns)[1](cotangent)
    for path, slope in kernel.vjp(rows, columns)[1](cotangent[:6, 6:]).items():
        assert slope == pytest.approx(own[path], rel=1e-11, abs=1e-14)
    check_gradients(kernel, rows + columns)


def test_overflow_names_the_tree():
    with pytest.raises(KernelOverflowError, match=r"tree 1 with itself.*smaller decay"):
        PartialTree(1.0, 1.0)(["(A a)", "(S " + "(X x) " * 3000 + ")"])
