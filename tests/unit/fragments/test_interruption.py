"""An interrupted fit keeps the fragments that were mined so far, and passes the interrupt on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.random_trees import random_trees

import espalier as es
from espalier.fragments import FragmentVectorizer, LinearizedTreeClassifier
from espalier.spaces.subset import SubsetSearch

TREES = [tree for tree in random_trees(3, 80, max_size=11) if tree.children][:30]
TWO = np.array(["many" if str(tree).count("N") > 1 else "few" for tree in TREES])
THREE = np.array(["one", "two", "three"])[np.arange(len(TREES)) % 3]
KERNEL = es.SubsetTree(0.4)
SUM = KERNEL + es.Subtree(0.3)


@pytest.fixture
def interrupted(monkeypatch):
    """Fits a model, interrupts the search number ``n``, and returns the model."""
    exact = SubsetSearch.exact

    def fit(n, model, targets, trees=TREES):
        calls = []

        def search(self, *arguments):
            calls.append(arguments)
            if len(calls) == n:
                raise KeyboardInterrupt
            return exact(self, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(SubsetSearch, "exact", search)
            with pytest.raises(KeyboardInterrupt):
                model.fit(trees, targets)
        return model

    return fit


def names_of(mined):
    return {name for part in mined for name in part.fragments.names()}


def test_a_vectorizer_keeps_the_parts_that_were_mined(interrupted):
    vectorizer = interrupted(3, FragmentVectorizer(KERNEL, n_fragments=20, n_splits=3), TWO)
    whole = FragmentVectorizer(KERNEL, n_fragments=20, n_splits=3).fit(TREES, TWO)
    assert len(vectorizer.mined_) == 2
    names = set(vectorizer.get_feature_names_out())
    assert names == names_of(whole.mined_[0]) | names_of(whole.mined_[1])
    assert vectorizer.transform(TREES).shape == (len(TREES), len(names))
    assert vectorizer.trained_on() == whole.trained_on()


def test_a_vectorizer_keeps_the_scores_that_were_mined(interrupted, tmp_path):
    whole = FragmentVectorizer(SUM, n_fragments=5).fit(TREES, THREE)
    for n, scores in enumerate((["one"], ["one", "three"], ["one", "three", "two"]), start=1):
        vectorizer = interrupted(n + 1, FragmentVectorizer(SUM, n_fragments=5), THREE)
        (own,) = vectorizer.terms_
        assert list(own.scores) == scores and own.term == whole.terms_[0].term
        assert set(vectorizer.get_feature_names_out()) == names_of(whole.mined_[0][:n])
    vectorizer.save(tmp_path / "so far")
    assert es.load(tmp_path / "so far").n_features_out_ == vectorizer.n_features_out_


def test_a_vectorizer_keeps_the_kernels_whose_frequent_fragments_were_listed(interrupted):
    vectorizer = interrupted(2, FragmentVectorizer(SUM, by="frequency", n_fragments=10, max_size=3), None)
    whole = FragmentVectorizer(SUM, by="frequency", n_fragments=10, max_size=3).fit(TREES)
    (own,) = vectorizer.terms_
    assert own.term == whole.terms_[0].term
    assert vectorizer.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()[:10]


@pytest.mark.parametrize("by", ["weight", "frequency"])
def test_a_vectorizer_that_found_nothing_stays_as_it_was(interrupted, by):
    vectorizer = interrupted(1, FragmentVectorizer(KERNEL, by=by, n_fragments=5), TWO)
    with pytest.raises(NotFittedError):
        vectorizer.transform(TREES)
    names = vectorizer.fit(TREES, TWO).get_feature_names_out().tolist()
    interrupted(1, vectorizer, TWO, TREES[::-1])
    assert vectorizer.get_feature_names_out().tolist() == names


def test_a_classifier_keeps_its_vectorizer_and_no_linear_model(interrupted):
    model = LinearizedTreeClassifier(KERNEL, n_fragments=5).fit(TREES, TWO)
    interrupted(2, model, THREE)
    assert list(model.vectorizer_.terms_[0].scores) == ["one"] and model.vectorizer_.transform(TREES).nnz
    assert pickle.loads(pickle.dumps(model)).vectorizer_.n_features_out_ == 5
    for call in (model.predict, model.decision_function, lambda X: model.primal_form()):
        with pytest.raises(NotFittedError):
            call(TREES)
    assert not hasattr(model, "classes_")


def test_a_classifier_that_found_nothing_stays_as_it_was(interrupted):
    model = LinearizedTreeClassifier(KERNEL, n_fragments=5).fit(TREES, TWO)
    scores = model.decision_function(TREES)
    interrupted(1, model, THREE)
    np.testing.assert_array_equal(model.decision_function(TREES), scores)
