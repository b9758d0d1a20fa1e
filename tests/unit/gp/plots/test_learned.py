"""The plot of learned hyperparameters: its panels, marks and labels, and the room that they have."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot

import espalier as es
from espalier.structures.palette import ORANGE


def texts(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


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
