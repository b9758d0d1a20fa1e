"""Groups of candidates: what they hold, what they refuse, and the files of k-best parsers."""

from __future__ import annotations

import dataclasses
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import espalier as es
from espalier.structures import Group, read_groups, write_groups

A, B, C = "(S (NP (N cats)) (VP (V sleep)))", "(X (N cats) (V sleep))", "(S (N cats) (V sleep))"
TAGS = es.TaggedSequence(["cats", "sleep"], ["N", "V"])
OTHER = es.TaggedSequence(["cats", "sleep"], ["N", "N"])
ARCS = es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"], lemmas=["cat", "sleep"])
TURNED = es.DependencyTree(["cats", "sleep"], ["N", "V"], [0, 1], ["root", "dep"], lemmas=["cat", "sleep"])


def test_groups():
    group = Group([A, B], [-2.0, -1.0], gold=C)
    assert group.best == 1 and group.words == ["cats", "sleep"] and len(group) == 2
    assert group.candidates[0] == es.Tree.from_brackets(A)
    assert Group([A, B]).scores == (0.0, 0.0) and Group([A, B]).best == 0  # the first of equals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "needs at least one candidate"),
        (([A], [1.0, 2.0]), "1 candidates need as many scores, got 2"),
        (([A], [float("nan")]), "score of candidate 0 is nan"),
        (([A], ["high"]), "The score of candidate 0 is the text 'high'; a score is a finite number"),
        (([A], ["1"]), "The score of candidate 0 is the text '1'; a score is a finite number"),
        (([A, B], [1.0, True]), "The score of candidate 1 is True; a score is a finite number"),
        (([A, B], np.array([True, False])), "The score of candidate 0 is True; a score is a finite number"),
        (([A, B], "12"), "scores must be a list of numbers, one for each candidate, got '12'"),
        (([A], 1.0), "scores must be a list of numbers, one for each candidate, got 1.0"),
        (([A, B], [0.0, float("-inf")]), "score of candidate 1 is -inf; a score is a finite number"),
        (([A], [10**400]), "The score of candidate 0 is too large; a score is a finite number"),
        (([A, B], [0.0, -1e150]), "score of candidate 1 is -1e\\+150; a score is a finite number of at most 1e\\+100"),
        (([A, TAGS],), "Candidate 1 is a TaggedSequence, and the first candidate a Tree"),
        (([TAGS], None, A), "The gold tree is a Tree, and the candidates a TaggedSequence"),
        (([TAGS, es.TaggedSequence(["cats"], ["N"])],), "Candidate 1 has different words"),
        (([A, "(S (N dogs))"],), "Candidate 1 has different words from the first candidate: 'dogs', not 'cats sleep'"),
        (([A], None, "(S (N dogs))"), "The gold tree has different words from the candidates"),
    ],
)
def test_bad_groups(arguments, message):
    with pytest.raises(es.InputError, match=message):
        Group(*arguments)


@pytest.mark.parametrize("name", ["k.jsonl", "k.jsonl.gz"])
def test_json_lines_round_trip(tmp_path, name):
    groups = [Group([A, B], [-1.25, -7.0], gold=C), Group(["(S (N \u00e9t\u00e9))"])]
    groups += [Group([TAGS, OTHER], [0.5, 0.25], gold=TAGS), Group([ARCS, TURNED], [0.5, 0.25], gold=TURNED)]
    write_groups(groups, tmp_path / name)
    assert read_groups(tmp_path / name) == groups


def test_the_layout_of_parsers_round_trips(tmp_path):
    groups = [Group([A, B], [-1.25, -7.0]), Group([C], [0.1])]
    write_groups(groups, tmp_path / "k.txt")
    assert read_groups(tmp_path / "k.txt") == groups
    assert read_groups(tmp_path / "k.txt", [C, A])[1].gold == es.Tree.from_brackets(A)
    with pytest.raises(es.InputError, match=r"cannot contain\. Write to a \.jsonl file"):
        write_groups([Group([A], gold=A)], tmp_path / "k.txt")
    with pytest.raises(TypeError, match="gold must be the trees themselves, got 'gold"):
        read_groups(tmp_path / "k.txt", "gold.mrg")
    with pytest.raises(es.InputError, match="2 groups, but there are 1 gold trees"):
        read_groups(tmp_path / "k.txt", [A])
    with pytest.raises(es.InputError, match="group 2: The gold tree has different words"):
        read_groups(tmp_path / "k.txt", [A, "(S (N dogs))"])


