"""Models in primal form: their features are mined and explained without any training rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import espalier as es
from espalier import BagOfWords, Normalized, PartialTree, Spectrum, Subsequence, SubsetTree
from espalier.fragments import LinearizedTreeClassifier

TREES = [
    "(S (A a) (B b))",
    "(S (A a) (B c))",
    "(S (A a) (C (A a) (B b)))",
    "(S (A c) (B b))",
    "(S (A c) (B c))",
    "(S (B c) (C (A c) (B c)))",
]
TEXTS = ["the cat sat", "the old cat", "a cat cat", "a dog sat", "the dog", "an old dog sat"]
CASES = {
    "subset trees": (SubsetTree(0.5), TREES),
    "subset trees, normalised and scaled": (2.0 * Normalized(SubsetTree(0.5)), TREES),
    "partial trees": (Normalized(PartialTree(0.5, 0.5)), TREES),
    "both": (SubsetTree(0.5) + 0.5 * Normalized(PartialTree(0.5, 0.5)), TREES),
    "words": (BagOfWords(), TEXTS),
    "n-grams": (3.0 * Normalized(Spectrum(2, shortest=1)), TEXTS),
    "subsequences": (Subsequence(3), TEXTS),
    "trees and words": (SubsetTree(0.5) + BagOfWords(), TREES),
}


@pytest.mark.parametrize("dictionary", ["union", "class"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CASES)
def test_features_and_nodes_add_up_to_the_score(name, n_classes, dictionary):
    kernel, items = CASES[name]
    labels = ["x", "x", "x", "y", "y", "y"] if n_classes == 2 else ["x", "x", "y", "y", "z", "z"]
    model = LinearizedTreeClassifier(kernel, dictionary=dictionary).fit(items, labels)
    names = ["y"] if n_classes == 2 else ["x", "y", "z"]
    assert list(model.primal_form().names) == names
    for item in (items[2], items[4]):
        scores = np.atleast_1d(model.decision_function([item])[0])
        for score, value in zip(names, scores, strict=True):
            why = es.explain(model, item, score=score, n=10**6)
            assert why.value == pytest.approx(value)
            assert why.intercept + sum(reason.contribution for reason in why) == pytest.approx(value)
            assert why.intercept + sum(own.shares.sum() for own in why.trees) == pytest.approx(value)
            assert why.scores in ([score], []) and not why.left_out
        assert es.explain(model, item).value == pytest.approx(scores.max() if n_classes == 3 else scores[0])


@pytest.mark.parametrize("name", CASES)
def test_weights_mean_what_they_mean_in_a_kernel_machine(name):
    kernel, items = CASES[name]
    model = LinearizedTreeClassifier(kernel).fit(items, ["x", "x", "x", "y", "y", "y"])
    weights = {(own.term.path, name): weight for own in es.mine_fragments(model) for name, weight in _listed(own)}
    scores = model.decision_function(items)
    rows = np.random.default_rng(1).normal(size=len(items))
    # The same function, as coefficients on rows that span the features: the weights of the features that are listed.
    mined = es.mine_fragments(rows, items, kernel=kernel)
    function = {(own.term.path, name): weight for own in mined for name, weight in _listed(own)}
    inner = sum(
        weight * function.get(key, 0.0) / own.term.scale
        for own in mined
        for key, weight in weights.items()
        if key[0] == own.term.path
    )
    (intercept,) = model.primal_form().intercepts
    assert inner == pytest.approx(rows @ (scores - intercept))


def _listed(mined):
    return [(str(feature), weight) for feature, weight in mined]


def test_the_heaviest_features_are_listed_first_and_explain_the_model():
    model = LinearizedTreeClassifier(SubsetTree(0.5)).fit(TREES, ["x", "x", "x", "y", "y", "y"])
    (mined,) = es.mine_fragments(model, n=3)
    (every,) = es.mine_fragments(model)
    assert mined.weights.tolist() == sorted(every.weights.tolist(), key=lambda weight: -abs(weight))[:3]
    assert mined.proven and mined.bound == abs(mined.weights[-1]) and mined.n_visited >= len(every)
    why = es.explain(model, n=3)
    assert [(str(reason.fragment), reason.weight) for reason in why] == _listed(mined)
    assert all(reason.n_trees is None and reason.example is None for reason in why)
    assert "n_trees" not in why.to_frame() and "weight" in why.to_html()
    assert len(why.plot(n=2).patches) == 2


def test_mistakes_are_one_clear_error():
    labels = ["x", "x", "x", "y", "y", "y"]
    model = LinearizedTreeClassifier(SubsetTree(0.5)).fit(TREES, labels)
    with pytest.raises(ValueError, match="only n applies"):
        es.mine_fragments(model, max_size=2)
    with pytest.raises(ValueError, match="only n applies"):
        es.mine_fragments(model, TREES)
    with pytest.raises(es.InputError, match="no score 'z'"):
        es.explain(model, TREES[0], score="z")
    with pytest.raises(es.InputError, match="not plain sums"):
        LinearizedTreeClassifier(SubsetTree(0.5), linear=KNeighborsClassifierWithScores()).fit(
            TREES, labels
        ).primal_form()


class KNeighborsClassifierWithScores(KNeighborsClassifier):
    """A classifier that is not linear."""

    def decision_function(self, X):
        return self.predict_proba(X)[:, 1]
