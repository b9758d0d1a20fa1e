"""Sums, products, multiples, powers and constants: values, paths, printing, errors."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.errors import InputError, KernelOverflowError
from espalier.kernels.algebra import Constant, Power, Product, Scaled, Sum
from espalier.kernels.hyperparameters import Learned, PerDimension, PerLabel, fixed
from espalier.kernels.normalized import Normalized
from espalier.kernels.radial import Radial
from espalier.kernels.stationary import RBF, Matern
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.kernels.vectors import Linear, Polynomial
from espalier.testing import check_gradients, check_kernel, rename_labels
from random_trees import random_trees

TALL = [tree for tree in random_trees(8, 12) if tree.children][:6]
TREES = [*TALL[:5], "(a)"]
TABLE = {
    "source": TALL,
    "target": TALL[::-1],
    "features": np.random.default_rng(9).standard_normal((6, 2)),
}
A, B, C = SubsetTree(), Subtree(), RBF()
NAMES = {
    kind.__name__: kind
    for kind in [
        Constant, Learned, Linear, Matern, Normalized, PerDimension, PerLabel, Polynomial, Power, Product,
        RBF, Radial, Scaled, SubsetTree, Subtree, Sum,
    ]
} | {"fixed": fixed}  # fmt: skip

KERNELS = [
    SubsetTree() + Subtree(),
    2.0 * SubsetTree() + Constant(3.0),
    SubsetTree(PerLabel(0.4)) * Subtree() * Constant(0.5),
    (SubsetTree() + Subtree()) * Subtree(0.7),
    1.5 * (0.5 * SubsetTree()),
    fixed(2.0) * SubsetTree(fixed(0.4), fixed(1.0)) * Subtree(),
    Learned(2.0, bounds=(1, 3)) * (SubsetTree() * Subtree()),
    Power(SubsetTree(PerLabel(0.4), 1e-4), 3),
    Power(SubsetTree() + Constant(), 1.5),
    Power(2.0 * Subtree(), 1),
    Scaled(Sum((Subtree(),)), fixed(0)) + Product((SubsetTree(),)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_laws(kernel):
    # A power that is no integer need not be positive semi-definite; this one is, on these trees.
    check_kernel(kernel, TREES, rename=rename_labels)


@pytest.mark.parametrize(
    "kernel",
    [
        SubsetTree(on="source") * SubsetTree(on="target") + RBF(on="features"),
        Normalized(SubsetTree(on="source") * SubsetTree(on="target") + RBF(on="features")),
        Normalized(SubsetTree(PerLabel(0.4), on="source")) * Normalized(Subtree(on="target"))
        + 0.5 * Matern(PerDimension(1.2), on="features"),
        Radial(SubsetTree(0.2, on="source") + Linear(on="features"), width=2.0) + Constant(),
        Power(Normalized(SubsetTree(on="source")), 2) * Polynomial(on="features"),
    ],
    ids=repr,
)
def test_laws_on_mixed_columns(kernel):
    check_kernel(kernel, TABLE, rename=rename_labels)


def test_values_are_the_arithmetic_of_matrices():
    a, b = A(TREES), B(TREES)
    np.testing.assert_array_equal((A + B)(TREES), a + b)
    np.testing.assert_array_equal((A * B)(TREES), a * b)
    np.testing.assert_array_equal((2.5 * A)(TREES), 2.5 * a)
    np.testing.assert_array_equal((A * 2.5)(TREES), 2.5 * a)
    np.testing.assert_allclose(Power(A, 3)(TREES), a**3, rtol=1e-14)
    np.testing.assert_array_equal(Constant(2.0)(TREES, TREES[:2]), np.full((6, 2), 2.0))


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (A + 2.0 * C, "SubsetTree() + 2.0 * RBF()"),
        ((A + B) * C, "(SubsetTree() + Subtree()) * RBF()"),
        (A * (B + C), "SubsetTree() * (Subtree() + RBF())"),
        (2.0 * A * B, "2.0 * SubsetTree() * Subtree()"),
        (2.0 * (A * B), "2.0 * (SubsetTree() * Subtree())"),
        (A * (2.0 * B), "SubsetTree() * (2.0 * Subtree())"),
        (3 * (2.0 * A), "3 * (2.0 * SubsetTree())"),
        (np.float64(2.0) * A, "2.0 * SubsetTree()"),
        (2.0 * (A + B), "2.0 * (SubsetTree() + Subtree())"),
        (fixed(2.0) * A * B, "Scaled(SubsetTree(), scale=fixed(2.0)) * Subtree()"),
        (B * (Learned(2.0) * A), "Subtree() * Scaled(SubsetTree(), scale=Learned(2.0))"),
        (Sum((A,)) * B, "Sum((SubsetTree(),)) * Subtree()"),
        (2.0 * Product((A,)), "2.0 * Product((SubsetTree(),))"),
        (Power(A + B, 2), "Power(SubsetTree() + Subtree(), 2)"),
        (
            Normalized(A * B) + Radial(C, 2.0),
            "Normalized(SubsetTree() * Subtree()) + Radial(RBF(), width=2.0)",
        ),
        (Radial(A, fixed(1.0)), "Radial(SubsetTree(), width=fixed(1.0))"),
    ],
)
def test_prints_as_the_expression_that_makes_it(kernel, text):
    assert repr(kernel) == text
    again = eval(text, NAMES)
    assert again == kernel and hash(again) == hash(kernel)


def test_sums_and_products_are_flattened():
    assert (A + B) + C == A + (B + C) == Sum((A, B, C))
    assert (A * B) * C == A * (B * C) == Product((A, B, C))
    assert len({(A + B) + C, A + (B + C)}) == 1


def test_paths_through_any_nesting():
    kernel = SubsetTree(PerLabel(0.4)) * (2.0 * RBF()) + Normalized(3.0 * Polynomial(offset=fixed(1.0)))
    assert list(kernel.parameters()) == [
        "terms[0].factors[0].decay",
        "terms[0].factors[0].frontier",
        "terms[0].factors[1].scale",
        "terms[0].factors[1].lengthscale",
        "terms[1].scale",
        "terms[1].kernel.scale",
    ]
    changed = kernel.with_parameters({"terms[1].kernel.scale": 7.0, "terms[0].factors[1].scale": 5.0})
    assert changed == SubsetTree(PerLabel(0.4)) * (5.0 * RBF()) + Normalized(
        3.0 * Polynomial(offset=fixed(1.0), scale=7.0)
    )
    assert kernel.bounds().keys() == kernel.parameters().keys()
    assert kernel.bounds()["terms[0].factors[0].decay"] == (1e-6, 1.0)


def test_a_clash_of_names_does_not_depend_on_what_is_fixed():
    assert list((fixed(2.0) * Polynomial()).parameters()) == ["kernel.offset", "kernel.scale"]
    assert list((2.0 * (fixed(3.0) * A)).parameters()) == ["scale", "kernel.decay", "kernel.frontier"]
    assert list(Radial(Radial(A)).parameters()) == [
        "width",
        "kernel.width",
        "kernel.decay",
        "kernel.frontier",
    ]


def test_binding_reaches_labels_and_dimensions_inside():
    kernel = SubsetTree(PerLabel(0.4), on="t") + Normalized(2.0 * RBF(PerDimension(1.0), on="x"))
    table = {"t": ["(NP (D the) (N cat))"], "x": [[1.0, 2.0]]}
    bound = kernel.plan(table).bind(kernel)
    assert list(bound.parameters()) == [
        "terms[0].decay[D]",
        "terms[0].decay[N]",
        "terms[0].decay[NP]",
        "terms[0].frontier",
        "terms[1].scale",
        "terms[1].lengthscale[0]",
        "terms[1].lengthscale[1]",
    ]
    changed = bound.with_parameters({"terms[0].decay[NP]": 0.1, "terms[1].lengthscale[1]": 3.0})
    assert changed.parameters()["terms[0].decay[NP]"] == 0.1
    assert changed.terms[1].kernel.kernel.lengthscale.values == (1.0, 3.0)


def test_a_normalised_cross_matrix_binds_labels_of_either_side():
    kernel = Normalized(SubsetTree(PerLabel(0.4)))
    plan = kernel.plan(["(A (C c))", "(C c)"], ["(B (C c))"])
    assert list(plan.bind(kernel).parameters()) == ["decay[A]", "decay[B]", "decay[C]", "frontier"]
    check_gradients(kernel, ["(A (C c))", "(B (C c))", "(C c)"])


def test_what_is_fixed_has_no_gradient():
    kernel = fixed(2.0) * SubsetTree(fixed(0.3)) + Constant(fixed(1.0)) * Subtree(fixed(0.2))
    assert list(kernel.vjp(TREES)[1](np.ones((6, 6)))) == ["terms[0].frontier"]


def test_the_values_of_vjp_belong_to_the_caller():
    for kernel in [*KERNELS, Normalized(Subtree() + Constant()), Radial(A)]:
        values, pullback = kernel.vjp(TREES)
        before = pullback(np.eye(6))
        values[...] = np.nan
        assert pullback(np.eye(6)) == before


@pytest.mark.parametrize(
    "kernel", [Power(A, 100), A * A * A * A, 1e200 * (1e200 * A), Constant(1e308) + Constant(1e308)]
)
def test_overflow_names_the_place(kernel):
    trees = ["(S " + "(X x) " * 700 + ")", "(A a)"]
    with pytest.raises(KernelOverflowError, match="item 0 with itself"):
        kernel(trees)
    with pytest.raises(KernelOverflowError, match="item 0 with itself"):
        kernel.vjp(trees)
    with pytest.raises(KernelOverflowError, match="item 0 with itself"):
        kernel.diagonal(trees)


def test_a_root_of_a_negative_value_is_an_error():
    kernel = Power(Linear(), 0.5)
    assert kernel([1.0, 4.0])[0, 1] == 2.0
    with pytest.raises(InputError, match=r"cannot be raised to 0\.5.*-3 at \(0, 1\)"):
        kernel([1.0, -3.0])


def test_a_root_of_zero_has_gradient_zero():
    gradient = Power(Subtree(), 0.5).vjp(["(A a)", "(B b)"])[1](np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert gradient == {"decay": 0.0}


def test_what_is_no_kernel_or_number_is_an_error():
    for make in (lambda: A + 1, lambda: "2" * A, lambda: A * None, lambda: np.ones(2) * A):
        with pytest.raises(TypeError):
            make()
    for make in (lambda: Sum((A, 1)), lambda: Normalized(2.0), lambda: Sum(A), lambda: True * A):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(TypeError, match="scale must be one number"):
        Scaled(A, PerLabel(0.4))
    with pytest.raises(TypeError, match="exponent"):
        Power(A, "2")
    for bad in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="exponent must be a positive number"):
            Power(A, bad)
        with pytest.raises(ValueError, match="must be positive"):
            Scaled(A, bad)
        with pytest.raises(ValueError, match="must be positive"):
            Constant(bad)
    with pytest.raises(ValueError, match="at least one"):
        Product(())


def test_progress_covers_all_parts_once():
    seen: list[float] = []
    (A + B * Normalized(A))(TALL, TALL, progress=lambda told: seen.append(told.fraction))
    assert seen == sorted(seen) and all(0 <= fraction <= 1 for fraction in seen)
