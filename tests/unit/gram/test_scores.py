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
