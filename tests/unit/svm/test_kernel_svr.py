"""KernelSVR: the regression of scikit-learn on the full matrix, support rows alone, and what goes wrong."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVR

import espalier as es
from espalier import KernelSVR
from espalier.demo import generate

TREES = list(generate(120, seed=5)["tree"])
FOREST = es.Forest.from_trees(TREES)
SIZES = np.array([float(len(list(tree))) for tree in TREES])
KERNEL = es.Normalized(es.SubsetTree())
GRAM = KERNEL(FOREST)
TRAIN, TEST = slice(0, 80), slice(80, 120)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_equal_scikit_learn(C, epsilon, weighted):
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 80) if weighted else None
    ours = KernelSVR(KERNEL, C=C, epsilon=epsilon).fit(FOREST[TRAIN], SIZES[TRAIN], sample_weight=weight)
    theirs = SVR(kernel="precomputed", C=C, epsilon=epsilon).fit(GRAM[TRAIN, TRAIN], SIZES[TRAIN], weight)
    np.testing.assert_allclose(ours.predict(FOREST[TEST]), theirs.predict(GRAM[TEST, TRAIN]), rtol=1e-9)
    values = KERNEL(FOREST[TEST], ours.support_data_) @ ours.dual_coef_[0] + ours.intercept_[0]
    np.testing.assert_allclose(ours.predict(FOREST[TEST]), values, rtol=1e-12)
    assert ours.dual_coef_.shape == (1, len(ours.support_)) and ours.intercept_.shape == (1,)


@pytest.mark.parametrize("missing", [np.nan, np.inf])
def test_targets_of_rows_without_weight_may_be_missing(missing):
    sizes, weight = SIZES.copy(), np.ones(120)
    sizes[[0, 7]], weight[[0, 7]] = missing, 0.0
    rest = np.flatnonzero(weight)
    found = KernelSVR(KERNEL).fit(FOREST, sizes, weight).predict(FOREST)
    np.testing.assert_allclose(found, KernelSVR(KERNEL).fit(FOREST[rest], SIZES[rest]).predict(FOREST), rtol=1e-9)
    weight[7] = 1.0
    with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity): row 7"):
        KernelSVR(KERNEL).fit(FOREST, sizes, weight)


def test_learns_the_size_of_a_tree():
    model = KernelSVR(es.SubsetTree(decay=0.2, max_depth=1), C=10.0).fit(FOREST[TRAIN], SIZES[TRAIN])
    assert model.score(FOREST[TEST], SIZES[TEST]) > 0.9
    assert len(model.support_data_) == len(model.support_) < 80


def test_rows_within_epsilon_leave_no_support():
    model = KernelSVR(KERNEL, epsilon=1.0).fit(FOREST, np.full(120, 3.0))
    assert len(model.support_) == 0 and len(model.support_data_) == 0
    assert model.predict(FOREST[:3]).tolist() == [3.0, 3.0, 3.0]
    assert model.predict([]).shape == (0,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": -1}, "C must be a positive finite number, got -1"),
        ({"epsilon": -0.1}, "epsilon must be 0 or a positive finite number, got -0.1"),
        ({"epsilon": np.nan}, "epsilon must be 0 or a positive"),
    ],
)
def test_bad_settings_are_errors_of_fit(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelSVR(KERNEL, **settings).fit(FOREST, SIZES)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (SIZES[:-1], "X has 120 rows, but y has 119 targets"),
        ([np.nan, np.inf, *SIZES[2:]], r"Input y contains NaN: row 0 .*\(2 values are not finite\)"),
        ([np.inf, *SIZES[1:]], "Input y contains infinity: row 0"),
        (["a"] * 120, "y must hold real numbers, one per row, got text, 'a' in row 0. For classes use .*KernelSVC"),
        ([1.0, "1"] * 60, "y must hold real numbers, one per row, got text, '1.0' in row 0.*\\[float"),
        ([None] * 120, "Input y contains NaN"),
        (np.ones((120, 2)), "one label or number per row"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_targets_are_errors(y, message):
    with pytest.raises(ValueError, match=message):
        KernelSVR(KERNEL).fit(FOREST, y)
