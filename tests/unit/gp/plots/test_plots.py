"""What all plots of a fitted model share: where they draw, what they leave alone, and what they refuse."""

from __future__ import annotations

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError

import espalier as es

PLOTS = [es.plot_learned, es.plot_predictions, es.plot_calibration, es.plot_restarts]


@pytest.mark.parametrize("plot", PLOTS)
def test_a_plot_returns_axes_and_draws_into_those_it_is_given(plot, plain):
    _, ax = pyplot.subplots()
    drawn = plot(plain, ax=ax)
    assert (drawn[0] if plot is es.plot_learned else drawn) is ax
    new = plot(plain)
    assert (new[0] if plot is es.plot_learned else new).figure is not ax.figure


@pytest.mark.parametrize("plot", PLOTS)
def test_no_setting_of_matplotlib_changes(plot, plain):
    before = dict(matplotlib.rcParams)
    drawn = plot(plain)
    (drawn[0] if plot is es.plot_learned else drawn).figure.canvas.draw()
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("plot", PLOTS)
def test_a_model_that_learned_nothing_yet_is_an_error(plot):
    with pytest.raises(NotFittedError):
        plot(es.GPRegressor(es.RBF()))


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize("other", [es.KernelSVR(es.RBF()).fit(np.eye(3), [1.0, 2.0, 3.0]), 3, None], ids=repr)
def test_another_model_is_an_error_that_says_what_is_drawn(plot, other):
    with pytest.raises(
        TypeError, match=r"a fitted GPRegressor.* learned and predicts can be drawn, got .*best_estimator_"
    ):
        plot(other)


@pytest.mark.parametrize("plot", PLOTS)
def test_no_two_labels_overlap(plot, model):
    drawn = plot(model)
    figure = (drawn[0] if plot is es.plot_learned else drawn).figure
    figure.canvas.draw()
    for ax in figure.axes:
        for labels in (
            ax.get_xticklabels(),
            ax.get_yticklabels(),
            ax.get_legend().get_texts() if ax.get_legend() else [],
        ):
            boxes = [label.get_window_extent() for label in labels if label.get_visible() and label.get_text()]
            inside = [box for box in boxes if figure.bbox.overlaps(box)]
            assert not any(a.overlaps(b) for k, a in enumerate(inside) for b in inside[k + 1 :])


def test_drawing_functions_load_matplotlib_only_when_they_draw():
    code = "import sys, espalier as es; es.plot_learned; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
