"""What fails while learning costs one climb, never the best values found."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import espalier as es
from espalier import GPRegressor, Learned
from espalier.gp import optimize
from espalier.gp.cholesky import NotPositiveDefiniteError
from espalier.gp.learned import LearnedTable
from espalier.gp.optimize import Climb, Settings
from espalier.gp.parameters import Parameter, Parameters

X = np.random.default_rng(1).uniform(-3, 3, size=(40, 1))
WAVE = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(2).normal(size=40)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@dataclass(frozen=True, repr=False)
class Broken(es.Kernel):
    """Raises past an edge, just where the evidence would like to go."""

    lengthscale: float = es.kernels.hyperparameter(0.3)
    kind: str = "ValueError"

    def block(self, a, b):
        if es.kernels.number_of(self.lengthscale) > 0.5:
            raise {"ValueError": ValueError, "MemoryError": MemoryError, "KeyError": KeyError}[self.kind]("it broke")
        return es.RBF(self.lengthscale)(np.array(a), np.array(b))


@pytest.mark.parametrize("kind", ["ValueError", "MemoryError", "KeyError"])
def test_any_error_of_a_kernel_ends_one_climb_only(kind):
    model = GPRegressor(Broken(kind=kind), restarts=6, random_state=0).fit(list(X), WAVE)
    assert len(model.restarts_) == 7
    broken = [restart for restart in model.restarts_ if "it broke" in restart.message]
    assert model.restarts_[0] in broken and model.restarts_[0].values  # after good evaluations
    assert any(restart.values == {} for restart in broken)  # at the first
    assert model.log_marginal_likelihood_ == pytest.approx(max(r.log_likelihood for r in model.restarts_))
    assert np.isfinite(model.predict(list(X))).all()


@pytest.mark.parametrize("kind", ["ValueError", "MemoryError", "KeyError"])
def test_an_error_at_the_declared_start_surfaces(kind):
    model = GPRegressor(Broken(0.9, kind=kind), restarts=3)
    with pytest.raises((ValueError, MemoryError, KeyError), match="it broke"):
        model.fit(list(X), WAVE)
    with pytest.raises(NotFittedError):
        model.predict(list(X))


def test_an_error_without_words_is_named():
    calls = []

    def evaluate(values):
        calls.append(values)
        if len(calls) > 1:
            raise MemoryError
        return 1.0, {"x": 1.0}

    parameters = Parameters([Parameter("x", 1.0, 0.1, 10.0)])
    climb = Climb(SimpleNamespace(n_targets=1, gradient=evaluate), parameters, Settings(0, 20, 1e-5))
    climb.run([parameters.start()])
    assert climb.best.message == "MemoryError" and climb.best.values == {"x": 1.0}


@pytest.mark.parametrize("place", [math.nan, math.inf, 1e6])
def test_a_step_to_nowhere_is_a_failed_evaluation(monkeypatch, place):
    """Without bounds the line search of L-BFGS-B may come up with such places."""
    told = []

    def minimize(objective, theta, **options):
        first, _ = objective(theta)
        told.append((objective(np.array([place])), first))
        return SimpleNamespace(nit=1, success=True, message="done")

    monkeypatch.setattr(optimize, "minimize", minimize)
    parameters = Parameters([Parameter("x", 1.0, 0.0, math.inf)])
    objective = SimpleNamespace(n_targets=1, gradient=lambda values: (3.0, {"x": 1.0}))
    climb = Climb(objective, parameters, Settings(0, 20, 1e-5))
    climb.run([parameters.start()])
    (value, slope), first = told[0]
    assert value > first and slope.tolist() == [0.0]
    assert climb.best.values == {"x": 1.0} and climb.best.n_failures == 1


def test_infinite_bounds():
    noise = Learned(0.1, bounds=(0, math.inf))
    kernel = Learned(1.0, bounds=(0, math.inf)) * es.RBF(Learned(1.0, bounds=(1e-3, math.inf)))
    model = GPRegressor(kernel, noise=noise, restarts=4, random_state=0).fit(X, WAVE)
    assert model.learned_.at_bounds == [] and [row.bound for row in model.learned_] == ["", "", ""]
    assert 0 < model.learned_.gradient_norm < 1e-2
    free = GPRegressor(1.0 * es.RBF(), restarts=4, random_state=0).fit(X, WAVE)
    assert model.log_marginal_likelihood_ == pytest.approx(free.log_marginal_likelihood_, abs=1e-3)


def test_a_bound_beside_an_infinite_one_is_still_seen():
    parameters = Parameters([Parameter("x", 0.5, 0.5, math.inf), Parameter("y", 2.0, 0.0, 2.0)])
    table = LearnedTable.of(parameters, {"x": 0.5, "y": 2.0}, {"x": -1.0, "y": 1.0})
    assert [row.bound for row in table] == ["low", "high"] and table.gradient_norm == 0


@pytest.mark.parametrize("pilot", [None, 20])
@pytest.mark.parametrize("last", [1, 4, 12])
def test_an_error_of_progress_reaches_the_user_after_the_model_was_finished(last, pilot):
    told = []

    def stop(progress):
        told.append(progress)
        if len(told) >= last:
            raise RuntimeError("the disk is full")

    model = GPRegressor(1.0 * es.RBF(), restarts=3, random_state=0, progress=stop, pilot=pilot)
    with pytest.raises(RuntimeError, match="the disk is full"):
        model.fit(X, WAVE)
    assert np.isfinite(model.predict(X)).all() and len(model.learned_) == 3
    if pilot is None:
        assert len(told) == last
        assert model.log_marginal_likelihood_ == pytest.approx(max(x.log_likelihood for x in told), rel=1e-12)
        assert model.restarts_[-1].message == "interrupted"


@dataclass(frozen=True, repr=False)
class Fragile(es.Kernel):
    """Fails on all 40 examples where the pilot, on 20, likes to be."""

    lengthscale: float = es.kernels.hyperparameter(0.3)
    error: type[BaseException] = ValueError

    def block(self, a, b):
        if es.kernels.number_of(self.lengthscale) > 0.31 and len(a) == 40:
            raise self.error("too many")
        return es.RBF(self.lengthscale)(np.array(a), np.array(b))


def test_where_the_best_of_the_pilot_fails_on_all_examples_the_declared_start_is_taken():
    model = GPRegressor(Fragile(), pilot=20, random_state=0, max_iterations=3).fit(list(X), WAVE)
    assert [bool(restart.values) for restart in model.restarts_] == [False, True]
    assert "too many" in model.restarts_[0].message
    assert model.restarts_[1].start["kernel.lengthscale"] == pytest.approx(0.3)


def test_an_interruption_right_after_the_pilot_keeps_its_best():
    calls = []

    @dataclass(frozen=True, repr=False)
    class Interrupted(es.Kernel):
        lengthscale: float = es.kernels.hyperparameter(0.3)

        def block(self, a, b):
            if len(a) == 40 and len(b) == 40 and not calls:
                calls.append(1)
                raise KeyboardInterrupt
            return es.RBF(self.lengthscale)(np.array(a), np.array(b))

    model = GPRegressor(Interrupted(), pilot=20, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(list(X), WAVE)
    assert model.learned_.to_dict() == model.pilot_restarts_[0].values
    assert np.isfinite(model.predict(list(X))).all()


def test_progress_says_whether_it_is_the_pilot():
    told = []
    GPRegressor(1.0 * es.RBF(), pilot=20, random_state=0, progress=told.append).fit(X, WAVE)
    stages = [progress.stage for progress in told]
    assert stages == sorted(stages, reverse=True) and set(stages) == {"pilot", "all"}


def noise_alone(n, n_dimensions, seed=0):
    """Vectors and targets that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_dimensions)), rng.normal(size=n)


