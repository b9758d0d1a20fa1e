"""The density of hyperparameters in coordinates without bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import espalier as es
from espalier.bayes.density import Density, density_of
from espalier.errors import InputError
from espalier.gp import AroundCommon, Beta, BoxCox, Gamma, LogNormal, Parameter
from known_densities import known


class Far(LogNormal):
    """A normal prior of any number."""

    def __init__(self):
        super().__init__(1.0)

    def log_density(self, value):
        return -0.5 * value**2

    def slope(self, value):
        return -value


PARAMETERS = {
    "flat": Parameter("x", 0.3, 1e-6, 1.0),
    "flat and signed": Parameter("x", 0.5, -2.0, 3.0, signed=True),
    "zero as bound": Parameter("x", 0.3, 0.0, 2.0),
    "log-normal": Parameter("x", 0.3, 1e-5, 1e5, LogNormal(0.5, 0.7)),
    "cut off": Parameter("x", 0.3, 0.2, 0.6, LogNormal(0.5, 0.7)),
    "around a common value": Parameter("x", 0.3, 0.05, 2.0, AroundCommon(0.5, 0.3, 0.6)),
    "beta": Parameter("x", 0.3, 0.0, 1.0, Beta(2.0, 3.0)),
    "no upper bound": Parameter("x", 0.3, 0.1, math.inf, Gamma(3.0, 0.2)),
    "no lower bound": Parameter("x", 0.3, -math.inf, 1.5, Far(), signed=True),
    "no bounds": Parameter("x", 0.3, 0.0, math.inf, LogNormal(0.5, 0.7)),
}


@pytest.mark.parametrize("p", PARAMETERS.values(), ids=PARAMETERS)
def test_the_gradient_is_that_of_the_value(p):
    density = Density(known(p, x=(p.encode(0.4), 0.8)).objective)
    for u in (-1.3, 0.2, 1.1):
        at, step = np.array([u]), np.array([1e-5])
        slope = (density.value(at + step) - density.value(at - step)) / 2e-5
        assert density.gradient(at)[1][0] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("p", PARAMETERS.values(), ids=PARAMETERS)
def test_the_density_of_a_coordinate_is_that_of_the_number(p):
    """The share of a coordinate's interval is the share of the interval of numbers, of which the prior is a density."""
    density, u = Density(known(p).objective), np.linspace(-14.0, 14.0, 1_401)
    heights = np.exp([height_at(density, each) for each in u.tolist()])
    inside = (u > -0.71) & (u < 0.91)
    share = np.trapezoid(heights[inside], u[inside]) / np.trapezoid(heights, u)
    edges = [density.values(np.array([each]))["x"] for each in (-0.7, 0.9)]
    if p.prior is None:  # flat in the searched space
        places = [p.encode(x) for x in (p.low, p.high, *edges)]
        wanted = (places[3] - places[2]) / (places[1] - places[0])
    else:
        wanted = quad(p, *sorted(edges)) / quad(
            p, max(p.low, -9.0 if p.signed else 1e-9), min(p.high * (1 - 1e-12), 100.0)
        )
    assert share == pytest.approx(wanted, rel=2e-3)


def height_at(density, u):
    try:
        return density.value(np.array([u]))
    except FloatingPointError:  # so improbable that it is 0
        return -math.inf


def quad(p, low, high):
    """The mass of the prior between two numbers."""
    if p.signed:
        x = np.linspace(low, high, 4_001)
        return np.trapezoid([math.exp(p.prior.log_density(each)) for each in x.tolist()], x)
    x = np.linspace(math.log(low), math.log(high), 4_001)
    if isinstance(p.prior, AroundCommon):  # a density of logarithms
        return np.trapezoid([math.exp(p.prior.log_density(np.array([each]))) for each in np.exp(x)], x)
    return np.trapezoid([math.exp(p.prior.log_density(each) + math.log(each)) for each in np.exp(x).tolist()], x)


@pytest.mark.parametrize("p", PARAMETERS.values(), ids=PARAMETERS)
def test_coordinates_and_numbers_go_both_ways(p):
    density = Density(known(p).objective)
    for x in (0.25, 0.5):
        assert density.values(density.coordinates({"x": x}))["x"] == pytest.approx(x, rel=1e-12)


def test_a_number_at_its_bound_starts_a_little_inside():
    p = Parameter("x", 1.0, 1e-6, 1.0)
    u = Density(known(p).objective).coordinates({"x": 1.0})
    assert u[0] == pytest.approx(math.log(0.999 / 0.001))


def test_a_learner_has_the_gradient_of_its_evidence_priors_and_transform():
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))", "(S (B b) (A c))"]
    kernel = es.Learned(1.0, prior=LogNormal(1.0)) * es.SubsetTree(es.Learned(0.4, prior=Beta(2, 2)), frontier=0.7)
    transform = BoxCox(es.Learned(0.5, bounds=(-1.0, 2.0)))
    model = es.GPRegressor(
        kernel, noise=es.Learned(0.2, prior=Gamma(2.0, 0.2)), target_transform=transform, learn=False
    )
    density = density_of(model.fit(trees, [2.0, 2.4, 0.9, 1.0, 1.5]))
    u = density.coordinates({p.path: p.start for p in density.parameters}) + 0.3
    _, gradient = density.gradient(u)
    assert len(u) == 5 and np.all(gradient != 0)
    for k, slope in enumerate(gradient):
        step = 1e-5 * np.eye(len(u))[k]
        assert slope == pytest.approx((density.value(u + step) - density.value(u - step)) / 2e-5, rel=1e-5, abs=1e-7)


def test_a_number_without_prior_and_bounds_is_refused():
    with pytest.raises(InputError, match="x has neither a prior nor finite bounds"):
        Density(known(Parameter("x", 1.0, 0.0, math.inf)).objective)


def test_a_model_that_learns_nothing_is_refused():
    model = es.GPRegressor(es.RBF(es.fixed(1.0)), noise=es.fixed(0.1)).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(InputError, match="every hyperparameter of this model is fixed"):
        density_of(model)
    with pytest.raises(TypeError, match="fitted Gaussian process"):
        density_of(es.KernelSVC(es.RBF(1.0)))


def test_a_joint_prior_is_a_density_of_logarithms():
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    model = es.GPRegressor(es.SubsetTree(es.PerLabel(0.4), es.fixed(1.0)), noise=es.fixed(0.2), learn=False)
    density = density_of(model.fit(trees, [2.0, 2.4, 0.9, 1.0]))
    u = np.array([0.3, 1.2, 0.9])
    values = density.values(u)
    logs = np.log(list(values.values()))
    covariance = 0.5**2 * np.eye(3) + 3.0**2  # around a common value, which is itself spread
    prior = stats.multivariate_normal(np.full(3, math.log(0.4)), covariance).logpdf(logs)
    share = 1 / (1 + np.exp(-u))
    step = np.log(math.log(1e6) * share * (1 - share)).sum()  # decays lie between 1e-6 and 1
    evidence = density.objective.value(values)
    assert density.value(u) == pytest.approx(evidence + prior + step, rel=1e-10)
