"""Draws by the no-U-turn sampler: known targets, quadrature, calibration, determinism, and what goes wrong."""

from __future__ import annotations

import math
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

import espalier as es
from espalier.bayes import UnconvergedError, sample
from espalier.bayes.density import density_of
from espalier.bayes.mode import find_mode
from espalier.bayes.nuts import ChainJob, NutsSettings
from espalier.errors import InputError, MissingDependencyError
from espalier.gp import Beta, LogNormal, Parameter
from known_densities import known
from reference.marginal import grid_posterior, mixture_density, normal_process

FEW = {"n_draws": 20, "n_warmup": 20, "check": False}


def deviations_of_mean(drawn, row, wanted):
    """How far the mean of draws is from the true one, in standard errors."""
    return abs(float(drawn.mean()) - wanted) / (row.std / math.sqrt(row.ess_bulk))


@pytest.fixture(scope="module")
def normal():
    """The logarithm of one number, and another number itself, are normal and far from their bounds."""
    return sample(
        known(
            Parameter("a", 1.0, 1e-9, 1e9),
            Parameter("b", 0.0, -50.0, 50.0, signed=True),
            a=(0.7, 0.3),
            b=(-2.0, 1.5),
        ),
        n_draws=400,
        n_warmup=100,
    ).draws


def test_moments_of_a_normal_target(normal):
    rows = normal.summary()
    for drawn, path, centre, width in ((np.log(normal["a"]), "a", 0.7, 0.3), (normal["b"], "b", -2.0, 1.5)):
        error = width / math.sqrt(rows[path].ess_bulk)
        assert abs(drawn.mean() - centre) < 4 * error
        assert drawn.std() == pytest.approx(width, rel=0.15)
        assert abs(np.mean(drawn < centre - width) - stats.norm.cdf(-1)) < 0.06
    assert rows["b"].mode == pytest.approx(-2.0, abs=0.2)


def test_draws_have_chains_statistics_and_diagnostics(normal):
    assert normal.values.shape == (4, 400, 2) and len(normal) == 1600 and normal.kind == "sampled"
    assert set(normal.statistics) == {"diverging", "tree_depth", "n_steps", "acceptance_rate", "step_size"}
    assert all(own.shape == (4, 400) for own in normal.statistics.values())
    assert normal.n_evaluations > normal.statistics["n_steps"].sum()
    row = normal.summary()["a"]
    assert row.r_hat < 1.01 and min(row.ess_bulk, row.ess_tail) > 100
    assert 0.6 < normal.statistics["acceptance_rate"].mean() < 0.98
    assert "r_hat" in repr(normal.summary()) and "ess_tail" in repr(normal.summary())


def test_without_data_draws_are_those_of_the_prior():
    model = known(
        Parameter("flat", 0.1, 1e-4, 1.0),
        Parameter("beta", 0.5, 0.0, 1.0, Beta(2.0, 5.0)),
        Parameter("log-normal", 1.0, 0.0, math.inf, LogNormal(3.0, 0.5)),
    )
    draws = sample(model, n_draws=400, n_warmup=150, check=False).draws
    for path, uniform in (
        ("flat", np.log(draws["flat"] / 1e-4) / math.log(1e4)),
        ("beta", stats.beta.cdf(draws["beta"], 2, 5)),
        ("log-normal", stats.norm.cdf(np.log(draws["log-normal"] / 3.0) / 0.5)),
    ):
        assert abs(uniform.mean() - 0.5) < 4 * math.sqrt(1 / 12 / draws.summary()[path].ess_bulk)
        assert np.quantile(uniform, [0.1, 0.25, 0.75, 0.9]) == pytest.approx([0.1, 0.25, 0.75, 0.9], abs=0.06)