@pytest.mark.parametrize("name", ["k.conllu", "k.conllu.gz"])
def test_conllu_round_trips(tmp_path, name):
    arcs = es.DependencyTree(["rain"], ["N"], [0], ["root"], lemmas=["rain"], features=[["Number=Sing", "Case=Nom"]])
    bare = [dataclasses.replace(tree, features=[[], []]) for tree in (ARCS, TURNED)]
    groups = [Group(bare, [-1.25, -7.0]), Group(bare[:1], [0.1]), Group([arcs])]
    write_groups(groups, tmp_path / name)
    assert read_groups(tmp_path / name) == groups
    assert read_groups(tmp_path / name, [bare[1], bare[0], arcs])[0].gold == bare[1]


@pytest.mark.parametrize("name", ["k.conllu", "k.txt"])
def test_layouts_that_cannot_hold_a_kind_say_so(tmp_path, name):
    with pytest.raises(es.InputError, match="Group 1 has candidates of the kind TaggedSequence"):
        write_groups([Group([ARCS if name == "k.conllu" else A]), Group([TAGS])], tmp_path / name)
    with pytest.raises(es.InputError, match="a field that cannot be written in CoNLL-U"):
        write_groups([Group([es.DependencyTree(["a\tb"], ["N"], [0], ["root"])])], tmp_path / "k.conllu")
    assert not list(tmp_path.iterdir())


ONE = "1\tcats\tcat\tN\t_\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE, "sentence 1: it has no line '# sent_id = ...'"),
        (
            f"# sent_id = 4\n# score = 1\n{ONE}# sent_id = 4\n{ONE}",
            "sent_id 4: candidate 2 has no score, but others have",
        ),
        (f"# sent_id = 4\n{ONE}# sent_id = 5\n{ONE}# sent_id = 4\n{ONE}", "sent_id 4: it occurs again after other sen"),
        (f"# sent_id = 4\n# score = high\n{ONE}", "sent_id 4: '# score = ...' must be a number"),
        (
            f"# sent_id = 4\n{ONE}# sent_id = 4\n{ONE.replace('cats', 'dogs')}",
            "sent_id 4: Candidate 2 has different words",
        ),
    ],
)
def test_broken_conllu(tmp_path, text, message):
    (tmp_path / "k.conllu").write_text(text)
    with pytest.raises(es.InputError, match=message):
        read_groups(tmp_path / "k.conllu")


