"""Elliptical slice sampling against exact posteriors, and what is approximate against its draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr

from espalier.gp import (
    Bernoulli,
    Softmax,
    StudentT,
    Weighted,
    WeightedTargets,
    ep,
    exact,
    laplace,
    slice_sampling,
    softmax,
    variational,
)
from likelihood_cases import BY_GROUP, CASES, NUMBERS, STUDENT, N, covariances
from reference.enumeration import posterior

SIGNS = np.array([1.0, 1.0, -1.0])
SHIFT = np.array([0.0, 0.3, -0.5])  # of three classes


def moments(draws):
    """Means, second moments around 0, and the errors of both from chains that know nothing of each other."""
    by_chain = [draws.mean(axis=0), (draws**2).mean(axis=0)]
    n_chains = len(by_chain[0])
    return [(each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(n_chains)) for each in by_chain]


def agree(draws, mean, variance, errors=4.5):
    """Whether means and second moments are those of a posterior, up to the error of the draws."""
    for (found, error), wanted in zip(moments(draws), (mean, variance + mean**2), strict=True):
        assert (np.abs(found - wanted) <= errors * error).all()
        assert (error <= 0.05 * np.sqrt(variance) * (1 + np.abs(mean) + np.sqrt(variance))).all(), "it tells something"


def test_draws_given_normal_targets_are_those_of_the_exact_posterior():
    K, none = covariances(2.0), np.zeros((N, 0))
    given = exact.condition(K.copy(), BY_GROUP, NUMBERS, none)
    draws = slice_sampling.sample(K, BY_GROUP, NUMBERS, n_draws=1000, n_chains=100)
    assert draws.shape == (1000, 100, N)
    agree(draws, given.mean(K, none), given.variance(K, K.diagonal(), none))


@pytest.mark.parametrize(
    ("likelihood", "targets", "log_likelihood"),
    [
        (Bernoulli(), SIGNS, lambda f: log_ndtr(SIGNS * (f + 0.4)).sum(axis=1)),
        (
            Weighted(Bernoulli("logit")),
            WeightedTargets(SIGNS, np.array([0.5, 2.0, 3.0])),
            lambda f: -np.logaddexp(0.0, -SIGNS * (f + 0.4)) @ np.array([0.5, 2.0, 3.0]),
        ),
        (StudentT(0.3, 2.5), 2 * SIGNS, lambda f: -1.75 * np.log1p((2 * SIGNS - f - 0.4) ** 2 / 0.225).sum(axis=1)),
    ],
    ids=["probit", "weighted logit", "student"],
)
def test_draws_of_three_values_are_those_of_sums_over_a_grid(likelihood, targets, log_likelihood):
    K = 3.0 * (0.6 + 0.4 * np.eye(3))
    mean, covariance, _ = posterior(K, log_likelihood)
    draws = slice_sampling.sample(K, likelihood, targets, 0.4, n_draws=400, n_chains=200)
    agree(draws, mean, covariance.diagonal())
    product = draws[..., 0] * draws[..., 1]
    wanted, error = covariance[0, 1] + mean[0] * mean[1], product.mean(axis=0).std(ddof=1) / np.sqrt(200)
    assert abs(product.mean() - wanted) <= 4.5 * error


def test_draws_for_softmax_are_those_of_sums_over_a_grid():
    """One example of three classes, so that there are three latent values with independent priors."""
    mean, covariance, _ = posterior(2.5 * np.eye(3), lambda f: f[:, 1] + 0.3 - np.log(np.exp(f + SHIFT).sum(axis=1)))
    draws = slice_sampling.sample(np.array([[2.5]]), Softmax(3), np.array([1]), SHIFT, n_draws=400, n_chains=200)
    assert draws.shape == (400, 200, 1, 3)
    agree(draws[:, :, 0], mean, covariance.diagonal())


@pytest.mark.parametrize("name", [*CASES, "student"])
def test_every_likelihood_has_draws(name):
    likelihood, targets, _, _ = {**CASES, "student": STUDENT}[name]
    draws = slice_sampling.sample(covariances(), likelihood, targets, n_draws=3, n_warm_up=2, n_chains=2)
    assert draws.shape == (3, 2, N) and np.isfinite(draws).all()
    assert (np.diff(draws, axis=0) != 0).any(axis=2).all(), "every step moves"


def test_draws_have_the_same_bits_for_a_seed_and_others_for_another():
    first, again, other = (
        slice_sampling.sample(np.eye(3), Bernoulli(), SIGNS, n_draws=5, random_state=seed) for seed in (1, 1, 2)
    )
    assert (first == again).all() and (first != other).any()


def test_values_without_variance_stay_and_single_numbers_are_targets():
    K = np.diag([0.0, 1.0])
    draws = slice_sampling.sample(K, Bernoulli(), 1.0, n_draws=50, n_warm_up=0)
    assert (draws[..., 0] == 0).all() and draws[..., 1].std() > 0


@pytest.mark.parametrize("setting", [{"n_draws": 0}, {"n_warm_up": -1}, {"n_chains": 0}, {"n_chains": 1.5}])
def test_numbers_of_draws_are_checked(setting):
    with pytest.raises((ValueError, TypeError), match=next(iter(setting))):
        slice_sampling.sample(np.eye(3), Bernoulli(), SIGNS, **setting)


# Thirty examples: every approximation beside the draws.

N_MANY = 30


@pytest.fixture(scope="module")
def thirty():
    """Covariances, signs and classes of thirty examples, and a prior under which they are rather certain."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(N_MANY, 2))
    K = 9.0 * np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(axis=2))
    signs = np.where(x[:, 0] + 0.3 * rng.normal(size=N_MANY) > 0, 1.0, -1.0)
    codes = np.digitize(x[:, 0] + 0.3 * rng.normal(size=N_MANY), [-0.5, 0.5])
    return K, signs, codes


