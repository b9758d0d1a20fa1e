"""The plot of tasks says what the kernel of tasks learned."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from matplotlib import pyplot
from matplotlib.collections import QuadMesh

import espalier as es
from espalier import PerLabel
from espalier.errors import InputError

X = np.linspace(0, 3, 8)[:, None]
Y = np.column_stack([np.sin(X[:, 0]), -np.sin(X[:, 0]), np.cos(3 * X[:, 0])])
WEIGHTS = {"up,0": 1.0, "down,0": -0.9, "other,0": 0.1}
COREGION = es.Coregion("task", weights=PerLabel(1.0, values=WEIGHTS), kappa=0.2)
TASKS = ("up", "down", "other")


@pytest.fixture(scope="module")
def model() -> es.GPRegressor:
    return es.GPRegressor(COREGION * es.RBF(), learn=False).fit(X, Y, tasks=TASKS)


def cells(ax):
    (mesh,) = (artist for artist in ax.collections if isinstance(artist, QuadMesh))
    return np.asarray(mesh.get_array()).reshape(3, 3)


def test_cells_are_correlations_of_the_learned_matrix(model):
    ax = es.plot_tasks(model)
    B = COREGION.covariances(TASKS)
    expected = B / np.sqrt(np.outer(B.diagonal(), B.diagonal()))
    np.testing.assert_allclose(cells(ax), expected)
    assert [label.get_text() for label in ax.get_xticklabels()] == list(TASKS)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(TASKS)
    numbers = [text.get_text() for text in ax.texts]
    assert numbers == [f"{value:.2f}".replace("-", "\N{MINUS SIGN}") for value in expected.ravel()]
    assert ax.get_title() == "correlations of tasks"
    np.testing.assert_allclose(cells(es.plot_tasks(model, covariances=True)), B)


def test_numbers_are_legible_on_their_cells(model):
    ax = es.plot_tasks(model)
    ax.figure.canvas.draw()
    (mesh,) = (artist for artist in ax.collections if isinstance(artist, QuadMesh))
    for text, colour in zip(ax.texts, mesh.get_facecolors(), strict=True):
        light = float(colour[:3] @ [0.2126, 0.7152, 0.0722])
        own = 1.0 if text.get_color() == "#fefefe" else 0.0
        assert abs(light - own) > 0.35


def test_each_kernel_of_a_sum_has_a_picture():
    kernel = COREGION * es.RBF(2.0) + es.EasyAdapt("task") * es.RBF(0.2)
    model = es.GPRegressor(kernel, learn=False).fit(X, Y, tasks=TASKS)
    assert es.plot_tasks(model).get_title() == "correlations of tasks, kernel 1 of 2"
    np.testing.assert_allclose(cells(es.plot_tasks(model, which=1)), np.full((3, 3), 0.5) + 0.5 * np.eye(3))
    with pytest.raises(ValueError, match="which must be a number from 0 to 1, got 2"):
        es.plot_tasks(model, which=2)


def test_a_long_table_is_drawn_too(model):
    table = es.Table(x=np.repeat(X, 3, axis=0), task=list(TASKS) * 8)
    long = es.GPRegressor(COREGION * es.RBF(on="x"), learn=False).fit(table, Y.ravel())
    ax = es.plot_tasks(long)
    assert [label.get_text() for label in ax.get_xticklabels()] == sorted(TASKS)
    np.testing.assert_allclose(cells(ax)[np.ix_([2, 0, 1], [2, 0, 1])], cells(es.plot_tasks(model)))


def test_a_model_without_tasks_is_an_error(plain):
    with pytest.raises(InputError, match="contains no kernel of tasks"):
        es.plot_tasks(plain)


def test_many_tasks_have_no_numbers():
    y = np.random.default_rng(0).normal(size=(8, 30))
    ax = es.plot_tasks(es.GPRegressor(es.RBF(), learn=False).fit(X, y))
    assert not ax.texts and len(ax.get_xticklabels()) == 30


def test_a_plot_draws_into_axes_it_is_given(model):
    _, ax = pyplot.subplots()
    assert es.plot_tasks(model, ax=ax) is ax


def test_predictions_of_one_task_are_drawn(model):
    gaps = Y.copy()
    gaps[2, 1] = np.nan
    own = es.GPRegressor(COREGION * es.RBF(), learn=False).fit(X, gaps, tasks=TASKS)
    assert "of 7" in es.plot_predictions(own, task="down").get_title()
    assert "of 8" in es.plot_predictions(own, X, Y[:, 0], task="up").get_title()
    assert es.plot_calibration(own, task="down").get_title()
    named = pandas.DataFrame(gaps, columns=TASKS)[list(TASKS[::-1])]
    assert "of 7" in es.plot_predictions(own, X, named, task="down").get_title()
    drawn = es.plot_predictions(own, X, named, task="up").collections
    alone = es.plot_predictions(own, X, Y[:, 0], task="up").collections
    for one, other in zip(drawn, alone, strict=True):
        np.testing.assert_array_equal(one.get_offsets(), other.get_offsets())
    with pytest.raises(InputError, match="no target of the task is known"):
        es.plot_predictions(own, X, np.full_like(Y, np.nan), task="up")
    with pytest.raises(InputError, match="fitted to the tasks"):
        es.plot_predictions(own)
    with pytest.raises(InputError, match="leave task out"):
        es.plot_predictions(es.GPRegressor(es.RBF(), learn=False).fit(X, Y[:, 0]), task="up")
