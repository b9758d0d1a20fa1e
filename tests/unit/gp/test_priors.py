"""Priors against scipy, the spaces that are searched, and what priors do to learning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

import espalier as es
from espalier import GPRegressor, Learned, PerLabel, fixed
from espalier.gp import Beta, Gamma, HalfNormal, LogNormal, Prior
from espalier.gp.parameters import Parameter, Parameters
from reference.gaussian_process import central_difference

PRIORS = {
    "log-normal": (LogNormal(0.3, 0.8), stats.lognorm(0.8, scale=0.3)),
    "half-normal": (HalfNormal(0.7), stats.halfnorm(scale=0.7)),
    "gamma": (Gamma(2.5, 0.4), stats.gamma(2.5, scale=0.4)),
    "gamma, steep": (Gamma(0.6), stats.gamma(0.6)),
    "beta": (Beta(2.0, 5.0), stats.beta(2.0, 5.0)),
    "beta, steep": (Beta(0.7, 0.9), stats.beta(0.7, 0.9)),
}
each = pytest.mark.parametrize("name", PRIORS)
X = np.random.default_rng(0).normal(size=(25, 1))
Y = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=25)


@each
def test_densities_equal_those_of_scipy(name):
    prior, known = PRIORS[name]
    for value in (1e-4, 0.05, 0.3, 0.77, 0.999):
        assert prior.log_density(value) == pytest.approx(known.logpdf(value), rel=1e-10, abs=1e-12)
        slope = central_difference(prior.log_density, value, 1e-4 * min(value, 1 - value))
        assert prior.slope(value) == pytest.approx(slope, rel=1e-7, abs=1e-7)
    assert prior.log_density(-0.1) == -math.inf
    if isinstance(prior, Beta):
        assert prior.log_density(1.0) == prior.log_density(1.5) == prior.log_density(0.0) == -math.inf
    assert isinstance(prior, Prior) and hash(prior) == hash(eval(repr(prior)))


@each
def test_draws_have_the_moments_of_scipy(name):
    prior, known = PRIORS[name]
    rng = np.random.default_rng(0)
    draws = np.array([prior.draw(rng) for _ in range(20_000)])
    assert abs(draws.mean() - known.mean()) < 4.5 * known.std() / math.sqrt(20_000)
    assert stats.kstest(draws, known.cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    "make",
    [
        lambda: LogNormal(0.0),
        lambda: LogNormal(1, -1),
        lambda: Gamma(math.inf),
        lambda: Beta(1, 0),
        lambda: HalfNormal(True),
    ],
)
def test_settings_must_be_positive(make):
    with pytest.raises(ValueError, match=r"of a \w+ prior must be a positive finite number, got"):
        make()


SPACES = [
    Parameter("log", 0.3, 1e-6, 10.0),
    Parameter("log from 0", 0.3, 0.0, 1.0),
    Parameter("tiny", 1e-15, 1e-20, 1.0),
    Parameter("logit", 0.3, 1e-6, 1.0, Beta(2, 2)),
    Parameter("linear", -0.3, -2.0, 3.0, signed=True),
]


@pytest.mark.parametrize("parameter", SPACES, ids=lambda p: p.path)
def test_spaces(parameter):
    """Encoding and decoding are inverse, hold the bounds, and the rate is the slope."""
    low, high = parameter.encode(parameter.low), parameter.encode(parameter.high)
    assert low < parameter.encode(parameter.start) < high
    assert parameter.decode(parameter.encode(parameter.start)) == pytest.approx(parameter.start, rel=1e-12)
    for place in np.linspace(low, high, 13)[1:-1]:
        value = parameter.decode(place)
        assert parameter.low <= value <= parameter.high
        assert parameter.encode(value) == pytest.approx(place, rel=1e-6, abs=1e-6)
        slope = central_difference(parameter.decode, place, 1e-4)
        assert parameter.rate(value) == pytest.approx(slope, rel=1e-6, abs=5e-12)
    assert parameter.decode(high + 1) <= parameter.high and parameter.decode(low - 1) >= parameter.low
    assert parameter.space == {"log from 0": "log", "tiny": "log"}.get(parameter.path, parameter.path)


@given(st.floats(1e-12, 1e12), st.floats(1e-3, 1e3))
def test_a_start_survives_its_space(start, reach):
    parameter = Parameter("x", start, start / (1 + reach), start * (1 + reach))
    assert parameter.decode(parameter.encode(start)) == pytest.approx(start, rel=1e-12)
    values = Parameters([parameter]).values(Parameters([parameter]).draw(np.random.default_rng(0)))
    assert parameter.low <= values["x"] <= parameter.high


def test_the_gradient_of_the_objective_in_the_searched_space():
    kernel = es.SubsetTree(Learned(0.3, prior=Beta(2, 3)), Learned(0.8, prior=LogNormal(1.0, 0.5)), on=None)
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (B c))"]
    y = np.array([1.0, 2.0, 4.0, 3.0])
    model = GPRegressor(kernel, noise=Learned(0.2, prior=Gamma(2, 0.1)), target_transform="boxcox", learn=False).fit(
        trees, y
    )
    parameters = Parameters(model._examples.parameters())
    theta = parameters.start()

    def objective(place, k):
        moved = theta.copy()
        moved[k] = place
        values = parameters.values(moved)
        return model.log_marginal_likelihood(values) + parameters.log_prior(values)[0]

    values = parameters.values(theta)
    _, natural = model.log_marginal_likelihood(values, gradient=True)
    _, slopes = parameters.log_prior(values)
    gradient = parameters.gradient(values, {path: natural[path] + slopes.get(path, 0.0) for path in natural})
    for k in range(len(theta)):
        expected = central_difference(lambda place, k=k: objective(place, k), theta[k], 1e-3)
        assert gradient[k] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_a_beta_prior_is_searched_by_its_logit():
    model = GPRegressor(es.SubsetTree(Learned(0.3, prior=Beta(2, 2))), learn=False).fit(["(A a)", "(A b)"], [1.0, 2.0])
    spaces = {p.path: p.space for p in model._examples.parameters()}
    assert spaces == {"kernel.decay": "logit", "kernel.frontier": "log", "noise": "log"}


def test_learning_moves_towards_the_prior():
    free = GPRegressor(es.RBF(1.0)).fit(X, Y).learned_["kernel.lengthscale"].value
    values = [
        GPRegressor(es.RBF(Learned(1.0, prior=LogNormal(5.0, spread)))).fit(X, Y).learned_["kernel.lengthscale"].value
        for spread in (1.0, 0.3, 0.1, 0.01)
    ]
    assert free < values[0] < values[1] < values[2] < values[3]
    assert values[0] == pytest.approx(free, rel=0.3) and values[3] == pytest.approx(5.0, rel=0.05)


def test_the_maximum_is_of_evidence_times_prior():
    prior = Gamma(2.0, 1.0)
    model = GPRegressor(es.RBF(Learned(1.0, prior=prior)), noise=fixed(0.05), tolerance=1e-9).fit(X, Y)
    found = model.learned_["kernel.lengthscale"].value
    grid = found * np.exp(np.linspace(-0.2, 0.2, 81))
    heights = [model.log_marginal_likelihood({"kernel.lengthscale": x}) + prior.log_density(x) for x in grid]
    assert abs(math.log(grid[int(np.argmax(heights))] / found)) < 0.01
    # The evidence that is reported leaves the prior out.
    assert model.log_marginal_likelihood_ == pytest.approx(model.log_marginal_likelihood({"kernel.lengthscale": found}))
    assert "Gamma(shape=2.0, scale=1.0)" in model.learned_["kernel.lengthscale"].prior


def test_a_prior_that_excludes_the_start_is_an_error():
    with pytest.raises(
        ValueError, match=r"noise starts at 1.5, which its prior Beta\(a=2, b=2\) excludes. Start where"
    ):
        GPRegressor(es.RBF(), noise=Learned(1.5, prior=Beta(2, 2))).fit(X, Y)
    with pytest.raises(ValueError, match=r"kernel.lengthscale starts at 1e-07, outside its bounds .* Start inside"):
        GPRegressor(es.RBF(1e-7)).fit(X, Y)
    with pytest.raises(TypeError, match=r"The prior of noise must be LogNormal, .* AroundCommon or an object"):
        GPRegressor(es.RBF(), noise=Learned(0.1, prior="flat")).fit(X, Y)


def test_a_users_prior():
    class Cauchy:
        def log_density(self, value):
            return -math.log1p(value * value) + math.log(2 / math.pi)

        def slope(self, value):
            return -2 * value / (1 + value * value)

        def draw(self, rng):
            return float(abs(rng.standard_cauchy()))

    assert quad(lambda x: math.exp(Cauchy().log_density(x)), 0, math.inf)[0] == pytest.approx(1.0)
    model = GPRegressor(es.RBF(), noise=Learned(0.1, prior=Cauchy()), restarts=1, random_state=0).fit(X, Y)
    assert "Cauchy" in model.learned_["noise"].prior


def test_random_starts_come_from_priors_or_between_the_bounds():
    rng = np.random.default_rng(0)
    parameters = Parameters(
        [
            Parameter("drawn", 0.3, 1e-6, 1e6, LogNormal(0.3, 0.8)),
            Parameter("free", 0.5, 1e-1, 2.0),
            Parameter("wide", 1.0, 1e-9, 1e9),
            *(Parameter(f"decay[{k}]", 0.4, 1e-6, 1.0) for k in "ABC"),
        ]
    )
    draws = np.array([list(parameters.values(parameters.draw(rng)).values()) for _ in range(2000)])
    assert stats.kstest(draws[:, 0], stats.lognorm(0.8, scale=0.3).cdf).pvalue > 1e-4
    assert stats.kstest(np.log(draws[:, 1]), stats.uniform(math.log(0.1), math.log(20)).cdf).pvalue > 1e-4
    assert draws[:, 2].min() >= 0.9e-3 and draws[:, 2].max() <= 1.1e3
    inside = (draws[:, 3:] > 2e-6) & (draws[:, 3:] < 0.5)
    spread = np.log(draws[:, 3] / draws[:, 4])[inside[:, 0] & inside[:, 1]]
    assert 0.5 < spread.std() < 1.0  # around a common value
    assert ((draws[:, 3:] >= 1e-6) & (draws[:, 3:] <= 1)).all()


def test_priors_of_labels():
    noise = PerLabel(Learned(0.1, prior=HalfNormal(0.3)))
    model = GPRegressor(es.RBF(), noise=noise).fit(X, Y, noise_groups=["a", "b"] * 12 + ["a"])
    assert {row.path: row.prior for row in model.learned_ if row.prior} == {
        "noise[a]": "HalfNormal(scale=0.3)",
        "noise[b]": "HalfNormal(scale=0.3)",
    }
