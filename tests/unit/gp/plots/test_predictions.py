"""The plots of predictions and of their calibration."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.gp.plots.predictions import interval_needed
from espalier.structures.palette import BLUE


@pytest.mark.parametrize("probability", [0.3, 0.5, 0.9])
def test_predictions_show_every_example_and_state_the_coverage(model, table, probability):
    new, y = table[60:], table["seconds"][60:]
    ax = es.plot_predictions(model, new, y, probability=probability)
    low, high = model.predict_distribution(new).interval(probability).T
    inside = (low <= y) & (y <= high)
    assert 0 < inside.sum() < 30
    assert ax.get_title() == f"{probability:.0%} intervals hold {inside.sum()} of 30 ({inside.mean():.0%})"
    bars, within, outside = ax.collections
    assert len(bars.get_segments()) == 30
    assert len(within.get_offsets()) == inside.sum()
    assert len(outside.get_offsets()) == 30 - inside.sum()
    assert sorted(within.get_offsets()[:, 1]) == sorted(y[inside])
    assert ax.get_xscale() == ax.get_yscale() == "log"


def test_predictions_without_examples_are_those_of_the_others(plain):
    ax = es.plot_predictions(plain, probability=0.5)
    left_out = plain.leave_one_out()
    places = np.concatenate([points.get_offsets() for points in ax.collections[1:]])
    assert sorted(places[:, 0]) == pytest.approx(sorted(left_out.median))
    assert ax.get_title().startswith("50% intervals hold ")
    assert ax.get_xlabel() == "predicted from all others (median)"
    assert ax.get_xscale() == "linear"


def test_noise_by_group_is_passed_on(table):
    groups = ["a" if k % 2 else "b" for k in range(60)]
    kernel = es.RBF(on="features")
    model = es.GPRegressor(kernel, noise=es.PerLabel(0.1), tolerance=1e-3)
    model.fit(table[:60], table["seconds"][:60], noise_groups=groups)
    narrow, wide = ({"noise_groups": [name] * 30} for name in "ab")
    for options in (narrow, wide):
        es.plot_predictions(model, table[60:], table["seconds"][60:], **options)
        es.plot_calibration(model, table[60:], table["seconds"][60:], **options)
    with pytest.raises(es.InputError, match="groups are needed"):
        es.plot_calibration(model, table[60:], table["seconds"][60:])


@pytest.mark.parametrize("plot", [es.plot_predictions, es.plot_calibration])
def test_examples_without_targets_are_an_error(plot, model, table):
    with pytest.raises(es.InputError, match="Give both X and y, or neither"):
        plot(model, table[60:])
    with pytest.raises(es.InputError, match="X has 30 rows, but y has 29 targets"):
        plot(model, table[60:], table["seconds"][61:])
    with pytest.raises(es.InputError, match="nothing to draw"):
        plot(model, table[60:60], [])


@pytest.mark.parametrize("plot", [es.plot_predictions, es.plot_calibration])
@pytest.mark.parametrize(
    ("first", "message"),
    [
        (np.nan, "Input y contains NaN: row 0 must be a finite number"),
        (np.inf, "Input y contains infinity: row 0"),
        ("long", "y must hold real numbers"),
    ],
)
def test_targets_that_are_no_finite_numbers_are_an_error(plot, model, table, first, message):
    with pytest.raises(es.InputError, match=message):
        plot(model, table[60:], [first, *table["seconds"][61:].tolist()])


@pytest.mark.parametrize("transform", ["sqrt", "warped", "boxcox"])
def test_skewed_targets_stand_on_logarithmic_axes_whatever_the_transform(table, transform):
    y = np.array(table["seconds"])
    assert y.max() > 10 * y.min()
    model = es.GPRegressor(es.RBF(on="features"), target_transform=transform, tolerance=1e-2).fit(table, y)
    ax = es.plot_predictions(model)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    low, high = ax.get_ylim()
    assert y.min() / 20 < low < y.min() and high > y.max()
    assert es.plot_predictions(model.fit(table, 20 + y)).get_xscale() == "linear"


@pytest.mark.parametrize("transform", [None, "log"])
def test_the_axis_of_predictions_ends_with_them(table, transform):
    model = es.GPRegressor(es.RBF(on="features"), target_transform=transform, learn=False)
    model.fit(table[:60], table["seconds"][:60])
    y = np.array(table["seconds"][60:])
    y[0] = 10 * y.max()
    ax = es.plot_predictions(model, table[60:], y)
    median = model.predict_distribution(table[60:]).median
    low, high = ax.get_xlim()
    assert low < median.min() and median.max() < high < 1.5 * median.max() < y[0] < ax.get_ylim()[1]
    (diagonal,) = ax.lines
    assert diagonal.get_xdata().tolist() == diagonal.get_ydata().tolist() == [low, high]


def test_calibration_curve_is_the_share_that_intervals_hold(model, table):
    new, y = table[60:], table["seconds"][60:]
    ax = es.plot_calibration(model, new, y)
    curve = next(line for line in ax.lines if line.get_color() == BLUE)
    x, height = curve.get_data()
    distribution = model.predict_distribution(new)
    for probability in (0.2, 0.5, 0.9):
        low, high = distribution.interval(probability).T
        held = np.mean((low <= y) & (y <= high))
        assert height[np.searchsorted(x, probability, side="right") - 1] == pytest.approx(held)
    assert f"90% intervals hold {held:.0%} of 30, new examples" == ax.get_title()


def test_calibration_without_examples_leaves_each_out_in_turn(plain):
    ax = es.plot_calibration(plain)
    assert ax.get_title().endswith("of 40, each left out in turn")
    assert ax.get_xlim() == ax.get_ylim() == (0, 1)


def test_the_band_of_chance_holds_calibrated_curves():
    # Made of what a model of white noise would leave: uniform numbers.
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 200))
    model = es.GPRegressor(es.RBF(es.fixed(1e-3)), noise=es.fixed(1e-3)).fit(x, y)
    needed = np.sort(interval_needed(model.leave_one_out(), y - 0.0))
    ax = es.plot_calibration(model)
    band = ax.collections[0].get_paths()[0].vertices
    assert np.all((band >= 0) & (band <= 1))
    assert abs(np.searchsorted(needed, 0.5) / 200 - 0.5) < 0.12


def test_a_target_that_cannot_be_lies_in_no_interval(model, table):
    y = np.array(table["seconds"][60:])
    y[0] = -1.0
    assert interval_needed(model.predict_distribution(table[60:]), y)[0] == 1.0
    assert es.plot_predictions(model, table[60:], y).get_xscale() == "linear"
    es.plot_calibration(model, table[60:], y)
