"""Scores of learners: what is wrong with targets is said as ``fit`` says it."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es

X = np.arange(6.0)[:, None]
NUMBERS, LABELS = 2.0 * np.arange(6.0), np.array(["a", "b"] * 3)
TREES = ["(NP (D the) (N cat))", "(NP (D a) (N dog))", "(VP (V runs))", "(VP (V runs) (R fast))"] * 2
KINDS = np.array(["noun", "noun", "verb", "verb"] * 2)

FITTED = {
    "KernelSVR": lambda: (es.KernelSVR(es.RBF()).fit(X, NUMBERS), X, NUMBERS),
    "GPRegressor": lambda: (es.GPRegressor(es.RBF(), learn=False).fit(X, NUMBERS), X, NUMBERS),
    "KernelSVC": lambda: (es.KernelSVC(es.RBF()).fit(X, LABELS), X, LABELS),
    "LinearizedTreeClassifier": lambda: (es.LinearizedTreeClassifier(n_fragments=10).fit(TREES, KINDS), TREES, KINDS),
    "KernelGridSearch": lambda: (es.KernelGridSearch(es.KernelSVC(es.RBF()), {}, cv=2).fit(X, LABELS), X, LABELS),
}


@pytest.mark.parametrize("name", FITTED)
def test_masked_targets_are_refused_by_score(name):
    model, rows, y = FITTED[name]()
    masked = np.ma.masked_array(y, mask=[row == 2 for row in range(len(y))])
    with pytest.raises(es.InputError, match=r"y is masked in 1 rows, the first is row 2"):
        model.score(rows, masked)
    assert model.score(rows, np.ma.masked_array(y)) == model.score(rows, y)


@pytest.mark.parametrize("name", ["KernelSVR", "GPRegressor", "KernelSVC", "LinearizedTreeClassifier"])
def test_masked_weights_are_refused_by_score(name):
    model, rows, y = FITTED[name]()
    weight = np.ma.masked_array(np.ones(len(y)), mask=[row == 1 for row in range(len(y))])
    with pytest.raises(es.InputError, match=r"sample_weight is masked in 1 rows, the first is row 1"):
        model.score(rows, y, weight)


def gaps(y, missing):
    """The targets with a gap in row 2, and weights that leave that row out."""
    weight = np.ones(len(y))
    weight[2] = 0.0
    if missing == "masked":
        return np.ma.masked_array(y, mask=weight == 0), weight
    listed = y.tolist()
    listed[2] = missing
    return listed, weight


@pytest.mark.parametrize("missing", [None, np.nan, "masked"])
@pytest.mark.parametrize("name", ["KernelSVR", "GPRegressor", "KernelSVC", "LinearizedTreeClassifier"])
def test_targets_of_rows_without_weight_may_be_missing(name, missing):
    model, rows, y = FITTED[name]()
    y_with_gaps, weight = gaps(y, missing)
    assert model.score(rows, y_with_gaps, weight) == model.score(rows, y, weight)
    with pytest.raises(es.InputError, match=r"[Rr]ow 2.* (Drop|fill)"):
        model.score(rows, y_with_gaps)


@pytest.mark.parametrize("name", ["KernelSVR", "GPRegressor"])
def test_labels_as_targets_of_a_regression_name_the_classifiers(name):
    model, rows, y = FITTED[name]()
    with pytest.raises(es.InputError, match=r"got text, 'a' in row 0. For classes use a classifier, KernelSVC"):
        model.score(rows, ["a"] * len(y))
    with pytest.raises(es.InputError, match=r"got text, 'a' in row 0. For classes use a classifier, KernelSVC"):
        model.fit(rows, ["a"] * len(y))


def test_labels_as_observed_targets_name_the_classifiers():
    model, rows, y = FITTED["GPRegressor"]()
    with pytest.raises(es.InputError, match=r"got text, 'a' in row 1. For classes use a classifier, KernelSVC"):
        model.log_predictive_density(rows, [1.0, "a", *y[2:]])


def test_a_column_of_targets_is_scored_without_a_warning():
    for name in ("KernelSVR", "GPRegressor", "KernelSVC"):
        model, rows, y = FITTED[name]()
        assert model.score(rows, y[:, None]) == model.score(rows, y)


def test_a_score_needs_a_target_for_each_row():
    for name in ("KernelSVR", "GPRegressor", "KernelSVC", "LinearizedTreeClassifier"):
        model, rows, y = FITTED[name]()
        with pytest.raises(es.InputError, match=rf"X has {len(y)} rows, but y has 3 targets"):
            model.score(rows, y[:3])
        with pytest.raises(es.InputError, match=r"sample_weight must hold real numbers"):
            model.score(rows, y, ["much"] * len(y))
