"""``espalier describe`` of CoNLL-U and of lists of candidates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.command_line import done, refused

import espalier as es
from espalier.structures import write_groups

CONLLU = """\
# newdoc id = a
# sent_id = 1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\t_\tAUX\tVB\t_\t0\troot\t_\t_
2\tn't\t_\tPART\tRB\t_\t1\tadvmod\t_\t_
2.1\tit\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = 2
1\ta\t_\tX\t_\t_\t3\tdep\t_\t_
2\tb\t_\tX\t_\t_\t4\tdep\t_\t_
3\tc\t_\tX\t_\t_\t0\troot\t_\t_
4\ta\t_\t_\t_\t_\t0\troot\t_\t_

# newdoc id = b
1\tdo\t_\tAUX\t_\t_\t_\t_\t_\t_
"""


def described(path: str) -> dict[str, str]:
    rows = (re.split(r"\s{2,}", line.strip()) for line in done("describe", path).stdout.splitlines())
    return dict(rows)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_conllu_is_counted_whatever_its_name_also_without_tags_and_heads(here):
    Path("x.txt").write_text(CONLLU)
    assert described("x.txt") == {
        "sentences": "3",
        "documents": "2",
        "words": "7",
        "distinct words": "5",
        "longest sentence": "4",
        "multiword tokens": "1",
        "empty nodes": "1",
        "UPOS tags": "3",
        "words without UPOS": "1",
        "XPOS tags": "2",
        "words without XPOS": "5",
        "relations": "3",
        "sentences without all heads": "1",
        "trees with several roots": "1",
        "trees with crossing arcs": "1",
    }


def lists() -> list[es.Group]:
    a, b = (es.DependencyTree(["a", "b"], ["X", "Y"], heads, ["r", "r"]) for heads in ([2, 0], [0, 1]))
    one = es.DependencyTree(["c"], ["X"], [0], ["r"])
    more = {"tags": [0.0, -1.0]}
    return [
        es.Group([a, b], [-1.0, -2.0], a, more_scores=more),
        es.Group([a, b], [-1.0, -2.0], b, more_scores=more, gold_added=True),
        es.Group([b, b], [-1.0, -2.0], a, more_scores=more),
        es.Group([one], more_scores={"tags": [0.0]}),
    ]


def test_candidates_are_counted_with_their_gold_trees_and_scores(here):
    write_groups(lists(), "x.jsonl")
    assert described("x.jsonl") == {
        "groups": "4",
        "kind": "dependency trees",
        "candidates": "7",
        "most candidates of a group": "2",
        "groups with one candidate": "1",
        "words": "7",
        "longest sentence": "2",
        "groups with gold": "3",
        "gold among the candidates": "2",
        "of these added as gold": "1",
        "groups without scores": "1",
        "further scores": "tags",
    }


def test_lists_in_conllu_and_in_the_layout_of_parsers_are_candidates_too(here):
    without = [es.Group(own.candidates, own.scores) for own in lists()]
    write_groups(without, "x.conllu")
    assert described("x.conllu")["groups"] == "4" and described("x.conllu")["candidates"] == "7"
    Path("x.kbest").write_text("2 s1\n-1.5\n(S (A a))\n-2.5 (S (B a))\n")
    found = described("x.kbest")
    assert found["groups"] == "1" and found["kind"] == "trees" and found["further scores"] == "none"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CONLLU.replace("\t1\tadvmod", "\t2\tadvmod"), "sentence 1, line 4: The heads form a circle"),
        (CONLLU.replace("\t0\troot\t_\t_\n2\tn't", "\tone\troot\t_\t_\n2\tn't"), "'one' is no head"),
        ('{"candidates": []}\n', "x, line 1"),
    ],
)
def test_what_is_wrong_is_named(here, text, message):
    Path("x").write_text(text)
    assert message in refused("describe", "x")
