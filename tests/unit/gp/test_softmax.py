"""Softmax by Laplace's method against whole matrices, differences, and a fit without a row."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.gp import Bernoulli, Softmax, WeightedTargets, laplace, softmax
from likelihood_cases import N, covariances
from reference import softmax as slow
from reference.gaussian_process import central_difference

CODES = np.array([0, 2, 1, 1, 0, 2, 2, 0])
THREE = Softmax(3)


def blocks_of(covariance):
    """The matrix of each example, from that of all classes of all examples."""
    whole = covariance.reshape(3, N, 3, N)
    return np.stack([whole[:, k, :, k] for k in range(N)])


@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
def test_the_approximation_is_that_of_whole_matrices(size):
    K = covariances(size)
    mode, covariance, evidence = slow.laplace(K, CODES, 3)
    given = softmax.condition(K, THREE, CODES)
    np.testing.assert_allclose(given.latent, mode, atol=1e-7)
    assert given.log_evidence == pytest.approx(evidence, abs=1e-8)
    np.testing.assert_allclose(given.covariances(K, K.diagonal()), blocks_of(covariance), atol=1e-7 * size)
    np.testing.assert_allclose(given.mean(K), mode, atol=1e-7)


def test_new_examples_are_examples_without_targets():
    K = covariances(2.0, n=N + 3)
    given = softmax.condition(K[:N, :N].copy(), THREE, CODES)
    cross, prior = K[:N, N:], K.diagonal()[N:]
    p = given.probabilities
    stacked = np.vstack([np.diag(column) for column in p.T])
    curvature = np.diag(p.T.ravel()) - stacked @ stacked.T
    whole = np.kron(np.eye(3), K[:N, :N])
    inverse = curvature @ np.linalg.inv(np.eye(3 * N) + whole @ curvature)
    found = given.covariances(cross, prior)
    for k in range(3):
        own = np.kron(np.eye(3), cross[:, k : k + 1])
        np.testing.assert_allclose(found[k], prior[k] * np.eye(3) - own.T @ inverse @ own, atol=1e-10)


@pytest.mark.parametrize("offset", [0.0, 0.4])
def test_gradients_are_those_of_differences(offset):
    K = covariances(3.0)
    column = offset * np.arange(N * 3).reshape(N, 3) / N
    given = softmax.condition(K, THREE, CODES, column)
    found = softmax.cotangent(given, K, THREE, CODES, column)
    assert found.likelihood == {}
    for seed in range(4):
        D = covariances(seed=20 + seed)
        slope = central_difference(
            lambda t, D=D: softmax.condition(K + t * D, THREE, CODES, column).log_evidence, 0.0, 3e-3
        )
        assert (found.covariances * D).sum() == pytest.approx(slope, rel=1e-7)


def test_gradients_with_weights_are_those_of_differences():
    K, targets = covariances(3.0), WeightedTargets(CODES, np.linspace(0.3, 3.0, N))
    found = softmax.cotangent(softmax.condition(K, THREE, targets), K, THREE, targets)
    D = covariances(seed=20)
    slope = central_difference(lambda t: softmax.condition(K + t * D, THREE, targets).log_evidence, 0.0, 3e-3)
    assert (found.covariances * D).sum() == pytest.approx(slope, rel=1e-7)


def test_a_start_nearby_changes_only_the_time():
    K = covariances(3.0)
    cold = softmax.condition(1.2 * K, THREE, CODES)
    warm = softmax.condition(1.2 * K, THREE, CODES, 0.0, softmax.condition(K, THREE, CODES).near)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-10)


def test_two_classes_are_one_function_with_twice_the_variance():
    """The difference of the two latent values is all that counts."""
    K = covariances(1.0)
    codes = CODES % 2
    given = softmax.condition(K, Softmax(2), codes)
    known = laplace.condition(2 * K, Bernoulli("logit"), np.where(codes == 1, 1.0, -1.0))
    np.testing.assert_allclose(given.latent[:, 1] - given.latent[:, 0], known.latent, atol=1e-8)
    assert given.log_evidence == pytest.approx(known.log_evidence, abs=1e-9)


def test_left_out_values_are_those_of_sites_without_the_example():
    """Without the curvature of an example, and with its slope taken back."""
    K = covariances(2.0)
    given = softmax.condition(K, THREE, CODES)
    mean, covariance = given.left_out(K)
    p = given.probabilities
    curvature = np.zeros((3 * N, 3 * N))
    for a in range(3):
        for b in range(3):
            curvature[a * N : (a + 1) * N, b * N : (b + 1) * N] = np.diag(p[:, a] * (a == b) - p[:, a] * p[:, b])
    natural = curvature @ given.latent.T.ravel() + given.dual.T.ravel()
    prior = np.kron(np.eye(3), K)
    for k in (0, 3):
        own = [k, N + k, 2 * N + k]
        rest = curvature.copy()
        rest[np.ix_(own, own)] = 0.0
        others = natural.copy()
        others[own] = 0.0
        after = prior @ np.linalg.inv(np.eye(3 * N) + rest @ prior)
        np.testing.assert_allclose(covariance[k], after[np.ix_(own, own)], atol=1e-9)
        np.testing.assert_allclose(mean[k], (after @ others)[own], atol=1e-9)


def test_predicted_probabilities_are_means_over_latent_values():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(4, 3))
    root = rng.normal(size=(4, 3, 3))
    covariance = root @ root.transpose(0, 2, 1)
    covariance[3] = 0.0
    found = np.exp(THREE.log_predictive(mean, covariance))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    draws = rng.normal(size=(200_000, 3))
    for k in range(4):
        latent = mean[k] + draws @ (root[k].T if k < 3 else np.zeros((3, 3)))
        np.testing.assert_allclose(found[k], THREE.probabilities(latent).mean(axis=0), atol=4e-3)
    np.testing.assert_array_equal(found, np.exp(THREE.log_predictive(mean, covariance)))


@pytest.mark.parametrize("scale", [1e-9, 1e6])
def test_tiny_huge_and_singular_covariances(scale):
    root = np.random.default_rng(1).normal(size=(4, 3))
    K = np.kron(np.ones((2, 2)), scale * root @ root.T)
    K[0, :] = K[:, 0] = 0.0
    given = softmax.condition(K, THREE, CODES)
    assert np.isfinite(given.log_evidence) and given.log_evidence < 0
    assert np.isfinite(softmax.cotangent(given, K, THREE, CODES).covariances).all()
