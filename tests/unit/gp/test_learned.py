"""The table of what was learned: numbers without effect, priors, learning that was off."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier import GPRegressor, Learned, PerLabel, fixed
from random_trees import random_trees

TREES = [tree for tree in random_trees(7, 60) if tree.children][:20]
Y = np.array([float(tree.size) for tree in TREES]) + np.random.default_rng(0).normal(size=20)


def test_numbers_without_effect_are_marked_and_not_counted():
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"] * 3
    y = np.random.default_rng(0).normal(size=12)
    # Nothing hangs below a pre-terminal but its word, so its frontier weight appears in no fragment.
    kernel = es.Normalized(es.SubsetTree(PerLabel(0.4), PerLabel(0.9)))
    for options in ({}, {"restarts": 3, "random_state": 0}, {"pilot": 6, "random_state": 0}):
        model = GPRegressor(kernel, **options).fit(trees, y)
        idle = [row.path for row in model.learned_ if not row.effect]
        assert idle == ["kernel.frontier[A]", "kernel.frontier[B]"]
        assert {row.path for row in model.learned_} >= set(idle)  # the rows stay
        lines = repr(model.learned_).splitlines()
        assert [line.split()[0] for line in lines if "no effect" in line] == idle
        assert all(row.bound in ("", "low", "high") for row in model.learned_)
        counted = es.compare([model]).rows[0].n_learned
        assert counted == len(model.learned_) - 2 == model.learned_.n_effective


def test_a_number_that_was_not_moved_yet_has_effect():
    model = GPRegressor(es.Normalized(es.SubsetTree()), max_iterations=0).fit(TREES, Y)
    assert all(row.effect for row in model.learned_)


def test_learning_that_was_off_is_called_so():
    off = GPRegressor(es.SubsetTree(0.1), learn=False).fit(TREES, Y)
    assert "learning was off" in repr(off.learned_) and "fixed" not in repr(off.learned_)
    nothing = GPRegressor(es.SubsetTree(fixed(0.1), fixed(1.0)), noise=fixed(0.1)).fit(TREES, Y)
    assert "every hyperparameter is fixed" in repr(nothing.learned_)


def test_priors_are_shown_where_there_are_any():
    prior = es.gp.LogNormal(0.3, 0.5)
    model = GPRegressor(es.Normalized(es.SubsetTree(Learned(0.3, prior=prior)))).fit(TREES, Y)
    lines = repr(model.learned_).splitlines()
    assert lines[0].split()[-2:] == ["unit", "prior"]
    assert lines[1].endswith("LogNormal(median=0.3, spread=0.5)")
    plain = GPRegressor(es.Normalized(es.SubsetTree())).fit(TREES, Y)
    assert repr(plain.learned_).splitlines()[0].split()[-1] == "unit"


@pytest.mark.parametrize(
    ("kernel", "noise", "path"),
    [
        (Learned(1.0, bounds=(0.1, 2.0)) * es.RBF(), 0.1, "kernel.scale"),
        (fixed(900.0) * es.RBF(fixed(1.0)), Learned(1e-3, bounds=(1e-4, 1e-2)), "noise"),
    ],
    ids=["scale", "noise"],
)
def test_a_variance_that_ends_at_its_upper_bound_warns(kernel, noise, path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 1))
    y = 30 * np.sin(x[:, 0]) + rng.normal(size=40)
    with pytest.warns(UserWarning, match=rf"{path} .*ended at its upper bound.*Learned"):
        GPRegressor(kernel, noise=noise, standardize=False).fit(x, y)
