"""Approximate inference for three to six targets against definitions that can be summed, to the eighth digit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import root
from scipy.special import log_ndtr, ndtr

from espalier.gp import Bernoulli, Softmax, ep, laplace, softmax, variational
from reference import ep as slow
from reference.enumeration import posterior
from reference.laplace import logistic, normal_mean, probit

SIGNS = np.array([1.0, -1.0, 1.0, 1.0])


def covariances(n, size):
    return size * (0.5 + 0.5 * np.eye(n) - 0.05 * np.add.outer(np.arange(n), np.arange(n)) / n)


@pytest.mark.parametrize("size", [0.3, 5.0])
@pytest.mark.parametrize(("link", "formula"), [("probit", probit), ("logit", logistic)])
def test_sites_of_three_targets(link, formula, size):
    K, signs = covariances(3, size), SIGNS[:3]
    mean, covariance, evidence = slow.ep(K, signs, [formula] * 3, 0.2, sweeps=25, n_points=1_201)
    given = ep.condition(K, Bernoulli(link), signs, 0.2)
    np.testing.assert_allclose(given.latent, mean, atol=1e-8)
    np.testing.assert_allclose(given.latent_variance, covariance.diagonal(), atol=1e-8)
    assert given.log_evidence == pytest.approx(evidence, abs=1e-8)


@pytest.mark.parametrize(("link", "formula"), [("probit", probit), ("logit", logistic)])
def test_expectation_propagation_is_exact_for_independent_latent_values(link, formula):
    """Then the posterior of each is that of one value, which sums give."""
    K = np.diag([0.2, 1.0, 4.0, 9.0])
    given = ep.condition(K, Bernoulli(link), SIGNS)
    evidence = 0.0
    for k, sign in enumerate(SIGNS):

        def part(power, sign=sign, k=k):
            return normal_mean(lambda f: f**power * np.exp(formula(sign, f)), 0.0, K[k, k], 4_001)

        mass = part(0)
        evidence += np.log(mass)
        assert given.latent[k] == pytest.approx(part(1) / mass, abs=1e-8)
        assert given.latent_variance[k] == pytest.approx(part(2) / mass - (part(1) / mass) ** 2, abs=1e-8)
    assert given.log_evidence == pytest.approx(evidence, abs=1e-8)


@pytest.mark.parametrize("size", [0.3, 5.0, 50.0])
@pytest.mark.parametrize("n", [3, 6])
def test_the_mode_and_the_evidence_of_laplace(n, size):
    """The mode solves ``f = K grad log p``; the evidence has the determinant of ``I + K W``."""
    K, signs = covariances(n, size), np.resize(SIGNS, n)

    def slope(f):
        return signs * np.exp(-0.5 * f**2 - log_ndtr(signs * f)) / np.sqrt(2 * np.pi)

    f = np.zeros(n)
    for _ in range(50):  # Newton's method without any care, which a few targets do not need
        curvature = slope(f) * (slope(f) + f)
        f = np.linalg.solve(np.eye(n) + K * curvature, K @ (curvature * f + slope(f)))
    curvature = slope(f) * (slope(f) + f)
    evidence = (
        log_ndtr(signs * f).sum()
        - 0.5 * f @ np.linalg.solve(K, f)
        - 0.5 * np.linalg.slogdet(np.eye(n) + K * curvature)[1]
    )
    given = laplace.condition(K, Bernoulli(), signs)
    np.testing.assert_allclose(given.latent, f, atol=1e-8)
    assert given.log_evidence == pytest.approx(evidence, abs=1e-8)
    spread = np.linalg.inv(np.linalg.inv(K) + np.diag(curvature))
    np.testing.assert_allclose(given.covariance(K, K, np.zeros((n, 0))), spread, atol=1e-8 * size)


@pytest.mark.parametrize("size", [0.3, 5.0, 50.0])
def test_the_evidence_of_softmax_has_the_determinant_of_all_classes(size):
    """All classes of all examples in one vector of 15 values: nothing of the structure is used."""
    K, codes, n, c = covariances(5, size), np.array([0, 2, 1, 1, 0]), 5, 3
    prior, observed = np.kron(np.eye(c), K), np.eye(c)[codes].T.ravel()

    def probabilities(f):
        powers = np.exp(f.reshape(c, n))
        return (powers / powers.sum(axis=0)).ravel()

    f = root(lambda f: f - prior @ (observed - probabilities(f)), np.zeros(n * c), tol=1e-13, method="hybr").x
    p = probabilities(f)
    curvature = np.diag(p) - np.outer(p, p) * np.kron(np.ones((c, c)), np.eye(n))
    evidence = (
        np.log(p[observed == 1]).sum()
        - 0.5 * f @ np.linalg.solve(prior, f)
        - 0.5 * np.linalg.slogdet(np.eye(n * c) + prior @ curvature)[1]
    )
    given = softmax.condition(K, Softmax(c), codes)
    assert given.log_evidence == pytest.approx(evidence, abs=1e-8)
    np.testing.assert_allclose(given.latent.T.ravel(), f, atol=1e-8 * size)


@pytest.mark.parametrize("size", [0.3, 5.0])
def test_what_is_approximate_beside_sums_over_a_grid(size):
    """Expectation propagation misses the evidence of three signs by a thousandth, the bound and Laplace by more."""
    K, evidences = covariances(3, size), {inference: [] for inference in (ep, variational, laplace)}
    truth = []
    for signs in map(np.array, product([-1.0, 1.0], repeat=3)):
        truth.append(posterior(K, lambda f, signs=signs: log_ndtr(signs * f).sum(axis=1))[2])
        for inference, own in evidences.items():
            own.append(inference.condition(K, Bernoulli(), signs).log_evidence)
    assert np.exp(truth).sum() == pytest.approx(1.0, abs=1e-8), "one of the signs is observed"
    errors = {inference: np.array(own) - truth for inference, own in evidences.items()}
    assert np.abs(errors[ep]).max() < 2e-3
    assert (errors[variational] < 0).all() and np.abs(errors[ep]).max() < 0.2 * np.abs(errors[variational]).max()
    assert np.abs(errors[ep]).max() < 0.2 * np.abs(errors[laplace]).max()
    assert np.exp(evidences[ep]).sum() == pytest.approx(1.0, abs=2e-3)


def test_the_chance_that_two_signs_agree_is_known():
    """An arc sine for two latent values of a probit with noise: sums over the grid, and the sum of both signs."""
    K = np.array([[2.0, 1.2], [1.2, 1.0]])
    correlation = 1.2 / np.sqrt(3.0 * 2.0)
    wanted = 0.25 + np.arcsin(correlation) / (2 * np.pi)
    _, _, evidence = posterior(K, lambda f: np.log(ndtr(f)).sum(axis=1), n_points=121)
    assert np.exp(evidence) == pytest.approx(wanted, abs=1e-8)
    assert np.exp(ep.condition(K, Bernoulli(), np.ones(2)).log_evidence) == pytest.approx(wanted, abs=1e-3)
