"""Likelihoods against their definitions: densities, derivatives, and means over a normal latent value."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import espalier as es
from espalier.gp import Bernoulli, Likelihood, Ordinal, Poisson, Slopes, StudentT
from likelihood_cases import CASES, STUDENT, N, at_targets
from reference import laplace as slow
from reference.gaussian_process import central_difference

ALL = {**CASES, "student": STUDENT}


@pytest.mark.parametrize("name", ALL)
def test_densities_and_their_derivatives(name):
    likelihood, targets, y, formulas = ALL[name]
    for latent in (np.linspace(-2, 2, N), np.zeros(N)):
        found = likelihood.log_density(latent, targets)
        wanted = [formula(*own) for formula, *own in zip(formulas, y.tolist(), latent.tolist(), strict=True)]
        np.testing.assert_allclose(found, wanted, rtol=1e-12)

        def slope_of(value, latent=latent):
            """Each derivative at once: a target depends on its own latent value alone."""
            return central_difference(lambda x: value(latent + x, targets), 0.0, 1e-3)

        slope, curvature, ratio = likelihood.slopes(latent, targets)
        np.testing.assert_allclose(slope, slope_of(likelihood.log_density), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(-curvature, slope_of(lambda *own: likelihood.slopes(*own).slope), rtol=1e-8)
        third = slope_of(lambda *own: -likelihood.slopes(*own).curvature)
        np.testing.assert_allclose(ratio * curvature, third, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_densities_add_up_to_1(name):
    """Over all targets; a case whose targets are no signs and no counts is integrated."""
    likelihood, targets, y, _ = ALL[name]
    latent = np.linspace(-2, 2, N)
    places = np.linspace(-15, 15, 6001)  # of values that lie ever wider apart
    values: Any = np.sinh(places)
    step: Any = np.cosh(places) * (places[1] - places[0])
    if isinstance(likelihood, Ordinal):
        values, step = range(likelihood.n_grades), np.ones(likelihood.n_grades)
    elif set(y.tolist()) <= {-1.0, 1.0}:
        values, step = [-1.0, 1.0], np.ones(2)
    elif (y == y.round()).all():
        values, step = range(200), np.ones(200)
    densities = [np.exp(likelihood.log_density(latent, at_targets(targets, float(value)))) for value in values]
    total = step @ np.array(densities)
    np.testing.assert_allclose(total, 1.0, rtol=1e-9)


@pytest.mark.parametrize("name", [name for name, case in ALL.items() if case[0].parameters()])
def test_derivatives_in_learned_numbers(name):
    likelihood, targets, _, _ = ALL[name]
    latent = np.linspace(-1, 1, N)
    found = likelihood.parameter_slopes(latent, targets)
    assert list(found) == [parameter.path for parameter in likelihood.parameters()]
    for path, slopes in found.items():
        start = {parameter.path: parameter.start for parameter in likelihood.parameters()}[path]

        def at(x, path=path):
            return likelihood.with_parameters({path: x, "kernel.decay": 0.5})

        parts = {
            "log_density": lambda own: own.log_density(latent, targets),
            "slope": lambda own: own.slopes(latent, targets).slope,
            "log_curvature": lambda own: np.log(np.abs(own.slopes(latent, targets).curvature)),
        }
        for part, value in parts.items():
            wanted = central_difference(lambda x, value=value: value(at(x)), start, 1e-3 * start)
            rtol = 1e-8 if likelihood.is_log_concave else 1e-6
            np.testing.assert_allclose(getattr(slopes, part), wanted, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("name", ALL)
def test_predictive_densities_are_integrals(name):
    likelihood, targets, y, formulas = ALL[name]
    mean, variance = np.linspace(-1, 1, N), np.linspace(0.1, 2.0, N)
    found = likelihood.log_predictive_density(mean, variance, targets)
    by_quadrature = Likelihood.log_predictive_density(likelihood, mean, variance, targets)
    wanted = [slow.predictive(y[k], mean[k], variance[k], formulas[k], 4_001) for k in range(N)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    if likelihood.is_log_concave:
        np.testing.assert_allclose(by_quadrature, wanted, rtol=1e-6)
    if name == "probit":
        np.testing.assert_allclose(likelihood.probability(mean, variance)[y > 0], np.exp(found[y > 0]), rtol=1e-12)


@dataclass(frozen=True)
class Secant(Likelihood[np.ndarray]):
    """A target is its latent value plus hyperbolic secant noise."""

    deviation: float

    def log_density(self, latent, targets):
        u = np.pi / 2 * np.abs(targets - latent) / self.deviation
        return -u - np.log1p(np.exp(-2 * u)) - np.log(self.deviation)

    def slopes(self, latent, targets):
        rate = np.pi / 2 / self.deviation
        t = np.tanh(rate * (targets - latent))
        return Slopes(rate * t, rate**2 * (1 - t**2), 2 * rate * t)


@dataclass(frozen=True)
class Step(Likelihood[np.ndarray]):
    """A sign that is seen with little noise."""

    deviation: float

    def log_density(self, latent, targets):
        return Bernoulli().log_density(latent / self.deviation, targets)

    def slopes(self, latent, targets):
        slope, curvature, ratio = Bernoulli().slopes(latent / self.deviation, targets)
        return Slopes(slope / self.deviation, curvature / self.deviation**2, ratio / self.deviation)


@pytest.mark.parametrize("variance", [0.0, 1e-8, 0.01, 2.0, 1e4])
@pytest.mark.parametrize("size", [1e-4, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("kind", [Secant, Step])
def test_predictive_densities_are_exact_for_narrow_and_wide_likelihoods(kind, size, variance):
    likelihood, deviation = kind(size), np.sqrt(variance)
    mean = np.array([-3.0, -0.5, 0.0, 0.02, 1.0, 4.0]) * deviation
    targets = np.ones(len(mean)) if kind is Step else np.linspace(-1, 1.5, len(mean)) * (deviation + size)
    found = likelihood.log_predictive_density(mean, np.full(len(mean), variance), targets)
    for k, own in enumerate(targets.tolist()):
        place = 0.0 if kind is Step else own  # where the density changes fast

        def product(z, k=k, own=own):
            latent = np.array([mean[k] + deviation * z])
            return float(np.exp(likelihood.log_density(latent, np.array([own]))[0] - z**2 / 2)) / np.sqrt(2 * np.pi)

        ends = np.array([-38.0, 38.0])
        near = (place - mean[k] + np.array([-30, -5, 0, 5, 30]) * size) / deviation if variance else np.zeros(1)
        edges = np.unique(np.clip(np.concatenate([ends, near, np.linspace(-10, 10, 21)]), -38, 38))
        total = sum(quad(product, a, b, epsabs=1e-13, epsrel=1e-10)[0] for a, b in pairwise(edges.tolist()))
        assert found[k] == pytest.approx(np.log(total), abs=2e-7)


MEAN, VARIANCE = np.linspace(-1.5, 1, N), np.array([0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("name", ALL)
def test_what_a_target_says_of_a_normal_value_is_an_integral(name):
    likelihood, targets, y, formulas = ALL[name]
    found = likelihood.tilt(MEAN, VARIANCE, targets)
    for k in range(N):

        def part(power, k=k):
            own = lambda f: (f - MEAN[k]) ** power * np.exp(formulas[k](y[k], f))  # noqa: E731
            return slow.normal_mean(own, MEAN[k], VARIANCE[k], 4_001)

        mass, first, second = part(0), part(1), part(2)
        mean = first / mass
        assert found.log_mass[k] == pytest.approx(np.log(mass), rel=1e-9, abs=1e-10)
        assert found.slope[k] == pytest.approx(mean / VARIANCE[k], rel=1e-8, abs=1e-9)
        wanted = (1 - (second / mass - mean**2) / VARIANCE[k]) / VARIANCE[k]
        assert found.curvature[k] == pytest.approx(wanted, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if "own" not in name])
def test_closed_forms_are_those_of_quadrature(name):
    likelihood, targets, _, _ = CASES[name]
    pairs = [
        (likelihood.tilt(MEAN, VARIANCE, targets), Likelihood.tilt(likelihood, MEAN, VARIANCE, targets)),
        (likelihood.expected(MEAN, VARIANCE, targets), Likelihood.expected(likelihood, MEAN, VARIANCE, targets)),
    ]
    for found, wanted in pairs:
        for own, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-7, atol=1e-9)
    for method in ("tilt_slopes", "expected_slopes"):
        found = getattr(likelihood, method)(MEAN, VARIANCE, targets)
        wanted = getattr(Likelihood, method)(likelihood, MEAN, VARIANCE, targets)
        assert found.keys() == wanted.keys() == {parameter.path for parameter in likelihood.parameters()}
        for path, own in wanted.items():
            np.testing.assert_allclose(found[path], own, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_derivatives_of_means_are_those_of_differences(name):
    likelihood, targets, y, formulas = ALL[name]
    expected, tilt = likelihood.expected(MEAN, VARIANCE, targets), likelihood.tilt(MEAN, VARIANCE, targets)
    wanted = [slow.normal_mean(lambda f, k=k: formulas[k](y[k], f), MEAN[k], VARIANCE[k], 4_001) for k in range(N)]
    np.testing.assert_allclose(expected.value, wanted, rtol=1e-7)

    def by(method, mean=0.0, variance=0.0):
        return lambda x: getattr(likelihood, method)(MEAN + mean * x, VARIANCE + variance * x, targets)[0]

    for found, method in ((expected, "expected"), (tilt, "tilt")):
        np.testing.assert_allclose(
            found.slope, central_difference(by(method, mean=1.0), 0.0, 1e-3), rtol=1e-7, atol=1e-8
        )
    by_variance = central_difference(by("expected", variance=1.0), 0.0, 1e-3)
    np.testing.assert_allclose(-0.5 * expected.curvature, by_variance, rtol=1e-6, atol=1e-8)
    for parameter in likelihood.parameters():
        for method in ("tilt", "expected"):
            at = lambda x, method=method, path=parameter.path: getattr(  # noqa: E731
                likelihood.with_parameters({path: x}), method
            )(MEAN, VARIANCE, targets)[0]
            slope = central_difference(at, parameter.start, 1e-3 * abs(parameter.start))
            found = getattr(likelihood, f"{method}_slopes")(MEAN, VARIANCE, targets)[parameter.path]
            np.testing.assert_allclose(found, slope, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", ["probit", "logit", "poisson", "ordinal"])
def test_moments_of_targets_are_sums(name):
    likelihood, _, _, formulas = ALL[name]
    values = {"poisson": range(150), "ordinal": range(4)}.get(name, (-1, 1))
    mean, variance = np.linspace(-1, 1, N), np.linspace(0.02, 0.2, N)
    found_mean, found_variance = likelihood.predictive_moments(mean, variance)
    for k in range(N):
        mass = [np.exp(slow.predictive(value, mean[k], variance[k], formulas[k], 1_001)) for value in values]
        centre = sum(p * value for p, value in zip(mass, values, strict=True))
        assert found_mean[k] == pytest.approx(centre, rel=1e-6, abs=1e-8)
        spread = sum(p * (value - centre) ** 2 for p, value in zip(mass, values, strict=True))
        assert found_variance[k] == pytest.approx(spread, rel=1e-5)


def test_a_likelihood_without_moments_says_so():
    with pytest.raises(NotImplementedError, match="Secant does not say the mean"):
        Secant(1.0).predictive_moments(np.zeros(1), np.ones(1))
    mean, variance = StudentT(0.5, 4.0).predictive_moments(np.ones(1), np.ones(1))
    assert (mean[0], variance[0]) == pytest.approx((1.0, 1.5))


def test_grades_are_exact_far_from_their_thresholds():
    """Where a difference of two distribution functions would be 0, and in gaps as narrow as they may be."""
    for likelihood, grade in ((Ordinal(0.0, (1.0,)), 1), (Ordinal(0.0, (1e-4, 1e-4)), 1)):
        for f in (-40.0, -5.0, 8.0, 45.0, 300.0):
            latent, targets = np.array([f]), np.array([grade])
            found = likelihood.log_density(latent, targets)[0]
            low, high = likelihood.thresholds[grade - 1] - f, likelihood.thresholds[grade] - f
            near = min(abs(low), abs(high))
            rest = quad(lambda x, near=near: np.exp(-near * x - x * x / 2), 0, high - low, epsabs=0, epsrel=1e-12)[0]
            assert found == pytest.approx(np.log(rest) - near**2 / 2 - 0.5 * np.log(2 * np.pi), rel=1e-9)
            slope, curvature, ratio = likelihood.slopes(latent, targets)
            assert np.isfinite([slope, curvature, ratio]).all() and 0 < curvature[0] < 1 + 1e-4
            step = central_difference(lambda x: likelihood.log_density(np.array([x]), targets), f, 1e-3)  # noqa: B023
            assert slope[0] == pytest.approx(step[0], rel=1e-6)


def test_numbers_may_be_fixed_or_have_bounds():
    assert Poisson(es.fixed(2.0)).parameters() == StudentT(es.fixed(2.0)).parameters() == []
    (own,) = StudentT(es.Learned(0.5, bounds=(0.1, 1.0))).parameters()
    assert (own.path, own.start, own.low, own.high) == ("scale", 0.5, 0.1, 1.0)
    assert Poisson(es.fixed(2.0)).log_density(np.zeros(1), np.ones(1)) == Poisson(2.0).log_density(
        np.zeros(1), np.ones(1)
    )


def test_bad_numbers_of_likelihoods_are_refused():
    with pytest.raises(ValueError, match="link must be"):
        Bernoulli("cauchit")
    for make, message in (
        (lambda: Poisson(0.0), "rate must be positive"),
        (lambda: StudentT(-1.0), "scale must be positive"),
        (lambda: StudentT(freedom=0.0), "freedom must be a positive"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    for first, gaps in ((np.nan, (1.0,)), (0.0, (0.0,)), (0.0, (1.0, -1.0))):
        with pytest.raises(ValueError, match="gaps positive"):
            Ordinal(first, gaps)
