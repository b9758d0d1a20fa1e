"""KernelSVC with huge values, bad settings, labels, weights and rows; interrupts and searches."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError

import espalier as es
from espalier import KernelSVC
from machines import FOREST, KERNEL, LABELS, TEST, TRAIN, TREES, close


@dataclass(frozen=True, repr=False)
class Times(es.Kernel):
    """A dot product times a number, or a number that is none."""

    scale: float = 1.0

    def block(self, a, b):
        return self.scale * (np.asarray(a) @ np.asarray(b).T)


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**100, 2.0**700])
def test_the_scale_of_a_kernel_goes_against_the_price(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] > 0
    one = KernelSVC(Times(), C=1.0).fit(X, y)
    scaled = KernelSVC(Times(scale), C=1.0 / scale).fit(X, y)
    close(scaled.decision_function(X), one.decision_function(X), 1e-6)


def test_huge_values_of_a_tree_kernel_end_in_a_result():
    trees = ["(S " + "(X x) " * n + f"(Y {y}))" for n in range(1200, 1230) for y in "ab"]
    kernel = es.SubsetTree(decay=0.3)
    assert kernel.value(trees[0], trees[0]) > 1e40
    model = KernelSVC(kernel).fit(trees, ["a", "b"] * 30)
    assert np.isfinite(model.dual_coef_).all() and np.isfinite(model.decision_function(trees)).all()


def test_a_machine_that_does_not_converge_says_so_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    with pytest.warns(ConvergenceWarning, match="18 machines stopped at the limit") as caught:
        KernelSVC(Times(1e10), max_iterations=200, probability=True).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_values_that_are_no_numbers_are_an_error():
    with pytest.raises(ValueError, match="row 0 with row 0 is nan, and must be a finite number"):
        KernelSVC(Times(np.nan)).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match=r"no finite solution: kernel values reach 4e\+300"):
        KernelSVC(Times(1e300), C=1e20).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0}, "C must be a positive finite number, got 0"),
        ({"C": -1.0}, "C must be a positive"),
        ({"C": np.inf}, "C must be a positive finite"),
        ({"C": "1"}, "C must be a positive"),
        ({"C": True}, "C must be a positive"),
        ({"tolerance": 0.0}, "tolerance must be a positive"),
        ({"strategy": "ovr"}, "strategy must be 'one-vs-rest' or 'one-vs-one', got 'ovr'"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {"nowhere": 2.0}}, "class_weight names the class 'nowhere', but the classes are"),
        ({"class_weight": {LABELS[0]: -2.0}}, "weight of class '.*' must be a positive"),
        ({"max_iterations": 0}, "max_iterations must be a positive integer or None"),
        ({"calibration_folds": 1}, "calibration_folds must be an integer of at least 2"),
        ({"n_threads": 0}, "n_threads must be a positive integer"),
        ({"memory": "much"}, "memory must be a positive whole number of bytes"),
        ({"class_weight": {LABELS[0]: "x"}}, "weight of class '.*' must be a positive finite number, got 'x'"),
        ({"class_weight": {LABELS[0]: [1, 2]}}, r"weight of class '.*' must be .*, got \[1, 2\]"),
        ({"class_weight": {LABELS[0]: True}}, "weight of class '.*' must be .*, got True"),
        ({"probability": "yes"}, "probability must be True or False, got 'yes'"),
        ({"probability": 1}, "probability must be True or False, got 1"),
    ],
)
def test_bad_settings_are_errors_of_fit(settings, message):
    model = KernelSVC(KERNEL, **settings)
    with pytest.raises(ValueError, match=message):
        model.fit(FOREST, LABELS)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (LABELS[:-1], "X has 160 rows, but y has 159 targets"),
        (["a"] * 160, "All rows belong to one class, 'a'"),
        ([1.0] * 159 + [np.nan], "Input y contains NaN: row 159"),
        ([1.0] * 159 + [np.inf], "Input y contains infinity: row 159"),
        (["a"] * 159 + [None], "Row 159 of y has no label, got None"),
        (["a"] * 159 + [float("nan")], "Row 159 of y has no label, got nan"),
        (["a"] * 159 + [pd.NA], "Row 159 of y has no label, got <NA>"),
        ([pd.NA] + ["a"] * 159, "Row 0 of y has no label, got <NA>"),
        (pd.Series(["a"] * 159 + [None], dtype="string"), "Row 159 of y has no label"),
        (pd.Series([True] * 159 + [None], dtype="boolean"), "Row 159 of y has no label"),
        (["a"] * 159 + [pd.NaT], "Row 159 of y has no label, got NaT"),
        (["a"] * 159 + [1], "all text or all numbers, got 'a' in row 0 and 1 in row 159"),
        (np.linspace(0, 1, 160), "Unknown label type: continuous"),
        (np.zeros((160, 2)), r"one label or number per row, of shape \(160,\), got shape \(160, 2\)"),
        ("yes", r"one label or number per row, of shape \(160,\), got shape \(\)"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels_are_errors(y, message):
    with pytest.raises(ValueError, match=message):
        KernelSVC(KERNEL).fit(FOREST, y)


def test_a_column_of_labels_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning, match=r"y has shape \(160, 1\)") as caught:
        model = KernelSVC(KERNEL).fit(FOREST, LABELS[:, None])
    assert len(caught) == 1 and caught[0].filename == __file__
    assert np.array_equal(model.dual_coef_, KernelSVC(KERNEL).fit(FOREST, LABELS).dual_coef_)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"sample_weight must hold one number for each of the 160 rows, got shape \(3,\)"),
        (-np.ones(160), r"sample_weight\[0\] is -1; it must not be below 0"),
        (np.full(160, np.nan), "Input sample_weight contains NaN: row 0"),
        (np.zeros(160), "Every weight is zero"),
        ((LABELS[0] == LABELS).astype(float), "Every row of class .* has the weight 0"),
        (["a"] * 160, "sample_weight must hold real numbers, one per row"),
    ],
)
def test_bad_weights_are_errors(weight, message):
    with pytest.raises(ValueError, match=message):
        KernelSVC(KERNEL).fit(FOREST, LABELS, weight)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("make", [list, lambda labels: np.array(labels, object), lambda labels: pd.Series(labels)])
def test_labels_of_rows_without_weight_may_be_missing(missing, make):
    labels, weight = LABELS.tolist(), np.ones(160)
    labels[0], labels[7], weight[[0, 7]] = missing, missing, 0.0
    model = KernelSVC(KERNEL).fit(TREES, make(labels), weight)
    rest = np.flatnonzero(weight)
    assert model.classes_.tolist() == sorted(set(LABELS))
    close(model.decision_function(TREES), KernelSVC(KERNEL).fit(FOREST[rest], LABELS[rest]).decision_function(TREES))
    weight[7] = 1.0
    with pytest.raises(ValueError, match="Row 7 of y has no label"):
        KernelSVC(KERNEL).fit(TREES, make(labels), weight)


def test_classes_that_are_numbers_may_be_missing_in_rows_without_weight():
    model = KernelSVC(KERNEL).fit(TREES[:4], np.array([0.0, 1.0, np.nan, 1.0]), [1, 1, 0, 1])
    assert model.classes_.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("kernel", "X", "error", "message"),
    [
        ("rbf", TREES[:4], TypeError, "kernel must be a kernel of Espalier such as SubsetTree"),
        (es.SubsetTree(), np.ones((4, 2)), TypeError, "reads trees, but was given numbers, an array of float64"),
        (es.RBF(), TREES[:4], ValueError, "Row 0 is not a vector of numbers"),
        (es.SubsetTree(on="tree"), {"trees": TREES[:4]}, ValueError, "no column 'tree'.*Did you mean 'trees'"),
        (es.SubsetTree(on="tree"), TREES[:4], ValueError, "reads the column 'tree', but was not given a table"),
        (es.SubsetTree(), {"tree": TREES[:4]}, ValueError, "names no column"),
        (es.SubsetTree(), "(A a)", TypeError, "got one string"),
        (es.SubsetTree(), 4, TypeError, "list, an array, a corpus or a table"),
    ],
)
def test_bad_rows_are_errors(kernel, X, error, message):
    with pytest.raises(error, match=message):
        KernelSVC(kernel).fit(X, ["a", "b", "a", "b"])


def test_empty_input_is_an_error():
    with pytest.raises(ValueError, match="no rows to learn from"):
        KernelSVC(KERNEL).fit([], [])


def test_rows_of_another_kind_are_errors_of_predict():
    model = KernelSVC(es.RBF()).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="the same number of dimensions, got 4 and 3"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(NotFittedError):
        KernelSVC(KERNEL).predict(TREES)


@pytest.mark.parametrize("model", [KernelSVC(KERNEL), es.KernelSVR(KERNEL)], ids=repr)
def test_progress_must_be_a_function(model):
    with pytest.raises(TypeError, match="progress must be a function that takes a Progress, or None, got 3"):
        model.set_params(progress=3).fit(FOREST, np.arange(160) % 2)


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_too_few_rows_for_the_folds_name_a_class_of_any_type(dtype):
    labels = pd.Series(["rare", "rare"] + ["often"] * 8, dtype=dtype)
    with pytest.raises(es.InputError, match="calibration_folds=5 rows of every class, but 'rare' has 2"):
        KernelSVC(KERNEL, probability=True).fit(FOREST[:10], labels)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("strategy", ["one-vs-rest", "one-vs-one"])
def test_a_fold_that_takes_all_weight_of_a_class_is_an_error(strategy, n_classes):
    labels = np.arange(24) % n_classes
    weight = np.where(labels == 1, 0.0, 1.0)
    weight[labels.tolist().index(1)] = 1.0  # the only row of its class that counts
    model = KernelSVC(KERNEL, strategy=strategy, probability=True, calibration_folds=3)
    fold = {2: 2, 3: 1}[n_classes]
    message = (
        f"probability=True leaves out 3 folds in turn, and without fold {fold} every row of class 1 has the weight"
    )
    with pytest.raises(es.InputError, match=message):
        model.fit(FOREST[:24], labels, weight)
    assert not hasattr(model, "classes_")
    KernelSVC(KERNEL, strategy=strategy).fit(FOREST[:24], labels, weight)


def test_the_number_of_features_is_forgotten_with_the_vectors():
    model = KernelSVC(es.RBF()).fit(np.eye(4), [0, 1, 0, 1])
    assert model.n_features_in_ == 4
    model.set_params(kernel=KERNEL).fit(FOREST[:4], [0, 1, 0, 1])
    assert not hasattr(model, "n_features_in_")


def test_an_iterator_is_predicted_whole():
    model = KernelSVC(KERNEL).fit(FOREST[TRAIN], LABELS[TRAIN])
    assert model.predict(iter(TREES[:3])).tolist() == model.predict(TREES[:3]).tolist()


def test_progress_rises_to_one():
    seen = []
    KernelSVC(KERNEL, progress=lambda told: seen.append(told.fraction)).fit(FOREST, LABELS)
    assert seen == sorted(seen) and seen[-1] == 1.0
    seen.clear()
    KernelSVC(KERNEL).fit(FOREST, LABELS).set_params(
        progress=lambda told: seen.append(told.fraction), memory=100_000
    ).predict(FOREST)
    assert seen == sorted(seen) and seen[-1] == 1.0


def test_questions_of_trec_are_sorted_by_their_trees(data):
    with gzip.open(data / "trec" / "constituency_train.tsv.gz", "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    rows = np.random.default_rng(0).permutation(len(lines))[:900]
    fields = [lines[row].split("\t") for row in rows]
    labels = np.array([field[0].split(":")[0] for field in fields])
    forest = es.Forest.from_trees([field[2] for field in fields])
    model = KernelSVC(es.Normalized(es.SubsetTree()), C=10.0).fit(forest[:600], labels[:600])
    majority = np.unique(labels[:600], return_counts=True)[1].max() / 600
    assert model.score(forest[600:], labels[600:]) > majority + 0.3


def test_masked_labels_of_rows_without_weight_are_left_out():
    labels = np.ma.masked_array([1, 2, 7, 1, 2, 2], mask=[False, False, True, False, False, False])
    X, weight = np.arange(6.0)[:, None], np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    model = KernelSVC(es.RBF()).fit(X, labels, weight)
    assert model.classes_.tolist() == [1, 2] and model.classes_.dtype == labels.dtype
    labels[3] = np.ma.masked
    with pytest.raises(es.InputError, match="y is masked in 1 rows, the first is row 3"):
        KernelSVC(es.RBF()).fit(X, labels, weight)


def test_the_first_missing_label_with_weight_is_named():
    with pytest.raises(es.InputError, match="Row 1 of y has no label"):
        KernelSVC(es.RBF()).fit(np.arange(4.0)[:, None], [None, None, "a", "b"], [0.0, 1.0, 1.0, 1.0])


def test_interrupted_fit_leaves_the_machine_as_it_was(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    model, fresh = (KernelSVC(KERNEL, probability=True) for _ in range(2))
    model.fit(FOREST[TRAIN], LABELS[TRAIN])
    before = model.predict_proba(FOREST[TEST])
    monkeypatch.setattr("espalier.svm.classification.fit_sigmoid", interrupt)
    for machine in (model, fresh):
        with pytest.raises(KeyboardInterrupt):
            machine.fit(FOREST, LABELS)
    np.testing.assert_array_equal(model.predict_proba(FOREST[TEST]), before)
    with pytest.raises(NotFittedError):
        fresh.predict(FOREST)
