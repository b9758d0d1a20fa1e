"""Measures agree with those of scipy and scikit-learn, and moments with measures on joined data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from espalier.errors import InputError
from espalier_experiments.measures import Moments, mae, nlpd, pearson, rmse


@pytest.fixture
def pairs() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    y = rng.normal(size=60) * 20 + 100
    return y, 0.4 * y + rng.normal(size=60)


def test_errors_agree_with_scikit_learn(pairs):
    y, p = pairs
    assert mae(y, p) == pytest.approx(metrics.mean_absolute_error(y, p), rel=1e-14)
    assert rmse(y, p) == pytest.approx(metrics.root_mean_squared_error(y, p), rel=1e-14)


def test_correlation_agrees_with_scipy(pairs):
    y, p = pairs
    assert pearson(y, p) == pytest.approx(stats.pearsonr(y, p)[0], rel=1e-12)


def test_density_is_averaged_and_negated(pairs):
    y, p = pairs
    logs = stats.norm(p, 3.0).logpdf(y)
    assert nlpd(logs) == pytest.approx(-logs.mean())


def test_moments_of_parts_give_the_correlation_of_the_whole(pairs):
    y, p = pairs
    parts = [Moments.of(y[rows], p[rows]) for rows in (slice(0, 7), slice(7, 30), slice(30, 60))]
    assert Moments.joined(parts).pearson() == pytest.approx(stats.pearsonr(y, p)[0], rel=1e-12)


def test_moments_move_with_their_data(pairs):
    y, p = pairs
    moved = Moments.of(y - 90, p - 90).shifted(90)
    assert vars(moved) == pytest.approx(vars(Moments.of(y, p)), rel=1e-12)


@pytest.mark.parametrize(("y", "p"), [([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0.1, 0.1, 0.1]), ([1], [1])])
def test_a_constant_side_has_no_correlation(y, p):
    assert math.isnan(pearson(y, p))


@pytest.mark.parametrize("measure", [mae, rmse, pearson])
def test_lengths_that_differ_are_refused(measure):
    with pytest.raises(InputError, match=r"equally many numbers, got \(2,\) and \(3,\)"):
        measure([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="nothing to measure"):
        measure([], [])
