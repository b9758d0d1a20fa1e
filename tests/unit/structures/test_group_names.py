"""Names of groups: kept by copies and by every layout that has a place for them."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import pytest

import espalier as es
from espalier.structures import Group, read_groups, write_groups

A, B, C = "(S (NP (N cats)) (VP (V sleep)))", "(X (N cats) (V sleep))", "(S (N cats) (V sleep))"
ARCS = es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"])
TURNED = es.DependencyTree(["cats", "sleep"], ["N", "V"], [0, 1], ["root", "dep"])


def test_a_name_is_kept_and_shown_where_there_is_one():
    group = Group([A, B], [-2.0, -1.0], name="wsj-7")
    copies = [copy.copy(group), copy.deepcopy(group), pickle.loads(pickle.dumps(group)), dataclasses.replace(group)]
    assert [own.name for own in copies] == ["wsj-7"] * 4
    assert group == Group([A, B], [-2.0, -1.0]) and hash(group) == hash(Group([A, B], [-2.0, -1.0]))
    assert repr(group).endswith(", gold=None, name='wsj-7')") and "name" not in repr(Group([A]))
    with pytest.raises(TypeError, match="name must be a text, got 7 of type int"):
        Group([A], name=7)
    with pytest.raises(TypeError, match="positional"):
        Group([A], None, None, "wsj-7")


@pytest.mark.parametrize("file", ["k.txt", "k.jsonl", "k.conllu"])
def test_names_round_trip(tmp_path, file):
    candidates = [ARCS, TURNED] if file == "k.conllu" else [A, B]
    groups = [Group(candidates, [1.0, 2.0], name=name) for name in ("sentence-1", "two words", "3")]
    write_groups(groups, tmp_path / file)
    assert [group.name for group in read_groups(tmp_path / file)] == ["sentence-1", "two words", "3"]
    with_gold = read_groups(tmp_path / file, [candidates[0]] * 3)
    assert [group.name for group in with_gold] == ["sentence-1", "two words", "3"]


def test_where_names_stand(tmp_path):
    group = Group([A, B], [-1.5, -2.0], name="s1")
    write_groups([group, Group([C])], tmp_path / "k.txt")
    assert (tmp_path / "k.txt").read_text() == f"2 s1\n-1.5 {A}\n-2.0 {B}\n\n1\n0.0 {C}\n\n"
    write_groups([group, Group([C])], tmp_path / "k.jsonl")
    first, second = map(json.loads, (tmp_path / "k.jsonl").read_text().splitlines())
    assert first["id"] == "s1" and "id" not in second
    write_groups([Group([ARCS]), Group([ARCS], name="s2")], tmp_path / "k.conllu")
    names = [line for line in (tmp_path / "k.conllu").read_text().splitlines() if "sent_id" in line]
    assert names == ["# sent_id = 1", "# sent_id = s2"]


def test_names_of_the_layout_and_of_json(tmp_path):
    (tmp_path / "k").write_text(f"1\twsj_1\r\n-1\n{A}\n\n1   one more \n-3\t {C}\n1\n-3 {C}\n")
    assert [group.name for group in read_groups(tmp_path / "k")] == ["wsj_1", "one more", None]
    listed = {"candidates": [{"tree": A}]}
    records = [{"id": "a"} | listed, {"name": "b"} | listed, {"id": 7} | listed, {"id": None} | listed, listed]
    (tmp_path / "k").write_text("\n".join(map(json.dumps, records)))
    assert [group.name for group in read_groups(tmp_path / "k")] == ["a", "b", "7", None, None]


@pytest.mark.parametrize("name", ["", " a", "a\nb", "(a"])
def test_names_that_a_layout_cannot_hold(tmp_path, name):
    write_groups([Group([A], name=name)], tmp_path / "k.jsonl")
    assert read_groups(tmp_path / "k.jsonl")[0].name == name
    with pytest.raises(es.InputError, match=r"cannot be read back from this layout\. Write to a \.jsonl file"):
        write_groups([Group([A], name=name)], tmp_path / "k.txt")


@pytest.mark.parametrize("names", [("a", "a"), ("2", None)])
def test_names_that_conllu_could_not_tell_apart(tmp_path, names):
    with pytest.raises(es.InputError, match="Groups 0 and 1 would both have the sent_id"):
        write_groups([Group([ARCS], name=name) for name in names], tmp_path / "k.conllu")
    assert not list(tmp_path.iterdir())
