"""The data sets are read whole, with their traps, and folds do not depend on the files' order."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest

from espalier.errors import InputError
from espalier_experiments import data as sets


def test_without_a_folder_the_error_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.delenv("ESPALIER_DATA", raising=False)
    with pytest.raises(InputError, match="Set ESPALIER_DATA to the folder"):
        sets.data_folder()
    with pytest.raises(InputError, match="no folder of data"):
        sets.data_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match="not complete"):
        sets.affective(tmp_path)


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ESPALIER_DATA", str(tmp_path))
    assert sets.data_folder() == tmp_path


@pytest.fixture
def headlines(data):
    return sets.affective(data)


def test_headlines_keep_their_text(headlines):
    assert len(headlines) == 1000
    row = headlines["id"].tolist().index(528)
    assert headlines["headline"][row] == "Global National\tMajor child porn ring bust"
    assert headlines["tree"][row].words()[0] == "Global"
    assert headlines["emotions"][row].tolist() == [46, 64, 0, 42, 31, 27]
    assert headlines["emotions"].min() >= 0 and headlines["emotions"].max() <= 100


def test_repeated_headlines_share_a_fold(headlines):
    folds = sets.emotion_folds(headlines)
    assert np.bincount(folds).tolist() == [200] * 5
    seen: dict[str, int] = {}
    for text, fold in zip(headlines["headline"], folds.tolist(), strict=True):
        assert seen.setdefault(sets.plain_text(text), fold) == fold
    assert len(seen) < 1000


def test_folds_do_not_depend_on_the_order_of_rows(headlines):
    order = np.random.default_rng(1).permutation(1000)
    assert (sets.emotion_folds(headlines[order]) == sets.emotion_folds(headlines)[order]).all()
    assert (sets.emotion_folds(headlines, seed=1) != sets.emotion_folds(headlines, seed=2)).any()


@pytest.mark.parametrize(("pair", "n"), [("fr-en", 2497), ("en-es", 858)])
def test_quality_has_its_rows_and_folds(data, pair, n):
    table = sets.quality(data, pair)
    assert len(table) == n and table["features"].shape == (n, 17)
    assert sorted(set(table["fold"].tolist())) == list(range(10))
    assert (table["response"] > 0).all()
    assert "ROOT" not in sets.inner_labels(table["source"], table["target"])


def test_the_response_is_time_per_word(data):
    table = sets.quality(data, "fr-en")
    assert table["response"][0] == pytest.approx(32 / 15)


def test_an_unknown_pair_is_one_error(data):
    with pytest.raises(InputError, match="no language pair 'en-de'; there are fr-en, en-es"):
        sets.quality(data, "en-de")  # type: ignore[arg-type]


def test_missing_rows_are_noticed(data, tmp_path):
    shutil.copytree(data / "qe" / "en-es", tmp_path / "qe" / "en-es")
    time = tmp_path / "qe" / "en-es" / "time"
    time.chmod(0o644)
    time.write_text("".join(time.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match="time has 857 rows, expected 858"):
        sets.quality(tmp_path, "en-es")


def test_treebank_trees_are_bare_and_different(data):
    forest = sets.treebank_trees(data, 300, seed=3)
    assert len({tree.to_brackets() for tree in forest}) == 300
    labels = sets.inner_labels(forest)
    assert "S" in labels and "" not in labels and "-NONE-" not in labels
    assert all(label.startswith("-") or "-" not in label for label in labels)


def test_drawn_trees_do_not_depend_on_the_order_of_the_file(data, tmp_path):
    trees = ["( (S (NP-SBJ (N a)) (VP (V b))))", "( (S (NP (-NONE- *)) (VP (V c))))", "( (NP (N d)))", "( (NP (N e)))"]
    drawn = []
    for name, lines in (("one", trees), ("two", trees[::-1])):
        folder = tmp_path / name / "wsj"
        folder.mkdir(parents=True)
        with gzip.open(folder / "sample.mrg.gz", "wt") as file:
            file.write("\n".join(lines))
        drawn.append([tree.to_brackets() for tree in sets.treebank_trees(folder.parent, 3, seed=1)])
    assert drawn[0] == drawn[1]
    with pytest.raises(InputError, match="4 different trees, too few to draw 5"):
        sets.treebank_trees(Path(tmp_path, "one"), 5)
