"""Fits and predictions are the same bits for any number of threads, of the core and of every BLAS."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import espalier as es
from espalier.demo import generate_translations
from espalier.gp import tiled

SIZES = [90, 300]  # a matrix in one piece, and in several


def twice(n, run):
    """What a run gives with one thread, with several, and with several where a BLAS may have three."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that end early
        with threadpool_limits(1, user_api="blas"):
            one = run(n, 1)
        with threadpool_limits(3, user_api="blas"):
            return one, run(n, 2), run(n, None)


def assert_same_bits(results):
    first, *others = results
    for other in others:
        assert first.keys() == other.keys()
        for name, value in first.items():
            assert np.array_equal(value, other[name]), name


def process(n, n_threads):
    rng = np.random.default_rng(n)
    vectors = rng.standard_normal((n + 20, 5))
    y = np.sin(vectors).sum(axis=1) + 0.3 * rng.standard_normal(n + 20)
    kernel = 1.0 * es.RBF(es.PerDimension(2.0)) + 1.0 * es.Linear()
    model = es.GPRegressor(kernel, mean="constant", max_iterations=2, n_threads=n_threads).fit(vectors[:n], y[:n])
    mean, covariance = model.predict(vectors[n:], return_cov=True)
    left = model.leave_one_out()
    return {
        "learned": list(model.learned_.to_dict().values()),
        "evidence": model.log_marginal_likelihood_,
        "gradient": list(model.log_marginal_likelihood(gradient=True)[1].values()),
        "mean": mean,
        "covariance": covariance,
        "left out": [left.mean, left.std],
        "draws": model.sample_posterior(vectors[n:], 2, random_state=0),
    }


def machine(n, n_threads):
    rng = np.random.default_rng(n)
    vectors = rng.standard_normal((n + 20, 5))
    y = np.sin(vectors).sum(axis=1) > 0
    kernel = es.RBF(2.0)
    classifier = es.KernelSVC(kernel, probability=True, n_threads=n_threads).fit(vectors[:n], y[:n])
    regressor = es.KernelSVR(kernel, n_threads=n_threads).fit(vectors[:n], vectors[:n, 0])
    return {
        "duals": classifier.dual_coef_,
        "probabilities": classifier.predict_proba(vectors[n:]),
        "regression": regressor.predict(vectors[n:]),
    }


def preference(n, n_threads):
    trees = generate_translations(n, seed=1)["source"]
    groups = [
        es.Group([own, es.Tree("X", [own])], gold=own, scores=[-1.0 - k % 3, -2.0]) for k, own in enumerate(trees)
    ]
    kernel = 1.0 * es.Normalized(es.PartialTree())
    model = es.GPPreference(kernel, max_iterations=1, random_state=0, n_threads=n_threads).fit(groups)
    return {
        "learned": list(model.learned_.to_dict().values()),
        "evidence": model.log_marginal_likelihood_,
        "coefficients": model.coefficients_,
        "probabilities": np.concatenate(model.predict_proba(groups[:5])),
    }


@pytest.mark.parametrize("run", [process, machine, preference])
@pytest.mark.parametrize("n", SIZES)
def test_any_number_of_threads_gives_the_same_bits(run, n, monkeypatch):
    monkeypatch.setattr(tiled, "LARGE", 150)
    assert_same_bits(twice(n, run))
