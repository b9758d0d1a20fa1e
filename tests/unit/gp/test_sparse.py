"""Sparse inference against dense matrices, and its derivatives against differences."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.gp import Gaussian, Observed, exact
from espalier.gp.inference import sparse
from espalier.gp.inference.sparse import SparseCovariances
from reference import gaussian_process
from reference import sparse as slow

N, S, M = 9, 5, 3
POWERS = [0.0, 0.3, 0.5, 1.0]


def covariances(n_columns=0):
    """Covariances of 9 data and 5 structures, with targets of unequal noise, and the columns of a mean."""
    rng = np.random.default_rng(5)
    features = rng.standard_normal((N + S, 30))
    whole = features @ features.T / 30
    data, structures = slice(0, N), slice(N, N + S)
    at = SparseCovariances(whole[structures, structures], whole[structures, data], whole[data, data].diagonal())
    targets = Observed(
        rng.standard_normal(N), np.zeros(N, np.intp), ("",), rng.uniform(0.5, 2, N), rng.uniform(0, 0.3, N)
    )
    return at, whole[data, data], targets, rng.standard_normal((N, n_columns))


LIKELIHOOD = Gaussian(0.2)


def dense(at, K, columns, combine=None):
    """The inducing covariances, their covariances with data, and those of data, with a mean's weights among them."""
    W = np.eye(len(at.inducing)) if combine is None else combine
    m, p = len(W), columns.shape[1]
    Ku = np.eye(m + p)
    Ku[:m, :m] = W @ at.inducing @ W.T
    return Ku, np.vstack([W @ at.cross, columns.T]), K + columns @ columns.T


def combinations():
    return np.random.default_rng(7).standard_normal((M, S))


@pytest.mark.parametrize("n_columns", [0, 2])
@pytest.mark.parametrize("combine", [None, combinations()])
def test_the_evidence_is_that_of_its_definition(n_columns, combine):
    at, K, targets, columns = covariances(n_columns)
    Ku, cross, whole = dense(at, K, columns, combine)
    noise, z = LIKELIHOOD.variances(targets), targets.values
    for power in POWERS:
        own = sparse.evaluate(at, LIKELIHOOD, targets, columns, power=power, combine=combine).posterior
        if power:
            assert own.log_evidence == pytest.approx(slow.power_ep(Ku, cross, whole, noise, z, power)[0], abs=1e-9)
    bound, fitc = (
        sparse.evaluate(at, LIKELIHOOD, targets, columns, power=power, combine=combine).posterior.log_evidence
        for power in (0.0, 1.0)
    )
    assert bound == pytest.approx(slow.variational_bound(Ku, cross, whole, noise, z), abs=1e-9)
    assert fitc == pytest.approx(slow.fitc_evidence(Ku, cross, whole, noise, z), abs=1e-9)
    assert bound < gaussian_process.log_evidence(whole, z, noise)
    small = sparse.evaluate(at, LIKELIHOOD, targets, columns, power=1e-6, combine=combine).posterior.log_evidence
    assert small == pytest.approx(bound, abs=1e-4)


@pytest.mark.parametrize("n_columns", [0, 2])
@pytest.mark.parametrize("combine", [None, combinations()])
@pytest.mark.parametrize("power", POWERS)
def test_predictions_are_those_of_the_inducing_variables(n_columns, combine, power):
    at, K, targets, columns = covariances(n_columns)
    Ku, cross, whole = dense(at, K, columns, combine)
    noise, z = LIKELIHOOD.variances(targets), targets.values
    own = sparse.evaluate(at, LIKELIHOOD, targets, columns, power=power, combine=combine).posterior
    spare = (whole - slow.projected(Ku, cross)).diagonal()
    mean, covariance = slow.predicted(Ku, cross, whole, *slow.inducing_posterior(Ku, cross, noise + power * spare, z))
    np.testing.assert_allclose(own.mean(at.cross, columns), mean, atol=1e-9)
    np.testing.assert_allclose(own.covariance(at.cross, K, columns), covariance, atol=1e-9)
    np.testing.assert_allclose(own.variance(at.cross, at.diagonal, columns), covariance.diagonal(), atol=1e-9)
    if power:
        _, others, spread = slow.power_ep(Ku, cross, whole, noise, z, power)
        np.testing.assert_allclose(slow.predicted(Ku, cross, whole, others, spread)[1], covariance, atol=1e-8)


