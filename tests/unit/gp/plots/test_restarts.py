"""The plot of climbs."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.structures.palette import BLUE


def test_restarts_draw_every_climb_and_emphasise_the_best(model):
    ax = es.plot_restarts(model)
    climbs = {line.get_gid(): line for line in ax.lines if line.get_gid()}
    assert len(climbs) == 3
    best = max(range(3), key=lambda k: model.restarts_[k].objective)
    assert climbs[f"climb-{best}"].get_color() == BLUE
    widths = [line.get_linewidth() for line in climbs.values()]
    assert max(widths) == climbs[f"climb-{best}"].get_linewidth() > sorted(widths)[1]
    for k, restart in enumerate(model.restarts_):
        x, height = climbs[f"climb-{k}"].get_data()
        assert list(x) == list(range(1, len(restart.trace) + 1))
        assert max(height) == max(restart.trace)
        assert np.all(np.diff(height) >= 0)
    assert f"{model.log_marginal_likelihood_:.1f}".lstrip("-") in ax.get_title()


def test_one_climb_is_drawn_too(plain):
    ax = es.plot_restarts(plain)
    assert ax.get_title().endswith("one climb")
    assert ax.get_legend().get_texts()[0].get_text() == "best, from the declared start"


def test_one_evaluation_has_whole_ticks_and_no_offset(table):
    model = es.GPRegressor(es.RBF(on="features"), learn=False).fit(table, 1e3 * table["seconds"])
    ax = es.plot_restarts(model)
    ax.figure.canvas.draw()
    assert {tick % 1 for tick in ax.get_xticks()} == {0.0}
    assert ax.yaxis.get_offset_text().get_text() == ""
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(labels)) == len(labels) and max(map(len, labels)) <= 9


def test_a_climb_that_was_stopped_is_hollow(table, kernel):
    with pytest.warns(UserWarning, match="before it converged"):
        model = es.GPRegressor(kernel, max_iterations=2).fit(table, table["seconds"])
    ax = es.plot_restarts(model)
    assert "stopped before" in [text.get_text() for text in ax.get_legend().get_texts()]
