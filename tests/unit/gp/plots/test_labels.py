"""The plots of classifiers: reliability, and thresholds of grades."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import espalier as es
from espalier.gp import calibration


@pytest.fixture(scope="module")
def graded():
    """Points, their grades, and a model of them."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 1))
    y = np.searchsorted([-0.5, 0.5], x[:, 0] + 0.3 * rng.normal(size=60)) + 1
    return x, y, es.GPOrdinal(es.RBF(), tolerance=1e-2).fit(x[:40], y[:40])


def test_reliability_shows_each_bin_and_states_the_error(graded):
    x, y, model = graded
    ax = es.plot_calibration(model, x[40:], y[40:])
    found = calibration(model.predict_proba(x[40:]), y[40:], model.classes_)
    kept = found.n_rows > 0
    drawn = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(drawn, np.column_stack([found.sure[kept], found.right[kept]]))
    assert ax.get_title() == f"calibration error {found.error:.3f}, 20, new examples"
    assert "each left out in turn" in es.plot_calibration(model).get_title()
    machine = es.KernelSVC(es.RBF(), probability=True).fit(x[:40], y[:40])
    assert "new examples" in es.plot_calibration(machine, x[40:], y[40:]).get_title()


def test_thresholds_are_lines_and_examples_marks_of_their_grade(graded):
    x, y, model = graded
    ax = es.plot_thresholds(model, x[40:], y[40:])
    curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
    upright = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2]
    np.testing.assert_allclose(upright, model.thresholds_)
    assert len(curves) == 3 and [text.get_text() for text in ax.texts] == ["1", "2", "3"]
    places = curves[1].get_xdata()
    np.testing.assert_allclose(
        curves[1].get_ydata(), model.likelihood_.probabilities(places, np.zeros(len(places)))[:, 1]
    )
    latent = model.predict_latent(x[40:])[0]
    for grade, marks in zip((1, 2, 3), ax.collections, strict=True):
        np.testing.assert_allclose(marks.get_offsets()[:, 0], latent[y[40:] == grade])
    assert "40 training examples, each left out in turn" in es.plot_thresholds(model).get_title()


def test_learned_numbers_and_climbs_of_grades_are_drawn(graded):
    model = graded[2]
    (ax,) = es.plot_learned(model)
    assert len(ax.get_yticklabels()) == 2  # the scale and the lengthscale, and no thresholds
    assert "log evidence" in es.plot_restarts(model).get_title()


def test_what_they_refuse(graded):
    x, y, model = graded
    for plot in (es.plot_calibration, es.plot_thresholds):
        with pytest.raises(es.InputError, match="Give both X and y, or neither"):
            plot(model, x)
        with pytest.raises(NotFittedError):
            plot(es.GPOrdinal(es.RBF()))
    with pytest.raises(ValueError, match="no noise groups"):
        es.plot_calibration(model, x, y, noise_groups=["a"] * 60)
    with pytest.raises(es.InputError, match="cannot predict each training example"):
        es.plot_calibration(es.KernelSVC(es.RBF(), probability=True).fit(x, y))
    with pytest.raises(TypeError, match="Only a fitted GPOrdinal"):
        es.plot_thresholds(es.GPRegressor(es.RBF()))
    with pytest.raises(TypeError, match="Only what a fitted GPRegressor learned"):
        es.plot_predictions(model)
