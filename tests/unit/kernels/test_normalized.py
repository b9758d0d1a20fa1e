"""Normalized against its twin, its zeros and its warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from espalier.errors import InputError
from espalier.gp import GPRegressor
from espalier.kernels.algebra import Power
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import PerDimension, PerLabel, fixed
from espalier.kernels.normalized import Normalized
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.radial import Radial
from espalier.kernels.stationary import RBF
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.kernels.vectors import Linear, Polynomial
from espalier.svm import KernelSVR
from espalier.testing import check_gradients, check_kernel, rename_labels
from random_trees import random_trees
from reference.normalized import normalized
from reference.subset_tree import subset_tree

TREES = [tree for tree in random_trees(10, 20) if tree.children][:9]


def test_equals_the_twin():
    def inner(s, t):
        return subset_tree(s, t, lambda label: 0.3, lambda label: 0.6)

    expected = np.array([[normalized(inner, s, t) for t in TREES] for s in TREES])
    kernel = Normalized(SubsetTree(0.3, 0.6))
    np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(TREES[:3], TREES[3:]), expected[:3, 3:], rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [
        Normalized(SubsetTree()),
        Normalized(SubsetTree(PerLabel(0.4), PerLabel(1e-5))),
        Normalized(SubsetTree(0.4, fixed(0))),
        Normalized(Normalized(Subtree())),
        Normalized(Radial(SubsetTree(), 3.0)),
        2.0 * Normalized(SubsetTree() * Subtree() + SubsetTree(max_depth=1)),
    ],
    ids=repr,
)
def test_laws(kernel):
    check_kernel(kernel, TREES, rename=rename_labels)


def test_the_diagonal_is_exactly_one_and_has_no_gradient():
    kernel = Normalized(SubsetTree(0.37, 0.91))
    assert (kernel(TREES).diagonal() == 1.0).all()
    values, pullback = kernel.diagonal_vjp(TREES)
    assert (values == 1.0).all()
    assert pullback(np.ones(9)) == {"decay": 0.0, "frontier": 0.0}
    assert kernel.vjp(TREES)[1](np.diag(np.arange(9.0))) == {"decay": 0.0, "frontier": 0.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda k: k(["(x)", "(A a)", "(y)"]), "^2 of 3 items have no fragment of SubsetTree"),
        (lambda k: k.vjp(["(x)", "(A a)"])[0], "^1 of 2 items"),
        (lambda k: k(["(A a)"], ["(A a)", "(x)"]), "^1 of 2 items of the second input have no .*item 1:"),
        (lambda k: k(["(x)", "(A a)", "(y)"], ["(A a)"]), "^2 of 3 items of the first input have no .*item 0:"),
        (
            lambda k: k.vjp(["(x)"], ["(A a)", "(x)"])[0],
            "^1 of 1 items of the first input and 1 of 2 of the second have no .*item 0 of the first input:",
        ),
        (lambda k: k.diagonal(["(A a)", "(x)"]), "^1 of 2 items"),
        (lambda k: Radial(k)(["(x)"], ["(A a)", "(x)"]), "^1 of 1 items of the first input and 1 of 2 of"),
    ],
)
def test_items_without_fragments_give_one_counted_warning(call, message):
    kernel = Normalized(SubsetTree())
    with pytest.warns(UserWarning, match=message) as caught:
        values = call(kernel)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.isfinite(values).all()


LEARNERS = [
    GPRegressor(Normalized(SubsetTree()), noise=0.1),
    KernelSVR(Normalized(SubsetTree()), epsilon=0.0),
]


@pytest.mark.parametrize("model", LEARNERS, ids=repr)
@pytest.mark.parametrize("new", [["(x)"], ["(A b)", "(x)", "(y)"]])
def test_each_call_of_a_learner_warns_once_of_its_own_items(model, new):
    trees = ["(x)", "(A a)", "(A b)", "(S (A a) (A b))"]
    with pytest.warns(UserWarning, match="^1 of 4 items have no fragment") as caught:
        model.fit(trees, [1.0, 2.0, 3.0, 4.0])
    assert len(caught) == 1 and caught[0].filename == __file__
    for _ in range(2):
        options = {"return_std": True} if isinstance(model, GPRegressor) else {}
        with pytest.warns(UserWarning, match=f"^{len(new) // 2 + 1} of {len(new)} items of the second") as caught:
            model.predict(new, **options)
        assert len(caught) == 1 and caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict(["(A a)"], **options)


def test_items_without_fragments_are_zero_even_with_themselves():
    kernel = Normalized(SubsetTree())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert kernel(["(x)", "(A a)"]).tolist() == [[0.0, 0.0], [0.0, 1.0]]
        assert kernel(["(x)", "(A a)"], ["(x)"]).tolist() == [[0.0], [0.0]]
        assert kernel.diagonal(["(x)", "(A a)"]).tolist() == [0.0, 1.0]
        check_gradients(kernel, ["(x)", "(A a)", "(A (A a) b)", "(S (A a) (A (A a) b))"])
        check_kernel(kernel, ["(x)", "(A a)", "(A (A a) b)"])


def test_huge_values_do_not_overflow():
    trees = ["(S " + "(X x) " * 2000 + ")", "(S " + "(X x) " * 1999 + "(X y))"]
    values = Normalized(SubsetTree())(trees)
    assert values[0, 0] == values[1, 1] == 1.0
    assert 0 < values[0, 1] < 1


def test_one_pass_over_the_trees():
    calls = []

    class Counting(SubsetTree):
        def _native_plan(self, a, b, *, per_tree):
            calls.append((b is None, per_tree))
            return super()._native_plan(a, b, per_tree=per_tree)

    Normalized(Counting())(TREES)
    assert calls == [(True, False)]
    calls.clear()
    Normalized(Counting())(TREES[:2], TREES[2:])
    assert calls == [(False, False)]  # the diagonals of subset trees need no plan


class Indefinite(Kernel):
    def pair(self, x, y):
        return -1.0


def test_a_negative_diagonal_is_an_error():
    with pytest.raises(InputError, match="item 0 with itself is negative"):
        Normalized(Indefinite())(["a", "b"])


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (PartialTree(1e-200, 1e-200), "a larger decay and a larger depth_decay"),
        (PartialTree(fixed(1e-200), PerLabel(1e-200)), "a larger decay and a larger depth_decay"),
        (SubsetTree(1e-310), "a larger decay"),
        (SubsetTree(1e-290), "a larger decay"),
        (2.0 * SubsetTree(1e-200) * SubsetTree(1e-200), "a larger decay"),
        (Power(SubsetTree(1e-40), 9), "a larger decay"),
    ],
    ids=repr,
)
def test_fragments_that_weigh_too_little_are_told_from_none(kernel, names):
    trees = ["(S (NP (D the) (N cat)) (VP sleeps))", "(NP (D the) (N dog))"]
    message = f"2 of 2 items have fragments of .*weigh too little.*item 0 with itself is .*Use {names}"
    normalized_kernel = Normalized(kernel)
    for call in (
        normalized_kernel,
        normalized_kernel.vjp,
        normalized_kernel.diagonal,
        lambda trees: normalized_kernel(trees, trees),
        lambda trees: normalized_kernel.vjp(trees, trees),
    ):
        with pytest.raises(FloatingPointError, match=message):
            call(trees)


CUBE = Polynomial(degree=3, offset=fixed(0))


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix, list])
@pytest.mark.parametrize(
    ("kernel", "size"),
    [
        (Linear(), 1e-200),
        (Linear(), 1e-145),
        (Linear(PerDimension(1.0)), 1e-200),
        (2.0 * Linear(), 5e-324),
        (CUBE, 1e-110),
        (CUBE, 1e-200),
        (Power(Linear(), 20), 1e-10),
    ],
    ids=repr,
)
def test_vectors_that_are_too_small_are_told_from_zeros(kernel, size, form):
    vectors = form([[size, 0.0], [0.0, size]])
    message = "^2 of 2 items have numbers other than 0 for .*item 0 with itself is .*Scale the vectors up"
    normalized_kernel = Normalized(kernel)
    for call in (
        normalized_kernel,
        normalized_kernel.vjp,
        normalized_kernel.diagonal,
        lambda vectors: normalized_kernel(vectors, vectors),
    ):
        with pytest.raises(FloatingPointError, match=message):
            call(vectors)


def test_hyperparameters_that_make_vectors_weigh_too_little_are_named():
    with pytest.raises(FloatingPointError, match=r"2 of 2 items have numbers other than 0 for .*Use a larger variance"):
        Normalized(Linear(1e-300))([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(FloatingPointError, match=r"Use a larger scale"):
        Normalized(Polynomial(degree=3, offset=fixed(0), scale=1e-150))([[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix, list])
@pytest.mark.parametrize(
    "kernel", [Linear(), CUBE, 2.0 * Linear(), Linear(PerDimension(fixed(1.0), values=(1.0, 0.0)))]
)
def test_vectors_of_zeros_give_a_warning_of_their_own(kernel, form):
    with pytest.warns(UserWarning, match="^1 of 3 items have only zeros for .*the first is item 1: k") as caught:
        values = Normalized(kernel)(form([[2.0, 0.0], [0.0, 0.0], [1.0, 0.0]]))
    assert len(caught) == 1 and "fragment" not in str(caught[0].message)
    np.testing.assert_allclose(values, [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]], rtol=1e-15)


def test_products_of_trees_and_vectors_tell_small_vectors_from_zeros():
    kernel = Normalized(SubsetTree(on="t") * Linear(on="v"))
    trees = ["(A a)", "(B b)", "(x)"]
    with pytest.raises(
        FloatingPointError, match=r"1 of 3 items have fragments, and numbers .*item 1 .*Scale the vectors"
    ):
        kernel({"t": trees, "v": [1.0, 1e-200, 1.0]})
    with pytest.raises(FloatingPointError, match=r"Use a larger decay"):
        Normalized(SubsetTree(1e-300, on="t") * Linear(on="v"))({"t": trees, "v": [1.0, 1.0, 1.0]})
    with pytest.warns(UserWarning, match="2 of 3 items have no fragment, or only zeros, for"):
        assert kernel({"t": trees, "v": [1.0, 0.0, 1.0]}).diagonal().tolist() == [1.0, 0.0, 0.0]


def test_where_some_items_have_no_fragment_others_may_weigh_too_little():
    trees = ["(a)", "(S (NP (D the) (N cat)))", "(b)"]
    with pytest.raises(FloatingPointError, match=r"1 of 3 items have fragments.*item 1 with itself is 0"):
        Normalized(Power(SubsetTree(1e-200), 2))(trees)
    plan = Normalized(SubsetTree(0.4)).plan(trees)
    with pytest.warns(UserWarning, match="2 of 3 items have no fragment"):
        plan.matrix(Normalized(SubsetTree(0.4)))
    with pytest.raises(FloatingPointError, match="item 1 with itself is 2e-300"):
        plan.matrix(Normalized(SubsetTree(fixed(1e-300), fixed(1e-9))))


def test_small_values_that_can_be_divided_by_have_gradients():
    trees = ["(S (NP (D the) (N cat)) (VP sleeps))", "(NP (D the) (N dog))"]
    values, pull_back = Normalized(PartialTree(fixed(1e-100), 0.4)).vjp(trees)
    assert np.isfinite(values).all()
    _, pull_back_larger = Normalized(PartialTree(fixed(1e-9), 0.4)).vjp(trees)
    expected = pull_back_larger(np.ones((2, 2)))["depth_decay"]
    assert pull_back(np.ones((2, 2))) == pytest.approx({"depth_decay": expected}, rel=1e-6)
    values, pull_back = Normalized(PartialTree(1e-60, 1e-60)).vjp(trees)
    assert np.isfinite(values).all()
    with pytest.raises(FloatingPointError, match=r"^decay is 1e-60, too small for its gradient"):
        pull_back(np.ones((2, 2)))


ONE_LEAF_APART = ["(S (A a) (B b))", "(S (A a) (B c))"]
FIRST_WITH_SECOND = np.array([[0.0, 1.0], [0.0, 0.0]])


@pytest.mark.parametrize("second", [None, ONE_LEAF_APART])
@pytest.mark.parametrize("decay", [1e-6, 1e-9, 1e-11])
def test_gradients_of_small_numbers_have_three_digits(decay, second):
    _, pull_back = Normalized(SubsetTree(decay, frontier=fixed(1.0))).vjp(ONE_LEAF_APART, second)
    assert pull_back(FIRST_WITH_SECOND)["decay"] == pytest.approx(-1 / 9, rel=1e-3)


@pytest.mark.parametrize("second", [None, ONE_LEAF_APART])
@pytest.mark.parametrize("decay", [1e-13, 2.0**-47, 1e-16, 1e-20, 1e-100])
def test_a_gradient_that_rounding_has_eaten_is_an_error(decay, second):
    _, pull_back = Normalized(SubsetTree(decay, frontier=fixed(1.0))).vjp(ONE_LEAF_APART, second)
    with pytest.raises(FloatingPointError, match=r"^decay is .*, too small for its gradient.*Use a larger decay\.$"):
        pull_back(FIRST_WITH_SECOND)
    assert abs(pull_back(np.zeros((2, 2)))["decay"]) == 0


def test_the_number_of_a_label_whose_gradient_rounding_has_eaten_is_named():
    kernel = Normalized(SubsetTree(PerLabel(0.4, values={"B": 1e-20}), frontier=fixed(1.0)))
    _, pull_back = kernel.vjp(["(S (A a) (B b))", "(S (A c) (B b))"])
    with pytest.raises(FloatingPointError, match=r"^decay\[B\] is 1e-20, too small"):
        pull_back(FIRST_WITH_SECOND)


def test_the_constant_diagonal_of_a_matrix_has_no_gradient_to_lose():
    _, pull_back = Normalized(SubsetTree(1e-20, frontier=fixed(1.0))).vjp(ONE_LEAF_APART)
    assert abs(pull_back(np.eye(2))["decay"]) == 0


def test_a_small_length_has_the_gradient_that_is_large():
    kernel = Normalized(RBF(lengthscale=1e-13))
    _, pull_back = kernel.vjp(np.array([[0.0], [1e-13]]))
    assert pull_back(FIRST_WITH_SECOND)["lengthscale"] == pytest.approx(np.exp(-0.5) / 1e-13, rel=1e-6)
