"""A mean whose weights have a prior: evidence, intervals, gradients, odd columns, memory."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import espalier as es
from espalier import GPRegressor, PerLabel
from espalier.errors import InputError
from espalier.gp import BoxCox
from espalier.gp.mean import ConstantMean
from reference.gaussian_process import central_difference

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 3)) * [1.0, 100.0, 0.01]
NEW = RNG.normal(size=(6, 3)) * [1.0, 100.0, 0.01]
Y = np.exp(0.5 * X[:, 0] + 0.3 * RNG.normal(size=25))


def covariance_of_targets(model, x, noise):
    """C' of the definition, n x n, with the columns of a linear mean and a spread of 10."""
    H = np.column_stack([np.ones(len(x)), x])
    H = 10.0 * H / np.sqrt((H**2).mean(axis=0))
    return model.kernel_(x) + H @ H.T + noise * np.eye(len(x))


def test_the_evidence_is_the_density_with_the_weights_integrated_out():
    model = GPRegressor(es.RBF(50.0), noise=0.2, mean="linear", standardize=False, learn=False).fit(X, Y)
    expected = multivariate_normal.logpdf(Y, np.zeros(25), covariance_of_targets(model, X, 0.2))
    assert model.log_marginal_likelihood_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("mean", ["constant", "linear"])
def test_gradients_with_everything_learned(mean):
    kernel = 0.7 * es.RBF(30.0)
    model = GPRegressor(kernel, noise=PerLabel(0.2), mean=mean, target_transform=BoxCox(0.4), learn=False)
    model.fit(X, Y, noise_groups=["a", "b"] * 12 + ["a"], noise_variance=0.02)
    theta = {parameter.path: parameter.start for parameter in model._examples.parameters()}
    assert len(theta) == 5
    _, gradient = model.log_marginal_likelihood(theta, gradient=True)
    for path, start in theta.items():
        expected = central_difference(
            lambda x, path=path: model.log_marginal_likelihood({**theta, path: x}), start, 2e-3 * start
        )
        assert gradient[path] == pytest.approx(expected, rel=1e-6, abs=1e-7), path


@pytest.mark.parametrize(
    "x",
    [
        np.column_stack([X, X[:, 0], np.zeros(25), np.ones(25)]),
        RNG.normal(size=(25, 40)),
        np.zeros((25, 2)),
        X * 1e150,
    ],
    ids=["repeated, zero and constant columns", "more columns than rows", "nothing but zeros", "huge"],
)
def test_any_columns(x):
    model = GPRegressor(es.Constant(0.5), noise=0.2, mean="linear", standardize=False, learn=False).fit(x, Y)
    H = np.column_stack([np.ones(25), x / np.maximum(np.abs(x).max(axis=0), 1e-300)])
    H = 10.0 * H / np.maximum(np.sqrt((H**2).mean(axis=0)), 1e-300)
    C = 0.5 + H @ H.T + 0.2 * np.eye(25)
    assert model.log_marginal_likelihood_ == pytest.approx(multivariate_normal.logpdf(Y, np.zeros(25), C), rel=1e-9)
    mean, std = model.predict(x, return_std=True, include_noise=False)
    prior = C - 0.2 * np.eye(25)
    np.testing.assert_allclose(mean, prior @ np.linalg.solve(C, Y), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(std**2, (prior - prior @ np.linalg.solve(C, prior)).diagonal(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("noise", [1e-6, 1e-14])
def test_repeated_columns_with_hardly_any_noise(noise):
    x = np.column_stack([X[:, 0], X[:, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of jitter
        model = GPRegressor(es.Constant(1e-3), noise=es.fixed(noise), mean="linear", learn=False).fit(x, Y)
    one, two = model.mean_["mean.slope[0]"], model.mean_["mean.slope[1]"]
    assert one == pytest.approx(two, rel=1e-3)
    assert np.isfinite(model.leave_one_out().std).all() and (model.leave_one_out().std > 0).all()


def pure_noise(seed, n=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 20)), rng.normal(size=n)


def test_intervals_hold_what_they_promise_where_weights_are_uncertain():
    inside, left_out = [], []
    for seed in range(12):
        x, y = pure_noise(seed, 260)
        model = GPRegressor(es.Constant(0.1), mean="linear").fit(x[:60], y[:60])
        low, high = model.predict_distribution(x[60:]).interval(0.9).T
        inside.append(np.mean((low < y[60:]) & (y[60:] < high)))
        low, high = model.leave_one_out().interval(0.9).T
        left_out.append(np.mean((low < y[:60]) & (y[:60] < high)))
    assert 0.86 < np.mean(inside) < 0.94
    assert 0.86 < np.mean(left_out) < 0.94


def test_pure_noise_needs_no_linear_mean():
    chosen = []
    for seed in range(10):
        x, y = pure_noise(seed)
        models = {str(mean): GPRegressor(es.Constant(0.1), mean=mean).fit(x, y) for mean in (None, "linear")}
        chosen.append(es.compare(models).best)
    assert chosen.count("None") >= 9


def test_a_linear_mean_is_chosen_where_it_is_true():
    x, y = pure_noise(0)
    y = y + 3 * x[:, 0]
    models = {str(mean): GPRegressor(es.Constant(0.1), mean=mean).fit(x[:, :3], y) for mean in (None, "linear")}
    assert es.compare(models).best == "linear"


def test_weights_are_in_modelled_units_per_unit_of_the_column():
    x = np.linspace(-1, 1, 50)[:, None] * 1000
    y = 7.0 + 0.02 * x[:, 0]
    model = GPRegressor(es.Constant(1e-4), noise=es.fixed(1e-6), mean="linear", learn=False).fit(x, y)
    assert model.mean_["mean.slope[0]"] * y.std() == pytest.approx(0.02, rel=1e-4)


def test_the_spread_is_a_prior():
    x = np.linspace(-1, 1, 30)[:, None]
    slopes = [
        GPRegressor(es.Constant(1e-4), noise=0.1, mean=es.gp.LinearMean(spread=spread), learn=False)
        .fit(x, 2.0 * x[:, 0])
        .mean_["mean.slope[0]"]
        for spread in (1e-3, 0.05, 1.0, 10.0)
    ]
    assert slopes == sorted(slopes) and slopes[0] < 0.01 and slopes[-1] > 1.6


@pytest.mark.parametrize("spread", [0, -1.0, math.nan, math.inf, "wide", True, None])
@pytest.mark.parametrize("kind", [ConstantMean, es.gp.LinearMean])
def test_the_spread_must_be_positive(kind, spread):
    with pytest.raises((ValueError, TypeError), match="spread must be a positive finite number"):
        kind(spread=spread)


def test_the_dual_form_has_the_constant_and_refuses_slopes():
    kernel = es.SubsetTree(0.3)
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    model = GPRegressor(kernel, mean="constant", learn=False).fit(trees, [2.0, 2.1, 0.9, 1.0])
    dual = model.dual_form()
    np.testing.assert_allclose(
        kernel(trees) @ dual.coefficients[0] + dual.intercepts[0], model.predict(trees), rtol=1e-10
    )
    linear = GPRegressor(es.RBF(), mean="linear", learn=False).fit(X, Y)
    with pytest.raises(InputError, match="not a sum over training rows alone"):
        linear.dual_form()
