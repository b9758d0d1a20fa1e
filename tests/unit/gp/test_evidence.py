"""Evidence, predictions and leave-one-out of a GPRegressor against the slow definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

import espalier as es
from espalier import GPRegressor, Learned, PerLabel, fixed
from random_trees import random_trees
from reference import gaussian_process as slow

TREES = [tree for tree in random_trees(3, 40) if tree.children][:14]
NEW = [tree for tree in random_trees(4, 12) if tree.children][:5]
VECTORS = np.random.default_rng(0).normal(size=(19, 2))
TABLE = es.Table(tree=TREES, x=VECTORS[:14])
NEW_TABLE = es.Table(tree=NEW, x=VECTORS[14:])
KERNEL = 0.7 * es.Normalized(es.SubsetTree(0.3, 0.8, on="tree")) + es.RBF(1.3, on="x")
Y = np.random.default_rng(1).normal(5.0, 2.0, size=14)
GROUPS = ["a", "b", "c"] * 4 + ["a", "b"]

NOISE_FORMS = {
    "one number": ({"noise": 0.2}, {}, np.full(14, 0.2)),
    "fixed": ({"noise": fixed(0.2)}, {}, np.full(14, 0.2)),
    "weights": ({"noise": 0.2}, {"sample_weight": np.arange(1.0, 15)}, 0.2 / np.arange(1.0, 15)),
    "known": ({"noise": 0.2}, {"noise_variance": np.arange(14) / 10}, 0.2 + np.arange(14) / 10),
    "known scalar": ({"noise": 0.2}, {"noise_variance": 0.3}, np.full(14, 0.5)),
    "groups": (
        {"noise": PerLabel(0.2, values={"a": 0.05, "c": 0.7})},
        {"noise_groups": GROUPS},
        np.array([{"a": 0.05, "b": 0.2, "c": 0.7}[g] for g in GROUPS]),
    ),
    "tied groups": (
        {"noise": PerLabel(0.2, groups={"ab": ["a", "b"]}, values={"ab": 0.05})},
        {"noise_groups": GROUPS, "sample_weight": np.arange(1.0, 15)},
        np.array([{"a": 0.05, "b": 0.05, "c": 0.2}[g] for g in GROUPS]) / np.arange(1.0, 15),
    ),
}
COLUMNS = np.column_stack([np.ones(19), VECTORS])
SIZES = np.sqrt((COLUMNS[:14] ** 2).mean(axis=0))
MEANS = {  # what was declared, and the columns of the mean in units of the prior of their weights
    "none": (None, np.zeros((19, 0))),
    "constant": ("constant", 10.0 * COLUMNS[:, :1]),
    "linear": (es.gp.LinearMean(on="x"), 10.0 * COLUMNS / SIZES),
    "linear, narrow": (es.gp.LinearMean(on="x", spread=0.5), 0.5 * COLUMNS / SIZES),
}


def standardized(y, standardize):
    """z, location, scale."""
    location, scale = (y.mean(), y.std()) if standardize else (0.0, 1.0)
    return (y - location) / scale, location, scale


@pytest.mark.filterwarnings("ignore:1 groups? of noise:UserWarning")
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("form", NOISE_FORMS)
def test_equals_the_definition(form, mean, standardize):
    settings, options, noise = NOISE_FORMS[form]
    declared, basis = MEANS[mean]
    H, H_new = basis[:14], basis[14:]
    model = GPRegressor(KERNEL, **settings, mean=declared, standardize=standardize, learn=False)
    model.fit(TABLE, Y, **options)

    z, location, scale = standardized(Y, standardize)
    if form.startswith("known"):  # given in units of the target
        noise = 0.2 + (noise - 0.2) / scale**2
    # A mean whose weights have a normal prior is one more kernel, linear in its columns.
    K, cross, K_new = KERNEL(TABLE) + H @ H.T, KERNEL(TABLE, NEW_TABLE) + H @ H_new.T, KERNEL(NEW_TABLE)
    K_new = K_new + H_new @ H_new.T
    expected = slow.log_evidence(K, z, noise) - 14 * math.log(scale)
    assert model.log_marginal_likelihood_ == pytest.approx(expected, rel=1e-10)
    assert model.log_marginal_likelihood() == model.log_marginal_likelihood_

    alpha = np.linalg.solve(K + np.diag(noise), z)
    np.testing.assert_allclose(model.alpha_, alpha, rtol=1e-8, atol=1e-11)
    weights = np.array(list(model.mean_.values()))  # of the columns as they are
    np.testing.assert_allclose(weights, H.T @ alpha * (basis / COLUMNS[:, : basis.shape[1]])[0], rtol=1e-7, atol=1e-10)
    f, covariance = slow.posterior(K, cross, K_new, z, noise)
    modelled, f = f, location + scale * f
    np.testing.assert_allclose(model.predict(NEW_TABLE), f, rtol=1e-9)
    own = COLUMNS[14:, : len(weights)] @ weights
    np.testing.assert_allclose(KERNEL(NEW_TABLE, TABLE) @ model.alpha_ + own, modelled, rtol=1e-9, atol=1e-11)
    got, std = model.predict(NEW_TABLE, return_std=True, include_noise=False)
    np.testing.assert_allclose(got, f, rtol=1e-9)
    np.testing.assert_allclose(std, scale * np.sqrt(covariance.diagonal()), rtol=1e-8)
    got, cov = model.predict(NEW_TABLE, return_cov=True, include_noise=False)
    np.testing.assert_allclose(got, f, rtol=1e-9)
    np.testing.assert_allclose(cov, scale**2 * covariance, rtol=1e-8, atol=1e-10)

    at_new = {"noise_groups": ["a", "b", "c", "a", "z"]} if "groups" in form else {}
    own = noise[:5] if form == "groups" else np.full(5, 0.2)
    if form == "groups":
        own = np.array([0.05, 0.2, 0.7, 0.05, 0.2])  # an unseen group has the declared default
    if form == "tied groups":
        own = np.array([0.05, 0.05, 0.2, 0.05, 0.2])
    _, std = model.predict(NEW_TABLE, return_std=True, **at_new)
    np.testing.assert_allclose(std, scale * np.sqrt(covariance.diagonal() + own), rtol=1e-8)
    _, cov = model.predict(NEW_TABLE, return_cov=True, **at_new)
    np.testing.assert_allclose(cov, scale**2 * (covariance + np.diag(own)), rtol=1e-8, atol=1e-10)
    density = model.log_predictive_density(NEW_TABLE, f + 1.0, **at_new)
    np.testing.assert_allclose(
        density, [slow.log_normal_density(np.ones(1), np.zeros(1), np.array([[v]])) for v in std**2], rtol=1e-8
    )


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("form", NOISE_FORMS)
def test_leaving_one_out_equals_leaving_each_out(form, mean):
    settings, options, noise = NOISE_FORMS[form]
    declared, basis = MEANS[mean]
    model = GPRegressor(KERNEL, **settings, mean=declared, standardize=False, learn=False).fit(TABLE, Y, **options)
    found = model.leave_one_out()
    expected_mean, expected_variance = slow.left_out(KERNEL(TABLE) + basis[:14] @ basis[:14].T, Y, noise)
    np.testing.assert_allclose(found.mean, expected_mean, rtol=1e-8)
    np.testing.assert_allclose(found.std**2, expected_variance, rtol=1e-8)


def test_leaving_one_out_by_fitting_again():
    # A linear mean without a row has columns of other sizes, and so another prior: see the definition above.
    for mean in (None, "constant", es.gp.ConstantMean(spread=0.3)):
        options = {"noise": 0.2, "mean": mean, "standardize": False, "learn": False, "target_transform": "log"}
        found = GPRegressor(KERNEL, **options).fit(TABLE, Y).leave_one_out()
        for i in (0, 5, 13):
            rest = [k for k in range(14) if k != i]
            again = GPRegressor(KERNEL, **options).fit(TABLE[rest], Y[rest]).predict_distribution(TABLE[[i]])
            assert found.mean[i] == pytest.approx(again.mean[0], rel=1e-8)
            assert found.std[i] == pytest.approx(again.std[0], rel=1e-8)
            assert found.median[i] == pytest.approx(again.median[0], rel=1e-8)


def test_leaving_out_the_only_example_that_shows_a_dimension():
    x = np.array([[0.0], [0.0], [0.0], [1.0]])
    y = np.array([1.0, 1.2, 0.9, 5.0])
    model = GPRegressor(es.RBF(), noise=0.1, mean="linear", standardize=False, learn=False).fit(x, y)
    again = GPRegressor(es.RBF(), noise=0.1, mean="linear", standardize=False, learn=False).fit(x[:3], y[:3])
    assert model.leave_one_out().mean[3] == pytest.approx(again.predict(x[3:])[0], rel=1e-6)


def test_a_weight_of_two_is_an_observation_made_twice():
    weight = np.where(np.arange(14) % 3 == 0, 2.0, 1.0)
    twice = [*range(14), *np.flatnonzero(weight == 2)]
    options = {"noise": 0.3, "standardize": False, "learn": False}
    weighted = GPRegressor(KERNEL, **options).fit(TABLE, Y, sample_weight=weight)
    repeated = GPRegressor(KERNEL, **options).fit(TABLE[twice], Y[twice])
    for a, b in zip(
        weighted.predict(NEW_TABLE, return_cov=True), repeated.predict(NEW_TABLE, return_cov=True), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    # N(y; f, s) N(y; f, s) = N(y; f, s / 2) / sqrt(4 pi s)
    constant = -0.5 * (len(twice) - 14) * math.log(4 * math.pi * 0.3)
    assert repeated.log_marginal_likelihood_ == pytest.approx(weighted.log_marginal_likelihood_ + constant, rel=1e-10)


def test_weights_lead_to_the_same_kernel_as_repetition():
    weight = np.where(np.arange(14) % 2 == 0, 2.0, 1.0)
    twice = [*range(14), *range(0, 14, 2)]
    options = {"noise": Learned(0.3, bounds=(1e-3, 10)), "standardize": False}
    kernel = 1.0 * es.RBF(on="x") + es.Constant(fixed(25.0))
    repeated = GPRegressor(kernel, **options).fit(TABLE[twice], Y[twice])
    # The noise differs: repetition also says how far equal examples lie apart. At equal noise all else agrees.
    fixed_noise = {"noise": fixed(repeated.learned_["noise"].value), "standardize": False, "tolerance": 1e-8}
    repeated = GPRegressor(kernel, **fixed_noise).fit(TABLE[twice], Y[twice])
    weighted = GPRegressor(kernel, **fixed_noise).fit(TABLE, Y, sample_weight=weight)
    for path, value in weighted.learned_.to_dict().items():
        assert value == pytest.approx(repeated.learned_[path].value, rel=1e-3)


def test_the_evidence_at_other_values_is_that_of_a_model_with_them():
    model = GPRegressor(KERNEL, noise=0.2).fit(TABLE, Y)
    theta = {"kernel.terms[0].decay": 0.11, "noise": 0.4}
    kernel = model.kernel_.with_parameters({"terms[0].decay": 0.11})
    other = GPRegressor(kernel, noise=0.4, learn=False).fit(TABLE, Y)
    assert model.log_marginal_likelihood(theta) == pytest.approx(other.log_marginal_likelihood_, rel=1e-12)
    value, gradient = model.log_marginal_likelihood(theta, gradient=True)
    assert value == pytest.approx(other.log_marginal_likelihood_, rel=1e-12)
    assert set(gradient) == set(model.learned_.to_dict())
    assert model.log_marginal_likelihood_ == model.log_marginal_likelihood()  # asking changes nothing
    with pytest.raises(KeyError, match=r"'decay' is not a learned hyperparameter; these are: kernel.terms"):
        model.log_marginal_likelihood({"decay": 0.1})


def test_two_tiny_points_by_summing_over_functions():
    kernel = es.RBF(1.0)
    x = np.array([[0.0], [0.7]])
    y = np.array([0.4, -0.9])
    model = GPRegressor(kernel, noise=0.3, standardize=False, learn=False).fit(x, y)
    expected = slow.integrated_log_evidence(kernel(x), y, np.full(2, 0.3), np.zeros(2))
    assert model.log_marginal_likelihood_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("include_noise", [True, False])
def test_moments_of_draws_from_the_prior(fitted, include_noise):
    model = GPRegressor(KERNEL, noise=0.2, mean=es.gp.LinearMean(on="x", spread=2.0), learn=False)
    if fitted:
        model.fit(TABLE, Y)
    draws = model.sample_prior(NEW_TABLE, 20_000, include_noise=include_noise, random_state=0)
    location, scale = (Y.mean(), Y.std()) if fitted else (0.0, 1.0)
    # Columns have the size that they had in training, or before it the size that they have here.
    sizes = SIZES if fitted else np.sqrt((COLUMNS[14:] ** 2).mean(axis=0))
    H = 2.0 * COLUMNS[14:] / sizes
    covariance = scale**2 * (KERNEL(NEW_TABLE) + H @ H.T + include_noise * 0.2 * np.eye(5))
    _check_moments(draws, np.full(5, location), covariance)


@pytest.mark.parametrize("mean", [None, "constant", es.gp.LinearMean(on="x")], ids=repr)
@pytest.mark.parametrize("include_noise", [True, False])
def test_moments_of_draws_from_the_posterior(include_noise, mean):
    model = GPRegressor(KERNEL, noise=0.2, mean=mean, learn=False).fit(TABLE, Y)
    mean, covariance = model.predict(NEW_TABLE, return_cov=True, include_noise=include_noise)
    draws = model.sample_posterior(NEW_TABLE, 20_000, include_noise=include_noise, random_state=0)
    _check_moments(draws, mean, covariance)


def _check_moments(draws, mean, covariance):
    n = draws.shape[1]
    variance = covariance.diagonal()
    assert (np.abs(draws.mean(axis=1) - mean) < 4.5 * np.sqrt(variance / n)).all()
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
    assert (np.abs(np.cov(draws) - covariance) < 4.5 * error).all()


def test_draws_are_seeded():
    model = GPRegressor(KERNEL, learn=False).fit(TABLE, Y)
    for draw in (model.sample_prior, model.sample_posterior):
        assert draw(NEW_TABLE, 3, random_state=1).tolist() == draw(NEW_TABLE, 3, random_state=1).tolist()
        assert draw(NEW_TABLE, 3, random_state=1).shape == (5, 3)
        assert draw(NEW_TABLE, 3, random_state=1).tolist() != draw(NEW_TABLE, 3, random_state=2).tolist()
        state = np.random.RandomState(5)
        assert draw(NEW_TABLE, 1, random_state=state).shape == (5, 1)


def test_draws_of_functions_without_any_variance():
    leaf = [es.Tree("a")]
    model = GPRegressor(es.SubsetTree(), noise=0.1, standardize=False)
    assert model.sample_prior(leaf, 2, include_noise=False, random_state=0).tolist() == [[0.0, 0.0]]
    model.fit(TREES, Y)
    assert model.sample_posterior(leaf, 2, random_state=0).tolist() == [[0.0, 0.0]]
    # Beside others that do vary, and where rounding leaves nothing of a variance.
    both = model.sample_posterior([*leaf, TREES[0]], 2, random_state=0)
    assert both[0].tolist() == [0.0, 0.0]


def test_draws_at_training_examples_pass_through_the_targets_when_noise_is_tiny():
    kernel = 1e8 * es.RBF(on="x")
    model = GPRegressor(kernel, noise=fixed(1e-3), standardize=False, learn=False).fit(TABLE, Y)
    draws = model.sample_posterior(TABLE[[0, 1, 0, 1]], 50, random_state=0)
    assert np.abs(draws - Y[[0, 1, 0, 1]][:, None]).max() < 1.0


def test_draws_by_group():
    groups = ["a", "a", "b", "b", "b"]
    noise = PerLabel(0.2, values={"a": 1e-4, "b": 9.0})
    model = GPRegressor(es.Constant(fixed(1e-6)), noise=noise, standardize=False, learn=False)
    model.fit(TREES[:5], np.zeros(5), noise_groups=groups)
    for draw in (model.sample_posterior, model.sample_prior):
        sd = draw(TREES[:5], 400, include_noise=True, noise_groups=groups, random_state=0).std(axis=1)
        assert (sd[:2] < 0.1).all() and (sd[2:] > 2).all()
