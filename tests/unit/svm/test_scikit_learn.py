"""The contract of scikit-learn: cloning, splitting, pipelines, and its own checks of an estimator."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.scikit_learn_checks import expected_failures

import espalier as es
from espalier import KernelSVC, KernelSVR
from espalier.demo import generate

TABLE = generate(80, seed=3)
LABELS = np.array(TABLE["label"])
PLAIN, NAMED = es.Normalized(es.SubsetTree()), es.Normalized(es.SubsetTree(on="tree"))


def _forms():
    import pandas
    import polars

    brackets = [tree.to_brackets() for tree in TABLE["tree"]]
    return {
        "list": (PLAIN, list(TABLE["tree"])),
        "brackets": (PLAIN, brackets),
        "forest": (PLAIN, es.Forest.from_trees(TABLE["tree"])),
        "table": (NAMED, TABLE),
        "table of a forest": (NAMED, es.Table(tree=es.Forest.from_trees(TABLE["tree"]))),
        "pandas": (NAMED, pandas.DataFrame({"tree": brackets}, index=range(500, 580))),
        "series": (PLAIN, pandas.Series(brackets, index=range(500, 580))),
        "polars": (NAMED, polars.DataFrame({"tree": brackets})),
    }


FORMS = _forms()
MATRIX = PLAIN(FORMS["forest"][1])


@pytest.mark.parametrize("form", FORMS)
def test_rows_survive_scikit_learn(form):
    kernel, data = FORMS[form]
    scores = cross_val_score(KernelSVC(kernel), data, LABELS, cv=3)
    expected = cross_val_score(KernelSVC(PLAIN), FORMS["forest"][1], LABELS, cv=3)
    assert scores.tolist() == expected.tolist()
    search = GridSearchCV(KernelSVC(kernel), {"C": [0.1, 1.0], "strategy": ["one-vs-one"]}, cv=2).fit(data, LABELS)
    assert search.predict(data).shape == (80,)
    pipeline = make_pipeline(FunctionTransformer(), KernelSVC(kernel))
    assert cross_val_score(clone(pipeline), data, LABELS, cv=3).tolist() == expected.tolist()
    assert len(train_test_split(data, LABELS, random_state=0)) == 4
    assert len(cross_val_predict(KernelSVR(kernel), data, np.arange(80.0), cv=3)) == 80


def test_splitting_a_forest_takes_views():
    forest = FORMS["forest"][1]
    train, test = train_test_split(forest, random_state=0)
    assert isinstance(train, es.Forest) and isinstance(test, es.Forest)
    assert train.arrays["label"] is forest.arrays["label"]


def test_pipelines_over_vectors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    pipeline = make_pipeline(StandardScaler(), KernelSVR(es.RBF(), C=10.0)).fit(X, X[:, 0])
    assert pipeline.score(X, X[:, 0]) > 0.9
    assert pipeline.set_params(kernelsvr__kernel=es.Linear()).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9


def test_estimators_clone_print_and_say_what_they_are():
    model = KernelSVC(PLAIN, C=3.0, strategy="one-vs-one")
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "KernelSVC(C=3.0, kernel=Normalized(SubsetTree()), strategy='one-vs-one')"
    assert is_classifier(model) and is_regressor(KernelSVR(PLAIN))
    fitted = model.fit(FORMS["forest"][1], LABELS)
    assert fitted is model and not hasattr(clone(fitted), "support_")
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        model.set_params(c=1.0)


def test_importing_the_library_does_not_import_scikit_learn():
    code = (
        "import sys, espalier; assert 'sklearn' not in sys.modules; espalier.KernelSVC; assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


SOLVER = "equal to the solver's tolerance only; test_whole_weights_are_rows_repeated has a tight one"


@parametrize_with_checks(
    [KernelSVC(es.RBF()), KernelSVR(es.RBF())], expected_failed_checks=lambda estimator: expected_failures(SOLVER)
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
