"""Laplace's method for any likelihood against slow twins and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sklearn_kernels

import espalier as es
from espalier.gp import (
    Bernoulli,
    LatentObjective,
    LinearTerm,
    Settings,
    exact,
    laplace,
    learn,
)
from likelihood_cases import BY_GROUP, CASES, NUMBERS, SIGNS, VALUES, Counts, Logistic, N, covariances
from reference import laplace as slow
from reference.gaussian_process import central_difference, left_out, posterior


@pytest.mark.parametrize("offset", [0.0, 0.7])
@pytest.mark.parametrize("size", [0.1, 3.0])
@pytest.mark.parametrize("name", CASES)
def test_the_approximation_is_that_of_the_definition(name, size, offset):
    likelihood, targets, y, formulas = CASES[name]
    K = covariances(size)
    given = laplace.condition(K, likelihood, targets, offset)
    at = iter(range(10**9))
    f, spread, evidence = slow.laplace(K, y, lambda own, value: formulas[next(at) % N](own, value), offset)
    np.testing.assert_allclose(given.latent, f, atol=1e-6)
    assert given.log_evidence == pytest.approx(evidence, abs=1e-5)
    none = np.zeros((N, 0))
    np.testing.assert_allclose(given.covariance(K, K, none), spread, atol=1e-4 * size)
    np.testing.assert_allclose(given.variance(K, K.diagonal(), none), spread.diagonal(), atol=1e-4 * size)
    np.testing.assert_allclose(given.mean(K, none), f, atol=1e-6)
    np.testing.assert_allclose(K - K @ given.solve(K), spread, atol=1e-4 * size)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name):
    likelihood, targets, _, _ = CASES[name]
    K, offset = covariances(2.0), np.linspace(-0.5, 0.5, N)
    found = laplace.cotangent(laplace.condition(K, likelihood, targets, offset), K, likelihood, targets, offset)
    for seed in range(3):
        D = covariances(seed=10 + seed)
        slope = central_difference(
            lambda t, D=D: laplace.condition(K + t * D, likelihood, targets, offset).log_evidence, 0.0, 1e-3
        )
        assert (found.covariances * D).sum() == pytest.approx(slope, rel=1e-7)
    assert list(found.likelihood) == [parameter.path for parameter in likelihood.parameters()]
    for parameter in likelihood.parameters():
        slope = central_difference(
            lambda x, path=parameter.path: (
                laplace.condition(K, likelihood.with_parameters({path: x}), targets, offset).log_evidence
            ),
            parameter.start,
            1e-3 * parameter.start,
        )
        assert found.likelihood[parameter.path] == pytest.approx(slope, rel=1e-7)


def test_laplace_is_exact_for_normal_targets():
    K, none = covariances(2.0), np.zeros((N, 0))
    near, whole = laplace.condition(K, BY_GROUP, NUMBERS), exact.condition(K.copy(), BY_GROUP, NUMBERS, none)
    noise = BY_GROUP.variances(NUMBERS)
    assert near.log_evidence == pytest.approx(whole.log_evidence, rel=1e-12)
    np.testing.assert_allclose(near.dual, whole.dual, rtol=1e-9)
    np.testing.assert_allclose(near.solve(K), whole.solve(K), rtol=1e-9)
    new = covariances(1.0, N + 3, 4)
    cross, prior = new[:N, N:], new[N:, N:]
    mean, spread = posterior(K, cross, prior, VALUES, noise)
    for given in (near, whole):
        np.testing.assert_allclose(given.mean(cross, none[:3]), mean, rtol=1e-9)
        np.testing.assert_allclose(given.covariance(cross, prior, none[:3]), spread, atol=1e-10)
    # The first gives the latent value that is left out, the second its target.
    wanted_mean, wanted = left_out(K, VALUES, noise)
    for given, own in ((near, wanted - noise), (whole, wanted)):
        found_mean, found = given.left_out()
        np.testing.assert_allclose(found_mean, wanted_mean, rtol=1e-9)
        np.testing.assert_allclose(found, own, rtol=1e-8)
    bar = laplace.cotangent(near, K, BY_GROUP, NUMBERS)
    exact_bar = exact.cotangent(whole)
    np.testing.assert_allclose(bar.covariances, exact_bar, rtol=1e-8, atol=1e-10)
    assert bar.likelihood == pytest.approx(BY_GROUP.pull_back(NUMBERS, exact_bar.diagonal()), rel=1e-8)


def test_latent_values_left_out_are_near_those_of_a_fit_without_them():
    K = covariances(0.3)
    mean, variance = laplace.condition(K, Bernoulli(), SIGNS).left_out()
    for i in range(N):
        rest = np.arange(N) != i
        without = laplace.condition(K[np.ix_(rest, rest)], Bernoulli(), SIGNS[rest])
        cross, none = K[rest][:, [i]], np.zeros((1, 0))
        assert mean[i] == pytest.approx(without.mean(cross, none)[0], abs=0.02)
        assert variance[i] == pytest.approx(without.variance(cross, K[[i], [i]], none)[0], rel=0.03)


def test_a_target_that_says_nothing_has_no_leave_one_out():
    K = np.eye(2)
    mean, variance = laplace.condition(K, Bernoulli(), 1.0, offset=np.array([7.5, 0.0])).left_out()
    assert np.isnan([mean[0], variance[0]]).all()
    assert variance[1] == pytest.approx(1.0, rel=1e-9) and mean[1] == pytest.approx(0.0, abs=1e-9)


def test_classification_agrees_with_scikit_learn():
    """The same evidence, gradient and probabilities, with the logistic likelihood that scikit-learn has."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 2)), rng.normal(size=(10, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1.0, -1.0)
    kernel = 2.0 * es.RBF(0.8)
    plan = kernel.plan(X)
    objective = LatentObjective(kernel, plan, Logistic(), y, len(y))
    values = {parameter.path: parameter.start for parameter in objective.parameters()}
    theirs = sklearn_kernels.ConstantKernel(2.0) * sklearn_kernels.RBF(0.8)
    model = GaussianProcessClassifier(theirs, optimizer=None).fit(X, y)
    wanted, slopes = model.log_marginal_likelihood(theirs.theta, eval_gradient=True)
    found, gradient = objective.gradient(values)
    assert found == pytest.approx(wanted, rel=1e-8) and objective.value(values) == pytest.approx(wanted, rel=1e-8)
    in_logs = [gradient[f"kernel.{path}"] * values[f"kernel.{path}"] for path in ("scale", "lengthscale")]
    assert in_logs == pytest.approx(slopes.tolist(), rel=1e-5)
    given = objective.posterior(values).given
    mean = given.mean(kernel(X, new), np.zeros((10, 0)))
    assert ((mean > 0) == (model.predict(new) > 0)).all()
    variance = given.variance(kernel(X, new), kernel.diagonal(new), np.zeros((10, 0)))
    probability = np.exp(Logistic().log_predictive_density(mean, variance, np.ones(10)))
    np.testing.assert_allclose(probability, model.predict_proba(new)[:, 1], atol=2e-3)  # theirs is approximate