def test_a_model_that_memorises_its_rows_warns_and_says_what_to_do():
    X, y = noise_alone(40, 15)
    kernel = 1.0 * es.RBF(es.PerDimension(3.0))
    with pytest.warns(UserWarning, match=r"memorised .* 17 numbers from 40 rows") as caught:
        model = es.GPRegressor(kernel).fit(X, y)
    assert len(caught) == 1 and "PerLabel" in str(caught[0].message) and "prior=Gamma" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model.learned_["noise"].value < 1e-4
    # Each way out that the warning names.
    assert not _warnings(es.GPRegressor(kernel, noise=es.Learned(0.3, prior=es.gp.Gamma(5, 0.1))), X, y)
    assert not _warnings(es.GPRegressor(1.0 * es.RBF(3.0)), X, y)


def test_noise_at_a_lower_bound_of_the_user_counts_as_memorising():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), rng.normal(size=60)
    model = es.GPRegressor(1.0 * es.RBF(es.PerDimension(6.0)), noise=es.Learned(0.3, bounds=(0.05, 10)))
    with pytest.warns(UserWarning, match="memorised"):
        model.fit(X, y)
    assert model.learned_["noise"].bound == "low"


def test_known_noise_or_few_numbers_or_many_rows_do_not_count_as_memorising():
    X, y = noise_alone(40, 15)
    kernel = 1.0 * es.RBF(es.PerDimension(3.0))
    assert not _warnings(es.GPRegressor(kernel), X, y, noise_variance=0.5)
    few = np.linspace(0, 3, 12)[:, None]
    assert not _warnings(es.GPRegressor(1.0 * es.RBF(1.0)), few, np.sin(few[:, 0]))
    X, _ = noise_alone(300, 10)
    many = es.GPRegressor(1.0 * es.Linear(es.PerDimension(1.0)), max_iterations=15, tolerance=1e-2)
    assert not _warnings(many, X, X.sum(axis=1))


def _warnings(model, *arguments, **options):
    """The warnings of a fit that speak of memorising."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*arguments, **options)
    return [one for one in caught if "memorised" in str(one.message)]


def test_a_weight_that_makes_the_noise_infinite_is_an_error_with_a_name():
    model = es.GPRegressor(es.RBF(), noise=0.5, learn=False).fit([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    objective = model._examples.objective()
    objective.examples.observed.weight[0] = 1e-310  # as in a damaged file
    with pytest.raises(NotPositiveDefiniteError, match="infinite values"):
        objective.posterior({})