def test_scores_on_lines_of_their_own(tmp_path):
    (tmp_path / "k.txt").write_text(f"2 sentence-7\n-1.5\n{A}\n-2\n{B}\n\n1\n-3\n{C}\n")
    assert read_groups(tmp_path / "k.txt") == [Group([A, B], [-1.5, -2.0]), Group([C], [-3.0])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"-1.5 {A}\n", "line 1: expected the number of candidates here, got '-1.5"),
        (f"3\n-1 {A}\n-2 {B}\n", "line 4: expected the score of candidate 3 of the 3 that line 1 promises here"),
        (
            f"3\n-1 {A}\n-2 {B}\n\n1\n-1 {A}\n",
            "line 6: expected the tree of candidate 3 of the 3 that line 1 promises here",
        ),
        (
            f"3\n-1\n{A}\n-2\n{B}\n\n1\n-1\n{A}\n",
            "line 8: expected the tree of candidate 3 of the 3 that line 1 promises",
        ),
        (
            f"2\n-1\n{A}\n-2\n",
            "line 5: expected the tree of candidate 2 of the 2 that line 1 promises here, got ''",
        ),
        (
            f"1\n-1 {A}\n-2 {B}\n",
            "line 3: expected the number of candidates here, or line 1 promises too few, got '-2",
        ),
        (
            f"1\n-1 {A}\n3 {B}\n",
            r"line 3: expected the number of .*, or line 1 promises too few, got '3 \(X",
        ),
        (f"1\n{A}\n", "line 2: expected the score of candidate 1 of the 1 that line 1 promises here"),
        (f"{A}\n{B}\n", r"line 1: expected the number of candidates here, got '\(S"),
        (f"2\n-1 {A}\n-2 (S (N cats)\n", r"k\.txt, line 1, candidate 2, column 1: this bracket is never closed"),
        (
            '{"candidates": [{"tree": "(S a"}]}\n',
            r"k\.txt, line 1, candidate 1, column 1: this bracket is never closed",
        ),
        (
            '{"candidates": [{"tree": "(S a)"}], "gold": "(S a"}\n',
            r"k\.txt, line 1, the gold tree, column 1: this bracket is never closed",
        ),
        ('{"candidates": [{"tree": 3}]}\n', "line 1: as_tree converts"),
        (f"2\n-1 {A}\n-2 (S (N dogs))\n", "line 1: Candidate 2 has different words"),
        (f"{'9' * 5000}\n-1 {A}\n", "line 1: no sentence has 99999999999999999999... candidates"),
        (
            '{"candidates": [{"tree": "(S a)", "words": ["b"], "tags": ["N"]}]}\n',
            'line 1, candidate 1: it has "tree" and "words" and "tags", but a candidate has one or the other',
        ),
        ('{"candidates": []}\n', "line 1: A group needs at least one candidate"),
        ('{"trees": []}\n', "line 1: expected a group here"),
        ('{"trees": []}\n', 'and this is not an object with a list "candidates"'),
        ('{"candidates": {"tree": "(S a)"}}\n', 'and this is not an object with a list "candidates"'),
        ('{"candidates": ["(S a)"]}\n', "line 1: expected a group here, .*, and candidate 1 is not an object"),
        ('{"candidates": [{"score": 1}]}\n', "line 1, candidate 1: it has neither a tree nor words and tags"),
        (
            '{"candidates": [{"words": ["a"], "tags": ["N"], "heads": [0]}]}\n',
            'line 1, candidate 1: it has no "relations". A candidate has "tree", or',
        ),
        (
            '{"candidates": [{"words": ["a"], "tags": ["N"], "relations": ["root"]}]}\n',
            'line 1, candidate 1: it has no "heads"',
        ),
        (
            '{"candidates": [{"words": ["a"], "tags": ["N"]}], "gold": {"words": ["a"]}}\n',
            'line 1, the gold one: it has no "tags"',
        ),
        ('{"candidates": [{"words": ["a"], "tags": 3}]}\n', "line 1, candidate 1: tags must be a sequence of texts"),
        ('{"id": [1], "candidates": [{"tree": "(S a)"}]}\n', 'line 1: "id" names the sentence by a text or a whole'),
        ('[{"candidates": [{"tree": "(S a)"}]}]\n', r"k\.txt begins with '\[', like a JSON array, but JSON Lines"),
        ("[\n", r"k\.txt begins with '\[', like a JSON array"),
        ('{\n"candidates": []\n}\n', "line 1: expected a group here, .*, and this is not JSON on one line"),
        (
            '{"candidates": [{"tree": "(S a)", "score": "x"}]}\n',
            'line 1, candidate 1: "score" is "x"; a score is a finite number, written without quotes',
        ),
        ('{"candidates": [{"tree": "(S a)", "score": "1"}]}\n', 'line 1, candidate 1: "score" is "1"; a score is a'),
        ('{"candidates": [{"tree": "(S a)", "score": true}]}\n', 'line 1, candidate 1: "score" is true; a score is a'),
        ('{"candidates": [{"tree": "(S a)"}], "candidates": []}\n', 'line 1: an object has the key "candidates" twice'),
        (
            '{"candidates": [{"tree": "(S a)", "score": 1, "score": 2}]}\n',
            'line 1: an object has the key "score" twice',
        ),
        ("{broken\n", "line 1: expected a group here"),
    ],
)
def test_broken_files(tmp_path, text, message):
    (tmp_path / "k.txt").write_text(text)
    with pytest.raises(es.InputError, match=message):
        read_groups(tmp_path / "k.txt")


def test_an_empty_file_has_no_groups(tmp_path):
    (tmp_path / "k.txt").write_text("\n")
    assert read_groups(tmp_path / "k.txt") == []


def test_candidates_of_one_sentence_share_subtrees():
    group = Group([A, "(X (NP (N cats)) (VP (V sleep)))", "(S (NP (N cats)) (V sleep))"], gold=A)
    first, second, third = group.candidates
    assert first.children[0] is second.children[0] is third.children[0] and group.gold is first
    assert second.children[1] is first.children[1]


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("(S (A a) (B b) (C c))", "(S (X (A a) (B b)) (C c))", True),
        ("(S (X (A a) (B b)) (C c))", "(S (A a) (X (B b) (C c)))", True),
        ("(S (A a) (B b))", "(S (A a) (B b) (C c))", False),
        ("(S (A a) (B b) (C c))", "(S (A a) (B b))", False),
        ("(S (A a))", "(S (A b))", False),
        ("(S (A (B (C a))) (D a))", "(S (A a) (B (C (D a))))", True),
        ("(A a)", "(S (A a))", True),
    ],
)
def test_words_are_compared_whatever_the_trees(a, b, same):
    trees = [es.Tree.from_brackets(text) for text in (a, b)]
    for listed in ([a, b], trees):
        if same:
            assert len(Group(listed)) == 2
        else:
            with pytest.raises(es.InputError, match="has different words"):
                Group(listed)


