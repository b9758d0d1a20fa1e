"""Groups of candidates: what they hold, what they refuse, and the files of k-best parsers."""

from __future__ import annotations

import pytest

import espalier as es
from espalier.structures.groups import Group, read_groups, write_groups

A, B, C = "(S (NP (N cats)) (VP (V sleep)))", "(X (N cats) (V sleep))", "(S (N cats) (V sleep))"


def test_groups():
    group = Group([A, B], [-2.0, -1.0], gold=C)
    assert group.best == 1 and group.words == ["cats", "sleep"] and len(group) == 2
    assert group.candidates[0] == es.Tree.from_brackets(A)
    assert Group([A, B]).scores == (0.0, 0.0) and Group([A, B]).best == 0  # the first of equals
    assert Group([A], [float("-inf")]).scores == (float("-inf"),)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "needs at least one candidate"),
        (([A], [1.0, 2.0]), "1 candidates need as many scores, got 2"),
        (([A], [float("nan")]), "score of candidate 0 is nan"),
        (([A, "(S (N dogs))"],), "Candidate 1 has other words than candidate 0: 'dogs', not 'cats sleep'"),
        (([A], None, "(S (N dogs))"), "The gold tree has other words than the candidates"),
    ],
)
def test_bad_groups(arguments, message):
    with pytest.raises(es.InputError, match=message):
        Group(*arguments)


@pytest.mark.parametrize("name", ["k.jsonl", "k.jsonl.gz"])
def test_json_lines_round_trip(tmp_path, name):
    groups = [Group([A, B], [-1.25, -7.0], gold=C), Group(["(S (N \u00e9t\u00e9))"])]
    write_groups(groups, tmp_path / name)
    assert read_groups(tmp_path / name) == groups


def test_the_layout_of_parsers_round_trips(tmp_path):
    groups = [Group([A, B], [-1.25, -7.0]), Group([C], [0.1])]
    write_groups(groups, tmp_path / "k.txt")
    assert read_groups(tmp_path / "k.txt") == groups
    assert read_groups(tmp_path / "k.txt", [C, A])[1].gold == es.Tree.from_brackets(A)
    with pytest.raises(es.InputError, match=r"no place\. Write to a \.jsonl file"):
        write_groups([Group([A], gold=A)], tmp_path / "k.txt")
    with pytest.raises(es.InputError, match="2 groups, and there are 1 gold trees"):
        read_groups(tmp_path / "k.txt", [A])
    with pytest.raises(es.InputError, match="group 1: The gold tree has other words"):
        read_groups(tmp_path / "k.txt", [A, "(S (N dogs))"])


def test_scores_on_lines_of_their_own(tmp_path):
    (tmp_path / "k.txt").write_text(f"2 sentence-7\n-1.5\n{A}\n-2\n{B}\n\n1\n-3\n{C}\n")
    assert read_groups(tmp_path / "k.txt") == [Group([A, B], [-1.5, -2.0]), Group([C], [-3.0])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"-1.5 {A}\n", "line 1: the number of candidates should stand here, got '-1.5"),
        (f"3\n-1 {A}\n-2 {B}\n", "line 3: the score of candidate 2 of 3 should stand here"),
        (f"1\n-1 {A}\n-2 {B}\n", "line 3: the number of candidates"),
        (f"1\n{A}\n", "line 2: the score of candidate 0 of 1 should stand here"),
        ("1\n-1 (S (N cats)\n", "line 1: .*never closed"),
        (f"2\n-1 {A}\n-2 (S (N dogs))\n", "line 1: Candidate 1 has other words"),
        ('{"candidates": []}\n', "line 1: A group needs at least one candidate"),
        ('{"trees": []}\n', "line 1: a group should stand here"),
        ('{"candidates": [{"score": 1}]}\n', "line 1: a group should stand here"),
        ('{"candidates": [{"tree": "(S a)", "score": "x"}]}\n', "line 1: could not convert"),
        ("{broken\n", "line 1: a group should stand here"),
    ],
)
def test_broken_files(tmp_path, text, message):
    (tmp_path / "k.txt").write_text(text)
    with pytest.raises(es.InputError, match=message):
        read_groups(tmp_path / "k.txt")


def test_an_empty_file_has_no_groups(tmp_path):
    (tmp_path / "k.txt").write_text("\n")
    assert read_groups(tmp_path / "k.txt") == []
