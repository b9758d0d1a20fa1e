"""Radial against its twin."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.gp import GPRegressor
from espalier.kernels.hyperparameters import PerLabel, fixed
from espalier.kernels.normalized import Normalized
from espalier.kernels.radial import Radial
from espalier.kernels.stationary import RBF
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.kernels.vectors import Linear
from espalier.testing import check_kernel, rename_labels
from random_trees import random_trees
from reference.radial import radial
from reference.subset_tree import subset_tree

TREES = [tree for tree in random_trees(11, 16, max_size=10) if tree.children][:8]


def test_equals_the_twin():
    def inner(s, t):
        return subset_tree(s, t, lambda label: 0.3, lambda label: 0.6)

    expected = np.array([[radial(inner, s, t, 0.7) for t in TREES] for s in TREES])
    kernel = Radial(SubsetTree(0.3, 0.6), width=0.7)
    np.testing.assert_allclose(kernel(TREES), expected, rtol=1e-11)
    np.testing.assert_allclose(kernel(TREES[:3], TREES[3:]), expected[:3, 3:], rtol=1e-11)


@pytest.mark.parametrize(
    "kernel",
    [
        Radial(SubsetTree(0.3), 2.0),
        Radial(SubsetTree(PerLabel(0.3)), fixed(1.5)),
        Radial(SubsetTree(fixed(0.3), fixed(1.0)), 1.5),
        Radial(Normalized(SubsetTree(PerLabel(0.3)))),
        Radial(Subtree() + 0.5 * SubsetTree(0.2)),
    ],
    ids=repr,
)
def test_laws(kernel):
    check_kernel(kernel, TREES, rename=rename_labels)


def test_of_dot_products_is_the_gaussian():
    vectors = np.random.default_rng(12).standard_normal((5, 3))
    np.testing.assert_allclose(Radial(Linear(), 0.8)(vectors), RBF(0.8)(vectors), rtol=1e-12)


def test_equal_items_are_at_distance_zero():
    values = Radial(SubsetTree(0.37, 0.91), width=1e-4)([TREES[0]] * 3)
    assert (values == 1.0).all()


def test_far_items_do_not_overflow():
    trees = ["(S " + "(X x) " * 2000 + ")", "(A a)"]
    values, pullback = Radial(SubsetTree()).vjp(trees)
    assert values.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert not any(pullback(np.ones((2, 2))).values())


def test_a_width_that_is_not_positive_is_an_error():
    for width in (0.0, -1.0, float("nan"), fixed(0)):
        with pytest.raises(ValueError, match="width must be positive"):
            Radial(SubsetTree(), width)


# So many fragments that kernel values are above 1e17, as those of long sentences with a decay of 1 are.
HUGE = "(S " + "(X x) " * 57 + ")"
LARGER = "(S " + "(X x) " * 60 + ")"


def test_distances_that_rounding_decides_are_refused():
    kernel = Radial(SubsetTree(1.0))
    assert SubsetTree(1.0).value(HUGE, HUGE) > 1e17
    message = "cannot compute the distance of items 0 and 0.*Use Radial.Normalized.*a larger width"
    for call in (kernel, kernel.vjp):
        with pytest.raises(FloatingPointError, match=message):
            call([HUGE, LARGER], [HUGE])
    with pytest.raises(FloatingPointError, match=message):
        kernel.value(HUGE, HUGE)
    with pytest.raises(FloatingPointError, match="items 0 and 2"):
        kernel([HUGE, LARGER, HUGE])


def test_distances_beyond_rounding_are_what_they_are():
    kernel = Radial(SubsetTree(1.0))
    assert kernel([HUGE, LARGER]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert kernel([HUGE], [LARGER]).tolist() == [[0.0]]
    assert kernel.diagonal([HUGE]).tolist() == [1.0]
    wide = Radial(SubsetTree(1.0), width=1e6)
    assert wide.value(HUGE, HUGE) == pytest.approx(1.0, abs=1e-9)
    direction = Radial(Normalized(SubsetTree(1.0)), width=0.1)
    assert direction.value(HUGE, HUGE) == pytest.approx(1.0, abs=1e-9)


def test_a_process_does_not_predict_its_mean_at_a_training_tree_in_silence():
    model = GPRegressor(Radial(SubsetTree(fixed(1.0), fixed(1.0)), fixed(1.0)), noise=1e-3, learn=False)
    model.fit([HUGE, LARGER, "(A a)"], [1.0, 2.0, 5.0])
    with pytest.raises(FloatingPointError, match="Radial cannot compute the distance"):
        model.predict([HUGE])
    assert model.predict(["(A a)"])[0] == pytest.approx(5.0, abs=0.01)
