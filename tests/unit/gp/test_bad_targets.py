"""Several targets of each row that cannot be learned from: clear errors."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import espalier as es
from espalier import GPRegressor
from espalier.errors import InputError
from task_cases import GAPS, ICM, PLAIN, TABLE, TASKS, TREES, Y, fit_tasks

INFINITE = Y.copy()
INFINITE[4, 1] = np.inf
EMPTY = Y.copy()
EMPTY[:, 1] = np.nan
BAD = {
    "infinite": (INFINITE, {}, r"infinity: row 4 of 'joy' must be a finite number"),
    "empty column": (EMPTY, {}, "No target of 'joy' is known"),
    "nothing": (np.full((10, 3), np.nan), {}, "No target of 'fear', 'joy', 'anger' is known"),
    "rows": (Y[:9], {}, "X has 10 rows, but y has 9 rows of targets"),
    "names": (Y, {"tasks": ["a", "b"]}, r"y has 3 columns, but the tasks are 'a', 'b'. Give one"),
    "names twice": (Y, {"tasks": ["a", "b", "a"]}, "Two columns of y have the name 'a'"),
    "columns twice": (pandas.DataFrame(Y, columns=list("aba")), {"tasks": None}, "Two columns of y have the name 'a'"),
    "text": (Y.astype(str), {}, "y must hold real numbers"),
    "no columns": (np.zeros((10, 0)), {"tasks": None}, "y has no columns"),
    "no table columns": (es.Table(), {"tasks": None}, "y has no columns"),
    "three dimensions": (np.zeros((10, 3, 2)), {"tasks": None}, "one label or number per row"),
    "tasks of one column": (Y[:, 0], {}, "tasks names the columns of y, but y is one column"),
    "groups": (Y, {"noise_groups": ["a"] * 10}, "leave noise_groups out"),
    "weights": (Y, {"sample_weight": np.ones(3)}, r"for each of the 10 rows, or .* 10 x 3 targets, got shape \(3,\)"),
    "negative weight": (
        GAPS,
        {"sample_weight": np.where(np.arange(30) == 14, -1, 1.0).reshape(10, 3)},
        "row 4 and 'anger' is -1",
    ),
    "missing weight": (GAPS, {"sample_weight": np.where(np.arange(10) == 4, np.nan, 1.0)}, "row 4 and 'fear' is nan"),
    "infinite noise": (
        GAPS,
        {"noise_variance": np.where(np.arange(10) == 4, np.inf, 1.0)},
        "noise_variance of row 4 .* inf",
    ),
    "a task without weights": (
        Y,
        {"sample_weight": np.tile([1.0, 0, 1], (10, 1))},
        "Every sample_weight of 'joy' is zero",
    ),
    "names in a text": (Y, {"tasks": "abc"}, "tasks must list the names .* got 'abc'"),
    "names in a set": (Y, {"tasks": {"a", "b", "c"}}, "in their order"),
    "a number of tasks": (Y, {"tasks": 3}, "tasks must list the names .* got 3"),
    "no weights": (Y, {"sample_weight": np.zeros(10)}, "Every sample_weight is zero"),
}


def test_one_target_for_each_row_is_no_matrix_of_a_fitted_model():
    model = fit_tasks()
    for ask in (model.score, model.log_predictive_density, lambda X, y: model.log_predictive_density(X, y, joint=True)):
        with pytest.raises(InputError, match=r"one column for each task, got shape \(10,\)"):
            ask(TABLE, Y[:, 0])


@pytest.mark.parametrize("matrix", [Y, GAPS], ids=["complete", "gaps"])
def test_the_joint_density_of_nothing_is_one_and_prints_nothing(matrix, capfd):
    assert (
        fit_tasks(y=matrix).log_predictive_density(TABLE, np.full((10, 3), np.nan), joint=True).tolist() == [0.0] * 10
    )
    assert capfd.readouterr() == ("", "")  # BLAS complains on the standard output of the process


@pytest.mark.parametrize("name", BAD)
def test_bad_targets_are_refused(name):
    y, given, message = BAD[name]
    with pytest.raises(InputError, match=message):
        GPRegressor(ICM, learn=False).fit(TABLE, y, **{"tasks": TASKS, **given})


def test_what_has_no_meaning_is_refused():
    with pytest.raises(ValueError, match=r"mean must be None .* got 'constant'. A kernel does the same"):
        fit_tasks(mean="constant")
    with pytest.raises(InputError, match="X has a column 'task', which a matrix of targets would replace"):
        fit_tasks(X=TABLE.with_column("task", ["a"] * 10))
    model = fit_tasks()
    with pytest.raises(InputError, match="leave noise_groups out"):
        model.predict(TABLE, return_std=True, noise_groups=["a"] * 10)
    with pytest.raises(InputError, match="the tasks are 'fear', 'joy', 'anger'"):
        model.score(TABLE, pandas.DataFrame(Y, columns=list("abc")))
    with pytest.raises(InputError, match="the tasks are 'fear', 'joy', 'anger'"):
        model.score(TABLE, Y[:, :2])
    with pytest.raises(ValueError, match="joint=True is for several targets"):
        GPRegressor(PLAIN, learn=False).fit(TREES, Y[:, 0]).log_predictive_density(TREES, Y[:, 0], joint=True)
