"""Transforms of the targets: slopes, densities, moments and evidence against numerical integration."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.exceptions import ConvergenceWarning

import espalier as es
from espalier import GPRegressor, fixed
from espalier.errors import InputError
from espalier.gp import BoxCox, Log, SquareRoot, Warping
from espalier.gp.transforms import Transform, as_transform
from espalier.gp.units import TargetUnits
from reference import gaussian_process as slow

Y = np.array([0.3, 1.1, 0.7, 2.5, 4.0, 0.9, 1.6, 0.5])
X = np.random.default_rng(0).normal(size=(8, 2))
NEW = np.random.default_rng(1).normal(size=(3, 2))
STEPS = [(0.4, 1.5, -0.5), (0.2, 3.0, 0.8)]
WARPING = Warping(n_steps=2, location=1.0, scale=2.0, height=(0.4, 0.2), steepness=(1.5, 3.0), centre=(-0.5, 0.8))
warped, warped_log_slope = slow.warp(1.0, 2.0, STEPS)

TRANSFORMS = {
    "none": (None, lambda y: y, lambda y: 0 * y),
    "log": ("log", np.log, lambda y: -np.log(y)),
    "log with offset": (Log(offset=0.7), lambda y: np.log(y + 0.7), lambda y: -np.log(y + 0.7)),
    "sqrt": ("sqrt", np.sqrt, lambda y: -np.log(2 * np.sqrt(y))),
    "sqrt with offset": (SquareRoot(offset=2.0), lambda y: np.sqrt(y + 2), lambda y: -np.log(2 * np.sqrt(y + 2))),
    "boxcox 0.3": (BoxCox(0.3), *slow.box_cox(0.3)[:2]),
    "boxcox 0": (BoxCox(fixed(0)), *slow.box_cox(0)[:2]),
    "boxcox 2": (BoxCox(fixed(2.0)), *slow.box_cox(2.0)[:2]),
    "boxcox -0.4": (BoxCox(fixed(-0.4)), *slow.box_cox(-0.4)[:2]),
    "warped": (WARPING, warped, warped_log_slope),
}
each = pytest.mark.parametrize("name", TRANSFORMS)


def fitted(name, *, standardize=True, noise=0.2, kernel=None):
    model = GPRegressor(
        kernel or es.RBF(1.2), noise=noise, target_transform=TRANSFORMS[name][0], standardize=standardize, learn=False
    )
    return model.fit(X, Y)


def modelled(name, standardize=True):
    """z of the training targets, location, scale, forward and log slope of the modelled numbers."""
    _, forward, log_slope = TRANSFORMS[name]
    location, scale = (forward(Y).mean(), forward(Y).std()) if standardize else (0.0, 1.0)
    return (
        (forward(Y) - location) / scale,
        lambda y: (forward(y) - location) / scale,
        lambda y: log_slope(y) - math.log(scale),
    )


@each
def test_slope_and_inverse(name):
    transform = as_transform(TRANSFORMS[name][0])
    _, forward, log_slope = TRANSFORMS[name]
    z, slopes = transform.forward(Y)
    np.testing.assert_allclose(z, forward(Y), rtol=1e-12)
    np.testing.assert_allclose(slopes, log_slope(Y), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(transform.inverse(z), Y, rtol=1e-12)
    np.testing.assert_allclose(transform.inverse(z[:, None] + np.zeros(2)), Y[:, None] + np.zeros(2), rtol=1e-12)


@each
@pytest.mark.parametrize("standardize", [True, False])
def test_evidence_is_that_of_the_targets_themselves(name, standardize):
    z, _, log_slope = modelled(name, standardize)
    expected = slow.log_evidence(es.RBF(1.2)(X), z, np.full(8, 0.2)) + log_slope(Y).sum()
    assert fitted(name, standardize=standardize).log_marginal_likelihood_ == pytest.approx(expected, rel=1e-7)


@each
def test_evidence_of_two_points_by_summing_over_functions(name):
    x, y = X[:2], Y[:2]
    transform, forward, log_slope = TRANSFORMS[name]
    model = GPRegressor(es.RBF(1.2), noise=0.2, target_transform=transform, standardize=False, learn=False).fit(x, y)
    expected = slow.integrated_log_evidence(es.RBF(1.2)(x), forward(y), np.full(2, 0.2), log_slope(y))
    assert model.log_marginal_likelihood_ == pytest.approx(expected, rel=1e-7)


@each
def test_densities_integrate_to_one(name):
    prediction = fitted(name).predict_distribution(NEW)

    def density(y, k):
        return math.exp(fitted_density(prediction, k, y))

    low = {"log with offset": -0.7, "sqrt with offset": -2.0, "none": -np.inf, "warped": -np.inf}.get(name, 0.0)
    for k in range(3):
        middle = prediction.median[k]
        total = (
            quad(density, low, middle, args=(k,), limit=200)[0] + quad(density, middle, np.inf, args=(k,), limit=200)[0]
        )
        # What lies past the ends of the transform's range is an atom there.
        atom = 0.0
        transform = as_transform(TRANSFORMS[name][0])
        if isinstance(transform, SquareRoot | BoxCox):
            atom = _atom(prediction, k, transform)
        assert total + atom == pytest.approx(1.0, abs=2e-5), (name, k)


def fitted_density(prediction, k, y):
    whole = prediction.median.copy()
    whole[k] = y
    return prediction.log_density(whole)[k]


def _atom(prediction, k, transform):
    """The probability that the modelled number lies where no target can be."""
    location = prediction.target.location + prediction.target.scale * prediction.modelled_mean[k]
    sd = prediction.target.scale * prediction.modelled_std[k]
    if isinstance(transform, SquareRoot):
        end, sign = 0.0, 1
    else:
        power = es.kernels.number_of(transform.power)
        if power == 0:
            return 0.0
        end, sign = -1 / power, 1 if power > 0 else -1
    return 0.5 * math.erfc(sign * (location - end) / (sd * math.sqrt(2)))


@each
def test_moments_and_quantiles_by_integration(name):
    if name == "boxcox -0.4":
        pytest.skip("infinite: test_a_negative_power_has_an_infinite_mean")
    for include_noise in (True, False):
        model = fitted(name)
        mean, std, quantiles = model.predict(
            NEW, return_std=True, quantiles=[0.1, 0.5, 0.975], include_noise=include_noise
        )
        prediction = model.predict_distribution(NEW, include_noise=include_noise)
        target = prediction.target

        def inverse(z, name=name, target=target):
            t = target.location + target.scale * z
            if name == "none":
                return t
            if name.startswith("log"):
                return np.exp(t) - (0.7 if "offset" in name else 0)
            if name.startswith("sqrt"):
                return np.maximum(t, 0) ** 2 - (2.0 if "offset" in name else 0)
            if name.startswith("boxcox"):
                return slow.box_cox(float(name.split()[1]))[2](t)
            y = np.linspace(-60, 60, 600_001)
            return np.interp(t, warped(y), y)

        for k in range(3):
            mu, sd = prediction.modelled_mean[k], prediction.modelled_std[k]
            expected = slow.pushed_moments(inverse, mu, sd)
            # A kink at the end of the range costs the quadrature some digits.
            assert mean[k] == pytest.approx(expected[0], rel=1e-3)
            assert std[k] == pytest.approx(expected[1], rel=2e-3)
            expected = inverse(mu + sd * np.array([-1.2815515655446004, 0.0, 1.959963984540054]))
            np.testing.assert_allclose(quantiles[k], expected, rtol=1e-6)
        np.testing.assert_allclose(prediction.median, quantiles[:, 1], rtol=1e-13)
        np.testing.assert_allclose(prediction.interval(0.8)[:, 0], quantiles[:, 0], rtol=1e-10)


def test_moments_of_a_lognormal_in_closed_form():
    target = TargetUnits(Log(), 0.5, 2.0, True)
    mean, std = target.moments(np.array([0.0, 1.0]), np.array([0.3, 0.9]))
    mu, sd = 0.5 + 2.0 * np.array([0.0, 1.0]), 2.0 * np.array([0.3, 0.9])
    np.testing.assert_allclose(mean, np.exp(mu + sd**2 / 2), rtol=1e-10)
    np.testing.assert_allclose(std, mean * np.sqrt(np.expm1(sd**2)), rtol=1e-8)


def test_moments_of_a_steep_warping():
    """Where the function is a staircase its inverse has jumps, which no polynomial follows."""
    steep = Warping(n_steps=1, location=0.0, scale=1.0, height=(3.0,), steepness=(100.0,), centre=(0.0,))
    mean, std = TargetUnits(steep, 0.0, 1.0, False).moments(np.array([2.0]), np.array([1.0]))
    expected = slow.pushed_moments(steep.inverse, 2.0, 1.0)
    assert mean[0] == pytest.approx(expected[0], abs=1e-3)
    assert std[0] == pytest.approx(expected[1], abs=1e-3)


def test_transforms_meet_where_they_are_the_same():
    options = {"noise": 0.2, "learn": False}
    evidence = {
        name: GPRegressor(es.RBF(), target_transform=transform, **options).fit(X, Y).log_marginal_likelihood_
        for name, transform in {
            "none": None,
            "power 1": BoxCox(fixed(1.0)),
            "flat steps": Warping(height=(1e-9,) * 3),
            "log": "log",
            "power 0": BoxCox(fixed(0.0)),
            "nearly 0": BoxCox(fixed(1e-9)),
            "sqrt": "sqrt",
            "power 1/2": BoxCox(fixed(0.5)),
        }.items()
    }
    assert evidence["power 1"] == pytest.approx(evidence["none"], rel=1e-12)
    assert evidence["flat steps"] == pytest.approx(evidence["none"], rel=1e-7)
    assert evidence["power 0"] == pytest.approx(evidence["log"], rel=1e-12)
    assert evidence["nearly 0"] == pytest.approx(evidence["log"], rel=1e-7)
    # Standardising removes the factor 2 and the shift between them.
    assert evidence["power 1/2"] == pytest.approx(evidence["sqrt"], rel=1e-10)


@pytest.mark.parametrize("transform", [None, "log", "sqrt", "boxcox", "warped"])
def test_evidence_changes_with_units_as_a_density_must(transform):
    """Minutes instead of hours: the density is divided by 60 for each target, and nothing else changes."""
    a = GPRegressor(es.RBF(), target_transform=transform, learn=False).fit(X, Y)
    b = GPRegressor(es.RBF(), target_transform=transform, learn=False).fit(X, 60 * Y)
    expected = a.log_marginal_likelihood_ - 8 * math.log(60)
    assert b.log_marginal_likelihood_ == pytest.approx(expected)
    np.testing.assert_allclose(b.predict(NEW), 60 * a.predict(NEW), rtol=1e-7)


def test_evidence_finds_the_transform_that_made_the_data():
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, size=(60, 1))
    f = np.sin(x[:, 0]) + 0.1 * rng.normal(size=60)
    models = {
        name: GPRegressor(1.0 * es.RBF(), target_transform=name).fit(x, np.exp(1.5 * f))
        for name in (None, "log", "sqrt", "boxcox")
    }
    found = es.compare({str(name): model for name, model in models.items()})
    assert found.best in ("log", "boxcox")
    assert found.rows[-1].name == "None"
    assert models["boxcox"].transform_.power < 0.2
    warped_model = GPRegressor(1.0 * es.RBF(), target_transform="warped").fit(x, np.exp(1.5 * f))
    assert warped_model.log_marginal_likelihood_ > models[None].log_marginal_likelihood_ + 10


def test_a_negative_power_has_an_infinite_mean():
    model = fitted("boxcox -0.4", noise=2.0)
    prediction = model.predict_distribution(NEW)
    assert np.isinf(prediction.mean).all() and np.isinf(prediction.std).all()
    assert np.isfinite(prediction.median).all()


def test_a_learned_power_stays_where_means_exist():
    y = 1 / np.linspace(0.2, 1, 8)  # the power that makes this linear is -1
    model = GPRegressor(es.Linear() + es.Constant(), target_transform="boxcox").fit(np.linspace(0.2, 1, 8)[:, None], y)
    assert model.learned_["transform.power"].bound == "low" and model.transform_.power == 0
    assert np.isfinite(model.predict([[0.5]], return_std=True)).all()
    free = GPRegressor(es.Linear() + es.Constant(), target_transform=BoxCox(-0.5))
    assert free.fit(np.linspace(0.2, 1, 8)[:, None], y).transform_.power < -0.2


def test_outside_the_domain():
    for name in ("log", "sqrt", "boxcox 0.3"):
        density = fitted(name).predict_distribution(NEW).log_density([-1.0, 0.0, 1.0])
        assert density[0] == density[1] == -math.inf and math.isfinite(density[2])
    for transform in ("log", "sqrt", "boxcox"):
        with pytest.raises(
            InputError, match=rf"target_transform='{transform}' needs targets above 0, but 2 are not.*y\[1\] = 0"
        ):
            GPRegressor(es.RBF(), target_transform=transform).fit(X[:3], [1.0, 0.0, -1.0])
    with pytest.raises(InputError, match=r"targets \+ 1 above 0"):
        GPRegressor(es.RBF(), target_transform=Log(offset=1)).fit(X[:2], [1.0, -1.0])
    GPRegressor(es.RBF(), target_transform=Log(offset=1.5), learn=False).fit(X[:2], [1.0, -1.0])


def test_names_and_settings():
    with pytest.raises(ValueError, match=r"transform must be one of None, 'log', .* got 'logarithm'"):
        GPRegressor(es.RBF(), target_transform="logarithm").fit(X, Y)
    with pytest.raises(
        TypeError, match=r"transform must be one of None, 'log', .* or an object such as Log\(offset=1\), got <ufunc"
    ):
        GPRegressor(es.RBF(), target_transform=np.log).fit(X, Y)
    with pytest.raises(ValueError, match="n_steps must be a positive integer"):
        Warping(n_steps=0)
    with pytest.raises(ValueError, match="height must hold one positive number for each of the 3 steps"):
        Warping(height=(0.3,))
    with pytest.raises(ValueError, match="is not fitted to targets"):
        Warping().forward(Y)
    assert Transform().name == "y" and Log(offset=1).name == "log(y + 1)" and BoxCox(0.25).name == "y^(0.25), Box-Cox"
    assert "standard deviations of log(y)" in repr(GPRegressor(es.RBF(), target_transform="log").fit(X, Y).learned_)


def test_covariances_of_transformed_targets_are_refused():
    with pytest.raises(ValueError, match="sample_posterior draws from them"):
        fitted("log").predict(NEW, return_cov=True)
    draws = fitted("log").sample_posterior(NEW, 20_000, random_state=0)
    assert (draws > 0).all()
    prediction = fitted("log").predict_distribution(NEW, include_noise=False)
    assert (np.abs(draws.mean(axis=1) - prediction.mean) < 4.5 * prediction.std / math.sqrt(20_000)).all()
    np.testing.assert_allclose(np.median(draws, axis=1), prediction.median, rtol=0.05)


@pytest.mark.parametrize("transform", [None, "log", "sqrt", "boxcox", "warped"])
@pytest.mark.parametrize("size", [1e300, 1e120, 1e-120, 1e-300])
def test_huge_and_tiny_targets(transform, size):
    y = size * Y
    # Powers of numbers near 1e-120 differ from 0 in no digit, so that nothing but 0 is a good power.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if transform == "boxcox" else "error", ConvergenceWarning)
        model = GPRegressor(es.RBF(), target_transform=transform).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert (np.abs(mean - y) <= 3 * size).all()
    assert (std > 0).all() and np.isfinite(std).all()
    assert math.isfinite(model.log_marginal_likelihood_)


def test_a_power_below_zero_is_declared_by_its_bounds():
    x = np.linspace(0.2, 1, 8)[:, None]
    kernel = es.Linear() + es.Constant()
    model = GPRegressor(kernel, target_transform=BoxCox(es.Learned(0.5, bounds=(-1, 1)))).fit(x, 1 / x[:, 0])
    row = model.learned_["transform.power"]
    assert (row.low, row.high) == (-1.0, 1.0) and row.value < -0.5


def test_what_is_said_of_steps_that_start_outside_their_bounds():
    with pytest.raises(
        ValueError, match=r"transform.height\[0\] starts at 200, outside its bounds .* Start inside"
    ) as e:
        GPRegressor(es.RBF(), target_transform=Warping(height=(200.0,) * 3)).fit(X, Y)
    assert "Learned" not in str(e.value)  # which steps do not take
    with pytest.raises(ValueError, match=r"noise starts at 1e-09, outside its bounds .* Learned\(value, bounds"):
        GPRegressor(es.RBF(), noise=1e-9).fit(X, Y)


BAD_SETTINGS = {
    "offset is a word": (lambda: Log(offset="a"), "offset must be a finite number, got 'a'"),
    "offset is nan": (lambda: SquareRoot(offset=math.nan), "offset must be a finite number, got nan"),
    "power is a word": (lambda: BoxCox("a"), "power must be a finite number, fixed.* or Learned.*, got 'a'"),
    "power is nan": (lambda: BoxCox(math.nan), "power must be a finite number"),
    "power is infinite": (lambda: BoxCox(fixed(math.inf)), "power must be a finite number"),
    "power is per label": (lambda: BoxCox(es.PerLabel(0.5)), "power must be a finite number"),
    "location is nan": (lambda: Warping(location=math.nan), "location must be a finite number, got nan"),
    "scale is a word": (lambda: Warping(scale="a"), "scale must be positive, got 'a'"),
    "fixed steps": (
        lambda: Warping(1, height=(fixed(0.3),)),
        "height must hold one positive number for each of the 1 steps, got .*Every step is learned from there",
    ),
    "one number for all steps": (lambda: Warping(height=0.3), "height must hold one positive number for each"),
    "half a step": (lambda: Warping(n_steps=2.5), "n_steps must be a positive integer, got 2.5"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_settings_of_transforms(case):
    make, message = BAD_SETTINGS[case]
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_numbers_of_numpy_are_numbers():
    assert Warping(n_steps=np.int64(2)).n_steps == 2
    assert Log(offset=np.float32(1)).name == "log(y + 1)"
    assert BoxCox(np.float64(0.5)).forward(Y)[0].shape == (8,)


@pytest.mark.parametrize(
    ("transform", "advice"),
    [
        ("log", r"Log\(offset=1\)"),
        ("sqrt", r"SquareRoot\(offset=1\)"),
        ("boxcox", r"y \+ 1 as targets"),
        (Log(offset=0.5), "a larger offset"),
    ],
    ids=str,
)
def test_what_is_advised_for_targets_that_are_not_positive(transform, advice):
    with pytest.raises(InputError, match=advice):
        GPRegressor(es.RBF(), target_transform=transform).fit(X[:3], [1.0, 0.0, -1.0])
