"""How many matrices an evaluation of the evidence takes, and what a fitted process keeps."""

from __future__ import annotations

import gc
import tracemalloc
import warnings

import numpy as np
import pytest

import espalier as es
from espalier import GPRegressor, PerLabel
from espalier.demo import generate
from espalier.kernels.base import Plan


def _plans():
    gc.collect()
    return {id(found) for found in gc.get_objects() if isinstance(found, Plan)}


def test_a_fitted_model_keeps_its_arrays_and_no_plan():
    trees = list(generate(60, seed=0)["tree"])
    y = np.arange(60.0)
    before = _plans()
    model = GPRegressor(1.0 * es.Normalized(es.PartialTree()), restarts=1, pilot=30, max_iterations=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(trees, y)
    assert _plans() <= before
    value = model.log_marginal_likelihood()  # makes a plan, and drops it
    model.predict(trees[:5], return_std=True)
    model.leave_one_out()
    assert value == pytest.approx(model.log_marginal_likelihood_, rel=1e-12) and _plans() <= before


def _matrices_of_one_evaluation(kernel, table, n, mean=None):
    """The most numpy memory that one evaluation with its gradient takes, in n x n matrices."""
    model = GPRegressor(kernel, mean=mean, n_threads=1, learn=False).fit(table, np.arange(float(n)))
    problem, theta = model._examples.objective(n_threads=1), {}
    problem.gradient(theta)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        problem.gradient(theta)
        return (tracemalloc.get_traced_memory()[1] - before) / (8 * n * n)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "kernel",
    [
        es.SubsetTree(0.1, on="tree"),
        es.Normalized(es.SubsetTree(on="tree")),
        1.0 * es.Normalized(es.SubsetTree(PerLabel(0.4), on="tree")),
        1.0 * es.Normalized(es.SubsetTree(on="tree")) + 1.0 * es.Matern(on="x"),
        1.0 * es.Normalized(es.SubsetTree(on="tree")) + 1.0 * es.Normalized(es.PartialTree(on="tree")),
        1.0 * es.Normalized(es.SubsetTree(on="tree"))
        + 1.0 * es.Normalized(es.SubsetTree(0.1, on="tree"))
        + 1.0 * es.Matern(on="x"),
        1.0 * (es.Normalized(es.SubsetTree(on="tree")) * es.Normalized(es.SubsetTree(0.1, on="tree")))
        + 1.0 * es.Matern(on="x"),
        1.0 * es.Normalized(es.SubsetTree(on="tree")) * es.Normalized(es.SubsetTree(0.1, on="tree"))
        + 1.0 * es.Matern(on="x"),
    ],
    ids=repr,
)
def test_an_evaluation_takes_at_most_six_matrices(kernel):
    n = 800  # blocks of rows are small beside such matrices
    table = es.Table(
        tree=es.Forest.from_trees(generate(n, seed=1)["tree"]), x=np.random.default_rng(0).normal(size=(n, 3))
    )
    without = _matrices_of_one_evaluation(kernel, table, n)
    assert without <= 6
    assert _matrices_of_one_evaluation(kernel, table, n, es.gp.LinearMean(on="x")) < without + 0.4
