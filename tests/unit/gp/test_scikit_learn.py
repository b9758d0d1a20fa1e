"""The contract of scikit-learn: cloning, splitting, pipelines, searches, and its own checks of an estimator."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.scikit_learn_checks import expected_failures

import espalier as es
from espalier import GPRegressor, fixed
from espalier.demo import generate

TABLE = generate(36, seed=3)
TREES = list(TABLE["tree"])
Y = np.array([float(tree.size) for tree in TREES])
PLAIN, NAMED = 1.0 * es.Normalized(es.SubsetTree()), 1.0 * es.Normalized(es.SubsetTree(on="tree"))


def _forms():
    import pandas
    import polars

    brackets = [tree.to_brackets() for tree in TREES]
    return {
        "list": (PLAIN, TREES),
        "brackets": (PLAIN, brackets),
        "forest": (PLAIN, es.Forest.from_trees(TREES)),
        "table": (NAMED, es.Table(tree=TREES)),
        "table of a forest": (NAMED, es.Table(tree=es.Forest.from_trees(TREES))),
        "pandas": (NAMED, pandas.DataFrame({"tree": brackets}, index=range(500, 536))),
        "series": (PLAIN, pandas.Series(brackets, index=range(500, 536))),
        "polars": (NAMED, polars.DataFrame({"tree": brackets})),
    }


FORMS = _forms()
QUICK = {"max_iterations": 0}
EXPECTED = cross_val_score(GPRegressor(PLAIN, **QUICK), TREES, Y, cv=3)


@pytest.mark.parametrize("form", FORMS)
def test_rows_survive_scikit_learn(form):
    kernel, data = FORMS[form]
    model = GPRegressor(kernel, **QUICK)
    np.testing.assert_allclose(cross_val_score(model, data, Y, cv=3), EXPECTED, rtol=1e-9)
    pipeline = make_pipeline(FunctionTransformer(), clone(model))
    np.testing.assert_allclose(cross_val_score(pipeline, data, Y, cv=3), EXPECTED, rtol=1e-9)
    kernels = [kernel, 1.0 * es.Normalized(es.SubsetTree(0.1, on=getattr(kernel.kernel.kernel, "on", None)))]
    search = GridSearchCV(model, {"kernel": kernels, "noise": [0.01, fixed(0.5)]}, cv=2).fit(data, Y)
    assert search.best_params_["kernel"] in kernels and search.predict(data).shape == (36,)
    assert len(search.cv_results_["params"]) == 4
    assert len(cross_val_predict(model, data, Y, cv=3)) == 36


def test_learning_inside_cross_validation():
    scores = cross_val_score(GPRegressor(PLAIN), TREES, Y, cv=3)
    assert (scores > 0).all() and scores.mean() > EXPECTED.mean() - 0.1


def test_clones_parameters_and_words():
    model = GPRegressor(PLAIN, noise=fixed(0.2), target_transform="log", restarts=2, random_state=3)
    again = clone(model)
    assert again.get_params() == model.get_params() and again is not model
    assert list(model.get_params())[:2] == ["inducing", "kernel"] and len(model.get_params(deep=False)) == 16
    assert is_regressor(model) and "noise=fixed(0.2)" in repr(model)
    model.set_params(noise=0.3, kernel=es.RBF())
    assert model.noise == 0.3 and model.kernel == es.RBF()
    with pytest.raises(ValueError, match="Invalid parameter 'alpha'"):
        model.set_params(alpha=1)
    fitted = model.set_params(target_transform=None, restarts=0).fit(np.eye(5), np.arange(5.0))
    assert fitted is model and not hasattr(clone(fitted), "learned_")
    assert model.kernel == es.RBF() and model.noise == 0.3


def test_pipelines_over_vectors():
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 100, 1]
    y = np.sin(X[:, 0])
    pipeline = make_pipeline(StandardScaler(), GPRegressor(1.0 * es.RBF())).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    mean, std = pipeline.predict(X, return_std=True)
    assert mean.shape == std.shape == (40,)
    assert pipeline.set_params(gpregressor__noise=fixed(0.5)).fit(X, y)[-1].noise_ == fixed(0.5)
    assert pipeline.fit(X, y, gpregressor__sample_weight=np.ones(40)).score(X, y) > 0.2


def test_a_search_prefers_what_predicts():
    X = np.random.default_rng(0).normal(size=(40, 1))
    grid = {"kernel": [es.Linear(), 1.0 * es.RBF()], "mean": [None, "constant"]}
    search = GridSearchCV(GPRegressor(es.Linear()), grid, cv=3).fit(X, np.sin(3 * X[:, 0]))
    assert isinstance(search.best_params_["kernel"], es.kernels.Scaled)


def test_refitting_forgets_the_form_of_the_data():
    model = GPRegressor(PLAIN, **QUICK).fit(TREES, Y)
    assert not hasattr(model, "n_features_in_")
    model.set_params(kernel=es.RBF()).fit(np.eye(4), np.arange(4.0))
    assert model.n_features_in_ == 4
    assert not hasattr(model.set_params(kernel=PLAIN).fit(TREES, Y), "n_features_in_")


WEIGHT = "a weight of 2 is the mean of two observations, which tells less of the noise than the two"


@pytest.mark.filterwarnings("ignore:All targets are equal:UserWarning")
@pytest.mark.filterwarnings("ignore:noise.* at its lower bound:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([GPRegressor(es.RBF())], expected_failed_checks=lambda estimator: expected_failures(WEIGHT))
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_early_ends_are_scikit_learns_warning():
    with pytest.warns(ConvergenceWarning):
        GPRegressor(PLAIN, max_iterations=1).fit(TREES, Y)
