"""One side of a kernel call: whose vocabulary new rows share, and what each side refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import espalier as es
from espalier.kernels.inputs import Inputs

TREES = [
    "(S (NP (D the) (N cat)) (VP (V sleeps)))",
    "(S (NP (D the) (N dog)) (VP (V eats)))",
    "(S (NP (D a) (N dog)) (VP (V sleeps)))",
    "(S (NP (N fish)) (VP (V swims)))",
]
Y = np.array([1.0, 2.0, 1.5, -1.0])
NEW = ["(Z (Q q) (D the))", "(S (VP (V eats)) (NP (D the) (N dog)))", "(NP (D the) (N cat))"]


def plain(trees):
    return trees


def tables(trees):
    return {"tree": trees, "x": np.arange(float(len(trees)))}


ON_TREE = es.SubsetTree(on="tree") + es.Constant()
MODELS = {
    "process": (es.GPRegressor(es.SubsetTree(), noise=0.1, learn=False), plain),
    "regressor": (es.KernelSVR(es.SubsetTree(), epsilon=0.01), plain),
    "normalised": (es.KernelSVR(es.Normalized(es.SubsetTree()), epsilon=0.01), plain),
    "process of a table": (es.GPRegressor(ON_TREE, noise=0.1, learn=False), tables),
    "regressor of a table": (es.KernelSVR(ON_TREE, epsilon=0.01), tables),
}


@pytest.mark.parametrize("train", [list, es.Forest.from_trees], ids=["list", "forest"])
@pytest.mark.parametrize("name", MODELS)
def test_a_forest_interned_on_its_own_is_predicted_like_its_trees(name, train):
    model, wrap = MODELS[name]
    rows = train(TREES)
    labels = list(rows.vocabulary) if isinstance(rows, es.Forest) else []
    model.fit(wrap(rows), Y)
    expected = model.predict(wrap(NEW))
    forest = es.Forest.from_trees(NEW)
    for _ in range(2):
        np.testing.assert_array_equal(model.predict(wrap(forest)), expected)
        np.testing.assert_array_equal(model.predict(wrap(forest[1:])), expected[1:])
    if labels:
        assert list(rows.vocabulary) == labels
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.predict(wrap(es.Forest.from_trees(NEW))), expected, rtol=1e-12)


def test_all_that_a_process_predicts_takes_a_forest_of_its_own():
    model = es.GPRegressor(es.SubsetTree(es.PerLabel(0.4)), noise=0.1, learn=False).fit(TREES, Y)
    forest = es.Forest.from_trees(NEW)
    for ours, theirs in zip(model.predict(forest, return_std=True), model.predict(NEW, return_std=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(model.predict(forest, return_cov=True), model.predict(NEW, return_cov=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    drawn = [model.sample_posterior(X, 2, random_state=0) for X in (forest, NEW)]
    np.testing.assert_allclose(*drawn)


def test_a_classifier_takes_a_forest_of_its_own_in_blocks_too():
    model = es.KernelSVC(es.SubsetTree()).fit(TREES, ["a", "b", "a", "b"])
    forest = es.Forest.from_trees(NEW * 40)
    expected = model.decision_function(NEW * 40)
    np.testing.assert_array_equal(model.decision_function(forest), expected)
    model.set_params(memory=4000)
    np.testing.assert_allclose(model.decision_function(forest), expected, rtol=1e-12)


@pytest.mark.parametrize("call", [lambda a, b: es.SubsetTree()(a, b), lambda a, b: es.nearest(es.SubsetTree(), a, b)])
def test_two_forests_that_a_caller_compares_must_agree(call):
    a, b = es.Forest.from_trees(TREES), es.Forest.from_trees(NEW)
    with pytest.raises(es.VocabularyMismatchError, match=r"with_vocabulary\(first.vocabulary"):
        call(a, b)
    assert call(a, b.with_vocabulary(a.vocabulary.extended())) is not None


def test_a_second_side_that_agrees_is_not_interned_again():
    forest = es.Forest.from_trees(TREES)
    first = Inputs.of(forest)
    first.forest(None)
    view = forest[1:]
    assert Inputs.of(view, like=first).forest(None) is view


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (np.eye(2), TypeError, "^Column 'x' holds numbers, an array of float64, .* trees.*such as RBF\\(on='x'\\)"),
        (np.arange(2), TypeError, "^Column 'x' holds numbers, an array of int64"),
        (sparse.csr_matrix(np.eye(2)), TypeError, "^Column 'x' holds numbers, a sparse matrix"),
        ([[1.0, 2.0], [3.0, 4.0]], TypeError, "^Column 'x': Row 0: A tree is made of"),
        (["(A a)", None], es.InputError, "^Column 'x': Row 1 holds no tree"),
        (["(A a)", "(A a"], es.TreeSyntaxError, "^column 'x', row 1, line 1, column 1: this bracket"),
        ([es.Tree("a"), "(A a"], es.TreeSyntaxError, "^column 'x', row 1, line 1, column 1: this bracket"),
    ],
)
def test_what_is_no_column_of_trees_names_the_column(column, error, message):
    with pytest.raises(error, match=message):
        es.SubsetTree(on="x")({"x": column})


def test_vectors_alone_are_no_trees():
    for rows in (np.eye(2), sparse.csr_matrix(np.eye(2))):
        with pytest.raises(TypeError, match=r"This kernel reads trees, but was given numbers, .*such as RBF"):
            es.SubsetTree()(rows)
