"""Classes of several tasks: ``GPClassifier`` on long tables, with products of kernels of tasks and of items."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier import GPClassifier
from processes import recorded

X = np.random.default_rng(0).uniform(-2, 2, size=(24, 1))
RIGHT = X[:, 0] > 0


def _long(few: int) -> tuple[es.Table, list[str]]:
    """The labels of one task for every item, and those of the opposite task for a few."""
    items = [*range(24), *range(few)]
    tasks = ["plain"] * 24 + ["turned"] * few
    labels = ["yes" if RIGHT[row] else "no" for row in range(24)]
    labels += ["no" if RIGHT[row] else "yes" for row in range(few)]
    return es.Table(x=X[items], task=tasks), labels


def test_a_task_with_few_labels_learns_from_its_opposite():
    table, labels = _long(6)
    kernel = es.Coregion(on="task") * es.RBF(on="x")
    model, _ = recorded(lambda: GPClassifier(kernel, max_iterations=15).fit(table, labels))
    new = es.Table(x=X[6:], task=["turned"] * 18)
    expected = np.where(RIGHT[6:], "no", "yes")
    assert model.score(new, expected) > 0.85
    B = next(own for own in model.kernel_._every_kernel() if isinstance(own, es.Coregion)).covariances()
    assert B[0, 1] < 0
    few = es.Table(x=X[:6])
    alone, _ = recorded(lambda: GPClassifier(es.RBF(on="x"), max_iterations=15).fit(few, labels[24:]))
    chances = [
        own.predict_proba(rows)[np.arange(18), (expected == "yes").astype(int)]
        for own, rows in ((model, new), (alone, es.Table(x=X[6:])))
    ]
    assert np.log(chances[0]).mean() > np.log(chances[1]).mean()


def test_a_stated_relation_takes_new_tasks_and_a_learned_one_does_not():
    table, labels = _long(6)
    new = es.Table(x=X[:2], task=["new"] * 2)
    stated = GPClassifier(es.EasyAdapt(on="task") * es.RBF(on="x"), learn=False).fit(table, labels)
    assert stated.predict_proba(new).shape == (2, 2)
    learned = GPClassifier(es.Coregion(on="task") * es.RBF(on="x"), learn=False).fit(table, labels)
    with pytest.raises(es.InputError, match="no numbers for the task 'new'"):
        learned.predict(new)


def test_three_classes_of_two_tasks(tmp_path):
    table, _ = _long(24)
    labels = np.digitize(table["x"][:, 0], [-0.7, 0.7]).astype(str)
    kernel = es.Coregion(on="task") * es.RBF(on="x")
    model = GPClassifier(kernel, learn=False).fit(table, labels)
    assert model.score(table, labels) > 0.9
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(es.load(tmp_path / "model").predict_proba(table), model.predict_proba(table))
