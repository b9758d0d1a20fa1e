"""The paper's experiments run in a tiny version, choose without test data, and read their data whole."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from espalier.cli.main import app
from espalier.errors import InputError
from espalier.kernels import BagOfWords, Normalized, PartialTree, Spectrum
from espalier.kernels.similarity import Exact, SimilarityTable
from espalier.kernels.smoothed_partial_tree import SmoothedPartialTree
from espalier_experiments import beck2014
from espalier_experiments import data as sets
from espalier_experiments.beck2014 import emotion, grades, question_models, questions, sentiment
from espalier_experiments.beck2014.emotion_page import shares
from espalier_experiments.beck2014.lexical import Lexical
from espalier_experiments.beck2014.question_models import MODELS, VIEWS, grid_of, start_of, weights_of
from espalier_experiments.papers import Setup
from espalier_experiments.store import Store


@pytest.fixture(scope="module")
def views(data):
    return sets.question_views(data)


def test_all_views_of_a_question_stand_in_one_row(data, views):
    part = np.array(views["part"])
    assert (part == "train").sum() == 5452 and (part[5452:] == "test").all() and len(part) == 5952
    assert len(set(views["coarse"])) == 6 and len(set(views["fine"])) == 50
    assert views["words"][0][:3] == ("how", "did", "serfdom") and views["text"][0].startswith("how did serfdom")
    assert all(
        len(sentence.tags) == len(words) for sentence, words in zip(views["tagged"], views["words"], strict=True)
    )
    assert "LEX##serfdom::n" in views["loct"][0].to_brackets()
    assert "sisterðcity" in views["text"][65]  # the other file has a space there
    assert views["coarse"][5452:] == sets.question_dependencies(data, "test")["coarse"]


@pytest.fixture
def few(data, tmp_path):
    """A folder with the first questions of each file."""
    (tmp_path / "trec").mkdir()
    for name in (
        "constituency_train.tsv.gz",
        "constituency_test.tsv",
        "dependency_train.klp.gz",
        "dependency_test.klp.gz",
    ):
        content = (data / "trec" / name).read_bytes()
        lines = (gzip.decompress(content) if name.endswith("gz") else content).splitlines(keepends=True)[:5]
        kept = b"".join(lines)
        (tmp_path / "trec" / name).write_bytes(gzip.compress(kept) if name.endswith("gz") else kept)
    return tmp_path


def test_questions_in_another_order_are_refused(few):
    assert len(sets.question_views(few)) == 10
    path = few / "trec" / "dependency_test.klp.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    path.write_bytes(gzip.compress("".join([lines[1], lines[0], *lines[2:]]).encode()))
    with pytest.raises(InputError, match="line 1: expected the question 'How far is it from Denver"):
        sets.question_views(few)
    path.write_bytes(gzip.compress("".join(lines[:4]).encode()))
    with pytest.raises(InputError, match="has 4 questions, and the constituents 5"):
        sets.question_views(few)


def test_reviews_are_read_whole_and_sorted(data):
    table = sets.reviews(data, 100)
    assert len(table) == 8000 and tuple(sorted(set(table["domain"]))) == sentiment.DOMAINS
    counts = {(d, p) for d, p in zip(table["domain"], table["polarity"], strict=True)}
    assert len(counts) == 8 and list(table["domain"]) == sorted(table["domain"])
    assert max(map(len, table["words"])) == 100 and min(map(len, table["words"])) > 0
    assert len(set(table["group"].tolist())) == 8000 - 148


def test_graded_sentences_have_no_grade_but_that_of_the_root(data):
    sizes = {"train": 8544, "dev": 1101, "test": 2210}
    tables = {part: sets.graded_sentences(data, part) for part in sizes}
    assert {part: len(table) for part, table in tables.items()} == sizes
    for table in tables.values():
        assert set(table["grade"].tolist()) == {0, 1, 2, 3, 4}
        inner = {node.label for tree in table["tree"][:50] for node in tree if not node.is_leaf}
        assert inner == {"X"} and table["tree"][0].words() == list(table["words"][0])
    assert tables["dev"]["words"][0][:4] == ("it", "'s", "a", "lovely") and tables["dev"]["grade"][0] == 3


def test_scores_of_probabilities_of_grades():
    p = np.array([[0.4, 0.0, 0.0, 0.3, 0.3], [0.0, 0.0, 1.0, 0.0, 0.0]])
    found = grades.scores(p, np.array([3, 2]))
    assert found["accuracy"] == 0.5 and found["mae_of_modes"] == 1.5 and found["mae"] == 0.0
    assert found["log_loss"] == pytest.approx(-np.log(0.3) / 2) and found["calibration"] == pytest.approx(0.2)


@pytest.mark.parametrize("name", list(beck2014.EXPERIMENTS))
def test_each_experiment_runs_in_a_tiny_version(data, tmp_path, name):
    (path,) = beck2014.run(name, data=data, out=tmp_path, quick=True)
    text = path.read_text()
    assert "only shows that everything runs" in text and "aclanthology.org/P14-3001" in text
    assert f"Made by `espalier reproduce beck2014 {name} --quick`" in text
    stored = (tmp_path / "beck2014" / f"{name}-quick.json").read_text()
    assert json.loads(stored)["settings"]["quick"] is True
    assert str(data) not in stored + text


@pytest.mark.parametrize("module", [questions, sentiment, emotion, grades])
@pytest.mark.parametrize("quick", [False, True])
def test_keys_are_plain_and_different(module, quick, tmp_path):
    keys = [json.dumps(task.key, sort_keys=True) for task in module.tasks(Setup(tmp_path, quick=quick))]
    assert len(set(keys)) == len(keys) > 0
    assert str(tmp_path) not in "".join(keys)


def test_nothing_is_chosen_by_test_questions(data, views, monkeypatch):
    setup, before = Setup(data, quick=True, n_threads=1), {}
    test = np.array(views["part"]) == "test"
    for turned in (False, True):
        table = views
        if turned:
            labels = np.array(views["coarse"])
            labels[test] = labels[test][::-1]
            words = [["what", "?"] if new else own for own, new in zip(views["words"], test.tolist(), strict=True)]
            table = views.with_column("coarse", labels.tolist()).with_column("words", words)
        monkeypatch.setattr(sets, "question_views", lambda folder, table=table: table)
        questions._questions.cache_clear()
        questions._kernel_of.cache_clear()
        found = questions.classify("words", "coarse", setup)
        chosen = {**found, "grid": {**found["grid"], "accuracy": 0}, "machine": {**found["machine"], "accuracy": 0}}
        chosen["process"] = {**found["process"], "accuracy": 0}
        before = before or chosen
        assert chosen == before
    questions._questions.cache_clear()
    questions._kernel_of.cache_clear()


def test_models_are_made_of_views_that_exist():
    names = {name for terms in MODELS.values() for term in terms for name in term}
    assert names == set(VIEWS)
    assert {"words x subset trees", "strings + trees"} <= set(MODELS)


def test_a_sum_starts_with_equal_weights():
    kernels = {"words": Normalized(BagOfWords(on="words")), "constituents, subset trees": Normalized(Spectrum(2))}
    start = start_of("words + subset trees", kernels.__getitem__)
    assert weights_of(start) == [question_models.WEIGHT / 2] * 2
    assert weights_of(start.with_parameters({"terms[1].scale": 3.0})) == [question_models.WEIGHT / 2, 3.0]
    (equal,) = grid_of("words + subset trees", kernels.__getitem__)
    assert equal == kernels["words"] + kernels["constituents, subset trees"] and not equal.parameters()
    assert weights_of(start_of("words x subset trees", kernels.__getitem__)) == [question_models.WEIGHT]
    assert len(grid_of("constituents, subset trees", kernels.__getitem__)) == 3


def test_models_with_wordnet_are_left_out_where_it_is_not(monkeypatch, tmp_path):
    def missing():
        raise FileNotFoundError

    monkeypatch.setattr(question_models, "WordNet", missing)
    question_models.has_wordnet.cache_clear()
    models = {task.key["model"] for task in questions.tasks(Setup(tmp_path))}
    question_models.has_wordnet.cache_clear()
    assert "LSA + characters + trees" in models and not any("WordNet" in model for model in models)
    assert len(models) < len(MODELS)


def record(grid, process, machine, weights):
    values = {"cv_score": 0.8, "C": 10.0}
    return {
        "grid": {**values, "accuracy": grid, "kernel": "K"},
        "process": {"accuracy": process, "evidence": 100 * process, "noise": 0.1},
        "machine": {**values, "accuracy": machine},
        "weights": weights,
        "learned": {"scale": 0.2, "decay": 0.3},
    }


def test_the_page_of_questions_says_what_the_numbers_say(tmp_path):
    results = Store(tmp_path).open("questions", settings={"learning_rows": 1000})
    sums = {
        "prototype: both subset trees + words + bigrams": record(
            0.92, 0.93, 0.94, {"constituents, subset trees": 3.0, "words": 1.0}
        ),
        "words + subset trees": record(0.91, 0.9, 0.92, {"words": 0.001, "constituents, subset trees": 0.999}),
    }
    for model, found in {**sums, "words": record(0.8, 0.81, 0.82, {"words": 1.0})}.items():
        results.add({"model": model, "labels": "coarse"}, found, seconds=1)
    text = questions.page(results).text
    assert "Coarse: the prototype with equal weights has 92.0; of the 2 sums with learned weights" in text
    assert "2 of 4 results lie above it, from 90.0 to 94.0" in text and "by +1.5 points on average" in text
    assert "*constituents, subset trees* has 1.00, *words* .00; 1 of 2 terms have less than .01." in text
    assert "| coarse: GP, by evidence | prototype: both subset trees + words + bigrams | 93.0 |" in text
    assert "| words, coarse | `K`, C 10 | decay .300 | 0.1 |" in text


def test_words_inside_labels_match_softly_and_other_labels_exactly():
    trees = ["(LEX##is::v (LEX##city::n POS##NN) POS##VBZ)", "(LEX##is::v (LEX##town::n POS##NN) POS##VBZ)"]
    hard = PartialTree()(trees)
    assert np.allclose(SmoothedPartialTree(Lexical(Exact()), soft="all")(trees), hard)
    towns = Lexical(SimilarityTable(["city", "town"], [[1.0, 0.5], [0.5, 1.0]]))
    soft = SmoothedPartialTree(towns, soft="all")(trees)
    assert np.allclose(soft.diagonal(), hard.diagonal()) and soft[0, 1] > hard[0, 1]
    assert towns == Lexical(SimilarityTable(["city", "town"], [[1.0, 0.5], [0.5, 1.0]])) != Lexical(Exact())


def test_shares_of_weights_add_up():
    assert shares({"learned": {"kernel.terms[1].scale": 1.0, "kernel.terms[0].scale": 3.0}}) == [0.75, 0.25]


def test_the_command_names_its_experiments():
    result = CliRunner(env={"COLUMNS": "240", "NO_COLOR": "1"}).invoke(app, ["reproduce", "beck2014", "answers"])
    assert result.exit_code == 2
    names = ", ".join(beck2014.EXPERIMENTS)
    assert f"There is no experiment 'answers'; there are {names} and all." in result.stderr