@pytest.fixture(scope="module")
def draws_of_signs(thirty):
    K, signs, _ = thirty
    return slice_sampling.sample(K, Bernoulli(), signs, n_draws=800, n_chains=100)


def of_signs(inference, thirty):
    """Means, deviations and probabilities of 1 by an approximation."""
    K, signs, _ = thirty
    given = inference.condition(K, Bernoulli(), signs)
    variance = given.variance(K, K.diagonal(), np.zeros((N_MANY, 0)))
    return given.latent, np.sqrt(variance), Bernoulli().probability(given.latent, variance)


@pytest.mark.parametrize(("inference", "least_spread"), [(ep, 0.92), (variational, 0.86)])
def test_means_and_probabilities_are_those_of_the_draws_and_deviations_are_short(
    thirty, draws_of_signs, inference, least_spread
):
    """What both miss: the posterior is skewed, and deviations are a few per cent too small, of EP about half as many.

    Importance sampling from a normal density gives the same figures as the draws.
    """
    mean, deviation, probability = of_signs(inference, thirty)
    (wanted, error), _ = moments(draws_of_signs)
    spread = draws_of_signs.std(axis=(0, 1))
    assert (np.abs(mean - wanted) <= 0.03 * spread + 4.5 * error).all()
    share = deviation / spread
    assert least_spread < share.min() and share.max() < 1.03 and share.mean() < 0.99
    (wanted, error), _ = moments(np.exp(log_ndtr(draws_of_signs)))
    assert (np.abs(probability - wanted) <= 0.015 + 4.5 * error).all()


def test_laplace_is_too_near_to_an_even_chance(thirty, draws_of_signs):
    """The mode of a skewed posterior is nearer to 0 than its mean: by up to .7 deviations, and .1 of a probability."""
    mean, _, probability = of_signs(laplace, thirty)
    (wanted, error), _ = moments(draws_of_signs)
    far = np.abs(wanted) > 1
    assert (np.abs(mean[far]) < np.abs(wanted[far]) - 4.5 * error[far]).all()
    assert 0.5 < (np.abs(mean - wanted) / draws_of_signs.std(axis=(0, 1))).max() < 0.9
    (wanted, _), _ = moments(np.exp(log_ndtr(draws_of_signs)))
    assert 0.04 < (np.abs(wanted - 0.5) - np.abs(probability - 0.5)).mean() < 0.08


def test_softmax_by_laplace_is_too_near_to_an_even_chance(thirty):
    K, _, codes = thirty
    given = softmax.condition(K, Softmax(3), codes)
    found = np.exp(Softmax(3).log_predictive(given.latent, given.covariances(K, K.diagonal())))
    draws = slice_sampling.sample(K, Softmax(3), codes, n_draws=400, n_chains=50)
    (wanted, error), _ = moments(np.exp(draws - np.logaddexp.reduce(draws, axis=-1)[..., None]))
    assert error.max() < 0.015
    assert 0.06 < (wanted.max(axis=1) - found.max(axis=1)).mean() < 0.13
    assert np.abs(wanted - found).max() < 0.22
