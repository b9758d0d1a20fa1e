"""Probabilities of label regression, calibration, and the page of classes with probabilities."""

from __future__ import annotations

import json

import numpy as np
import pytest

from espalier.kernels import BagOfWords, Normalized
from espalier_experiments.beck2014 import classification, one_vs_rest
from espalier_experiments.beck2014.classification_page import best_by_folds
from espalier_experiments.beck2014.classifiers import BOTH, METHODS, REGRESSION, classify, log_wins
from espalier_experiments.measures import Calibration
from espalier_experiments.papers import Setup
from espalier_experiments.store import Store

TEXTS = np.array(["who wrote it", "who sang", "where is it", "where was he", "when is it", "when did he sing"] * 3)
LABELS = np.array(["human", "human", "place", "place", "time", "time"] * 3)


def test_the_chance_to_win_is_the_share_of_draws():
    mean = np.array([[0.0, 0.5, 1.0, -1.0], [0.0, 3.0, 0.0, 0.0]])
    deviation = np.array([0.7, 0.2])
    draws = mean + deviation[:, None] * np.random.default_rng(0).normal(size=(200_000, 2, 4))
    share = (draws.argmax(axis=2)[:, :, None] == np.arange(4)).mean(axis=0)
    found = np.exp(log_wins(mean, deviation))
    np.testing.assert_allclose(found, share, atol=5e-3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert log_wins(mean, deviation)[1, 0] < -30, "small chances keep their digits"


def test_two_classes_have_the_chance_that_a_normal_value_is_positive():
    found = np.exp(log_wins(np.array([[0.3, -0.1]]), np.array([0.5])))
    assert found[0, 0] == pytest.approx(0.7142, abs=1e-4)  # of a mean of 0.4 and a deviation of 0.5 times the root of 2


@pytest.mark.parametrize("method", METHODS)
def test_each_method_gives_every_class_a_probability(method, tmp_path):
    kernel = one_vs_rest_start(method)
    setup = Setup(tmp_path, n_threads=1)
    found = classify(
        method, kernel, list_of(TEXTS), LABELS, list_of(TEXTS[:6]), pilot=12, max_iterations=2, setup=setup
    )
    p = np.exp(found.log_probability)
    assert found.classes.tolist() == ["human", "place", "time"] and found.evaluations > 0
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (found.classes[p.argmax(axis=1)] == LABELS[:6]).all()


class Rows(list):
    """Texts that are taken by an array of numbers, as rows of a table are."""

    def __getitem__(self, rows):
        return Rows(self.part(rows)) if isinstance(rows, np.ndarray) else super().__getitem__(rows)

    def part(self, rows):
        return [list.__getitem__(self, row) for row in rows.tolist()]


def list_of(texts):
    return Rows(texts.tolist())


def one_vs_rest_start(method):
    return (0.1 if method in (REGRESSION, BOTH) else 4.0) * Normalized(BagOfWords())


def test_regression_predicts_the_class_of_the_largest_mean(tmp_path):
    setup = Setup(tmp_path, n_threads=1)
    kernel, new = one_vs_rest_start(REGRESSION), list_of(np.array(["who is it", "when", "where did he", "it"]))
    found = classify(REGRESSION, kernel, list_of(TEXTS), LABELS, new, pilot=18, max_iterations=5, setup=setup)
    learned = one_vs_rest.learn(kernel, list_of(TEXTS), LABELS, max_iterations=5)
    gram, cross = learned.kernel(TEXTS.tolist()), learned.kernel(list(new), TEXTS.tolist())
    predicted = one_vs_rest.predict(gram, cross, LABELS, learned.noise)
    assert (found.classes[found.log_probability.argmax(axis=1)] == predicted).all()


def test_the_calibration_error_is_the_mean_over_examples():
    found = Calibration.of([1.0, 0.91, 0.15, 0.65, 0.65], [True, False, False, True, True])
    assert found.rows == [(1, 0.15, 0.0), (2, 0.65, 1.0), (2, pytest.approx(0.955), 0.5)]
    assert found.error == pytest.approx((0.15 + 2 * 0.35 + 2 * 0.455) / 5)


def record(loss, accuracy=0.8):
    bins = [[5, 0.5, 0.6], [20, 0.95, 0.9]]
    machine = {"accuracy": accuracy + 0.01}
    return {"log_loss": loss, "accuracy": accuracy, "calibration_error": 0.02, "machine": machine, "bins": bins} | {
        "unknown": 0
    }


def test_the_page_compares_methods_that_have_all_kernels(tmp_path):
    settings = classification.settings(quick=False)
    results = Store(tmp_path).open("classification", settings=settings)
    for method, loss in ((REGRESSION, 0.6), ("probit, EP", 0.5), ("probit, Laplace", 0.7)):
        for part in ("folds", "test"):
            for model in ("words", "trees"):
                if (method, part, model) != ("probit, Laplace", "folds", "trees"):
                    key = {"part": part, "labels": "coarse", "model": model, "method": method}
                    results.add(key, record(loss + 0.01 * (model == "words")), seconds=1)
    page = classification.page(results)
    assert "*probit, EP* .505; *label regression* .605." in page.text
    assert best_by_folds(list(results), "coarse")[0] == (pytest.approx(0.505), "probit, EP")
    assert "| probit, Laplace | - | .710 |" in page.text and "| SVM, kernel of probit, EP | 81.0 | 81.0 |" in page.text
    assert list(page.drawings) == ["classification-calibration.svg"]
    assert best_by_folds([], "coarse") == []


def test_equal_questions_are_in_one_fold_and_no_test_question_is_learned_from(data, monkeypatch):
    setup, seen = Setup(data, quick=True, n_threads=1), []

    def spy(method, kernel, train, y, new, **options):
        seen.append((set(train["text"]), set(new["text"])))
        return classify(method, kernel, train, y, new, **options)

    monkeypatch.setattr(classification, "classify", spy)
    for part in ("folds", "all"):
        found = classification.part_of("words", "coarse", REGRESSION, part, setup)
        assert json.dumps(found["bins"]) and 0 < found["accuracy"] < 1
    assert len(seen) == 4 and all(not train & new for train, new in seen[:3])
