"""Experiments with several tasks: what is split from what, and that test parts choose nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import norm

from espalier.kernels import Precomputed
from espalier.structures import Table
from espalier_experiments import beck2014
from espalier_experiments import data as sets
from espalier_experiments.beck2014 import annotators, editors, pairs, shared_emotions, shared_reviews
from espalier_experiments.beck2014.multitask import Near
from espalier_experiments.beck2014.shared_emotions import correlations, split_rows
from espalier_experiments.beck2014.task_models import MODELS, Rows, predict_tasks
from espalier_experiments.papers import Setup
from espalier_experiments.post_edits import EDITORS, post_edits
from espalier_experiments.store import Store


def test_splits_of_headlines_hold_each_row_once():
    folds = np.arange(10) % 5
    for split in ("file order", "random 3", "fold 2"):
        train, test = split_rows(split, 10, 4, folds)
        assert sorted([*train, *test]) == list(range(10))
    assert split_rows("file order", 10, 4, folds)[0].tolist() == [0, 1, 2, 3]
    assert split_rows("fold 2", 10, 4, folds)[1].tolist() == [2, 7]
    assert split_rows("random 3", 10, 4, folds)[0].tolist() != split_rows("random 4", 10, 4, folds)[0].tolist()


def test_correlations_have_ones_on_the_diagonal():
    assert correlations(np.array([[4.0, 1.0], [1.0, 1.0]])) == [[1.0, 0.5], [0.5, 1.0]]


def test_post_edits_are_read_whole(data):
    edits = post_edits(data)
    known = np.isfinite(edits.hter)
    assert known.sum(axis=0).tolist() == [329, 718, 1047, 1047, 1047, 1047] and len(EDITORS) == 6
    assert (known[:, 0] != known[:, 1]).all()  # two people shared the segments
    assert np.nanmin(edits.seconds) > 0 and not any(re.search(r"&(amp|apos|quot);", text) for text in edits.source)
    assert edits.every(500).source == edits.source[::500]


def test_nobody_learns_from_a_test_segment():
    known = np.ones((40, 3), bool)
    known[::2, 0] = False
    train, test = editors.drawn(known, 10, 15, draw=1)
    assert not set(train.row) & set(test.row) and len(set(test.row)) == 10
    assert np.bincount(train.task).tolist()[1:] == [15, 15] and np.bincount(train.task)[0] <= 15
    assert known[train.row, train.task].all() and known[test.row, test.task].all()
    # People have segments of their own, and each draw has others.
    assert set(train.row[train.task == 1]) != set(train.row[train.task == 2])
    assert set(editors.drawn(known, 10, 15, draw=2)[1].row) != set(test.row)


@pytest.fixture
def alike():
    """Two tasks that are the same function of twelve items, up to location and scale."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 2))
    kernel = Precomputed(np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2) / 8), on="row")
    value = points[:, 0]
    values = np.stack([value, 100 + 10 * value], axis=1)
    train = Rows.of([(k, 0) for k in range(8)] + [(k, 1) for k in range(3)], ("a", "b"))
    test = Rows.of([(k, 1) for k in range(3, 12)], ("a", "b"))
    return kernel, train, test, values


@pytest.mark.parametrize("name", list(MODELS))
def test_models_of_tasks_predict_in_the_units_of_the_targets(alike, name):
    kernel, train, test, values = alike
    found = predict_tasks(MODELS[name], kernel, train, test, values, Setup(None, n_threads=1))
    assert np.isfinite(found.mean).all() and np.isfinite(found.log_density).all()
    if name != "pooled":  # whose mean lies between the tasks
        assert found.mean.min() > 60 and found.mean.max() < 140


def test_tasks_that_are_alike_help_each_other(alike):
    kernel, train, test, values = alike
    errors = {
        name: np.abs(
            predict_tasks(MODELS[name], kernel, train, test, values, Setup(None, n_threads=1)).mean
            - values[test.row, 1]
        ).mean()
        for name in ("separate", "pooled", "Coregion, rank 1")
    }
    assert errors["Coregion, rank 1"] < errors["separate"] and errors["Coregion, rank 1"] < errors["pooled"]


def test_targets_of_test_rows_choose_nothing(alike):
    kernel, train, test, values = alike
    turned = values.copy()
    turned[test.row, 1] = 0.0
    turned[:8, 0] = values[:8, 0]
    for model in (MODELS["separate"], MODELS["Coregion, rank 1, and items"]):
        one, other = (
            predict_tasks(model, kernel, train, test, each, Setup(None, n_threads=1)) for each in (values, turned)
        )
        assert one.mean.tolist() == other.mean.tolist()
        assert {**one.record, "fit_seconds": 0} == {**other.record, "fit_seconds": 0}


def test_reviews_for_training_and_testing_have_different_texts(data):
    setup = Setup(data, quick=True, n_threads=1)
    table, _ = shared_reviews._reviews("n-grams", 0, setup)
    assert len(set(table["group"].tolist())) == len(table)
    counts = {name: table["domain"].count(name) for name in set(table["domain"])}
    assert set(counts.values()) == {220}


