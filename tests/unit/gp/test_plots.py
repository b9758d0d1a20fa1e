"""The plots of a fitted model: what stands in them, and that they leave everything else alone."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import espalier as es
from espalier.demo import generate_translations
from espalier.gp.plots.predictions import interval_needed
from espalier.structures.palette import BLUE, ORANGE

matplotlib.use("Agg")
from matplotlib import pyplot

KERNEL = 1.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.3), on="source")) + 1.0 * es.RBF(on="features")


@pytest.fixture(scope="module")
def table() -> es.Table:
    return generate_translations(90, seed=7)


@pytest.fixture(scope="module")
def model(table) -> es.GPRegressor:
    fitted = es.GPRegressor(KERNEL, target_transform="log", restarts=2, random_state=0, tolerance=1e-3)
    return fitted.fit(table[:60], table["seconds"][:60])


@pytest.fixture(scope="module")
def plain() -> es.GPRegressor:
    x = np.linspace(0, 6, 40)[:, None]
    y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(40)
    return es.GPRegressor(es.RBF(), noise=0.01).fit(x, y)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def texts(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def panels_of(figure) -> set[str]:
    return {ax.get_title().splitlines()[0] for ax in figure.axes if ax.get_title()}


# Hyperparameters


def test_learned_has_a_panel_for_single_numbers_and_one_for_each_family(model):
    single, family = es.plot_learned(model)
    assert texts(single) == [
        "scale, SubsetTree on source",
        "frontier, SubsetTree on source",
        "scale, RBF on features",
        "lengthscale, RBF on features",
        "noise",
    ]
    assert family.get_title() == "decay, SubsetTree on source"
    assert single.get_xscale() == family.get_xscale() == "log"


def test_learned_values_are_sorted_and_stand_where_they_belong(model):
    family = es.plot_learned(model)[1]
    rows = sorted((row for row in model.learned_ if "decay[" in row.path), key=lambda row: -row.value)
    assert texts(family) == [row.path.split("[")[-1][:-1] for row in rows]
    ends = [line for line in family.lines if len(line.get_xdata()) == 2]
    assert len(ends) == len(rows)
    for place, (line, row) in enumerate(zip(ends, rows, strict=True)):
        assert list(line.get_xdata()) == [row.start, row.value]
        assert list(line.get_ydata()) == [place, place]


def test_learned_marks_exactly_what_a_bound_stopped(model):
    marks = [line for ax in es.plot_learned(model) for line in ax.lines if line.get_marker() in ("<", ">")]
    assert len(marks) == len(model.learned_.at_bounds) > 0
    assert {line.get_color() for line in marks} == {ORANGE}


def test_learned_leaves_out_the_middle_of_a_large_family(model):
    family = es.plot_learned(model, top=5)[1]
    shown = texts(family)
    assert len(shown) == 6 and shown[3] == "⋮"
    n = sum("decay[" in row.path for row in model.learned_)
    assert family.get_title().endswith(f"{n - 5} between are left out")
    values = {row.path.split("[")[-1][:-1]: row.value for row in model.learned_ if "decay[" in row.path}
    assert min(values[label] for label in shown[:3]) >= max(values[label] for label in shown[4:])


def test_learned_steps_and_dimensions_stand_in_their_order(table):
    kernel = es.RBF(es.PerDimension(1.0), on="features")
    model = es.GPRegressor(kernel, target_transform="warped", max_iterations=5, tolerance=1.0)
    panels = {ax.get_title(): texts(ax) for ax in es.plot_learned(model.fit(table, table["seconds"]))}
    dimensions = [f"dimension {k}" for k in range(table["features"].shape[1])]
    assert panels["lengthscale, RBF on features"] == dimensions
    for name in ("height", "steepness", "centre"):
        assert panels[f"transform.{name}"] == ["step 0", "step 1", "step 2"]


def test_dimensions_of_which_some_are_left_out_are_sorted(table):
    wide = np.random.default_rng(0).standard_normal((60, 9))
    model = es.GPRegressor(es.RBF(es.PerDimension(1.0)), max_iterations=5, tolerance=1.0).fit(wide, wide[:, 0])
    family = es.plot_learned(model, top=4)[1]
    values = {row.path[:-1].split("[")[-1]: row.value for row in model.learned_ if row.path.endswith("]")}
    ranked = [f"dimension {k}" for k in sorted(values, key=lambda k: -values[k])]
    assert texts(family) == [*ranked[:2], "⋮", *ranked[-2:]]


def test_a_power_of_zero_is_the_logarithm_and_no_warning():
    x = np.linspace(0, 3, 40)[:, None]
    y = np.exp(3 * np.sin(x[:, 0]) + 0.3 * np.random.default_rng(0).standard_normal(40) - 1.0)
    model = es.GPRegressor(es.RBF(), target_transform="boxcox", tolerance=1e-3).fit(x, y**-1.0)
    assert model.learned_["transform.power"].bound == "low" and model.learned_["transform.power"].value == 0
    single, transform = es.plot_learned(model)
    assert {line.get_color() for line in transform.lines} & {ORANGE} == set()
    assert "at lower bound" not in [text.get_text() for text in single.get_legend().get_texts()]


def test_learned_divides_the_axes_it_is_given(model):
    figure, axes = pyplot.subplots(1, 2, figsize=(16, 8))
    drawn = es.plot_learned(model, ax=axes[1])
    assert len(drawn) == 2
    assert {ax.figure for ax in drawn} == {figure}
    assert not axes[1].axison
    assert axes[0].axison and not axes[0].lines
    left = axes[1].get_position().x0
    assert all(ax.get_position().x0 >= left - 1e-6 for ax in drawn)


def written(figure) -> list:
    """The boxes of all texts that are seen."""
    figure.canvas.draw()
    found = []
    for ax in figure.findobj(pyplot.Axes):
        if ax.axison:
            horizontal = [label for label in ax.get_xticklabels() if ax.bbox.x0 <= label.get_window_extent().x1]
            found += [*horizontal, *ax.get_yticklabels(), ax.title, ax.yaxis.get_offset_text()]
        found += ax.get_legend().get_texts() if ax.get_legend() else []
        for values in ax.child_axes:
            found += values.get_yticklabels()
    return [text.get_window_extent() for text in found if text.get_visible() and text.get_text().strip()]


@pytest.fixture(scope="module")
def crowded(table) -> es.GPRegressor:
    kernel = 1.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.3), on="source"))
    kernel += 1.0 * es.RBF(es.PerDimension(1.0), on="features")
    model = es.GPRegressor(kernel, target_transform="warped", max_iterations=10, tolerance=1.0)
    return model.fit(table, table["seconds"])


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("size", [(12, 6), (16, 9), (9, 9)])
def test_learned_has_room_for_its_labels_in_half_of_a_figure(crowded, size, layout, place):
    figure, axes = pyplot.subplots(1, 2, figsize=size, layout=layout)
    drawn = es.plot_learned(crowded, ax=axes[place])
    assert len(drawn) == 6
    boxes = written(figure)
    assert len(boxes) > 40
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])
    edges = figure.bbox
    assert all(edges.x0 <= box.x0 and box.x1 <= edges.x1 for box in boxes)
    assert all(edges.y0 <= box.y0 and box.y1 <= edges.y1 for box in boxes)


def test_a_single_panel_keeps_its_labels_inside_the_figure(plain):
    figure, ax = pyplot.subplots(figsize=(5, 3))
    es.plot_learned(plain, ax=ax)
    assert min(box.x0 for box in written(figure)) >= 0


def test_learned_fits_into_axes_placed_by_hand(model):
    figure = pyplot.figure(figsize=(9, 9))
    ax = figure.add_axes((0.3, 0.1, 0.6, 0.8))
    drawn = es.plot_learned(model, ax=ax)
    assert all(part.get_position().x0 >= 0.3 - 1e-6 for part in drawn)


def test_one_panel_is_drawn_into_the_axes_themselves(plain):
    _, ax = pyplot.subplots()
    assert list(es.plot_learned(plain, ax=ax)) == [ax]
    assert texts(ax) == ["lengthscale, RBF", "noise"]


def test_numbers_of_any_sign_stand_apart(table):
    kernel = es.RBF(es.fixed(1.0), on="features")
    model = es.GPRegressor(kernel, target_transform="boxcox", max_iterations=3, tolerance=1.0).fit(
        table, table["seconds"]
    )
    single, transform = es.plot_learned(model)
    assert texts(single) == ["noise"]
    assert texts(transform) == ["power"]
    assert transform.get_xscale() == "linear"


@pytest.mark.filterwarnings("ignore:Glyph")  # the font has no picture of every control character
def test_labels_of_any_characters_leave_the_picture_valid(tmp_path):
    odd = "(S (A\x01 a) ($x^$ b))", "(S (A\x01 b) ($x^$ a))", "(S (A\x01 a) ($x^$ a))"
    kernel = 1.0 * es.SubsetTree(es.PerLabel(0.3))
    model = es.GPRegressor(kernel).fit(odd, [1.0, 2.0, 4.0])
    for number, ax in enumerate((es.plot_learned(model)[0], es.explain(model).plot())):
        ax.figure.savefig(tmp_path / f"{number}.svg")
        picture = ElementTree.parse(tmp_path / f"{number}.svg")
        assert picture.getroot().tag.endswith("svg")
        shown = {label for part in ax.figure.axes for label in texts(part)}
        assert any("␁" in label for label in shown) and any("$x^$" in label for label in shown)


def test_nothing_learned_is_an_error(table):
    kernel = es.RBF(es.fixed(1.0), on="features")
    model = es.GPRegressor(kernel, noise=es.fixed(0.1)).fit(table, table["seconds"])
    with pytest.raises(ValueError, match="every hyperparameter of this model is fixed"):
        es.plot_learned(model)


@pytest.mark.parametrize("top", [1, 0, -3, 2.5, True])
def test_too_few_to_draw_is_an_error(model, top):
    with pytest.raises(ValueError, match="top must be an integer of at least 2"):
        es.plot_learned(model, top=top)


# Predictions


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


# Calibration


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


# Restarts


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


def test_a_climb_that_was_stopped_is_hollow(table):
    with pytest.warns(UserWarning, match="before it converged"):
        model = es.GPRegressor(KERNEL, max_iterations=2).fit(table, table["seconds"])
    ax = es.plot_restarts(model)
    assert "stopped before" in [text.get_text() for text in ax.get_legend().get_texts()]


# All of them

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
        TypeError, match=r"a fitted GPRegressor learned and predicts can be drawn, got .*best_estimator_"
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
