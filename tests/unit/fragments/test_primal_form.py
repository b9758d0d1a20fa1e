"""Pipelines of a vectorizer and a linear model as weights of features, which are mined and explained."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, LinearSVC
from tests.random_trees import random_trees

import espalier as es
from espalier.fragments import FragmentVectorizer, HashedFragments, LinearizedTreeClassifier, primal_form

TREES, NEW = (
    [tree for tree in random_trees(seed, 80, max_size=11) if tree.children][:n] for seed, n in ((3, 30), (4, 6))
)
TWO = np.array(["many" if str(tree).count("N") > 1 else "few" for tree in TREES])
THREE = np.arange(len(TREES)) % 3
SIZE = np.array([tree.size for tree in TREES], float)
KERNEL = 2.0 * es.Normalized(es.SubsetTree(0.4)) + es.PartialTree(0.3)


def fitted(linear, targets, **options):
    settings = {"kernel": KERNEL, "n_fragments": 30, "max_size": 4} | options
    return make_pipeline(FragmentVectorizer(**settings), linear).fit(TREES, targets)


@pytest.mark.parametrize("values", ["kernel", "count"])
@pytest.mark.parametrize(
    ("linear", "targets", "names"),
    [
        (LinearSVC(), TWO, ("many",)),
        (LogisticRegression(), THREE, ("0", "1", "2")),
        (LinearSVC(fit_intercept=False), TWO, ("many",)),
    ],
    ids=repr,
)
def test_classifiers_are_explained_by_their_features(linear, targets, names, values):
    pipeline = fitted(linear, targets, values=values)
    scores = pipeline.decision_function(NEW).reshape(len(NEW), -1)
    assert primal_form(pipeline).names == names
    for k, name in enumerate(names):
        for row, tree in enumerate(NEW):
            why = es.explain(pipeline, tree, score=name, n=1000)
            assert why.value == pytest.approx(scores[row, k])
            assert why.intercept + sum(reason.contribution for reason in why) == pytest.approx(why.value)


def test_numbers_are_explained_by_their_features():
    pipeline = fitted(Ridge(), SIZE, by="frequency")
    why = es.explain(pipeline, NEW[0], n=1000)
    assert why.value == pytest.approx(pipeline.predict(NEW[:1])[0])
    assert primal_form(pipeline).names == ("prediction",)


def test_several_numbers_have_numbers():
    vectorizer = FragmentVectorizer(KERNEL, by="frequency", n_fragments=20, max_size=3)
    targets = np.stack([SIZE, -SIZE, THREE], axis=1)
    pipeline = make_pipeline(vectorizer, Ridge()).fit(TREES, targets)
    form = primal_form(pipeline)
    assert form.names == ("prediction 0", "prediction 1", "prediction 2")
    values = [es.explain(pipeline, NEW[0], score=name).value for name in form.names]
    assert values == pytest.approx(pipeline.predict(NEW[:1])[0])


def test_weights_are_mined():
    pipeline = fitted(LinearSVC(), TWO)
    parts = primal_form(pipeline).parts
    weights = np.concatenate([own.weights[:, 0] for own in parts])
    scale = np.repeat([np.sqrt(2.0), 1.0], [len(own.features) for own in parts])
    assert weights == pytest.approx(scale * pipeline[-1].coef_[0])
    first, second = es.mine_fragments(pipeline, n=5)
    for own, part in zip((first, second), parts, strict=True):
        assert abs(own.weights) == pytest.approx(sorted(abs(part.weights[:, 0]), reverse=True)[:5])
    listed = es.explain(pipeline, n=5)
    assert [reason.weight for reason in listed] == [*first.weights, *second.weights]


def test_a_pipeline_is_the_same_as_the_classifier_of_one_step():
    model = LinearizedTreeClassifier(KERNEL, n_fragments=30, max_size=4).fit(TREES, TWO)
    pipeline = fitted(LinearSVC(C=10.0, random_state=0), TWO)
    for own, other in zip(primal_form(model).parts, primal_form(pipeline).parts, strict=True):
        np.testing.assert_array_equal(own.weights, other.weights)
        assert own.features.names() == other.features.names() and own.term == other.term


def test_other_models_have_no_primal_form():
    assert primal_form(es.KernelSVC(es.SubsetTree())) is None
    assert primal_form(make_pipeline(MaxAbsScaler(), LinearSVC())) is None
    assert primal_form([1.0, 2.0]) is None
    with pytest.raises(TypeError, match="primal_form"):
        es.explain(make_pipeline(HashedFragments(), LinearSVC()).fit(TREES, TWO))


def test_a_pipeline_must_be_fitted():
    with pytest.raises(NotFittedError):
        es.explain(make_pipeline(FragmentVectorizer(KERNEL), LinearSVC()))


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (fitted(SVC(), TWO), "not plain sums of weights"),
        (fitted(PoissonRegressor(), SIZE, by="frequency"), "not plain sums of weights"),
        (fitted(LinearSVC(), TWO, values="binary"), "values='binary'"),
        (
            make_pipeline(FragmentVectorizer(n_fragments=9), MaxAbsScaler(), LinearSVC()).fit(TREES, TWO),
            "FragmentVectorizer and a linear model, and nothing else",
        ),
    ],
    ids=["svc", "poisson", "binary", "scaler"],
)
def test_what_is_no_sum_of_weights_is_one_clear_error(pipeline, message):
    for call in (primal_form, es.explain, es.mine_fragments):
        with pytest.raises(es.InputError, match=message):
            call(pipeline)


def test_a_selector_is_not_taken_for_a_pipeline():
    selector = es.KernelSpaceSelector(es.SubsetTree(), C=1.0).fit(TREES, TWO)
    assert primal_form(selector) is None
    with pytest.raises(TypeError, match="KernelSpaceSelector"):
        es.mine_fragments(selector)
    assert len(es.explain(selector, n=3)) == 3