def test_any_likelihood_learns_its_numbers_beside_the_kernel():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(60, 1))
    y = rng.poisson(3.0 * np.exp(np.sin(2 * X[:, 0]))).astype(float)
    kernel = 1.0 * es.RBF(1.0)
    objective = LatentObjective(kernel, kernel.plan(X), Counts(), y, len(y))
    assert [parameter.path for parameter in objective.parameters()] == ["kernel.scale", "kernel.lengthscale", "rate"]
    found = learn(objective, Settings(0, 100, 1e-5), rng)
    assert found.best.converged and found.learned.gradient_norm < 1e-2 and found.stop is None
    best = found.best.values
    assert 1.5 < best["rate"] < 6.0 and found.best.log_likelihood > objective.value({"rate": 1.0}) + 4
    f = objective.posterior(best).given.latent
    assert np.corrcoef(f, np.sin(2 * X[:, 0]))[0, 1] > 0.9


def test_a_linear_term_is_one_kernel_more():
    rng = np.random.default_rng(2)
    X, feature = rng.normal(size=(12, 2)), rng.normal(size=12)
    y = np.where(rng.normal(size=12) > 0, 1.0, -1.0)
    kernel = 1.0 * es.RBF(1.0)
    term = LinearTerm("weight.variance", feature, "")
    with_term = LatentObjective(kernel, kernel.plan(X), Bernoulli(), y, 12, term=term)
    values = {parameter.path: parameter.start for parameter in with_term.parameters()} | {"weight.variance": 2.5}
    K = kernel(X) + 2.5 * np.outer(feature, feature)
    assert with_term.value(values) == pytest.approx(laplace.condition(K, Bernoulli(), y).log_evidence, rel=1e-12)
    _, gradient = with_term.gradient(values)
    for path, value in values.items():
        slope = central_difference(lambda x, path=path: with_term.value({**values, path: x}), value, 1e-3)
        assert gradient[path] == pytest.approx(slope, rel=1e-6)
