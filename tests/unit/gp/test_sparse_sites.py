"""Sparse variational inference: against exact matrices, regression, batches of every size, and differences."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.gp import Bernoulli, Gaussian, Observed, Poisson, variational
from espalier.gp.inference import sparse, sparse_sites
from espalier.gp.inference.sites import Sites
from espalier.gp.inference.sparse import SparseCovariances
from espalier.gp.likelihoods import Weighted, WeightedTargets
from reference.gaussian_process import central_difference

N, S = 18, 5


def problem(n_columns=0):
    rng = np.random.default_rng(3)
    features = rng.standard_normal((N + S, 40))
    whole = 3 * features @ features.T / 40
    data, structures = slice(0, N), slice(N, N + S)
    at = SparseCovariances(whole[structures, structures], whole[structures, data], whole[data, data].diagonal())
    return at, whole[data, data], rng.standard_normal((N, n_columns)), np.where(rng.random(N) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize("n_columns", [0, 2])
def test_one_step_with_all_normal_targets_is_the_bound_of_regression(n_columns):
    at, _, columns, _ = problem(n_columns)
    rng = np.random.default_rng(0)
    targets = Observed(rng.standard_normal(N), np.zeros(N, np.intp), ("",), rng.uniform(0.5, 2, N), np.zeros(N))
    likelihood = Gaussian(0.3)
    regression = sparse.evaluate(at, likelihood, targets, columns).posterior

    def tell(rows, mean, variance):
        return likelihood.expected(mean, variance, targets.part(np.arange(N)[rows]))

    part = np.linalg.solve(np.linalg.cholesky(at.inducing), at.cross)
    white = np.vstack([part, columns.T])
    start = Sites.none(N)
    told = tell(slice(None), np.zeros(N), at.diagonal + (columns**2).sum(axis=1))
    one_step = Sites(told.curvature, told.slope)
    spare = at.diagonal - (part**2).sum(axis=0)
    bound = sparse_sites.bound_of(white, spare, tell, one_step, [slice(0, N)])
    assert bound == pytest.approx(regression.log_evidence, abs=1e-9)
    found = sparse_sites.settle(white, spare, tell, start)
    np.testing.assert_allclose(found.sites, one_step, rtol=1e-9)
    own = sparse_sites.given_sites(at, found.sites, columns, found.bound)
    cross = np.vstack([at.cross, columns.T])
    np.testing.assert_allclose(own.mean(cross, columns), regression.mean(at.cross, columns), atol=1e-9)
    prior = at.diagonal + (columns**2).sum(axis=1)
    np.testing.assert_allclose(
        own.variance(cross, prior, columns), regression.variance(at.cross, at.diagonal, columns), atol=1e-9
    )


LIKELIHOODS = {
    "probit": (Bernoulli("probit"), lambda y: y),
    "logit": (Bernoulli("logit"), lambda y: y),
    "counts": (Poisson(), lambda y: 1.5 + 1.5 * y),
    "weighted": (Weighted(Bernoulli("probit")), lambda y: WeightedTargets(y, np.linspace(0.5, 3, N))),
}


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_with_all_data_as_structures_it_is_variational_inference(name):
    _, K, columns, y = problem(1)
    likelihood, of = LIKELIHOODS[name]
    exact = variational.condition(K + columns @ columns.T, likelihood, of(y))
    own = sparse_sites.condition(SparseCovariances(K, K, K.diagonal()), likelihood, of(y), columns, batch=7)
    assert own.is_settled
    assert own.log_evidence == pytest.approx(exact.log_evidence, abs=1e-7)
    cross = np.vstack([K, columns.T])
    none, prior = np.zeros((N, 0)), K.diagonal() + (columns**2).sum(axis=1)
    np.testing.assert_allclose(own.mean(cross, none), exact.latent, atol=1e-5)
    np.testing.assert_allclose(own.variance(cross, prior, none), exact.latent_variance, atol=1e-5)
    np.testing.assert_allclose(own.left_out(), exact.left_out(), atol=1e-4)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_batches_of_every_size_lead_to_the_same_sites(name):
    at, _, columns, y = problem(1)
    likelihood, of = LIKELIHOODS[name]
    whole = sparse_sites.condition(at, likelihood, of(y), columns, close=1e-9)
    for batch in (1, 5, 17):
        own = sparse_sites.condition(at, likelihood, of(y), columns, batch=batch, close=1e-9)
        np.testing.assert_allclose(own.sites, whole.sites, rtol=1e-5, atol=1e-7)
        assert own.log_evidence == pytest.approx(whole.log_evidence, abs=1e-8)


def test_many_equal_structures_do_not_swing():
    """Rows of one structure pull its value together, so that full steps with a batch of them lead too far."""
    own = 4 * np.array([[1.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 1.0]])
    which = np.arange(60) % 3
    y = np.array([-1.0, 1.0, -1.0])[which]
    at = SparseCovariances(own, own[:, which], own.diagonal()[which])
    found = sparse_sites.condition(at, Bernoulli("probit"), y, np.zeros((60, 0)))
    exact = variational.condition(own[np.ix_(which, which)], Bernoulli("probit"), y)
    assert found.is_settled
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=1e-6)


@pytest.mark.parametrize("n_columns", [0, 1])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_derivatives_are_those_of_differences(name, n_columns):
    at, _, columns, y = problem(n_columns)
    likelihood, of = LIKELIHOODS[name]
    rng = np.random.default_rng(11)
    inducing = rng.standard_normal((S, S))
    ways = inducing + inducing.T, rng.standard_normal((S, N)), rng.standard_normal(N)

    def height(step):
        moved = SparseCovariances(*(own + step * way for own, way in zip(at, ways, strict=True)))
        return sparse_sites.condition(moved, likelihood, of(y), columns, close=1e-10).log_evidence

    given = sparse_sites.condition(at, likelihood, of(y), columns, close=1e-10)
    bar = sparse_sites.cotangent(given, at, columns)
    slope = sum(float((own * way).sum()) for own, way in zip(bar, ways, strict=True))
    assert slope == pytest.approx(central_difference(height, 0.0, 1e-4), rel=1e-6)
