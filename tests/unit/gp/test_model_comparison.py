"""Fitted processes compared by their evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import espalier as es
from espalier import GPRegressor, fixed
from espalier.errors import InputError
from processes import KERNEL, TREES, Y


def test_compare():
    models = {
        "trees": GPRegressor(KERNEL).fit(TREES, Y),
        "sizes": GPRegressor(1.0 * es.RBF()).fit([[t.size] for t in TREES], Y),
        "noise": GPRegressor(es.Constant(fixed(1.0))).fit(TREES, Y),
    }
    table = es.compare(models)
    assert [row.name for row in table] == ["sizes", "trees", "noise"] and table.best == "sizes"
    assert table.best_predicting == "sizes" and len(table) == 3
    row = table.rows[0]
    found = models["sizes"].leave_one_out()
    assert row.log_marginal_likelihood == models["sizes"].log_marginal_likelihood_
    assert row.leave_one_out_density == pytest.approx(found.log_density(Y).mean())
    assert row.leave_one_out_rmse == pytest.approx(math.sqrt(((found.mean - Y) ** 2).mean()))
    assert row.leave_one_out_mae == pytest.approx(np.abs(found.median - Y).mean())
    assert [d["name"] for d in table.to_dicts()] == ["sizes", "trees", "noise"]
    lines = repr(table).splitlines()
    assert lines[0].split("  ")[0] == "model" and len(lines) == 4 and "LOO RMSE" in lines[0]
    assert [row.name for row in es.compare([models["trees"]])] == ["1.0 * Normalized(SubsetTree())"]


def test_compare_drops_no_model():
    y = np.abs(Y) + 1
    models = [GPRegressor(KERNEL, target_transform=t).fit(TREES, y) for t in (None, "log", "log")]
    assert len(es.compare(models)) == 3
    names = [row.name for row in es.compare(models[:2])]
    assert any("target_transform='log'" in name for name in names) and len(set(names)) == 2


def test_compare_refuses_what_does_not_compare():
    a, b = GPRegressor(KERNEL).fit(TREES, Y), GPRegressor(KERNEL).fit(TREES, Y + 1)
    with pytest.raises(InputError, match="fitted to different targets"):
        es.compare([a, b])
    with pytest.raises(InputError, match="fitted to different targets"):
        es.compare({"a": a, "b": GPRegressor(KERNEL).fit(TREES[:5], Y[:5])})
    with pytest.raises(InputError, match="no models"):
        es.compare([])
    with pytest.raises(NotFittedError):
        es.compare([a, GPRegressor(KERNEL)])


def test_names_in_a_comparison():
    a = GPRegressor(KERNEL).fit(TREES, Y)
    assert [row.name for row in es.compare({1: a})] == ["1"] and "1 " in repr(es.compare({1: a}))
    long = 1.0 * es.Normalized(es.SubsetTree(0.123456789)) + 1.0 * es.Normalized(es.PartialTree(0.123456789))
    b, c = (GPRegressor(long, random_state=k, learn=False).fit(TREES, Y) for k in (1, 2))
    table = es.compare([b, c, b])
    firsts = [line[:60].split("  ")[0] for line in repr(table).splitlines()[1:]]
    assert all(len(line) <= 60 for line in firsts) and len(set(firsts)) == 3
    assert all("PartialTree(decay=0.123456789)" in row.name for row in table)  # names themselves are whole
    frame = table.to_frame()
    assert frame["name"].tolist() == [row.name for row in table] and frame["n_learned"].tolist() == [0, 0, 0]


def test_classifiers_compare_by_labels_that_are_left_out():
    grades = np.digitize(Y, np.quantile(Y, [0.3, 0.6])) + 1
    models = {
        "grades": es.GPOrdinal(KERNEL, learn=False).fit(TREES, grades),
        "classes": es.GPClassifier(KERNEL, learn=False).fit(TREES, grades),
        "softmax": es.GPClassifier(KERNEL, likelihood="softmax", learn=False).fit(TREES, grades),
    }
    table = es.compare(models)
    densities = {}
    for name, model in models.items():
        p = model.leave_one_out()
        densities[name] = np.log(p[np.arange(len(p)), grades - 1]).mean()
        row = next(row for row in table if row.name == name)
        assert row.leave_one_out_density == pytest.approx(densities[name])
        assert row.leave_one_out_accuracy == pytest.approx((p.argmax(axis=1) + 1 == grades).mean())
        assert row.log_marginal_likelihood == model.log_marginal_likelihood_
    assert [row.name for row in table] == sorted(densities, key=lambda name: -densities[name])
    assert table.best_predicting == table.rows[0].name and "LOO accuracy" in repr(table)
    with pytest.raises(TypeError, match="or fitted GPClassifiers and GPOrdinals"):
        es.compare([models["grades"], GPRegressor(KERNEL)])
    with pytest.raises(InputError, match="different targets"):
        es.compare([models["grades"], es.GPOrdinal(KERNEL, learn=False).fit(TREES, grades[::-1])])
