"""Further scores of candidates, by name: checked, compared, shown, and kept in files that can hold them."""

from __future__ import annotations

import json

import pytest

from espalier import DependencyTree, Group
from espalier.errors import InputError
from espalier.structures import read_groups, write_groups

TREES = [
    DependencyTree(["a", "b"], tags, heads, ["x", "y"]) for tags, heads in ((["N", "V"], [2, 0]), (["V", "N"], [0, 1]))
]
MORE = {"labels": (-1.5, -0.25), "tags": (0.0, -3.0)}
GROUP = Group(TREES, [2.0, 1.0], more_scores=MORE)


def test_scores_are_kept_and_compared():
    assert GROUP.more_scores == MORE and Group(TREES, [2.0, 1.0]).more_scores == {}
    assert Group(TREES, [2.0, 1.0], more_scores={name: list(own) for name, own in MORE.items()}) == GROUP
    assert Group(TREES, [2.0, 1.0]) != GROUP and "more_scores={'labels': (-1.5, -0.25)" in repr(GROUP)
    assert "more_scores" not in repr(Group(TREES))


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"tags": [1.0]}, InputError, "2 candidates need as many scores 'tags', got 1"),
        ({"tags": [1.0, float("nan")]}, InputError, "The score 'tags' of candidate 1 is nan"),
        ({"tags": 3.0}, InputError, "scores 'tags' must be a list of numbers"),
        ({1: [1.0, 2.0]}, TypeError, "more_scores must be lists of numbers by name"),
        ([1.0, 2.0], TypeError, "more_scores must be lists of numbers by name"),
    ],
)
def test_bad_scores(more, error, message):
    with pytest.raises(error, match=message):
        Group(TREES, more_scores=more)


@pytest.mark.parametrize("file", ["lists.jsonl", "lists.conllu"])
def test_files_keep_them(tmp_path, file):
    write_groups([GROUP, GROUP], tmp_path / file)
    found = read_groups(tmp_path / file)
    assert [(own.scores, own.more_scores) for own in found] == [(GROUP.scores, MORE)] * 2
    assert [own.candidates[1].tags for own in found] == [("V", "N")] * 2
    assert read_groups(tmp_path / file, gold=TREES)[1].more_scores == MORE


def test_the_layout_of_parsers_cannot_hold_them(tmp_path):
    with pytest.raises(InputError, match=r"further scores, which this layout cannot contain. Write to a .jsonl file"):
        write_groups([Group(["(S a)"], [1.0], more_scores={"x": [1.0]})], tmp_path / "lists.txt")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (3, 'line 1, candidate 2: "more_scores" must be an object with a number for each name, got 3'),
        ({}, "line 1: some candidates have a score 'tags'"),
        ({"tags": "1"}, 'line 1, candidate 2: "tags" is "1"'),
        ({"tags": None}, "line 1: The score 'tags' of candidate 2 is nan"),
    ],
)
def test_broken_files(tmp_path, more, message):
    listed = [{"tree": "(S a)", "score": 1.0, "more_scores": {"tags": 1.0}}, {"tree": "(A a)", "score": 1.0}]
    listed[1]["more_scores"] = more
    path = tmp_path / "lists.jsonl"
    path.write_text(json.dumps({"candidates": listed}) + "\n")
    with pytest.raises(InputError, match=message):
        read_groups(path)


def test_names_that_conllu_cannot_keep(tmp_path):
    with pytest.raises(InputError, match="The name 'a = b' of a score has a '='"):
        write_groups([Group(TREES, more_scores={"a = b": [1.0, 2.0]})], tmp_path / "lists.conllu")


def test_broken_conllu(tmp_path):
    path = tmp_path / "lists.conllu"
    write_groups([GROUP], path)
    text = path.read_text()
    path.write_text(text.replace("# score.tags = -3.0\n", ""))
    with pytest.raises(InputError, match="sent_id 1: some candidates have a score 'tags'"):
        read_groups(path)
    path.write_text(text.replace("# score.tags = -3.0", "# score.tags = much"))
    with pytest.raises(InputError, match=r"and so must others such as '# score\.tags'"):
        read_groups(path)
