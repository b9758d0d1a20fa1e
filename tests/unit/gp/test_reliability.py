"""Calibration: how sure predictions are, against how often they are right."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.errors import InputError
from espalier.gp import calibration


def test_bins_have_the_mean_probability_and_the_share_of_right_predictions():
    p = np.array([[0.95, 0.05], [0.91, 0.09], [0.3, 0.7], [0.38, 0.62], [0.5, 0.5]])
    found = calibration(p, ["a", "b", "b", "a", "a"], ["a", "b"])
    assert found.n_rows.tolist() == [0, 0, 0, 0, 1, 0, 2, 0, 0, 2]
    np.testing.assert_allclose(found.sure[[4, 6, 9]], [0.5, 0.66, 0.93])
    np.testing.assert_allclose(found.right[[4, 6, 9]], [1.0, 0.5, 0.5])
    assert np.isnan(found.sure[0])
    assert found.error == pytest.approx((0.5 + 2 * 0.16 + 2 * 0.43) / 5)


def test_draws_from_the_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=20_000)
    y = (rng.random(20_000)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    assert calibration(p, y, range(4)).error < 0.02
    assert calibration(np.sqrt(p) / np.sqrt(p).sum(axis=1, keepdims=True), y, range(4)).error > 0.1


def test_a_label_that_is_no_class_is_wrong():
    assert calibration([[0.0, 1.0]], ["z"], ["a", "b"]).error == 1.0


@pytest.mark.parametrize(
    ("p", "classes", "n_bins", "message"),
    [
        ([[0.5, 0.5]], ["a"], 10, "a column for each of 1 classes"),
        (np.zeros((0, 2)), ["a", "b"], 10, "a row for each example"),
        ([[0.5, 0.6]], ["a", "b"], 10, "must add up to 1"),
        ([[-0.5, 1.5]], ["a", "b"], 10, "none may be below 0"),
        ([[np.nan, 0.5]], ["a", "b"], 10, "must add up to 1"),
        ([[0.5, 0.5]], ["a", "b"], 0, "n_bins must be"),
    ],
)
def test_what_it_refuses(p, classes, n_bins, message):
    with pytest.raises((InputError, ValueError), match=message):
        calibration(p, ["a"], classes, n_bins)
