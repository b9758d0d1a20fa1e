"""Likelihoods against their definitions, and Laplace's method for any of them against slow twins and scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, gammaln
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sklearn_kernels

import espalier as es
from espalier.gp import (
    Gaussian,
    LatentObjective,
    Likelihood,
    LinearTerm,
    Observed,
    Parameter,
    ParameterSlopes,
    Probit,
    Settings,
    Slopes,
    exact,
    laplace,
    learn,
)
from reference import laplace as slow
from reference.gaussian_process import central_difference, left_out, posterior

N = 8
SIGNS = np.where(np.random.default_rng(5).normal(size=N) > 0, 1.0, -1.0)
COUNTS = np.random.default_rng(6).poisson(2.0, size=N).astype(float)
VALUES = np.random.default_rng(7).normal(size=N)
NUMBERS = Observed(VALUES, np.arange(N) % 2, ("a", "b"), np.linspace(0.5, 2.0, N), np.linspace(0.0, 0.3, N))
BY_GROUP = Gaussian(es.PerLabel(0.2, values={"a": 0.3, "b": 0.8}))


@dataclass(frozen=True)
class Logistic(Likelihood[np.ndarray]):
    """A likelihood as a user would write it: two methods."""

    def log_density(self, latent, targets):
        return -np.logaddexp(0.0, -targets * latent)

    def slopes(self, latent, targets):
        p = expit(latent)
        return Slopes((targets + 1) / 2 - p, p * (1 - p), 2 * p - 1)


@dataclass(frozen=True)
class Poisson(Likelihood[np.ndarray]):
    """A likelihood with a number of its own that is learned."""

    rate: float = 1.0

    def log_density(self, latent, targets):
        return targets * (np.log(self.rate) + latent) - self.rate * np.exp(latent) - gammaln(targets + 1)

    def slopes(self, latent, targets):
        mean = self.rate * np.exp(latent)
        return Slopes(targets - mean, mean, np.full(len(latent), -1.0))

    def parameters(self) -> list[Parameter]:
        return [Parameter("rate", self.rate, 1e-3, 1e3)]

    def with_parameters(self, values: Mapping[str, float]) -> Poisson:
        return replace(self, rate=values.get("rate", self.rate))

    def parameter_slopes(self, latent, targets):
        growth = np.exp(latent)
        return {"rate": ParameterSlopes(targets / self.rate - growth, -growth, np.full(len(latent), 1 / self.rate))}


CASES: dict[str, tuple[Likelihood[Any], Any, np.ndarray, list[Any]]] = {
    "probit": (Probit(), SIGNS, SIGNS, [slow.probit] * N),
    "logistic": (Logistic(), SIGNS, SIGNS, [slow.logistic] * N),
    "poisson": (Poisson(1.7), COUNTS, COUNTS, [slow.poisson(1.7)] * N),
    "gaussian": (BY_GROUP, NUMBERS, VALUES, [slow.normal(own) for own in BY_GROUP.variances(NUMBERS)]),
}


def covariances(size=1.0, n=N, seed=0):
    root = np.random.default_rng(seed).normal(size=(n, n + 2))
    return size * (root @ root.T / n + 0.1 * np.eye(n))


@pytest.mark.parametrize("name", CASES)
def test_densities_and_their_derivatives(name):
    likelihood, targets, y, formulas = CASES[name]
    for latent in (np.linspace(-2, 2, N), np.zeros(N)):
        found = likelihood.log_density(latent, targets)
        wanted = [formula(*own) for formula, *own in zip(formulas, y.tolist(), latent.tolist(), strict=True)]
        np.testing.assert_allclose(found, wanted, rtol=1e-12)

        def slope_of(value, latent=latent):
            """Each derivative at once: a target depends on its own latent value alone."""
            return central_difference(lambda x: value(latent + x, targets), 0.0, 1e-3)

        slope, curvature, ratio = likelihood.slopes(latent, targets)
        np.testing.assert_allclose(slope, slope_of(likelihood.log_density), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(-curvature, slope_of(lambda *own: likelihood.slopes(*own).slope), rtol=1e-8)
        third = slope_of(lambda *own: -likelihood.slopes(*own).curvature)
        np.testing.assert_allclose(ratio * curvature, third, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_densities_add_up_to_1(name):
    """Over all targets; a case whose targets are no signs and no counts is integrated."""
    likelihood, targets, y, _ = CASES[name]
    latent = np.linspace(-2, 2, N)
    values: Any = np.linspace(-30, 30, 6001)
    step = values[1] - values[0]
    if set(y.tolist()) <= {-1.0, 1.0}:
        values, step = [-1.0, 1.0], 1.0
    elif (y == y.round()).all():
        values, step = range(200), 1.0
    total = sum(np.exp(likelihood.log_density(latent, at_targets(targets, float(value)))) for value in values) * step
    np.testing.assert_allclose(total, 1.0, rtol=1e-9)


def at_targets(targets, value):
    """The targets of a case with one value for all."""
    if isinstance(targets, Observed):
        return replace(targets, values=np.full(N, value))
    return np.full(N, value)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[0].parameters()])
def test_derivatives_in_learned_numbers(name):
    likelihood, targets, _, _ = CASES[name]
    latent = np.linspace(-1, 1, N)
    found = likelihood.parameter_slopes(latent, targets)
    assert list(found) == [parameter.path for parameter in likelihood.parameters()]
    for path, slopes in found.items():
        start = {parameter.path: parameter.start for parameter in likelihood.parameters()}[path]

        def at(x, path=path):
            return likelihood.with_parameters({path: x, "kernel.decay": 0.5})

        parts = {
            "log_density": lambda own: own.log_density(latent, targets),
            "slope": lambda own: own.slopes(latent, targets).slope,
            "log_curvature": lambda own: np.log(own.slopes(latent, targets).curvature),
        }
        for part, value in parts.items():
            wanted = central_difference(lambda x, value=value: value(at(x)), start, 1e-3 * start)
            np.testing.assert_allclose(getattr(slopes, part), wanted, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_predictive_densities_are_integrals(name):
    likelihood, targets, y, formulas = CASES[name]
    mean, variance = np.linspace(-1, 1, N), np.linspace(0.1, 2.0, N)
    found = likelihood.log_predictive_density(mean, variance, targets)
    by_quadrature = Likelihood.log_predictive_density(likelihood, mean, variance, targets)
    wanted = [slow.predictive(y[k], mean[k], variance[k], formulas[k]) for k in range(N)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_allclose(by_quadrature, wanted, rtol=1e-6)
    if name == "probit":
        np.testing.assert_allclose(likelihood.probability(mean, variance)[y > 0], np.exp(found[y > 0]), rtol=1e-12)


@dataclass(frozen=True)
class Secant(Likelihood[np.ndarray]):
    """A target is its latent value plus hyperbolic secant noise."""

    deviation: float

    def log_density(self, latent, targets):
        u = np.pi / 2 * np.abs(targets - latent) / self.deviation
        return -u - np.log1p(np.exp(-2 * u)) - np.log(self.deviation)

    def slopes(self, latent, targets):
        rate = np.pi / 2 / self.deviation
        t = np.tanh(rate * (targets - latent))
        return Slopes(rate * t, rate**2 * (1 - t**2), 2 * rate * t)


@dataclass(frozen=True)
class Step(Likelihood[np.ndarray]):
    """A sign that is seen with little noise."""

    deviation: float

    def log_density(self, latent, targets):
        return Probit().log_density(latent / self.deviation, targets)

    def slopes(self, latent, targets):
        slope, curvature, ratio = Probit().slopes(latent / self.deviation, targets)
        return Slopes(slope / self.deviation, curvature / self.deviation**2, ratio / self.deviation)


@pytest.mark.parametrize("variance", [0.0, 1e-8, 0.01, 2.0, 1e4])
@pytest.mark.parametrize("size", [1e-4, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("kind", [Secant, Step])
def test_predictive_densities_are_exact_for_narrow_and_wide_likelihoods(kind, size, variance):
    likelihood, deviation = kind(size), np.sqrt(variance)
    mean = np.array([-3.0, -0.5, 0.0, 0.02, 1.0, 4.0]) * deviation
    targets = np.ones(len(mean)) if kind is Step else np.linspace(-1, 1.5, len(mean)) * (deviation + size)
    found = likelihood.log_predictive_density(mean, np.full(len(mean), variance), targets)
    for k, own in enumerate(targets.tolist()):
        place = 0.0 if kind is Step else own  # where the density changes fast

        def product(z, k=k, own=own):
            latent = np.array([mean[k] + deviation * z])
            return float(np.exp(likelihood.log_density(latent, np.array([own]))[0] - z**2 / 2)) / np.sqrt(2 * np.pi)

        ends = np.array([-38.0, 38.0])
        near = (place - mean[k] + np.array([-30, -5, 0, 5, 30]) * size) / deviation if variance else np.zeros(1)
        edges = np.unique(np.clip(np.concatenate([ends, near, np.linspace(-10, 10, 21)]), -38, 38))
        total = sum(quad(product, a, b, epsabs=1e-13, epsrel=1e-10)[0] for a, b in pairwise(edges.tolist()))
        assert found[k] == pytest.approx(np.log(total), abs=2e-7)


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
    mean, variance = laplace.condition(K, Probit(), SIGNS).left_out()
    for i in range(N):
        rest = np.arange(N) != i
        without = laplace.condition(K[np.ix_(rest, rest)], Probit(), SIGNS[rest])
        cross, none = K[rest][:, [i]], np.zeros((1, 0))
        assert mean[i] == pytest.approx(without.mean(cross, none)[0], abs=0.02)
        assert variance[i] == pytest.approx(without.variance(cross, K[[i], [i]], none)[0], rel=0.03)


def test_a_target_that_says_nothing_has_no_leave_one_out():
    K = np.eye(2)
    mean, variance = laplace.condition(K, Probit(), 1.0, offset=np.array([7.5, 0.0])).left_out()
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
    objective = LatentObjective(kernel, kernel.plan(X), Poisson(), y, len(y))
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
    with_term = LatentObjective(kernel, kernel.plan(X), Probit(), y, 12, term=term)
    values = {parameter.path: parameter.start for parameter in with_term.parameters()} | {"weight.variance": 2.5}
    K = kernel(X) + 2.5 * np.outer(feature, feature)
    assert with_term.value(values) == pytest.approx(laplace.condition(K, Probit(), y).log_evidence, rel=1e-12)
    _, gradient = with_term.gradient(values)
    for path, value in values.items():
        slope = central_difference(lambda x, path=path: with_term.value({**values, path: x}), value, 1e-3)
        assert gradient[path] == pytest.approx(slope, rel=1e-6)