@pytest.fixture(scope="module")
def process():
    """A process with two hyperparameters, and what quadrature on a grid says of it."""
    rng = np.random.default_rng(4)
    X, new = rng.uniform(-2, 2, (12, 1)), np.linspace(-2.2, 2.2, 5)[:, None]
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(12)
    priors = LogNormal(0.8, 0.4), LogNormal(0.15, 0.7)
    kernel, noise = es.RBF(es.Learned(0.8, prior=priors[0])), es.Learned(0.2, prior=priors[1])
    model = es.GPRegressor(kernel, noise=noise, standardize=False).fit(X, y)

    def at(lengthscale, noise):
        def k(a, b):
            return np.exp(-0.5 * (a[:, None] - b[None, :]) ** 2 / lengthscale**2)

        return normal_process(k(X[:, 0], X[:, 0]), noise, y, k(X[:, 0], new[:, 0]), np.ones(len(new)))

    axes = np.geomspace(0.1, 6.0, 40), np.geomspace(5e-3, 4.0, 40)
    points, weights = grid_posterior(lambda *p: at(*p)[0], axes, [prior.log_density for prior in priors])
    kept = weights > 1e-7
    points, weights = points[kept], weights[kept]
    means, variances = zip(*(at(*point)[1:] for point in points), strict=True)
    return model, new, points, weights / weights.sum(), np.array(means), np.array(variances)


@pytest.fixture(scope="module")
def averaged(process):
    return sample(process[0], n_draws=250, n_warmup=60, check=False)


def test_hyperparameters_agree_with_quadrature(process, averaged):
    _, _, points, weights, _, _ = process
    for k, path in enumerate(("kernel.lengthscale", "noise")):
        drawn, row = np.log(averaged.draws[path]), averaged.draws.summary()[path]
        mean = weights @ np.log(points[:, k])
        std = math.sqrt(weights @ (np.log(points[:, k]) - mean) ** 2)
        assert abs(drawn.mean() - mean) < 4 * std / math.sqrt(row.ess_bulk)
        assert drawn.std() == pytest.approx(std, rel=0.15)


def test_averaged_predictions_agree_with_quadrature(process, averaged):
    _, new, _, weights, means, variances = process
    averaged = es.bayes.Marginalized(averaged.model, averaged.draws, n_models=200)
    predicted = averaged.predict_distribution(new)
    mean = weights @ means
    std = np.sqrt(weights @ (variances + (means - mean) ** 2))
    assert np.allclose(predicted.mean, mean, atol=0.15 * std)
    assert np.allclose(predicted.std, std, rtol=0.1)
    y = np.linspace(-1.5, 1.5, len(new))
    assert np.allclose(predicted.log_density(y), np.log(mixture_density(y, means, variances, weights)), atol=0.12)


def test_ranks_of_true_values_are_uniform():
    """Simulation-based calibration: the rank of the true number among draws is uniform over repetitions."""
    rng, ranks = np.random.default_rng(7), []
    for seed in range(40):
        truth = 0.5 * math.exp(rng.standard_normal())
        seen = math.log(truth) + 0.6 * rng.standard_normal()
        model = known(Parameter("x", 0.5, 1e-6, 1e6, LogNormal(0.5, 1.0)), x=(seen, 0.6))
        drawn = sample(model, n_draws=95, n_warmup=40, n_chains=1, check=False, random_state=seed).draws["x"]
        ranks.append(int((drawn[0, ::5] < truth).sum()))  # of 19, so that there are 20 ranks
    counts = np.bincount(np.array(ranks) // 4, minlength=5)
    assert counts.sum() == 40
    assert stats.chisquare(counts).pvalue > 0.01


def test_one_seed_gives_the_same_bits_for_any_threads_and_executor(process):
    model = process[0]
    settings = {"n_draws": 20, "n_warmup": 30, "n_chains": 2, "check": False, "acceptance": 0.9}
    first = sample(model, **settings)
    model.set_params(n_threads=1)
    with ThreadPoolExecutor(2) as executor:
        second = sample(model, **settings, executor=executor)
    model.set_params(n_threads=None)
    assert np.array_equal(first.draws.values, second.draws.values)
    assert np.array_equal(first.draws.log_density, second.draws.log_density)
    other = sample(model, **settings, random_state=1)
    assert not np.array_equal(first.draws.values, other.draws.values)


def test_a_chain_can_be_sent_to_another_process(process):
    model = process[0]
    density = density_of(model)
    mode = find_mode(density, density.coordinates(model.learned_.to_dict()))
    job = ChainJob(model, mode, NutsSettings(5, 20, 0.8, 6), np.random.SeedSequence(1))
    here, there = job(), pickle.loads(pickle.dumps(job))()
    assert np.array_equal(here.coordinates, there.coordinates)
    assert pickle.loads(pickle.dumps(here)).log_density == there.log_density


def test_chains_that_have_not_converged_are_an_error_with_the_draws():
    model = known(Parameter("a", 1.0, 1e-9, 1e9), Parameter("b", 1.0, 1e-9, 1e9), a=(0.7, 0.3), b=(0.0, 1.0))
    with pytest.raises(UnconvergedError, match=r"effective sample is below 100 for [ab] \(\d+\)") as raised:
        sample(model, n_draws=10, n_warmup=20)
    assert raised.value.draws.values.shape == (4, 10, 2)
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value) and np.array_equal(again.draws.values, raised.value.draws.values)
    assert issubclass(UnconvergedError, RuntimeError)


