"""The cheap way: a normal distribution around the mode, on a central composite design."""

from __future__ import annotations

import math

import numpy as np
import pytest

import espalier as es
from espalier.bayes import approximate
from espalier.bayes.density import Density
from espalier.bayes.mode import find_mode
from espalier.gp import LogNormal, Parameter
from known_densities import known
from reference.marginal import grid_posterior, mixture_density, normal_process


def unbounded(*paths):
    """Numbers whose coordinates are their logarithms, with a prior that is normal there."""
    return [Parameter(path, 1.0, 0.0, math.inf, LogNormal(2.0, 0.5)) for path in paths]


class Wide(Parameter):
    """A positive number whose place has no bounds."""

    def encode(self, value):
        return math.log(value) if 0 < value < math.inf else (-math.inf if value <= 0 else math.inf)


def test_a_normal_density_gets_its_moments_exactly():
    parameters = [Wide(p.path, p.start, p.low, p.high, p.prior) for p in unbounded("a", "b", "c")]
    averaged = approximate(known(*parameters, a=(0.0, 0.5)))
    draws = averaged.draws
    assert draws.agreement == pytest.approx(1.0, abs=1e-6)
    assert draws.values.shape == (1, 15, 3) and draws.kind == "design"
    weights, logs = draws.weights[0], np.log(draws.values[0])
    mean = weights @ logs
    covariance = (logs - mean).T @ (weights[:, None] * (logs - mean))
    centre = math.log(2.0) / 2  # of a, where prior and likelihood weigh alike
    assert mean == pytest.approx([centre, math.log(2.0), math.log(2.0)], abs=1e-4)
    assert np.allclose(covariance, np.diag([0.125, 0.25, 0.25]), atol=1e-4)
    assert np.log(draws.mode) == pytest.approx(mean, abs=1e-4)
    assert np.isnan(draws.summary()["a"].r_hat) and "r_hat" not in repr(draws.summary())


def test_predictions_agree_with_quadrature():
    rng = np.random.default_rng(4)
    X, new = rng.uniform(-2, 2, (15, 1)), np.linspace(-2.2, 2.2, 5)[:, None]
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(15)
    prior = LogNormal(0.8, 0.5), LogNormal(0.15, 0.7)
    kernel, noise = es.RBF(es.Learned(0.8, prior=prior[0])), es.Learned(0.2, prior=prior[1])
    model = es.GPRegressor(kernel, noise=noise, standardize=False).fit(X, y)

    def at(lengthscale, noise):
        def k(a, b):
            return np.exp(-0.5 * (a[:, None] - b[None, :]) ** 2 / lengthscale**2)

        return normal_process(k(X[:, 0], X[:, 0]), noise, y, k(X[:, 0], new[:, 0]), np.ones(len(new)))

    axes = np.geomspace(0.1, 6.0, 40), np.geomspace(5e-3, 4.0, 40)
    points, weights = grid_posterior(lambda *p: at(*p)[0], axes, [own.log_density for own in prior])
    means, variances = map(np.array, zip(*(at(*point)[1:] for point in points), strict=True))
    averaged = approximate(model)
    assert averaged.draws.agreement > 0.8
    predicted, wanted = averaged.predict_distribution(new), weights @ means
    std = np.sqrt(weights @ (variances + (means - wanted) ** 2))
    assert np.allclose(predicted.mean, wanted, atol=0.05)
    assert np.allclose(predicted.std, std, rtol=0.04)
    observed = np.linspace(-1.0, 1.0, len(new))
    log_density = np.log(mixture_density(observed, means, variances, weights))
    assert np.allclose(predicted.log_density(observed), log_density, atol=0.15)
    single = model.log_predictive_density(new, observed)
    assert np.abs(predicted.log_density(observed) - log_density).max() < 0.5 * np.abs(single - log_density).max()
    for k, path in enumerate(("kernel.lengthscale", "noise")):
        logs = np.log(points[:, k])
        assert averaged.draws.weights[0] @ np.log(averaged.draws[path][0]) == pytest.approx(weights @ logs, abs=0.05)


def test_the_curvature_is_that_of_the_density():
    parameters = [Wide(p.path, p.start, p.low, p.high, p.prior) for p in unbounded("a", "b")]
    mode = find_mode(Density(known(*parameters, a=(0.0, 0.5)).objective), np.zeros(2))
    assert np.allclose(mode.root @ mode.root.T, np.diag([0.125, 0.25]), atol=1e-5)
    assert mode.n_flat == 0


class Saddle:
    """A likelihood that rises away from its start, within bounds, so that its highest points are two ends."""

    n_targets = 1

    def parameters(self):
        return [Parameter("x", 1.0, math.exp(-9.0), math.exp(9.0))]

    def value(self, values):
        return self.gradient(values)[0]

    def gradient(self, values):
        place = math.log(values["x"])
        return 0.5 * place**2, {"x": place / values["x"]}


def test_a_density_that_does_not_curve_down_is_said():
    model = known(Parameter("x", 1.0, 1e-9, 1e9))
    model.objective = Saddle()
    with pytest.warns(UserWarning, match="does not curve downwards in 1 of 1 directions"):
        approximate(model)


def test_points_where_the_evidence_cannot_be_computed_have_no_weight():
    model = known(Parameter("x", 1.0, 1e-3, 1e3), forbidden=1.5, x=(0.0, 2.0))
    draws = approximate(model).draws
    assert draws.weights[0, 1] == 0 and draws.log_density[0, 1] == -math.inf
    assert len(list(draws.spaced(None))) == 2


def test_weights_that_are_very_uneven_are_said():
    class Slopes:
        """A likelihood that falls steeply below a place, and slowly above it."""

        n_targets = 1

        def parameters(self):
            return [Parameter(path, 1.0, 1e-9, 1e9) for path in "abcd"]

        def value(self, values):
            return self.gradient(values)[0]

        def gradient(self, values):
            rates = {path: 60.0 if x < 1 else 0.3 for path, x in values.items()}
            total = -sum(0.5 * rate * math.log(values[path]) ** 2 for path, rate in rates.items())
            return total, {path: -rate * math.log(values[path]) / values[path] for path, rate in rates.items()}

    model = known(Parameter("a", 1.0, 1e-9, 1e9))
    model.objective = Slopes()
    with pytest.warns(UserWarning, match=r"weights of the points agree with it to \d+%"):
        approximate(model)


def test_progress_reaches_the_end():
    seen = []
    approximate(known(*unbounded("a")), progress=lambda progress: seen.append(progress.fraction))
    assert seen == sorted(seen) and seen[-1] == 1.0
