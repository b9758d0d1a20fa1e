"""``espalier evaluate`` for dependency parses: the counts, the sentences that are left out, and bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import done, refused

import espalier as es
from dependency_files import conllu
from espalier import DependencyTree
from espalier.parsing import evaluate, evaluate_attachment, oracle

FIRST = DependencyTree(
    ["cats", "sleep", "here", "!"],
    ["NOUN|NNS", "VERB|VBP", "ADV|RB", "PUNCT|."],
    [2, 0, 2, 2],
    ["nsubj", "root", "advmod:lmod", "punct"],
)
SECOND = DependencyTree(["dogs", "bark"], ["NOUN|NNS", "VERB|VBP"], [2, 0], ["nsubj", "root"])
PARSES = [
    replace(FIRST, heads=(2, 0, 2, 3), relations=("obj", "root", "advmod", "punct")),  # 3 heads, 1 arc, 2 universal
    SECOND,
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("gold.conllu").write_text(conllu([FIRST, SECOND]))
    Path("parsed.conllu").write_text(conllu(PARSES))
    return tmp_path


def table(*arguments: object) -> dict[str, list[str]]:
    lines = done("evaluate", *arguments).stdout.splitlines()
    cells = [[own.strip() for own in line.split("  ") if own.strip()] for line in lines]
    return {own[0]: own[1:] for own in cells}


def test_all_tokens_and_those_without_punctuation(here):
    assert table("gold.conllu", "parsed.conllu") == {
        "all tokens": ["without punctuation"],
        "sentences": ["2", "2"],
        "tokens": ["6", "5"],
        "UAS": ["83.33", "100.00"],
        "LAS": ["50.00", "60.00"],
        "LAS, universal relations": ["66.67", "80.00"],
        "all heads right": ["50.00", "100.00"],
        "all arcs right": ["50.00", "50.00"],
    }
    for column, counts in enumerate((True, False)):
        own = evaluate_attachment([FIRST, SECOND], PARSES, punctuation=counts)
        assert table("gold.conllu", "parsed.conllu")["LAS"][column] == f"{own.las:.2f}"
    assert table("gold.conllu", "gold.conllu")["all arcs right"] == ["100.00", "100.00"]


def test_of_punctuation_alone_there_is_no_share_without_it(here):
    Path("gold.conllu").write_text("1\t!\t_\tPUNCT\t.\t_\t0\troot\t_\t_\n")
    found = table("gold.conllu", "gold.conllu")
    assert found["tokens"] == ["1", "0"]
    assert found["UAS"] == found["LAS"] == found["all arcs right"] == ["100.00", "-"]


def as_json(*arguments: object) -> dict[str, Any]:
    return json.loads(done("evaluate", *arguments, "--json").stdout)


def test_json_has_the_measures_of_python(here):
    found = as_json("gold.conllu", "parsed.conllu")
    assert (found["sentences"], found["left_out"]) == (2, 0)
    for name, counts in (("all_tokens", True), ("without_punctuation", False)):
        own = evaluate_attachment([FIRST, SECOND], PARSES, punctuation=counts)
        universal = evaluate_attachment([FIRST, SECOND], PARSES, punctuation=counts, subtypes=False)
        expected = {measure: getattr(own, measure) for measure in own.ratios}
        assert found[name] == {"tokens": sum(own.tokens), **expected, "las_universal": universal.las}
    Path("other.conllu").write_text(conllu(PARSES).replace("dogs", "wolves"))
    assert as_json("gold.conllu", "other.conllu", "--skip")["left_out"] == 1
    Path("trees.mrg").write_text("(S (A (N a)) (B (V b)))")
    own = evaluate(["(S (A (N a)) (B (V b)))"], ["(S (A (N a)) (B (V b)))"])
    counts = {"sentences": 1, "left_out": 0, "gold_constituents": 3}
    names = ("precision", "recall", "f1", "exact_match", "score", "tagging")
    assert as_json("trees.mrg", "trees.mrg") == counts | {name: getattr(own, name) for name in names}


@pytest.mark.parametrize("name", ["lists.jsonl", "lists.conllu"])
def test_the_first_and_the_best_of_lists(here, name):
    lists = [[PARSES[0], FIRST, PARSES[0]], [replace(SECOND, heads=(0, 1)), SECOND]]
    es.structures.write_groups([es.Group(own, name=f"s{row}") for row, own in enumerate(lists)], name)
    found = as_json("gold.conllu", name)
    assert list(found) == ["first", "best"]
    for column, counts in (("all_tokens", True), ("without_punctuation", False)):
        first = evaluate_attachment([FIRST, SECOND], [own[0] for own in lists], punctuation=counts)
        _, best = oracle([FIRST, SECOND], lists, punctuation=counts)
        assert found["first"][column]["las"] == first.las < found["best"][column]["las"] == best.las == 100.0
    lines = done("evaluate", "gold.conllu", name).stdout.splitlines()
    assert lines[0].split("  ")[0].strip() == "first of each list" and lines[8].startswith(" best of each list")
    assert max(map(len, lines)) <= 60
    es.structures.write_groups([es.Group(own, name="x") for own in lists[1:]], name)
    assert "gold.conllu has 2 sentences and " in refused("evaluate", "gold.conllu", name)
    assert "Each list needs its gold tree" in refused("evaluate", "gold.conllu", name)


def test_lists_of_other_words_or_of_another_kind(here):
    es.structures.write_groups([es.Group([tree]) for tree in (FIRST, replace(SECOND, words=("a", "b")))], "k.jsonl")
    assert "k.jsonl, sentence 2: it has different words" in refused("evaluate", "gold.conllu", "k.jsonl")
    assert as_json("gold.conllu", "k.jsonl", "--skip")["best"]["left_out"] == 1
    es.structures.write_groups([es.Group(["(S (N a))"])] * 2, "k.jsonl")
    assert "k.jsonl, group 1: it holds trees, and dependency trees are needed" in (
        refused("evaluate", "gold.conllu", "k.jsonl")
    )


def test_tags_and_lemmas_are_not_compared_and_tags_may_be_missing(here):
    bare = [line.split("\t") for line in conllu(PARSES).splitlines()]
    text = "\n".join("\t".join([*own[:2], "l", "_", "_", "_", *own[6:]]) if own[1:] else own[0] for own in bare)
    Path("bare.conllu").write_text(text)
    assert table("gold.conllu", "bare.conllu") == table("gold.conllu", "parsed.conllu")


def test_the_table_fits_in_60_columns(here):
    assert max(map(len, done("evaluate", "gold.conllu", "parsed.conllu").stdout.splitlines())) <= 60


def test_sentences_with_other_words_are_left_out(here):
    Path("other.conllu").write_text(conllu(PARSES).replace("dogs", "wolves"))
    assert "other.conllu, sentence 2 (s2): it has different words from its gold tree" in (
        refused("evaluate", "gold.conllu", "other.conllu")
    )
    found = table("gold.conllu", "other.conllu", "--skip")
    assert found["sentences"] == ["1", "1"] and found["left out"] == ["1", "1"] and found["tokens"] == ["4", "3"]
    assert "left out" not in table("gold.conllu", "parsed.conllu", "--skip")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gold.conllu", "one.conllu"], "gold.conllu has 2 sentences and one.conllu 1. Each parse needs its gold tree"),
        (["gold.conllu", "trees.mrg"], "gold.conllu is CoNLL-U and trees.mrg is not"),
        (["trees.mrg", "gold.conllu"], "gold.conllu is CoNLL-U and trees.mrg is not"),
        (["gold.conllu", "empty"], "gold.conllu is CoNLL-U and empty is not"),
        (["gold.conllu", "circle.conllu"], "circle.conllu, sentence 1 from line 1 on"),
        (["gold.conllu", "headless.conllu"], "has no head"),
        (["gold.conllu", "comments.conllu"], "comments.conllu contains no sentence"),
        (["comments.conllu", "comments.conllu"], "comments.conllu contains no sentence"),
        (["gold.conllu", "nowhere"], "nowhere: No such file or directory"),
        (["gold.conllu", "parsed.conllu", "--all-punctuation"], "--all-punctuation belongs to bracketed trees"),
        (["gold.conllu", "parsed.conllu", "--all-labels"], "--all-labels belongs to bracketed trees"),
        (["-", "-"], "standard input, which can be read only once"),
    ],
)
def test_a_mistake_is_one_message(arguments, message, here):
    Path("one.conllu").write_text(conllu([FIRST]))
    Path("trees.mrg").write_text("(S (N a))")
    Path("empty").write_text("\n")
    Path("comments.conllu").write_text("# a comment\n")
    Path("circle.conllu").write_text("1\ta\t_\tX\tY\t_\t1\tx\t_\t_\n")
    Path("headless.conllu").write_text("1\ta\t_\tX\tY\t_\t_\tx\t_\t_\n")
    assert message in refused("evaluate", *arguments)


def test_no_figure_is_cut_in_a_narrow_terminal(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    told = done("evaluate", "gold.conllu", "gold.conllu").stdout
    assert told.count("100.00") == 10 and "…" not in told