def test_where_the_evidence_cannot_be_computed_transitions_diverge():
    model = known(Parameter("x", 1.0, 1e-3, 1e3), forbidden=2.0, x=(0.0, 2.0))
    with pytest.warns(UserWarning, match="transitions diverged"):
        draws = sample(model, n_draws=80, n_warmup=20, n_chains=2, max_depth=5, check=False).draws
    assert draws.n_divergent == draws.statistics["diverging"].sum() > 0
    assert draws["x"].max() <= 2.0


@pytest.mark.parametrize("after", [0.3, 0.8])
def test_an_interruption_carries_the_draws_so_far(process, after):
    def stop(progress):
        if progress.fraction > after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        sample(process[0], n_draws=40, n_warmup=20, n_chains=2, check=False, progress=stop)
    draws = raised.value.draws
    assert draws.n_chains == 1 and (draws.n_draws < 40 if after == 0.3 else draws.n_draws == 40)
    assert es.bayes.Marginalized(process[0], draws, n_models=2).predict([[0.0]]).shape == (1,)


def test_an_interruption_before_the_first_draw_carries_none(process):
    def stop(progress):
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        sample(process[0], **FEW, progress=stop)


def test_progress_goes_from_the_mode_to_the_end(process):
    seen = []
    sample(process[0], n_draws=20, n_warmup=20, n_chains=2, check=False, progress=lambda p: seen.append(p.fraction))
    assert seen == sorted(seen) and seen[-1] == 1.0 and len(seen) > 80


@pytest.mark.parametrize("library", ["mici", "arviz_stats.base.array"])
def test_a_missing_library_names_the_extra(process, monkeypatch, library):
    if library == "mici":
        for name in [name for name in sys.modules if name.split(".")[0] == "mici"]:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependencyError, match=r"espalier\[bayes\]"):
        sample(process[0], n_draws=10, n_warmup=20)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"n_draws": 0}, "n_draws must be a positive integer"),
        ({"n_warmup": 3}, "n_warmup must be an integer of at least 20"),
        ({"n_chains": 1.5}, "n_chains must be a positive integer"),
        ({"acceptance": 1.0}, "acceptance must be less than 1"),
        ({"max_depth": 0}, "max_depth must be a positive integer"),
        ({"n_models": 0}, "n_models must be a positive integer"),
    ],
)
def test_bad_settings_are_refused(process, option, message):
    with pytest.raises(ValueError, match=message):
        sample(process[0], **{"n_draws": 1, "n_warmup": 20, "check": False, "n_chains": 1, **option})


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match="not fitted"):
        sample(es.GPRegressor(es.RBF(1.0)))
    with pytest.raises(InputError, match="every hyperparameter"):
        sample(es.GPRegressor(es.RBF(es.fixed(1.0)), noise=es.fixed(1.0)).fit([[0.0], [1.0]], [0.0, 1.0]))
