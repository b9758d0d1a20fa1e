"""A pilot: random starts climb on some of the examples, the best goes on with all of them."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import espalier as es
from espalier.demo import generate_translations
from espalier.gp import learning

TABLE = generate_translations(120, seed=3)
DECAYS = es.PerLabel(0.3, prior=None)  # with a prior, a small pilot leads less far astray
KERNEL = 1.0 * es.Normalized(es.SubsetTree(decay=DECAYS, on="source")) + 1.0 * es.RBF(on="features")


def fitted(**options):
    model = es.GPRegressor(KERNEL, target_transform="log", n_threads=1, random_state=0, **options)
    return model.fit(TABLE, TABLE["seconds"])


def test_the_pilot_takes_all_starts_and_the_best_goes_on():
    model = es.GPRegressor(1.0 * es.RBF(on="features"), target_transform="log", pilot=80, restarts=2, random_state=0)
    model.fit(TABLE, TABLE["seconds"])
    assert len(model.pilot_restarts_) == 3 and len(model.restarts_) == 1
    best = max(model.pilot_restarts_, key=lambda climb: climb.objective)
    assert model.restarts_[0].start == pytest.approx(best.values)
    assert model.n_examples_ == 120


def test_it_ends_where_learning_from_all_examples_ends():
    kernel = 1.0 * es.RBF(on="features")
    whole, pilot = (
        es.GPRegressor(kernel, target_transform="log", pilot=pilot, random_state=0).fit(TABLE, TABLE["seconds"])
        for pilot in (None, 40)
    )
    assert pilot.log_marginal_likelihood_ == pytest.approx(whole.log_marginal_likelihood_, abs=1e-2)
    assert whole.pilot_restarts_ == []


@pytest.mark.parametrize(("pilot", "seed"), [(5, 0), (10, 2), (20, 3)])
def test_a_pilot_that_leads_astray_is_passed_over_with_a_warning(pilot, seed):
    """Without that it ends some 20 nats lower."""
    options = {"target_transform": "log", "max_iterations": 40, "tolerance": 1e-3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = es.GPRegressor(KERNEL, **options).fit(TABLE, TABLE["seconds"])
        with pytest.warns(UserWarning, match=rf"pilot of {pilot} examples, for 21 learned numbers") as caught:
            model = es.GPRegressor(KERNEL, pilot=pilot, random_state=seed, **options).fit(TABLE, TABLE["seconds"])
    assert [one.filename for one in caught if "pilot" in str(one.message)] == [__file__]
    assert model.pilot_restarts_[0].values != model.pilot_restarts_[0].start
    assert model.restarts_[1].start == whole.restarts_[0].start
    assert model.log_marginal_likelihood_ == whole.log_marginal_likelihood_


def test_a_small_pilot_and_a_poor_start_end_no_lower_than_without_a_pilot():
    """The pilot ends higher than the start, for all examples too, and some 50 nats below where the start leads."""
    kernel = 0.001 * es.Normalized(es.SubsetTree(es.PerLabel(0.3, prior=None), on="source")) + 0.001 * es.RBF(
        on="features"
    )
    options = {"target_transform": "log", "random_state": 2}
    whole = es.GPRegressor(kernel, **options).fit(TABLE, TABLE["seconds"])
    with pytest.warns(UserWarning, match="led astray"):
        model = es.GPRegressor(kernel, pilot=5, **options).fit(TABLE, TABLE["seconds"])
    assert model.restarts_[0].objective < whole.log_marginal_likelihood_ - 10
    assert model.log_marginal_likelihood_ == whole.log_marginal_likelihood_


def test_a_pilot_of_ten_examples_a_number_that_leads_astray_is_passed_over(monkeypatch):
    monkeypatch.setattr(learning, "_height", lambda _, parameters, theta: -np.abs(theta - parameters.start()).sum())
    with pytest.warns(UserWarning, match="pilot of 60 examples, for 3 learned numbers, led astray"):
        model = es.GPRegressor(1.0 * es.RBF(on="features"), pilot=60, random_state=0).fit(TABLE, TABLE["seconds"])
    assert len(model.restarts_) == 1 and model.restarts_[0].start["noise"] == model.pilot_restarts_[0].start["noise"]


def test_an_interruption_between_pilot_and_climb_keeps_the_best_of_the_pilot(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(learning, "_height", interrupted)
    model = es.GPRegressor(1.0 * es.RBF(on="features"), target_transform="log", pilot=80, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TABLE, TABLE["seconds"])
    assert model.learned_.to_dict() == pytest.approx(model.pilot_restarts_[0].values)


def test_a_pilot_of_all_examples_is_none():
    assert fitted(pilot=120).pilot_restarts_ == []


def test_noise_weights_and_means_are_taken_along():
    groups = np.where(np.arange(120) % 3, "a", "b")
    model = es.GPRegressor(
        1.0 * es.RBF(on="features"),
        noise=es.PerLabel(0.1),
        mean=es.gp.LinearMean(on="features"),
        pilot=30,
        random_state=1,
    )
    model.fit(TABLE, TABLE["seconds"], noise_groups=groups, sample_weight=np.linspace(1, 2, 120), noise_variance=0.01)
    assert set(model.learned_.to_dict()) >= {"noise[a]", "noise[b]"}


def test_an_interruption_of_the_pilot_keeps_its_best():
    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) == 4:
            raise KeyboardInterrupt

    model = es.GPRegressor(KERNEL, target_transform="log", pilot=50, restarts=2, random_state=0, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TABLE, TABLE["seconds"])
    best = max(model.pilot_restarts_, key=lambda climb: climb.objective)
    assert model.learned_.to_dict() == pytest.approx(best.values)
    assert len(model.predict(TABLE[:2])) == 2


@pytest.mark.parametrize("pilot", [0, -1, 2.5, True])
def test_a_pilot_is_a_number_of_examples(pilot):
    with pytest.raises(ValueError, match="pilot must be a positive integer or None"):
        fitted(pilot=pilot)
