"""SubsetTree against its twin, at its edges, and on awkward trees."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.corpus.forest import Forest
from espalier.errors import InputError, KernelOverflowError, VocabularyMismatchError
from espalier.kernels.hyperparameters import LEAF, Learned, PerLabel, fixed
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.structures import Tree
from espalier.testing import check_gradients, check_kernel, rename_labels
from random_trees import random_trees
from reference.subset_tree import subset_tree

TREES = random_trees(1, 14)
FEW = random_trees(2, 7, max_size=11)
FRONTIERS = [1e-6, 1e-4, 5e-4, 2e-3, 0.3, 1.0, 2.0]


def twin(a, b, decay=0.4, frontier=1.0, **options):
    def value(setting):
        return setting if callable(setting) else lambda label: setting

    return np.array([[subset_tree(s, t, value(decay), value(frontier), **options) for t in b] for s in a])


@pytest.mark.parametrize("frontier", FRONTIERS)
@pytest.mark.parametrize("decay", [0.05, 0.4, 1.0, 1.7])
@pytest.mark.parametrize("max_depth", [None, 1, 2, 3])
def test_equals_the_listing_of_fragments(decay, frontier, max_depth):
    kernel = SubsetTree(decay, frontier, max_depth=max_depth)
    expected = twin(TREES, TREES, decay, frontier, max_depth=max_depth)
    np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose(kernel(TREES[:5], TREES[5:]), expected[:5, 5:], rtol=1e-12, atol=0)
    np.testing.assert_allclose(kernel.diagonal(TREES), expected.diagonal(), rtol=1e-12, atol=0)


@pytest.mark.parametrize("max_depth", [None, 1, 2])
@pytest.mark.parametrize("lone_leaves", [False, True])
def test_frontier_zero_and_lone_leaves(max_depth, lone_leaves):
    for setting, frontier in [(fixed(0), 0.0), (1.0, 1.0)]:
        kernel = SubsetTree(0.6, setting, max_depth=max_depth, lone_leaves=lone_leaves)
        expected = twin(TREES, TREES, 0.6, frontier, max_depth=max_depth, lone_leaves=lone_leaves)
        np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("max_depth", [None, 2])
def test_one_value_per_label(max_depth):
    decays = {"S": 0.9, "NP": 0.2, "N": 0.7, LEAF: 0.3}
    frontiers = {"S": 0.5, "VP": 1.5, "NP": 1e-5}
    kernel = SubsetTree(
        PerLabel(0.4, values=decays), PerLabel(0.8, values=frontiers), max_depth=max_depth, lone_leaves=True
    )
    expected = twin(
        TREES,
        TREES,
        lambda label: decays.get(LEAF if label is None else label, 0.4),
        lambda label: frontiers.get(label, 0.8),
        max_depth=max_depth,
        lone_leaves=True,
    )
    np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-12, atol=0)


def test_grouped_labels_share_a_value():
    kernel = SubsetTree(PerLabel(0.4, groups={"top": ["S", "VP"]}, values={"top": 0.9}))
    expected = twin(TREES, TREES, lambda label: 0.9 if label in ("S", "VP") else 0.4)
    np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-12)
    bound = kernel.plan(TREES).bind(kernel)
    assert set(bound.parameters()) == {"decay[top]", "decay[NP]", "decay[N]", "frontier"}
    check_gradients(kernel, FEW)


@pytest.mark.parametrize("frontier", [*FRONTIERS, fixed(0), fixed(1.0)])
@pytest.mark.parametrize("options", [{}, {"max_depth": 2}, {"lone_leaves": True}])
def test_gradients_at_every_edge(frontier, options):
    for decay in (0.4, 1.3, PerLabel(0.4)):
        per_label = isinstance(decay, PerLabel) and not isinstance(frontier, float)
        check_gradients(SubsetTree(decay, frontier, **options), FEW)
        if not per_label and isinstance(frontier, float):
            check_gradients(SubsetTree(decay, PerLabel(frontier), **options), FEW)


def test_gradients_where_some_frontiers_are_zero_and_others_not():
    # A product with a factor of 0 cannot be divided by it.
    values = {"S": 0.0, "NP": 0.5, "VP": 0.0, "N": 1.0}
    kernel = SubsetTree(0.7, PerLabel(fixed(1.0), values=values))
    expected = twin(TREES, TREES, 0.7, lambda label: values[label])
    np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-12)
    check_gradients(kernel, FEW)


@pytest.mark.parametrize(
    "kernel",
    [
        SubsetTree(),
        SubsetTree(PerLabel(0.4), PerLabel(0.5)),
        SubsetTree(Learned(0.3, bounds=(0.1, 0.9)), 1e-4, max_depth=3, lone_leaves=True),
        SubsetTree(0.5, fixed(0)),
        SubsetTree(0.5, fixed(0), max_depth=2),
    ],
    ids=repr,
)
def test_laws(kernel):
    check_kernel(kernel, FEW, rename=rename_labels)


def test_one_label_only():
    trees = ["(A (A a) (A a))", "(A (A a))", "(A (A (A a) (A a)) (A a))", "(a)", "(A a)"]
    parsed = [Tree.from_brackets(text) for text in trees]
    for kernel in (SubsetTree(), SubsetTree(PerLabel(0.3)), SubsetTree(lone_leaves=True, frontier=1e-6)):
        check_kernel(kernel, trees)
    np.testing.assert_allclose(SubsetTree()(trees), twin(parsed, parsed), rtol=1e-12)


def test_identical_trees():
    values, pullback = SubsetTree().vjp([TREES[0]] * 5)
    assert np.ptp(values) == 0
    once, pull_once = SubsetTree().vjp([TREES[0]])
    assert values[0, 0] == pytest.approx(once[0, 0], rel=1e-14)
    gradient, expected = pullback(np.ones((5, 5))), pull_once(np.ones((1, 1)))
    assert gradient == pytest.approx({path: 25 * value for path, value in expected.items()})


def test_every_form_of_a_tree_gives_the_same_matrix():
    nltk = pytest.importorskip("nltk")
    trees = [tree for tree in TREES if tree.children]
    texts = [tree.to_brackets() for tree in trees]
    expected = SubsetTree()(texts)
    for form in (trees, [nltk.Tree.fromstring(t) for t in texts], Forest.from_brackets(texts), tuple(texts)):
        assert np.array_equal(SubsetTree()(form), expected)
    mixed = [trees[0], texts[1], nltk.Tree.fromstring(texts[2])]
    assert np.array_equal(SubsetTree()(mixed), expected[:3, :3])
    assert SubsetTree().value(trees[0], texts[1]) == expected[0, 1]


def test_a_missing_tree_is_an_error_that_names_its_row():
    with pytest.raises(InputError, match="Row 1"):
        SubsetTree()(["(A a)", None])
    with pytest.raises(InputError, match="Row 1"):
        SubsetTree(on="t")({"t": ["(A a)", None]})


def test_a_missing_tree_may_count_as_empty():
    forest = Forest.from_trees(["(A a)", None], missing="empty")
    assert SubsetTree(1.0)(forest).tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_two_vocabularies_do_not_mix():
    a, b = Forest.from_brackets(["(A a)"]), Forest.from_brackets(["(B b)"])
    with pytest.raises(VocabularyMismatchError):
        SubsetTree()(a, b)


def test_a_second_input_shares_the_vocabulary_without_changing_it():
    forest = Forest.from_brackets(["(A a)"])
    assert SubsetTree(1.0)(forest, ["(A a)", "(B b)"]).tolist() == [[1.0, 0.0]]
    assert len(forest.vocabulary) == 2


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_hyperparameter_that_is_not_positive_is_an_error(value):
    for name in ("decay", "frontier"):
        with pytest.raises(ValueError, match=f"{name} must be positive"):
            SubsetTree(**{name: value})
        with pytest.raises(ValueError, match=f"{name} must be positive"):
            SubsetTree(**{name: PerLabel(0.4, values={"NP": value})})
    with pytest.raises(ValueError, match="positive"):
        SubsetTree().with_parameters({"decay": value})


@pytest.mark.parametrize("value", ["0.4", None, True])
def test_a_hyperparameter_that_is_no_number_is_an_error(value):
    with pytest.raises(TypeError, match="decay must be a number"):
        SubsetTree(decay=value)


@pytest.mark.parametrize("max_depth", [0, -1, 1.5, True])
def test_a_depth_that_is_no_positive_integer_is_an_error(max_depth):
    with pytest.raises(ValueError, match="max_depth must be a positive integer"):
        SubsetTree(max_depth=max_depth)


def test_overflow_names_the_tree():
    trees = ["(A a)", "(S " + "(X x) " * 3000 + ")"]
    with pytest.raises(KernelOverflowError, match=r"tree 1 with itself.*smaller decay"):
        SubsetTree()(trees)
    with pytest.raises(KernelOverflowError, match="tree 1 with itself"):
        SubsetTree().diagonal(trees)


def test_an_unknown_path_suggests_the_nearest():
    with pytest.raises(KeyError, match="Did you mean 'decay'"):
        SubsetTree().with_parameters({"decoy": 0.1})
    with pytest.raises(KeyError, match="not a learned hyperparameter"):
        SubsetTree(fixed(0.4)).with_parameters({"decay": 0.1})


def test_a_cotangent_of_another_shape_is_an_error():
    with pytest.raises(ValueError, match="gradient weights must have the matrix's shape"):
        SubsetTree().vjp(["(A a)"])[1](np.ones((2, 2)))


# The diagonal without a plan


CHAIN = "(X " * 400 + "x" + ")" * 400


@pytest.mark.parametrize(
    "kernel",
    [
        SubsetTree(0.7),
        SubsetTree(1.3, 0.4),
        SubsetTree(PerLabel(0.5, values={"S": 1.2}), PerLabel(0.8, values={"NP": 1e-9}), lone_leaves=True),
        SubsetTree(PerLabel(0.5, values={"<leaf>": 3.0}), lone_leaves=True),
        SubsetTree(0.7, fixed(0)),
        Subtree(0.7, lone_leaves=True),
    ],
)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_diagonal_is_that_of_the_matrix(kernel, n_threads):
    trees = [*random_trees(11, 120, max_size=40, depth=7), "(x)", "(S (S (S a) b) (S (S a) c))"]
    forest = Forest.from_trees(trees)
    expected = kernel(forest).diagonal()
    np.testing.assert_allclose(kernel.diagonal(forest, n_threads=n_threads), expected, rtol=1e-12)
    some = forest[[3, 0, 3]]  # a selection stores more subtrees than its own
    np.testing.assert_allclose(kernel.diagonal(some, n_threads=n_threads), expected[[3, 0, 3]], rtol=1e-12)


def test_the_diagonal_of_trees_with_very_many_pairs_is_planned():
    kernel = SubsetTree(0.5)
    whole = kernel.diagonal([CHAIN, "(X x)"])
    np.testing.assert_allclose(whole, kernel([CHAIN, "(X x)"]).diagonal(), rtol=1e-12)
    # 80,000 pairs do not fit the direct way, but they fit a plan.
    np.testing.assert_allclose(kernel.diagonal([CHAIN, "(X x)"], memory="3 MiB"), whole, rtol=1e-12)


def test_a_diagonal_that_overflows_is_one_clear_error():
    wide = "(S " + "(X (Y y)) " * 2000 + ")"
    with pytest.raises(KernelOverflowError, match="smaller decay"):
        SubsetTree(1.0).diagonal(["(A a)", wide])
