"""Probabilities of KernelSVC: folds, sigmoids, and what they need."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from espalier import KernelSVC
from espalier.svm.calibration import fit_sigmoid, sigmoid
from machines import BINARY, FOREST, GRAM, KERNEL, LABELS, TEST, TRAIN, close


@pytest.mark.parametrize("strategy", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("labels", [BINARY, LABELS], ids=["two", "four"])
def test_probabilities_equal_those_of_a_calibrated_classifier(strategy, labels):
    model = KernelSVC(KERNEL, C=5.0, strategy=strategy, probability=True).fit(FOREST[TRAIN], labels[TRAIN])
    inner = SVC(kernel="precomputed", C=5.0)
    if strategy == "one-vs-rest" and len(np.unique(labels)) > 2:
        inner = OneVsRestClassifier(inner)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    theirs = CalibratedClassifierCV(inner, ensemble=False, cv=folds).fit(GRAM[TRAIN, TRAIN], labels[TRAIN])
    ours = model.predict_proba(FOREST[TEST])
    np.testing.assert_allclose(ours, theirs.predict_proba(GRAM[TEST, TRAIN]), atol=2e-4)
    close(ours.sum(axis=1), 1.0)


def test_probabilities_may_be_shuffled_and_are_repeatable():
    fits = [KernelSVC(KERNEL, probability=True, random_state=seed).fit(FOREST, LABELS) for seed in (0, 1)]
    plain = KernelSVC(KERNEL, probability=True).fit(FOREST, LABELS).predict_proba(FOREST[:20])
    zero, one = (fit.predict_proba(FOREST[:20]) for fit in fits)
    assert np.array_equal(zero, plain)
    assert not np.array_equal(zero, one)


def test_probabilities_must_be_asked_for():
    model = KernelSVC(KERNEL).fit(FOREST, LABELS)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"KernelSVC gives probabilities only with probability=True\. Set it"):
        model.predict_proba(FOREST)
    assert KernelSVC.predict_proba.__doc__.startswith("Return the probability of each class")
    with pytest.raises(ValueError, match="at least calibration_folds=5 rows of every class, but 'x' has 3"):
        KernelSVC(KERNEL, probability=True).fit(FOREST[:20], ["x"] * 3 + ["y"] * 17)


def test_sigmoid_has_the_smallest_loss():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200) * 1e4
    positive = scores + rng.normal(size=200) * 1e4 > 3000
    weights = rng.uniform(0.5, 2.0, 200)
    slope, offset = fit_sigmoid(scores, positive, weights)
    n, m = weights[positive].sum(), weights[~positive].sum()
    targets = np.where(positive, (n + 1) / (n + 2), 1 / (m + 2))

    def loss(a, b):
        p = sigmoid(scores, a, b)
        return -(weights * (targets * np.log(p) + (1 - targets) * np.log(1 - p))).sum()

    best = loss(slope, offset)
    assert all(loss(slope * (1 + s), offset + o) >= best for s in (-1e-3, 0, 1e-3) for o in (-1e-3, 0, 1e-3))


@pytest.mark.parametrize("scores", [np.zeros(6), np.array([-1e300, -1.0, -1.0, 1.0, 1.0, 1e300]), np.arange(6.0)])
def test_sigmoid_of_odd_scores_is_finite(scores):
    slope, offset = fit_sigmoid(scores, np.array([False, False, False, True, True, True]))
    assert np.isfinite([slope, offset]).all()
    assert np.isfinite(sigmoid(scores, slope, offset)).all()
