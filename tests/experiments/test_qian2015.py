"""The experiments of Qian and Liu run in a tiny version, and read their treebanks whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier_experiments import qian2015
from espalier_experiments.papers import Setup
from espalier_experiments.qian2015 import lists, thresholds
from espalier_experiments.qian2015.reranking import TEMPLATES
from espalier_experiments.store import Store


@pytest.fixture(scope="module", autouse=True)
def kept(tmp_path_factory):
    """Lists are kept in a folder of the tests."""
    before, lists.KEPT = lists.KEPT, tmp_path_factory.mktemp("lists")
    lists.lists_of.cache_clear()
    yield lists.KEPT
    lists.KEPT = before
    lists.lists_of.cache_clear()


@pytest.mark.parametrize("name", list(qian2015.EXPERIMENTS))
def test_experiments_run_in_a_tiny_version(data, tmp_path, name):
    if name == "public_parser":
        pytest.importorskip("ufal.udpipe", reason="UDPipe is optional")
    (path,) = qian2015.run(name, data=data, out=tmp_path, quick=True)
    text = path.read_text()
    assert f"Made by `espalier reproduce qian2015 {name} --quick`" in text and "nan" not in text
    assert "| " in text


def test_a_tenth_of_training_serves_where_there_is_no_development_part(data):
    parts, documents = lists.treebank_parts(Setup(Path(data)), "basque")
    whole = len(parts["train"]) + len(parts["development"])
    assert len(parts["development"]) == whole // 10 and documents is None
    again, _ = lists.treebank_parts(Setup(Path(data)), "basque")
    assert again == parts
    other, _ = lists.treebank_parts(Setup(Path(data), seed=1), "basque")
    assert other["development"] != parts["development"]


def test_lists_are_made_once_and_learned_groups_have_their_gold_tree(data):
    setup = Setup(Path(data), quick=True)
    found, known = lists.lists_of(setup, "atis", 5)
    assert known["sentences"] == [60, 20, 20]
    for group in found.train:
        assert sum(own.heads == group.gold.heads for own in group.candidates) == 1
    assert all(len(group) <= 5 for group in (*found.development, *found.test))
    lists.lists_of.cache_clear()
    again, _ = lists.lists_of(setup, "atis", 5)
    assert [group.candidates for group in again.test] == [group.candidates for group in found.test]


def test_differences_are_those_of_the_parser_and_the_reranked_trees(data):
    found, _ = lists.lists_of(Setup(Path(data), quick=True), "atis", 5)
    same = lists.compared(found.test, lists.first_trees(found.test))
    assert (same["difference"], same["removed"], same["p"]) == (0.0, 0.0, 1.0)
    gold = lists.compared(found.test, [group.gold for group in found.test])
    assert gold["uas"] == 100 and gold["removed"] == pytest.approx(100)


def test_pages_can_be_written_of_what_is_there(tmp_path):
    results = Store(tmp_path).open("thresholds", settings=thresholds.settings(quick=True))
    assert "In the paper" in thresholds.page(results).text
    assert {name: len(own) for name, own in TEMPLATES.items()} == {"joined": 17, "all": 33, "relations": 10}