@pytest.mark.parametrize("combine", [None, combinations()])
def test_what_targets_subtract_has_three_forms(combine):
    at, K, targets, columns = covariances()
    own = sparse.evaluate(at, LIKELIHOOD, targets, columns, combine=combine).posterior
    told = K - own.covariance(at.cross, K, columns)
    np.testing.assert_allclose(at.cross.T @ own.solve(at.cross), told, atol=1e-9)
    explained = own.explained(at.cross)
    np.testing.assert_allclose(explained.T @ explained, told, atol=1e-9)


@pytest.mark.parametrize("n_columns", [0, 2])
def test_with_all_data_as_structures_every_power_is_exact(n_columns):
    _, K, targets, columns = covariances(n_columns)
    whole = exact.condition(K.copy(), LIKELIHOOD, targets, columns)
    for power in POWERS:
        own = sparse.evaluate(
            SparseCovariances(K, K, K.diagonal()), LIKELIHOOD, targets, columns, power=power
        ).posterior
        assert own.log_evidence == pytest.approx(whole.log_evidence, abs=1e-8)
        np.testing.assert_allclose(own.mean(K, columns), whole.mean(K, columns), atol=1e-8)
        np.testing.assert_allclose(own.left_out(), whole.left_out(), atol=1e-7)


@pytest.mark.parametrize("power", POWERS)
def test_each_target_is_left_out_with_the_inducing_variables_kept(power):
    at, K, targets, columns = covariances(2)
    Ku, cross, whole = dense(at, K, columns)
    noise, z = LIKELIHOOD.variances(targets), targets.values
    spare = (whole - slow.projected(Ku, cross)).diagonal()
    means, variances = sparse.evaluate(at, LIKELIHOOD, targets, columns, power=power).posterior.left_out()
    for i in range(N):
        rest = np.arange(N) != i
        given = slow.inducing_posterior(Ku, cross[:, rest], (noise + power * spare)[rest], z[rest])
        mean, covariance = slow.predicted(Ku, cross[:, [i]], whole[[i]][:, [i]], *given)
        assert means[i] == pytest.approx(mean[0], abs=1e-9)
        assert variances[i] == pytest.approx(covariance[0, 0] + noise[i], abs=1e-9)


@pytest.mark.parametrize("n_columns", [0, 2])
@pytest.mark.parametrize("combine", [None, combinations()])
@pytest.mark.parametrize("power", POWERS)
def test_derivatives_are_those_of_differences(n_columns, combine, power):
    at, _, targets, columns = covariances(n_columns)
    rng = np.random.default_rng(11)

    def height(step):
        """The evidence some way along a direction in everything that it depends on."""
        moved = SparseCovariances(*(own + step * way for own, way in zip(at, ways, strict=True)))
        observed = Observed(targets.values + step * in_z, targets.group, ("",), targets.weight, known + step * in_noise)
        W = None if combine is None else combine + step * in_combine
        return sparse.evaluate(moved, LIKELIHOOD, observed, columns, power=power, combine=W).posterior.log_evidence

    known = targets.known
    inducing = rng.standard_normal((S, S))
    ways = inducing + inducing.T, rng.standard_normal((S, N)), rng.standard_normal(N)
    in_z, in_noise, in_combine = rng.standard_normal(N), rng.standard_normal(N), rng.standard_normal((M, S))
    bar = sparse.evaluate(at, LIKELIHOOD, targets, columns, power=power, combine=combine).cotangent()
    slope = sum(float((own * way).sum()) for own, way in zip(bar.covariances, ways, strict=True))
    slope += bar.targets @ in_z + bar.noise @ in_noise
    if bar.combine is not None:
        slope += (bar.combine * in_combine).sum()
    assert slope == pytest.approx(gaussian_process.central_difference(height, 0.0, 1e-5), rel=1e-6)


def test_the_bound_depends_on_the_row_space_of_the_combinations_alone():
    at, _, targets, columns = covariances(1)
    W, mixed = combinations(), np.random.default_rng(2).standard_normal((M, M))
    given = sparse.evaluate(at, LIKELIHOOD, targets, columns, combine=W)
    other = sparse.evaluate(at, LIKELIHOOD, targets, columns, combine=mixed @ W).posterior
    assert given.posterior.log_evidence == pytest.approx(other.log_evidence, abs=1e-9)
    np.testing.assert_allclose(given.posterior.dual, other.dual, atol=1e-9)
    # So that its derivative has no part within that space.
    np.testing.assert_allclose(given.cotangent().combine @ W.T, 0.0, atol=1e-9)
