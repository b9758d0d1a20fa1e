"""Several tasks on the same items: the Kronecker path against its twin, and against the path without it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.reference import gaussian_process
from tests.reference import kronecker as twin

import espalier as es
from espalier import GPRegressor, PerLabel
from espalier.gp import exact
from espalier.gp.inference import kronecker
from espalier.gp.inference.kronecker import KroneckerPosterior
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.regression import RegressionObjective
from espalier.kernels.inputs import Inputs
from espalier.kernels.kronecker import Factors, KroneckerPlan, Split
from espalier.kernels.task_pairs import TaskPairs
from random_trees import random_trees

TREES = [tree for tree in random_trees(5, 40) if tree.children][:9]
TASKS = ("fear", "joy", "anger")
RNG = np.random.default_rng(0)
Y = RNG.normal(size=(9, 3)) @ RNG.normal(size=(3, 3)) + np.arange(3.0)
TREE = es.Normalized(es.SubsetTree(decay=0.6))
ICM = es.Coregion("task", 2) * TREE


def _problem(n: int = 5, p: int = 3):
    """Covariances of items and of tasks, noises and targets."""
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(n, n)), rng.normal(size=(p, p))
    return left @ left.T, right @ right.T, rng.uniform(0.1, 0.5, p), rng.normal(size=(n, p))


def _conditioned(K, B, noise, Z):
    names = tuple(map(str, range(len(B))))
    likelihood = Gaussian(PerLabel(1.0, values=dict(zip(names, noise, strict=True))))
    group = np.tile(np.arange(len(B)), len(K))
    targets = Observed(Z.ravel(), group, names, np.ones(Z.size), np.zeros(Z.size))
    return kronecker.condition(Factors(K.copy(), B), likelihood, targets, np.zeros((Z.size, 0)))


def test_the_evidence_and_what_is_left_out_equal_the_twins():
    K, B, noise, Z = _problem()
    given = _conditioned(K, B, noise, Z)
    assert given.log_evidence == pytest.approx(twin.log_evidence(K, B, noise, Z), rel=1e-10)
    mean, variance = twin.left_out(K, B, noise, Z)
    np.testing.assert_allclose(given.left_out()[0].reshape(Z.shape), mean, rtol=1e-8)
    np.testing.assert_allclose(given.left_out()[1].reshape(Z.shape), variance, rtol=1e-8)


def test_predictions_equal_the_twins():
    K, B, noise, Z = _problem(8)
    old, new = slice(0, 5), slice(5, 8)
    given = _conditioned(K[old, old], B, noise, Z[old])
    mean, covariance = twin.posterior(K[old, old], B, noise, Z[old], K[old, new], K[new, new])
    none = np.zeros((9, 0))
    np.testing.assert_allclose(given.mean(K[old, new], none), mean, rtol=1e-9)
    found = given.covariance(K[old, new], K[new, new], none)
    np.testing.assert_allclose(found, covariance, rtol=1e-8, atol=1e-10)
    variance = given.variance(K[old, new], K[new, new].diagonal(), none)
    np.testing.assert_allclose(variance, covariance.diagonal(), rtol=1e-8)


def test_variances_of_training_items_are_never_below_0():
    K, B, _, Z = _problem(40)
    given = _conditioned(K, B, np.full(3, 1e-14), Z)  # without noise only rounding remains, of either sign
    none = np.zeros((120, 0))
    assert (given.variance(K, K.diagonal(), none) >= 0).all()
    assert (given.covariance(K, K, none).diagonal() >= 0).all()


def test_slopes_equal_the_twins():
    K, B, noise, Z = _problem()
    bars, by_target = kronecker.cotangent(_conditioned(K, B, noise, Z))
    by_K, by_B, by_noise = twin.matrix_slopes(K, B, noise, Z)
    np.testing.assert_allclose(bars.items, by_K, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(bars.tasks, by_B, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(by_target.reshape(Z.shape).sum(axis=0), by_noise, rtol=1e-8)


def test_the_twin_has_the_slopes_of_its_evidence():
    K, B, noise, Z = _problem(3, 2)
    by_K, by_B, by_noise = twin.matrix_slopes(K, B, noise, Z)

    def shifted(matrix, i, j):
        def at(value):
            out = matrix.copy()
            out[i, j] = out[j, i] = value
            return out

        return at

    of_K, of_B = shifted(K, 0, 1), shifted(B, 0, 1)
    differences = (
        gaussian_process.central_difference(lambda v: twin.log_evidence(of_K(v), B, noise, Z), K[0, 1], 1e-4),
        gaussian_process.central_difference(lambda v: twin.log_evidence(K, of_B(v), noise, Z), B[0, 1], 1e-4),
    )
    assert differences == pytest.approx((2 * by_K[0, 1], 2 * by_B[0, 1]), rel=1e-6)
    at = gaussian_process.central_difference(
        lambda v: twin.log_evidence(K, B, np.array([noise[0], v]), Z), noise[1], 1e-4
    )
    assert at == pytest.approx(by_noise[1], rel=1e-6)


KERNELS = {
    "icm": ICM,
    "scaled": 2.0 * es.Coregion("task") * TREE,
    "three factors": es.Subtree() * es.Coregion("task", 2) * TREE,
    "a constant": es.Coregion("task") * (TREE + es.Constant(0.5)),
    "sum of tasks": (es.Coregion("task") + es.EasyAdapt("task", shared=0.5) + es.Constant(0.3)) * TREE,
    "stated": es.EasyAdapt("task") * (0.7 * TREE),
    "per label": es.Coregion("task") * es.SubsetTree(es.PerLabel(0.4)),
}


def _both(kernel, **settings):
    """A model by the Kronecker product, and the same with the matrix of all targets."""
    model = GPRegressor(kernel, learn=False, **settings).fit(TREES, Y, tasks=TASKS)
    dense = GPRegressor(kernel, learn=False, **settings).fit(TREES, Y, tasks=TASKS)
    examples = dense._examples
    objective = RegressionObjective(examples, examples.kernel.plan(examples.inputs), {})
    dense._finish(examples, objective.posterior({}))
    assert isinstance(model._posterior.given, KroneckerPosterior)
    assert isinstance(dense._posterior.given, exact.ExactPosterior)
    return model, dense, examples.objective(), objective


@pytest.mark.parametrize("noise", [None, 0.3], ids=["noise of each task", "one noise"])
@pytest.mark.parametrize("name", KERNELS)
def test_both_paths_agree(name, noise):
    model, dense, fast, slow = _both(KERNELS[name], noise=noise)
    values = {p.path: p.start * 1.1 for p in fast.parameters()}
    assert set(values) == {p.path for p in slow.parameters()}
    (value, slopes), (expected, by_path) = fast.gradient(values), slow.gradient(values)
    assert value == pytest.approx(expected, rel=1e-10) and fast.value(values) == pytest.approx(expected, rel=1e-10)
    assert {path: slopes.get(path, 0) for path in values} == pytest.approx(
        {path: by_path.get(path, 0) for path in values}, rel=1e-7, abs=1e-9
    )
    new = [*TREES[:2], TREES[-1], "(S (A a) (B b))"]
    np.testing.assert_allclose(model.predict(new), dense.predict(new), rtol=1e-8)
    for own, other in zip(model.predict(new, return_std=True), dense.predict(new, return_std=True), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-8)
    np.testing.assert_allclose(
        model.predict(new, return_cov=True)[1], dense.predict(new, return_cov=True)[1], rtol=1e-7, atol=1e-9
    )
    left, right = model.leave_one_out(), dense.leave_one_out()
    np.testing.assert_allclose(left.mean, right.mean, rtol=1e-7)
    np.testing.assert_allclose(left.std, right.std, rtol=1e-8)
    np.testing.assert_allclose(model.alpha_, dense.alpha_, rtol=1e-7, atol=1e-9)


def test_which_kernels_are_products_of_items_and_tasks():
    coregion = es.Coregion("task")
    assert all(Split.of(kernel) is not None for kernel in KERNELS.values())
    for kernel in (coregion, TREE, coregion * TREE + coregion * TREE, 2.0 * (coregion * TREE), TREE * TREE):
        assert Split.of(kernel) is None
    mixed = (coregion + es.Subtree()) * TREE  # a factor that reads both
    assert Split.of(mixed) is None
    split = Split.of(KERNELS["three factors"])
    assert split.joined() == KERNELS["three factors"] and split.places == ((0, 2), (1,))


def test_whatever_is_not_even_takes_the_other_path():
    def path(**given):
        model = GPRegressor(ICM, learn=False).fit(TREES, given.pop("y", Y), tasks=TASKS, **given)
        return type(model._posterior.given)

    assert path() is KroneckerPosterior
    gap = Y.copy()
    gap[2, 1] = np.nan
    weight = np.ones(9)
    weight[3] = 2.0
    for given in ({"y": gap}, {"sample_weight": weight}, {"noise_variance": 0.1}):
        assert path(**given) is exact.ExactPosterior
    empty = Y.copy()
    empty[4] = np.nan  # a row without any target is not used, and the others are complete
    assert path(y=empty) is KroneckerPosterior
    known = GPRegressor(ICM, learn=False).fit(TREES, Y, sample_weight=np.ones((9, 3)))
    assert isinstance(known._posterior.given, KroneckerPosterior)


def test_learning_ends_in_the_same_place():
    kernel = es.Coregion("task") * TREE
    model = GPRegressor(kernel, tolerance=1e-2).fit(TREES, Y, tasks=TASKS)
    dense = GPRegressor(kernel, tolerance=1e-2).fit(TREES, Y, tasks=TASKS, noise_variance=1e-300)
    assert isinstance(dense._posterior.given, exact.ExactPosterior)
    assert model.log_marginal_likelihood_ == pytest.approx(dense.log_marginal_likelihood_, rel=1e-5)
    assert model.kernel_.parameters() == pytest.approx(dense.kernel_.parameters(), rel=0.05, abs=0.05)


def test_an_indefinite_kernel_is_refused():
    K, B, noise, Z = _problem()
    K[0, 0] -= 100
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite: it has an eigenvalue of -"):
        _conditioned(K, B, noise, Z)
    K[0, 0] = np.inf
    with pytest.raises(np.linalg.LinAlgError, match="infinite"):
        _conditioned(K, B, noise, Z)


def test_an_objective_travels_to_other_processes():
    objective = GPRegressor(ICM, learn=False).fit(TREES, Y)._examples.objective()
    values = {p.path: p.start for p in objective.parameters()}
    again = pickle.loads(pickle.dumps(objective))
    assert again.gradient(values) == objective.gradient(values)


def test_a_plan_serves_both_sides():
    pairs = TaskPairs.all_of(Inputs.of(TREES), TASKS)
    plan = KroneckerPlan.of(ICM, pairs)
    K, B = plan.matrix(plan.bind(ICM))
    np.testing.assert_allclose(np.kron(K, B), ICM(pairs), rtol=1e-12)
    assert pairs.is_complete
    for rows in (np.arange(len(pairs) - 1), np.arange(len(pairs))[::-1], np.r_[0, np.arange(len(pairs) - 1)]):
        assert KroneckerPlan.of(ICM, pairs.rows(rows)) is None
