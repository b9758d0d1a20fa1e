"""The same numbers as scikit-learn's Gaussian process on vectors and GPy's on a matrix."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as theirs

import espalier as es
from espalier import GPRegressor, Learned, PerDimension, fixed
from random_trees import random_trees

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(40, 2))
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=40)
NEW = RNG.uniform(-3, 3, size=(9, 2))


def white(level):
    return theirs.WhiteKernel(level, (1e-6, 1e5))


def constant(value):
    return theirs.ConstantKernel(value, (1e-5, 1e5))


BOUNDS = (1e-5, 1e5)
KERNELS = {
    "rbf": (0.8 * es.RBF(1.3), constant(0.8) * theirs.RBF(1.3, BOUNDS)),
    "per dimension": (0.8 * es.RBF(PerDimension(1.3)), constant(0.8) * theirs.RBF([1.3, 1.3], BOUNDS)),
    "matern 1/2": (es.Matern(1.3, smoothness=0.5), theirs.Matern(1.3, BOUNDS, nu=0.5)),
    "matern 3/2": (es.Matern(1.3, smoothness=1.5), theirs.Matern(1.3, BOUNDS, nu=1.5)),
    "matern 5/2": (2.0 * es.Matern(1.3, smoothness=2.5), constant(2.0) * theirs.Matern(1.3, BOUNDS, nu=2.5)),
    "linear": (
        0.7 * es.Linear(fixed(1.0)) + es.Constant(0.4),
        constant(0.7) * theirs.DotProduct(0, "fixed") + constant(0.4),
    ),
    "sum and product": (
        es.RBF(1.3) * (0.5 * es.Linear(fixed(1.0))) + es.Matern(0.7, smoothness=1.5),
        theirs.RBF(1.3, BOUNDS) * (constant(0.5) * theirs.DotProduct(0, "fixed")) + theirs.Matern(0.7, BOUNDS, nu=1.5),
    ),
}
each = pytest.mark.parametrize("name", KERNELS)


@each
@pytest.mark.parametrize("standardize", [True, False])
def test_scikit_learn_at_fixed_values(name, standardize):
    ours, other = KERNELS[name]
    model = GPRegressor(ours, noise=0.2, standardize=standardize, learn=False).fit(X, Y)
    known = GaussianProcessRegressor(other + white(0.2), alpha=0, optimizer=None, normalize_y=standardize).fit(X, Y)
    shift = 40 * np.log(Y.std()) if standardize else 0.0  # its evidence is of the standardised targets
    assert model.log_marginal_likelihood_ == pytest.approx(known.log_marginal_likelihood_value_ - shift, rel=1e-9)
    mean, std = model.predict(NEW, return_std=True)
    known_mean, known_std = known.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, known_mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(std, known_std, rtol=1e-7)
    np.testing.assert_allclose(
        model.predict(NEW, return_cov=True)[1], known.predict(NEW, return_cov=True)[1], rtol=1e-6, atol=1e-9
    )


@each
def test_scikit_learn_learns_the_same(name):
    ours, other = KERNELS[name]
    with warnings.catch_warnings():
        # Of bounds that are hit, in both, and of a tolerance near rounding, which is theirs.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GPRegressor(ours, noise=0.2, standardize=False, tolerance=1e-8, max_iterations=1000).fit(X, Y)
        known = GaussianProcessRegressor(other + white(0.2), alpha=0).fit(X, Y)
    assert model.log_marginal_likelihood_ == pytest.approx(known.log_marginal_likelihood_value_, abs=1e-3)
    mean, std = model.predict(NEW, return_std=True)
    known_mean, known_std = known.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, known_mean, rtol=5e-3, atol=5e-3)
    np.testing.assert_allclose(std, known_std, rtol=5e-3)


TREES = [tree for tree in random_trees(9, 60) if tree.children][:25]
SIZES = np.array([float(tree.size) for tree in TREES]) + RNG.normal(size=25)


def test_gpy_on_a_matrix():
    gpy = pytest.importorskip("GPy", reason="GPy is in the test extra")
    kernel = es.SubsetTree(fixed(0.3), fixed(0.8))
    rows = np.arange(25.0)[:, None]
    z = (SIZES - SIZES.mean()) / SIZES.std()
    known = gpy.models.GPRegression(
        rows, z[:, None], gpy.kern.Precomputed(1, kernel(TREES), variance=0.7), noise_var=0.2
    )
    model = GPRegressor(Learned(0.7) * kernel, noise=0.2, learn=False).fit(TREES, SIZES)
    shift = 25 * np.log(SIZES.std())
    # GPy adds 1e-8 to the diagonal.
    assert model.log_marginal_likelihood_ == pytest.approx(float(known.log_likelihood()) - shift, abs=1e-5)
    _, gradient = model.log_marginal_likelihood(gradient=True)
    known_gradient = [float(known.kern.variance.gradient[0]), float(known.likelihood.variance.gradient[0])]
    np.testing.assert_allclose([gradient["kernel.scale"], gradient["noise"]], known_gradient, rtol=1e-4)
    mean, variance = known.predict(rows[:6])
    ours, std = model.predict(TREES[:6], return_std=True)
    np.testing.assert_allclose(ours, mean[:, 0] * SIZES.std() + SIZES.mean(), rtol=1e-6)
    np.testing.assert_allclose(std, np.sqrt(variance[:, 0]) * SIZES.std(), rtol=1e-6)

    known.optimize()
    model = GPRegressor(Learned(0.7) * kernel, noise=0.2, tolerance=1e-8).fit(TREES, SIZES)
    assert model.log_marginal_likelihood_ == pytest.approx(float(known.log_likelihood()) - shift, abs=1e-3)
    assert model.learned_["kernel.scale"].value == pytest.approx(float(known.kern.variance[0]), rel=2e-2)
    assert model.learned_["noise"].value == pytest.approx(float(known.likelihood.variance[0]), rel=2e-2)
