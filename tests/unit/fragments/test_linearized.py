"""Linear models over mined fragments: as good as their kernel machines, and the same again from a file."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.svm import SVC, LinearSVC
from tests.random_trees import random_trees
from tests.saved_files import rewrite
from tests.unit.fragments.test_vectorizer import put

import espalier as es
from espalier.demo import generate
from espalier.fragments import FragmentVectorizer, LinearizedTreeClassifier

TREES, NEW = (
    [tree for tree in random_trees(seed, 80, max_size=11) if tree.children][:n] for seed, n in ((3, 30), (4, 10))
)
TWO = np.array(["many" if str(tree).count("N") > 1 else "few" for tree in TREES])
THREE = np.arange(len(TREES)) % 3
DEMO = generate(160, seed=2)


# Scores


@pytest.mark.parametrize("dictionary", ["union", "class"])
def test_linearized_models_agree_with_their_kernel_machines(dictionary):
    trees, labels = DEMO["tree"], np.array(DEMO["label"])
    kernel = es.Normalized(es.SubsetTree(0.3))
    machine = es.KernelSVC(kernel, C=10.0).fit(trees[:120], labels[:120])
    model = LinearizedTreeClassifier(
        kernel, learner=es.KernelSVC(kernel, C=10.0), dictionary=dictionary, n_fragments=2000, n_splits=2
    ).fit(trees[:120], labels[:120])
    assert (model.predict(trees[120:]) == machine.predict(trees[120:])).mean() >= 0.9
    assert model.decision_function(trees[120:]).shape == (40, len(model.classes_))


def test_two_classes_take_one_score():
    model = LinearizedTreeClassifier(n_fragments=100, dictionary="class").fit(TREES, TWO)
    scores = model.decision_function(TREES)
    assert scores.shape == (len(TREES),)
    assert (model.predict(TREES) == np.where(scores > 0, "many", "few")).all()
    assert model.score(TREES, TWO) > 0.9


@pytest.mark.parametrize("linear", [LinearSVC(), SGDClassifier(), LogisticRegression(), SVC(kernel="linear"), SVC()])
@pytest.mark.parametrize("dictionary", ["union", "class"])
def test_scores_are_those_of_the_linear_model(linear, dictionary):
    model = LinearizedTreeClassifier(linear=linear, dictionary=dictionary, n_fragments=30).fit(TREES, THREE)
    features = model.vectorizer_.transform(NEW)
    if dictionary == "union":
        expected = model.linear_.decision_function(features)
    else:
        columns = [model.vectorizer_.columns_of(str(label)) for label in model.classes_]
        parts = zip(model.linear_, columns, strict=True)
        expected = np.stack([own.decision_function(features[:, c]) for own, c in parts], axis=1)
    np.testing.assert_allclose(model.decision_function(NEW), expected, rtol=1e-9, atol=1e-9)


def test_the_dictionary_is_one_of_two():
    with pytest.raises(ValueError, match="dictionary must be 'union' or 'class'"):
        LinearizedTreeClassifier(dictionary="both").fit(TREES, TWO)


def test_nothing_works_before_fitting(tmp_path):
    for call in (
        lambda model: model.predict(TREES),
        lambda model: model.decision_function(TREES),
        lambda model: model.save(tmp_path / "x"),
    ):
        with pytest.raises(NotFittedError):
            call(LinearizedTreeClassifier())


# Files


def check_the_same_again(model, path, new):
    model.save(path)
    again = LinearizedTreeClassifier.load(path)
    assert not hasattr(again, "linear_")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))
    expected = model.predict(new)
    for other in (again, pickle.loads(pickle.dumps(again))):
        found = other.predict(new)
        assert found.dtype == expected.dtype and (found == expected).all()
    assert (again.vectorizer_.transform(new) != model.vectorizer_.transform(new)).nnz == 0
    again.save(path.with_name("again"))
    assert path.with_name("again").read_bytes() == path.read_bytes()
    return again


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("dictionary", ["union", "class"])
def test_a_saved_classifier_predicts_the_same(tmp_path, dictionary, n_classes):
    labels = np.arange(len(TREES)) % n_classes
    model = LinearizedTreeClassifier(dictionary=dictionary, n_fragments=40).fit(TREES, labels)
    check_the_same_again(model, tmp_path / "x", [*NEW, "(S unseen (NEW words))", "(a)"])


@pytest.mark.parametrize(
    "labels",
    [
        TWO,
        TWO.astype(object),
        np.array(["été", "", "(S)"])[THREE],
        THREE - 1,
        THREE.astype(np.uint8),
        np.array([-(2**63), 2**63 - 1])[THREE % 2],
        THREE > 0,
    ],
    ids=["strings", "objects", "odd strings", "integers", "small integers", "large integers", "booleans"],
)
def test_classes_are_the_same_again(tmp_path, labels):
    model = LinearizedTreeClassifier(n_fragments=20).fit(TREES, labels)
    again = check_the_same_again(model, tmp_path / "x", NEW)
    assert again.score(TREES, labels) == model.score(TREES, labels)


@pytest.mark.parametrize(
    "linear",
    [
        LinearSVC(fit_intercept=False),
        LogisticRegression(),
        RidgeClassifier(),
        SGDClassifier(random_state=0),
        SGDClassifier(penalty="l1", random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_any_sum_of_weights_can_be_saved(tmp_path, linear, labels):
    model = LinearizedTreeClassifier(linear=linear, n_fragments=20).fit(TREES, labels)
    check_the_same_again(model, tmp_path / "x", NEW)


def test_sparse_weights_can_be_saved(tmp_path):
    model = LinearizedTreeClassifier(linear=SVC(kernel="linear"), n_fragments=20).fit(TREES, TWO)
    check_the_same_again(model, tmp_path / "x", NEW)


@pytest.mark.parametrize(
    "kernel",
    [
        es.Subtree(0.6, lone_leaves=True),
        es.SubsetTree(es.PerLabel(0.5, values={"S": 1.3}), 0.7, max_depth=2),
        es.Normalized(es.PartialTree(0.4, 0.3)),
        2.0 * es.Normalized(es.SubsetTree(0.3)) + es.Normalized(es.Subtree(0.2) + es.PartialTree(0.3)),
    ],
    ids=repr,
)
def test_all_kernels_of_fragments_can_be_saved(tmp_path, kernel):
    model = LinearizedTreeClassifier(kernel, n_fragments=30, max_size=4).fit(TREES, THREE)
    check_the_same_again(model, tmp_path / "x", NEW)


def test_sums_over_columns_can_be_saved(tmp_path):
    kernel = es.Normalized(es.SubsetTree(0.4, on="a")) + 2.0 * es.PartialTree(on="b")
    table = {"a": TREES, "b": TREES[::-1]}
    model = LinearizedTreeClassifier(kernel, n_fragments=30, max_size=3, dictionary="class").fit(table, THREE)
    again = check_the_same_again(model, tmp_path / "x", {"a": NEW, "b": NEW[::-1]})
    assert {name.split(":")[0] for name in again.vectorizer_.get_feature_names_out()} == {"a", "b"}


# Mistakes


@pytest.mark.parametrize("dictionary", ["union", "class"])
def test_a_model_that_is_no_sum_of_weights_is_one_clear_error(tmp_path, dictionary):
    model = LinearizedTreeClassifier(linear=SVC(C=7), dictionary=dictionary, n_fragments=20).fit(TREES, THREE)
    with pytest.raises(es.InputError, match=r"SVC\(C=7\) cannot be saved.*such as LinearSVC"):
        model.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (THREE * 1j, "not 0j of type complex"),
        (np.array([b"a", b"b", b"c"])[THREE], "not b'a' of type bytes"),
        (np.array(["a", "\ud800"], object)[THREE % 2], "not valid UTF-8"),
    ],
    ids=["complex numbers", "bytes", "half a character"],
)
def test_classes_that_no_file_can_hold_are_one_clear_error(tmp_path, labels, message):
    model = LinearizedTreeClassifier(n_fragments=20).fit(TREES, THREE if labels.dtype.kind in "Sc" else labels)
    model.classes_ = np.unique(labels)  # scikit-learn's own models refuse some of them
    with pytest.raises(es.InputError, match=message):
        model.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_weights_that_diverged_are_one_clear_error(tmp_path):
    model = LinearizedTreeClassifier(n_fragments=20).fit(TREES, THREE)
    model._weights[0][3, 1] = np.inf
    with pytest.raises(es.InputError, match="not finite"):
        model.save(tmp_path / "x")


@pytest.fixture
def saved(tmp_path):
    kernel = es.Normalized(es.SubsetTree(0.3)) + es.PartialTree(0.2)
    path = tmp_path / "classifier.safetensors"
    LinearizedTreeClassifier(kernel, n_fragments=20, max_size=3).fit(TREES, THREE).save(path)
    return path


DAMAGES = {
    "another version": (lambda h, a: put(h["$file"], "version", 2), "version 2"),
    "another format": (lambda h, a: put(h["$file"], "format", "x"), "not one that Espalier saved"),
    "a forest": (lambda h, a: put(h["$file"], "kind", "Forest"), "holds a Forest, no Linear"),
    "no weights": (lambda h, a: a.pop("weights"), "damaged.*'weights'"),
    "no intercepts": (lambda h, a: a.pop("intercepts"), "damaged.*'intercepts'"),
    "weights of other numbers": (lambda h, a: put(a, "weights", a["weights"].astype(np.float32)), "matrix of float64"),
    "weights in a row": (lambda h, a: put(a, "weights", a["weights"].ravel()), "matrix of float64"),
    "a weight too few": (lambda h, a: put(a, "weights", a["weights"][1:]), "one row for each"),
    "a score too few": (lambda h, a: put(a, "weights", a["weights"][:, 1:].copy()), "one column for each"),
    "weights turned": (lambda h, a: put(a, "weights", a["weights"].T.copy()), "one row for each"),
    "a weight that is no number": (lambda h, a: put(a["weights"], (0, 0), np.nan), "not finite"),
    "an infinite intercept": (lambda h, a: put(a["intercepts"], 0, -np.inf), "not finite"),
    "an intercept too few": (lambda h, a: put(a, "intercepts", a["intercepts"][1:]), "2 scores do not fit 3 classes"),
    "one intercept": (lambda h, a: put(a, "intercepts", a["intercepts"][:1]), "1 scores do not fit 3 classes"),
    "intercepts in a table": (lambda h, a: put(a, "intercepts", a["intercepts"][None]), "vector of float64"),
    "no classes": (lambda h, a: h.pop("classes"), "damaged.*'classes'"),
    "no type of classes": (lambda h, a: h["classes"].pop("type"), "damaged.*'type'"),
    "a class too few": (lambda h, a: h["classes"]["labels"].pop(), "3 scores do not fit 2 classes"),
    "one class": (lambda h, a: put(h["classes"], "labels", [1]), "two or more classes"),
    "classes in a text": (lambda h, a: put(h["classes"], "labels", "012"), "two or more classes"),
    "a class twice": (lambda h, a: put(h["classes"]["labels"], 0, 1), "listed twice"),
    "classes of two types": (lambda h, a: put(h["classes"]["labels"], 0, "0"), "of type int64"),
    "a boolean among integers": (lambda h, a: put(h["classes"]["labels"], 0, False), "of type int64"),
    "classes of another type": (lambda h, a: put(h["classes"], "type", "str"), "of type str"),
    "classes of a type that runs code": (lambda h, a: put(h["classes"], "type", "exit()"), "damaged"),
    "a type that is a list": (lambda h, a: put(h["classes"], "type", ["str"]), "damaged"),
    "a class beyond numbers": (lambda h, a: put(h["classes"]["labels"], 0, 2**64), "damaged"),
    "a class beyond its type": (lambda h, a: h["classes"].update(type="int8", labels=[0, 1, 300]), "damaged"),
    "a class that numpy cuts": (
        lambda h, a: h["classes"].update(type="str", labels=["a", "b", "a\0"]),
        "not of type str",
    ),
    "a class of a megabyte": (
        lambda h, a: h["classes"].update(type="str", labels=["a", "b", "x" * 10**6]),
        "more than 1,000 characters",
    ),
    "a fragment cut off": (lambda h, a: put(a["vectorizer.terms[0].code"], 0, -1), "cut off"),
    "no vectorizer": (lambda h, a: h["vectorizer"].pop("terms"), "damaged.*'terms'"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files_are_one_clear_error(saved, name):
    change, message = DAMAGES[name]
    rewrite(saved, change)
    with pytest.raises(es.InputError, match=message):
        LinearizedTreeClassifier.load(saved)


def test_vectorizers_and_classifiers_are_not_taken_for_each_other(saved, tmp_path):
    with pytest.raises(es.InputError, match=r"holds a LinearizedTreeClassifier, no FragmentVectorizer"):
        FragmentVectorizer.load(saved)
    path = tmp_path / "vectorizer"
    LinearizedTreeClassifier.load(saved).vectorizer_.save(path)
    with pytest.raises(es.InputError, match=r"holds a FragmentVectorizer, no LinearizedTreeClassifier"):
        LinearizedTreeClassifier.load(path)


def test_classes_with_names_that_cannot_be_loaded_are_not_saved(tmp_path):
    model = LinearizedTreeClassifier(es.SubsetTree(0.3), n_fragments=5, max_size=2)
    trees = ["(S (A a))", "(S (B b))", "(S (A a) (B b))", "(S (C c))"]
    for labels in (["x" * 1001, "y"] * 2, np.array(["x" * 1001, "y"] * 2, object)):
        with pytest.raises(es.InputError, match=r"more than 1,000 characters. Train with shorter names"):
            model.fit(trees, labels).save(tmp_path / "never")
    model.fit(trees, ["x" * 1000, "y"] * 2).save(tmp_path / "saved")
    assert LinearizedTreeClassifier.load(tmp_path / "saved").classes_.tolist() == ["x" * 1000, "y"]


def test_masked_labels_are_no_class():
    masked = np.ma.masked_array([*TWO[:-1], "unknown"], mask=np.arange(len(TWO)) == len(TWO) - 1)
    with pytest.raises(es.InputError, match=rf"y is masked in 1 rows, the first is row {len(TWO) - 1}"):
        LinearizedTreeClassifier(n_fragments=10).fit(TREES, masked)
