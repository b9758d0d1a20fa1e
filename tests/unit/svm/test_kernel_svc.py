"""KernelSVC: the machines of scikit-learn on the full matrix, support rows alone, and what goes wrong."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import espalier as es
from espalier import KernelSVC
from machines import BINARY, FOREST, GRAM, KERNEL, LABELS, TEST, TRAIN, TREES, close


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"first": 3.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_equal_scikit_learn(C, class_weight, weighted):
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 110) if weighted else None
    ours = KernelSVC(KERNEL, C=C, class_weight=class_weight).fit(FOREST[TRAIN], BINARY[TRAIN], weight)
    theirs = SVC(kernel="precomputed", C=C, class_weight=class_weight).fit(GRAM[TRAIN, TRAIN], BINARY[TRAIN], weight)
    close(ours.decision_function(FOREST[TEST]), theirs.decision_function(GRAM[TEST, TRAIN]))
    assert ours.predict(FOREST[TEST]).tolist() == theirs.predict(GRAM[TEST, TRAIN]).tolist()
    assert ours.support_.tolist() == sorted(theirs.support_.tolist())
    assert ours.machines_.tolist() == [[1, 0]] and ours.decision_function(FOREST[TEST]).shape == (50,)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"who": 3.0, "where": 0.2}])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_vs_one_equals_scikit_learn(class_weight, weighted):
    labels = np.array(["who", "where", "when", "how"])[np.unique(LABELS, return_inverse=True)[1]]
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 110) if weighted else None
    ours = KernelSVC(KERNEL, C=5.0, strategy="one-vs-one", class_weight=class_weight)
    ours.fit(FOREST[TRAIN], labels[TRAIN], sample_weight=weight)
    theirs = SVC(kernel="precomputed", C=5.0, decision_function_shape="ovo", class_weight=class_weight)
    theirs.fit(GRAM[TRAIN, TRAIN], labels[TRAIN], sample_weight=weight)
    close(ours.decision_function(FOREST[TEST]), theirs.decision_function(GRAM[TEST, TRAIN]))
    assert ours.predict(FOREST[TEST]).tolist() == theirs.predict(GRAM[TEST, TRAIN]).tolist()
    assert ours.dual_coef_.shape == (6, len(ours.support_))
    assert ours.machines_.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_one_vs_rest_equals_scikit_learn(class_weight):
    ours = KernelSVC(KERNEL, C=5.0, class_weight=class_weight).fit(FOREST[TRAIN], LABELS[TRAIN])
    theirs = OneVsRestClassifier(SVC(kernel="precomputed", C=5.0, class_weight=class_weight))
    theirs.fit(GRAM[TRAIN, TRAIN], LABELS[TRAIN])
    close(ours.decision_function(FOREST[TEST]), theirs.decision_function(GRAM[TEST, TRAIN]))
    assert ours.predict(FOREST[TEST]).tolist() == theirs.predict(GRAM[TEST, TRAIN]).tolist()
    assert ours.machines_.tolist() == [[0, -1], [1, -1], [2, -1], [3, -1]]


def test_weights_of_classes_are_weights_of_their_rows_in_one_vs_rest():
    name = LABELS[0]
    by_class = KernelSVC(KERNEL, class_weight={name: 4.0}).fit(FOREST, LABELS)
    by_row = KernelSVC(KERNEL).fit(FOREST, LABELS, np.where(name == LABELS, 4.0, 1.0))
    assert np.array_equal(by_class.dual_coef_, by_row.dual_coef_)


@pytest.mark.parametrize("strategy", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("labels", [BINARY, LABELS], ids=["two", "four"])
def test_machines_are_their_coefficients(strategy, labels):
    model = KernelSVC(KERNEL, C=10.0, strategy=strategy).fit(FOREST[TRAIN], labels[TRAIN])
    values = KERNEL(FOREST[TEST], model.support_data_) @ model.dual_coef_.T + model.intercept_
    decision = model.decision_function(FOREST[TEST])
    close(values if decision.ndim == 2 else values[:, 0], decision)
    assert model.dual_coef_.any(axis=0).all()
    assert model.n_iter_.shape == (len(model.machines_),)


def test_only_support_rows_are_kept_and_their_forest_is_compact():
    model = KernelSVC(KERNEL, C=100.0).fit(FOREST[TRAIN], BINARY[TRAIN])
    assert 0 < len(model.support_) < 110
    assert [model.support_data_[k] for k in range(len(model.support_))] == [TREES[row] for row in model.support_]
    assert model.support_data_.n_subtrees < FOREST.n_subtrees
    shared = [name for name in FOREST.arrays if np.shares_memory(FOREST.arrays[name], model.support_data_.arrays[name])]
    assert shared == []
    biggest = max((value.size for value in vars(model).values() if isinstance(value, np.ndarray)), default=0)
    assert biggest < 110 * 110


def test_a_forest_in_a_table_is_compact_too():
    model = KernelSVC(es.Normalized(es.SubsetTree(on="tree")), C=100.0)
    model.fit(es.Table(tree=FOREST, label=list(LABELS))[:110], BINARY[TRAIN])
    assert model.support_data_.columns == ("tree", "label")
    assert model.support_data_["tree"].n_subtrees < FOREST.n_subtrees


def _forms_of_trees():
    import pandas
    import polars

    brackets = [tree.to_brackets() for tree in TREES]
    on = es.Normalized(es.SubsetTree(on="tree"))
    return {
        "list of trees": (KERNEL, TREES),
        "brackets": (KERNEL, brackets),
        "tuple": (KERNEL, tuple(TREES)),
        "array of objects": (KERNEL, np.array(brackets, dtype=object)),
        "series": (KERNEL, pandas.Series(brackets, index=range(1000, 1160))),
        "forest": (KERNEL, FOREST),
        "table": (on, es.Table(tree=TREES)),
        "table of a forest": (on, es.Table(tree=FOREST)),
        "dict": (on, {"tree": TREES}),
        "pandas": (on, pandas.DataFrame({"tree": brackets}, index=range(1000, 1160))),
        "polars": (on, polars.DataFrame({"tree": brackets})),
    }


@pytest.mark.parametrize("form", _forms_of_trees())
def test_every_form_of_trees_gives_the_same_model(form):
    kernel, data = _forms_of_trees()[form]
    model = KernelSVC(kernel, C=10.0).fit(data, LABELS)
    expected = KernelSVC(KERNEL, C=10.0).fit(FOREST, LABELS)
    close(model.decision_function(data), expected.decision_function(FOREST))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(data), model.decision_function(data))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.coo_matrix, sparse.csr_array])
def test_vectors_dense_or_sparse(make):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    model = KernelSVC(es.RBF(), C=10.0).fit(make(X), y)
    theirs = SVC(gamma=0.5, C=10.0, decision_function_shape="ovo").fit(X, y)
    ours = KernelSVC(es.RBF(), C=10.0, strategy="one-vs-one").fit(make(X), y)
    close(ours.decision_function(make(X)), theirs.decision_function(X), 1e-6)
    assert model.score(make(X), y) > 0.8
    assert model.support_data_.shape == (len(model.support_), 4)


def test_predictions_do_not_depend_on_the_memory_or_the_threads():
    whole = KernelSVC(KERNEL).fit(TREES, LABELS)
    small = KernelSVC(KERNEL, memory="300 KB", n_threads=1).fit(TREES, LABELS)
    assert 300_000 // (4 * 8 * len(small.support_)) < len(TREES)  # so that there are several blocks
    close(whole.decision_function(TREES), small.decision_function(TREES))
    small.memory = 40_000
    columns = es.Table(tree=TREES)
    table_model = KernelSVC(es.Normalized(es.SubsetTree(on="tree")), memory="300 KB").fit(columns, LABELS)
    close(table_model.decision_function(columns), whole.decision_function(TREES))


def test_no_rows_give_no_predictions():
    model = KernelSVC(KERNEL).fit(TREES, LABELS)
    assert model.predict([]).shape == (0,)
    assert model.decision_function(FOREST[:0]).shape == (0, 4)


def test_trees_with_unknown_labels_are_predicted_without_changing_the_model():
    model = KernelSVC(KERNEL).fit(FOREST, LABELS)
    n_labels = len(FOREST.vocabulary)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(["(NEW (LABEL word))"]).shape == (1,)
    assert len(FOREST.vocabulary) == n_labels


def test_rows_of_weight_zero_are_no_rows():
    weight = np.ones(160)
    weight[::3] = 0
    with_zeros = KernelSVC(KERNEL, class_weight="balanced").fit(FOREST, LABELS, weight)
    without = KernelSVC(KERNEL, class_weight="balanced").fit(FOREST[weight > 0], LABELS[weight > 0])
    assert np.array_equal(with_zeros.support_, np.flatnonzero(weight)[without.support_])
    assert np.array_equal(with_zeros.dual_coef_, without.dual_coef_)


@pytest.mark.parametrize("strategy", ["one-vs-rest", "one-vs-one"])
def test_whole_weights_are_rows_repeated(strategy):
    times = np.random.default_rng(0).integers(0, 3, 160)
    weighted = KernelSVC(KERNEL, strategy=strategy, tolerance=1e-9).fit(FOREST, LABELS, times)
    rows = np.repeat(np.arange(160), times)
    repeated = KernelSVC(KERNEL, strategy=strategy, tolerance=1e-9).fit(FOREST[rows], LABELS[rows])
    close(weighted.decision_function(FOREST), repeated.decision_function(FOREST), 1e-6)