def test_the_page_of_emotions_compares_with_single_models(tmp_path):
    results = Store(tmp_path).open("tasks", settings={"training": 100})
    none = {"by_emotion": [0.1] * 6, "pearson_means_off": 0.2, "evidence": 1.0, "tasks": np.eye(6).tolist()}
    for split, single, shared in (("random 0", 0.35, 0.375), ("random 1", 0.36, 0.355)):
        for sharing, rank, r in (("single", 0, single), ("ICM", 2, shared)):
            key = {"kernels": "words", "sharing": sharing, "rank": rank, "split": split}
            results.add(key, {**none, "pearson": r, "log_density": -25 + rank / 4}, seconds=1)
    text = shared_emotions.page(results).text
    assert "| words: ICM, rank 2 | .3650 | .2000 | -24.500 | +.0100 | 1 of 2 | +.500 | 2 of 2 |" in text
    assert "| words: ICM or LMC, chosen by evidence | .3650 |" in text


def test_the_page_of_editors_counts_draws(tmp_path):
    results = Store(tmp_path).open("editors", settings={"test": 300})
    for draw, gain in ((0, 0.1), (1, -0.1)):
        for model, height in (("separate", 0.0), ("pooled", -0.5), ("Coregion, rank 1", gain)):
            key = {"kernels": "strings + trees", "target": "hter", "model": model, "n": 100, "draw": draw}
            found = {"log_density": height, "mae": 0.1, "pearson": 0.2, "pearson_by_person": 0.1}
            results.add(key, found, seconds=1)
    text = editors.page(results).text
    assert "| 100 of each: Coregion, rank 1 | .0000 | .1000 | .2000 | .1000 | 1 of 2 | 2 of 2 |" in text


def test_the_page_of_reviews_averages_over_pairs(tmp_path):
    results = Store(tmp_path).open("reviews", settings={"tokens": 100, "source": 400, "test": 400})
    for target, gain in (("dvd", 0.1), ("electronics", -0.02)):
        for model, right in (("pooled", 0.7), ("Coregion", 0.7 + gain)):
            key = {"kernel": "n-grams", "source": "books", "target": target, "labels": 50, "draw": 0, "model": model}
            results.add(key, {"accuracy": right, "log_loss": 1 - right, "evidence": 0.0}, seconds=1)
    text = shared_reviews.page(results).text
    assert "| Coregion | 74.0 | .2600 | - | - | 1 of 2 | 1 of 2 |" in text
    assert "| books to electronics | 70.0 | 68.0 |" in text


def test_models_of_annotators_are_what_their_names_say():
    people = annotators.People.drawn(4, np.random.default_rng(0))
    matrices = {
        name: make(people)(Table(task=list(people.names)))
        for name, make in annotators.MODELS.items()
        if "Co" not in name
    }
    assert np.allclose(matrices["true weights"], people.covariances, atol=1e-5)
    assert (matrices["separate"][~np.eye(4, dtype=bool)] == 0).all() and np.ptp(matrices["pooled"]) == 0


def test_the_prior_of_weights_is_normal_around_a_number_of_either_sign():
    prior, step = Near(0.7, 0.3), 1e-6
    assert np.isclose(prior.log_density(-0.1), norm(0.7, 0.3).logpdf(-0.1))
    difference = prior.log_density(-0.1 + step) - prior.log_density(-0.1 - step)
    assert np.isclose(prior.slope(-0.1), difference / (2 * step))
    assert abs(np.mean([prior.draw(np.random.default_rng(k)) for k in range(400)]) - 0.7) < 0.1


def test_the_page_of_annotators_counts_draws(tmp_path):
    results = Store(tmp_path).open("annotators", settings={"test": 25})
    for draw in (0, 1):
        found = {"log_density": -1.0 - draw, "pearson": 0.5, "covariances": float("nan")}
        results.add({"annotators": 10, "each": 20, "draw": draw, "model": "pooled"}, found, seconds=1)
    text = annotators.page(results).text
    assert "| 10 annotators, 20 segments each: pooled | -1.500 | .500 | - | 2 |" in text


def test_rows_of_pairs_stand_in_one_part(data):
    _, values, parts = pairs._drawn(3, Setup(data, quick=True, n_threads=1))
    rows = [row for own in parts.values() for row in own]
    assert sorted(rows) == list(range(len(values))) and len(parts["fr-en"]) == 20
    assert np.isfinite(values[parts["fr-en"], 0]).all() and np.isnan(values[parts["fr-en"], 1]).all()
    assert np.isfinite(values[parts["en-es"] + parts["test"], 1]).all()
    assert len(parts["test"]) == (sets.quality(data, "en-es")["fold"] == 3).sum()


def test_the_page_of_pairs_compares_with_the_small_pair_alone(tmp_path):
    results = Store(tmp_path).open("pairs", settings={"large": 400})
    for model, height in (("separate", -1.0), ("Coregion, rank 1", -0.9)):
        found = {"log_density": height, "mae": 0.5, "pearson": 0.25}
        results.add({"n": 50, "fold": 0, "model": model}, found, seconds=1)
    assert "| 50 of en-es: Coregion, rank 1 | -.9000 | .5000 | .2500 | 1 of 1 |" in pairs.page(results).text


@pytest.mark.parametrize("module", [shared_emotions, editors, annotators, pairs, shared_reviews])
@pytest.mark.parametrize("quick", [False, True])
def test_keys_of_experiments_with_tasks_are_different(module, quick, tmp_path):
    keys = [tuple(sorted(task.key.items())) for task in module.tasks(Setup(tmp_path, quick=quick))]
    assert len(set(keys)) == len(keys) > 0 and module.NAME in beck2014.EXPERIMENTS
