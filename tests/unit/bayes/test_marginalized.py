"""Learners that are averaged over their hyperparameters: predictions, draws, files and pictures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from arviz_stats.base.array import array_stats

import espalier as es
from espalier.bayes import Draws, Marginalized, Mixture, approximate, plot_draws, sample
from espalier.gp import Beta, Gamma, LogNormal
from known_densities import known

TREES = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))", "(S (B b) (A c))"]
NEW = ["(S (A a) (B a))", "(S (A c) (B a))"]
DECAY = es.Learned(0.4, prior=Beta(3, 3))


@pytest.fixture(scope="module")
def regressor():
    noise = es.Learned(0.2, prior=Gamma(2.0, 0.2))
    kernel = es.SubsetTree(DECAY, es.Learned(0.5, prior=LogNormal(0.5, 0.5)))
    return es.GPRegressor(kernel, noise=noise, target_transform="log").fit(TREES, [2.0, 2.4, 0.9, 1, 1.5])


@pytest.fixture(scope="module")
def classifier():
    kernel = es.Learned(4.0, prior=LogNormal(4.0)) * es.Normalized(es.SubsetTree(DECAY, es.fixed(1.0)))
    return es.GPClassifier(kernel).fit(TREES * 2, ["one", "one", "two", "two", "three"] * 2)


@pytest.fixture(scope="module")
def preference():
    right, wrong = "(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N cats) (V sleep)))"
    groups = [es.Group([wrong, right], [1.0, 0.5], gold=right), es.Group([wrong, right], [0.2, 0.4], gold=right)] * 2
    kernel = es.Learned(1.0, prior=LogNormal(1.0)) * es.SubsetTree(DECAY, es.fixed(1.0))
    return es.GPPreference(kernel).fit(groups), groups


def at_each_draw(averaged):
    """The learner at each draw that predictions use, fitted anew at these numbers, with the weight of the draw."""
    draws = averaged.draws
    for k, weight in enumerate(draws.weights.ravel().tolist()):
        yield {path: draws[path].ravel()[k] for path in draws.paths}, weight


def test_a_regressor_is_averaged_over_models_at_each_point(regressor):
    averaged = approximate(regressor)
    predicted = averaged.predict_distribution(NEW)
    assert isinstance(predicted, Mixture)
    mean, density = np.zeros(2), np.zeros(2)
    for values, weight in at_each_draw(averaged):
        kernel = es.SubsetTree(es.fixed(values["kernel.decay"]), es.fixed(values["kernel.frontier"]))
        one = es.GPRegressor(kernel, noise=es.fixed(values["noise"]), target_transform="log")
        one.fit(TREES, [2.0, 2.4, 0.9, 1, 1.5])
        mean += weight * one.predict(NEW)
        density += weight * np.exp(one.log_predictive_density(NEW, [1.8, 1.1]))
    assert predicted.mean == pytest.approx(mean, rel=1e-9)
    assert averaged.predict(NEW) == pytest.approx(mean, rel=1e-9)
    assert averaged.log_predictive_density(NEW, [1.8, 1.1]) == pytest.approx(np.log(density), rel=1e-9)
    assert averaged.score(TREES, [2.0, 2.4, 0.9, 1, 1.5]) > 0.5
    without = averaged.predict_distribution(NEW, include_noise=False)
    assert (without.quantiles([0.9]) < predicted.quantiles([0.9])).all()
    with pytest.raises(TypeError, match="predicts no probabilities: use predict_distribution"):
        averaged.predict_proba(NEW)


def test_several_targets_are_averaged_task_by_task():
    Y = np.array([[2.0, 1.0], [2.4, 1.1], [0.9, np.nan], [1.0, 0.2], [1.5, 0.4]])
    model = es.GPRegressor(es.SubsetTree(DECAY, es.fixed(1.0)), noise=es.Learned(0.3, prior=Gamma(2.0, 0.2)))
    with pytest.warns(UserWarning, match="unlike a normal one"):  # covariances of tasks may have either sign
        averaged = approximate(model.fit(TREES, Y))
    predicted = averaged.predict_distribution(NEW)
    assert predicted.mean.shape == (2, 2) and predicted.quantiles([0.1, 0.9]).shape == (2, 2, 2)
    total, objective = 0.0, averaged.model._evidence()
    for values, weight in at_each_draw(averaged):
        total = total + weight * averaged.model._at(objective, values).predict(NEW)
    assert averaged.predict(NEW) == pytest.approx(total)
    assert averaged.log_predictive_density(TREES, Y).shape == (5, 2)
    assert averaged.score(TREES, Y) > 0.3


def test_a_classifier_is_averaged_over_models_at_each_point(classifier):
    averaged = approximate(classifier)
    total = np.zeros((2, 3))
    for values, weight in at_each_draw(averaged):
        inner = es.Normalized(es.SubsetTree(es.fixed(values["kernel.decay"]), es.fixed(1.0)))
        one = es.GPClassifier(es.fixed(values["kernel.scale"]) * inner).fit(
            TREES * 2, ["one", "one", "two", "two", "three"] * 2
        )
        total += weight * one.predict_proba(NEW)
    assert averaged.predict_proba(NEW) == pytest.approx(total, abs=1e-5)
    assert averaged.predict_proba(NEW).sum(axis=1) == pytest.approx(1.0)
    assert averaged.predict(NEW).tolist() == classifier.classes_[total.argmax(axis=1)].tolist()
    log_p = averaged.log_predictive_density(NEW, ["one", "two"])
    assert log_p == pytest.approx(np.log(total[[0, 1], [0, 2]]), abs=1e-4)
    assert averaged.score(TREES, ["one", "one", "two", "two", "three"]) == 1.0
    with pytest.raises(es.InputError, match="no class 'four'"):
        averaged.log_predictive_density(NEW, ["one", "four"])
    with pytest.raises(TypeError, match="predicts no numbers: use predict_proba"):
        averaged.predict_distribution(NEW)


def test_grades_are_averaged_with_their_thresholds():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (15, 1))
    grades = np.digitize(X[:, 0] + 0.4 * rng.standard_normal(15), [-1.0, 0.5])
    model = es.GPOrdinal(es.Learned(4.0, prior=LogNormal(4.0)) * es.RBF(es.fixed(1.0))).fit(X, grades)
    averaged = approximate(model)
    assert any(path.startswith("gap") for path in averaged.draws.paths)
    probabilities, objective = np.zeros((4, 3)), model._evidence()
    for values, weight in at_each_draw(averaged):
        probabilities += weight * model._at(objective, values).predict_proba(X[:4])
    assert averaged.predict_proba(X[:4]) == pytest.approx(probabilities, abs=1e-5)
    assert averaged.predict(X[:4]).tolist() == probabilities.argmax(axis=1).tolist()
    model.set_params(predicts="median")
    assert averaged.predict(X[:4]).tolist() == (probabilities.cumsum(axis=1) < 0.5).sum(axis=1).tolist()


def test_preferences_are_averaged(preference):
    model, groups = preference
    averaged = approximate(model)
    assert "score.variance" in averaged.draws.paths
    total = 0.0
    objective = model._evidence()
    for values, weight in at_each_draw(averaged):
        total = total + weight * model._at(objective, values).predict_proba(groups)[0]
    found = averaged.predict_proba(groups)
    assert found[0] == pytest.approx(total, abs=1e-6) and found[0].sum() == pytest.approx(1.0)
    assert len(averaged.predict(groups)) == len(groups)


def test_a_preference_at_what_it_has_learned_is_itself(preference):
    model, groups = preference
    values = model.learned_.to_dict()
    again = model._at(model._evidence(), values)
    for a, b in zip(again.predict_proba(groups), model.predict_proba(groups), strict=True):
        assert a == pytest.approx(b, abs=1e-4)
    assert again.score_weight_ == pytest.approx(model.score_weight_, rel=1e-3)
    for a, b in zip(again.decision_function(groups), model.decision_function(groups), strict=True):
        assert a == pytest.approx(b, abs=1e-3)


def test_scores_weigh_nothing_if_their_variance_is_tiny(preference):
    model, _ = preference
    values = model.learned_.to_dict() | {"score.variance": 1e-6}
    assert abs(model._at(model._evidence(), values).score_weight_) < 1e-4 < abs(model.score_weight_)


def test_sampling_reaches_every_learner(classifier, preference):
    for model in (classifier, preference[0]):
        draws = sample(model, n_draws=3, n_warmup=20, n_chains=1, max_depth=2, acceptance=0.95, check=False).draws
        assert draws.values.shape == (1, 3, len(draws.paths)) and np.isfinite(draws.values).all()


@pytest.mark.parametrize("which", ["regressor", "classifier", "preference"])
def test_a_file_predicts_the_same_bits(which, request, tmp_path):
    model = request.getfixturevalue(which)
    model, X = model if which == "preference" else (model, NEW)
    averaged = approximate(model)
    averaged.save(tmp_path / "averaged")
    again = es.load(tmp_path / "averaged")
    assert isinstance(again, Marginalized) and again.n_models == averaged.n_models
    assert np.array_equal(again.draws.values, averaged.draws.values)
    assert repr(again.draws.summary()) == repr(averaged.draws.summary())
    if which == "regressor":
        assert np.array_equal(again.predict(X), averaged.predict(X))
    else:
        for a, b in zip(again.predict_proba(X), averaged.predict_proba(X), strict=True):
            assert a == pytest.approx(b, abs=1e-5)  # sites are found again from another start


@pytest.fixture(scope="module")
def draws():
    p = es.gp.Parameter
    model = known(
        p("a[NP]", 1.0, 1e-9, 1e9), p("b", 0.0, -9.0, 9.0, signed=True), b=(0.0, 1.0), **{"a[NP]": (0.0, 1.0)}
    )
    return sample(model, n_draws=60, n_warmup=30, n_chains=2, check=False).draws


def test_draws_are_saved_with_their_statistics(draws, tmp_path):
    draws.save(tmp_path / "draws")
    again = Draws.load(tmp_path / "draws")
    assert again.paths == draws.paths and again.n_evaluations == draws.n_evaluations
    for name, own in draws.statistics.items():
        assert np.array_equal(again.statistics[name], own) and again.statistics[name].dtype == own.dtype


def test_draws_go_to_other_libraries(draws):
    groups = draws.to_arviz()
    assert set(groups) == {"posterior", "sample_stats"}
    assert groups["posterior"]["a[NP]"].shape == (2, 60) and groups["sample_stats"]["lp"].shape == (2, 60)
    frame = draws.to_frame()
    assert list(frame.columns) == ["chain", "draw", "weight", "a[NP]", "b"] and len(frame) == 120
    assert frame["b"][61] == draws["b"][1, 1] and frame["weight"].sum() == pytest.approx(1.0)
    assert list(draws.to_dict()) == ["a[NP]", "b"]
    with pytest.raises(KeyError, match="'c' was not drawn; these were"):
        draws["c"]
    with pytest.raises(KeyError, match="'c' was not drawn"):
        draws.summary()["c"]


def test_a_summary_is_that_of_the_draws(draws):
    row, b = draws.summary()["b"], draws["b"].ravel()
    assert row.mean == pytest.approx(b.mean()) and row.std == pytest.approx(b.std())
    assert [row.low, row.median, row.high] == pytest.approx(np.quantile(b, [0.05, 0.5, 0.95]), abs=0.1)


def test_predictions_use_evenly_spaced_draws():
    shape, weights = (2, 60), np.full((2, 60), 1 / 120)
    draws = Draws("sampled", ("b",), np.arange(120.0).reshape(2, 60, 1), np.zeros(shape), weights, np.zeros(1), 1)
    spaced = list(draws.spaced(10))
    assert len(spaced) == 10 and sum(weight for _, weight in spaced) == pytest.approx(1.0)
    assert [values["b"] for values, _ in spaced] == list(range(6, 120, 12))
    assert len(list(draws.spaced(None))) == len(list(draws.spaced(500))) == 120


def test_the_tail_is_that_of_the_outer_quantiles(draws):
    tails = [array_stats.ess(draws["b"], method="quantile", prob=level) for level in (0.05, 0.95)]
    assert draws.summary()["b"].ess_tail == pytest.approx(min(tails))
    assert draws.summary()["b"].ess_bulk == pytest.approx(array_stats.ess(draws["b"], method="bulk"))
    assert draws.summary()["b"].r_hat == pytest.approx(array_stats.rhat(draws["b"], method="rank"))


def test_a_constant_number_has_no_diagnostics():
    values = np.full((2, 10, 1), 0.5)
    fixed = Draws("sampled", ("a",), values, np.zeros((2, 10)), np.full((2, 10), 0.05), np.array([0.5]), 1)
    assert math.isnan(fixed.summary()["a"].r_hat)


def test_densities_are_drawn_beside_what_was_learned(regressor):
    averaged = sample(regressor, n_draws=20, n_warmup=30, n_chains=1, acceptance=0.95, check=False)
    panels = plot_draws(averaged, beside=approximate(regressor))
    assert [ax.get_title() for ax in panels] == ["kernel.decay", "kernel.frontier", "noise"]
    for ax in panels:
        kinds = {artist.get_gid() for artist in ax.get_children()}
        assert {"draws", "points", "learned"} <= kinds
        assert ax.get_xscale() == "log"
    assert len(plot_draws(averaged, paths=["noise"])) == 1 and len(plot_draws(averaged, top=2)) == 2
    with pytest.raises(KeyError, match="'decay' was not drawn"):
        plot_draws(averaged, paths=["decay"])