def test_only_groups_are_made_of_lists_and_written(tmp_path):
    with pytest.raises(TypeError, match="candidates must be a list, got None"):
        Group(None)
    with pytest.raises(TypeError, match=r"write_groups needs a list of groups, got a single group\. Write \[group\]"):
        write_groups(Group([A]), tmp_path / "k.jsonl")
    with pytest.raises(TypeError, match="write_groups needs groups, got str at 0"):
        write_groups([A], tmp_path / "k.jsonl")
    assert not list(tmp_path.iterdir())


def test_a_line_break_in_a_word_is_kept_or_refused(tmp_path):
    groups = [Group([es.Tree("S", [es.Tree("N", [es.Tree("a\nb")])])])]
    write_groups(groups, tmp_path / "k.jsonl")
    assert read_groups(tmp_path / "k.jsonl") == groups
    with pytest.raises(es.InputError, match=r"a line break, which this layout cannot contain\. Write to a \.jsonl"):
        write_groups(groups, tmp_path / "k.txt")


def test_numbers_and_scores_may_stand_before_tabs(tmp_path):
    # As the parser of Charniak and Johnson writes it.
    (tmp_path / "k").write_text(f"2\twsj_1\r\n-120.5\r\n{A}\r\n-121.7\t{B}\r\n\r\n1   one more\n-3\t {C}\n")
    assert read_groups(tmp_path / "k") == [Group([A, B], [-120.5, -121.7]), Group([C], [-3.0])]
    (tmp_path / "k").write_text(f"1\n-3 {C}\n0 wsj_2\n")
    with pytest.raises(es.InputError, match="line 3: this sentence has no candidates, but a group needs at least one"):
        read_groups(tmp_path / "k")


def test_all_candidates_have_scores_or_none_has(tmp_path):
    path = tmp_path / "k.jsonl"
    path.write_text(json.dumps({"candidates": [{"tree": A, "score": -20.5}, {"tree": B}]}))
    with pytest.raises(es.InputError, match="line 1: candidate 2 has no score, but others have"):
        read_groups(path)
    path.write_text(json.dumps({"candidates": [{"tree": A}, {"tree": B}]}))
    assert read_groups(path) == [Group([A, B])]


def test_one_warning_lists_ignored_keys(tmp_path):
    path = tmp_path / "k.jsonl"
    record = {"id": "a", "speaker": 1, "candidates": [{"tree": A, "scoer": 1}, {"tree": B, "logprob": 2}]}
    path.write_text("\n".join([json.dumps(record)] * 3))
    with pytest.warns(UserWarning, match="these keys are ignored") as told:
        groups = read_groups(path)
    (only,) = told
    assert f'{path}: these keys are ignored: "speaker" of groups, "scoer" and "logprob" of candidates. ' in (
        str(only.message)
    )
    assert Path(only.filename) == Path(__file__) and len(groups) == 3
    path.write_text(
        json.dumps({"candidates": [{"tree": A} | dict.fromkeys("abcdefghij")], "gold": {"tree": A, "x": 0}})
    )
    with pytest.warns(UserWarning, match='"g", "h" and others of candidates, "x" of gold'):
        read_groups(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_groups([Group([ARCS], [1.0], ARCS, name="a"), Group([A], [1.0], A)], path)
        read_groups(path)


def test_ascii_blanks_alone_part_the_layout_of_parsers(tmp_path):
    path = tmp_path / "groups.txt"
    path.write_text("1\tnews\u00a01\n-1.5 (S\u00a0 (N a))\n")
    (group,) = es.read_groups(path)
    assert group.name == "news\u00a01"
    assert group.candidates[0].label == "S\u00a0"
    path.write_text("1\u00a0news\n-1.5 (S (N a))\n")
    with pytest.raises(es.InputError, match="expected the number of candidates here"):
        es.read_groups(path)


@pytest.mark.parametrize("score", ["\u00a0-1.5", "-1_0.5", "\u0661", "\x1f1.5"])
def test_scores_in_a_file_are_spelled_in_ascii(tmp_path, score):
    path = tmp_path / "parses.txt"
    path.write_text(f"1\n{score} (S (N a))\n", encoding="utf-8")
    with pytest.raises(es.InputError, match=r"line 2: expected the score of candidate 1 .* here"):
        es.read_groups(path)


@pytest.mark.parametrize("score", ["1_0", "\u0661"])
def test_scores_in_conllu_are_spelled_in_ascii(tmp_path, score):
    path = tmp_path / "parses.conllu"
    path.write_text(f"# sent_id = 4\n# score = {score}\n{ONE}", encoding="utf-8")
    with pytest.raises(es.InputError, match=r"sent_id 4: '# score = ...' must be a number"):
        es.read_groups(path)
