"""``espalier candidates`` for CoNLL-U: lists of dependency trees from parsers that have not seen the sentence."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from tests.command_line import SLOW_CORE, done, interrupt, refused

import espalier as es
from dependency_files import conllu, verb_between_nouns
from espalier import DependencyTree
from espalier.cli.dependencies import Treebank
from espalier.parsing import DependencyParser, jackknifed_taggings, jackknifed_tags
from espalier.rerank import jackknifed

RNG = random.Random(6)
TREES = [verb_between_nouns(RNG) for _ in range(24)]
DOCUMENTS = [row // 4 for row in range(24)]
MAKE = DependencyParser.from_treebank
QUICK = ["--folds", "2", "--epochs", "1", "--order", "1"]
AS_QUICK = {"folds": 2, "epochs": 1, "order": 1}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("marked.conllu").write_text(conllu(TREES, documents=4))
    Path("plain.conllu").write_text(conllu(TREES))
    return tmp_path


def lists(file: str = "k.jsonl") -> list[tuple[object, ...]]:
    return [(group.candidates, group.scores, group.gold) for group in es.read_groups(file)]


def expected(trees=TREES, k=10, **options) -> list[tuple[object, ...]]:
    found = jackknifed(trees, k, make=MAKE, **options)
    return [(group.candidates, group.scores, group.gold) for group in found]


def test_parts_are_documents_and_names_are_kept(here):
    told = done("candidates", "marked.conllu", "-o", "k.jsonl", "-k", 3, "--seed", 2, *QUICK).stdout
    assert lists() == expected(k=3, random_state=2, documents=DOCUMENTS, **AS_QUICK)
    groups = es.read_groups("k.jsonl")
    assert [group.name for group in groups] == [f"s{row + 1}" for row in range(24)]
    n_found = sum(any(own.heads == group.gold.heads for own in group.candidates) for group in groups)
    total = sum(map(len, groups))
    assert told == f"k.jsonl: {total} candidates of 24 sentences; {n_found} have the gold tree among them\n"


def test_without_documents_sentences_with_the_same_words_are_in_one_part(here):
    assert len({tree.words for tree in TREES}) < len(TREES)
    done("candidates", "plain.conllu", "-o", "k.jsonl", *QUICK)
    assert lists() == expected(**AS_QUICK)  # 10 candidates by default
    Path("single.conllu").write_text(conllu(TREES[:4], documents=1))
    done("candidates", "marked.conllu", "single.conllu", "single.conllu", "-o", "k.jsonl", *QUICK)
    both = [*TREES, *TREES[:4], *TREES[:4]]
    assert lists() == expected(both, documents=[*DOCUMENTS, *(tree.words for tree in both[24:])], **AS_QUICK)


def test_tags_are_those_of_a_column_or_of_taggers_that_have_not_seen_the_sentence(here):
    done("candidates", "marked.conllu", "-o", "k.jsonl", "--tags", "upos", *QUICK)
    assert lists() == expected(es.read_conllu("plain.conllu"), documents=DOCUMENTS, **AS_QUICK)
    done("candidates", "marked.conllu", "-o", "k.jsonl", "--tag-folds", 3, "--seed", 1, *QUICK)
    taggings = jackknifed_taggings(TREES, 4, folds=3, documents=DOCUMENTS)
    assert lists() == expected(documents=DOCUMENTS, taggings=taggings, random_state=1, **AS_QUICK)
    done("candidates", "marked.conllu", "-o", "k.jsonl", "--tag-folds", 3, "--taggings", 1, "--seed", 1, *QUICK)
    tagged = jackknifed_tags(TREES, folds=3, documents=DOCUMENTS)
    assert lists() == expected(tagged, documents=DOCUMENTS, random_state=1, **AS_QUICK)


def test_without_documents_no_tagger_has_seen_a_sentence_with_the_same_words():
    rng = random.Random(2)
    # Only who has seen a word knows its tag, and each sentence is there twice.
    once = [DependencyTree([f"{n}"], [rng.choice(["NOUN|NN", "VERB|VB"])], [0], ["root"]) for n in range(20)]
    found = Treebank.of([(Path("twice.conllu"), conllu([*once, *once]))], "joint").taggings(3, "--folds")
    expected = jackknifed_tags([*once, *once], folds=3)
    assert [own[0].sequence.tags for own in found] == [tree.tags for tree in expected]
    assert expected != jackknifed_tags([*once, *once], folds=3, documents=range(40))


def test_one_word_and_nothing_but_punctuation(here):
    lines = ["1\t!\t_\tPUNCT\t.\t_\t0\troot\t_\t_\n", "1\tdog\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n"]
    Path("short.conllu").write_text("\n".join(lines))
    done("grammar", "short.conllu", "-o", "p")
    assert done("parse", "p", "short.conllu").stdout == "\n".join(lines)
    Path("one.conllu").write_text(lines[0])
    for command in (["candidates"], ["tag", "candidates"], ["grammar"]):
        told = refused(*command, "one.conllu", "-o", "k.jsonl", "--folds", 2)
        assert (
            "--folds divides different sentences into parts, of which each is held out once, and there is one" in told
        )


def test_the_weight_of_taggings(here):
    taggings = jackknifed_taggings(TREES, 4, folds=3, documents=DOCUMENTS)
    options = {"documents": DOCUMENTS, "taggings": taggings, **AS_QUICK}
    found = []
    for weight in (0.0, 0.5, 30.0):
        done("candidates", "marked.conllu", "-o", "k.jsonl", "--tag-folds", 3, "--tag-weight", weight, *QUICK)
        found.append(lists())
        assert found[-1] == expected(tag_weight=weight, **options)
    assert found[0] != found[1] == expected(**options) != found[2]


def test_gold_trees_are_added(here):
    # A chain, here and there, is hard to find.
    odd = [replace(tree, heads=range(len(tree))) if row % 5 == 0 else tree for row, tree in enumerate(TREES)]
    Path("marked.conllu").write_text(conllu(odd, documents=4))
    done("candidates", "marked.conllu", "-o", "k.jsonl", "-k", 1, *QUICK)
    without = lists()
    told = done("candidates", "marked.conllu", "-o", "k.jsonl", "-k", 1, "--add-gold", *QUICK).stdout
    assert lists() == expected(odd, k=1, documents=DOCUMENTS, add_gold=True, **AS_QUICK) != without
    assert "of 24 sentences; 24 have the gold tree among them" in told
    assert {len(candidates) for candidates, _, _ in without} == {1}
    tagged = ["--tag-folds", 3, "--folder", "parts"]
    for _ in range(2):
        done("candidates", "marked.conllu", "-o", "k.jsonl", "-k", 1, "--add-gold", *tagged, *QUICK)
        taggings = jackknifed_taggings(odd, 4, folds=3, documents=DOCUMENTS)
        assert lists() == expected(odd, k=1, documents=DOCUMENTS, taggings=taggings, add_gold=True, **AS_QUICK)


def test_a_reranker_learns_from_the_lists(here):
    done("candidates", "marked.conllu", "-o", "k.jsonl", "-k", 4, *QUICK)
    done("rerank", "fit", "k.jsonl", "-o", "r")
    assert "best of each list" in done("rerank", "score", "r", "k.jsonl").stdout


def test_finished_parts_are_read_again(here, monkeypatch):
    command = ["candidates", "marked.conllu", "-o", "k.jsonl", *QUICK, "--folder", "parts"]
    done(*command)
    first = lists()
    Path("parts/part-2-of-2.jsonl").unlink()
    made = []
    monkeypatch.setattr(DependencyParser, "parse_all", _counting(DependencyParser.parse_all, made))
    done(*command)
    assert lists() == first and len(made) == 1
    assert "parts holds parts of another call: k is '10' there and '3' here" in refused(*command, "-k", "3")
    told = refused(*command, "--memory", "2 GiB")
    assert "DependencyParser(chart_memory='1 GiB')\" there and \"DependencyParser(chart_memory='2 GiB')" in told


def _counting(real, made):
    def parse_all(self, *arguments, **options):
        made.append(self)
        return real(self, *arguments, **options)

    return parse_all


def test_parts_of_bracketed_trees_are_kept_too(here):
    words = ["cats", "dogs", "mice", "men"]
    Path("trees.mrg").write_text("\n".join(f"(S (NP (N {word})) (VP (V sleep)))" for word in words))
    command = ["candidates", "trees.mrg", "-o", "k.jsonl", "--folds", "2", "--folder", "parts"]
    done(*command)
    first = lists()
    Path("parts/part-1-of-2.jsonl").unlink()
    done(*command)
    assert lists() == first == expected_of_trees(Path("trees.mrg").read_text().splitlines())


def expected_of_trees(trees: list[str]) -> list[tuple[object, ...]]:
    return [(group.candidates, group.scores, group.gold) for group in jackknifed(trees, folds=2)]


def test_wrong_memory_is_reported_before_a_parser_is_learned(here, monkeypatch):
    monkeypatch.setattr(DependencyParser, "from_treebank", None)
    assert "much" in refused("candidates", "marked.conllu", "-o", "k.jsonl", "--memory", "much", *QUICK)


def test_sentences_that_need_more_memory_are_told(here):
    lines = "".join(f"{n}\tdog\t_\tNOUN\tNN\t_\t{n - 1}\tx\t_\t_\n" for n in range(1, 301))
    Path("long.conllu").write_text(conllu(TREES) + lines)
    result = done("candidates", "long.conllu", "-o", "k.jsonl", "-k", 2, "--memory", "100 kB", *QUICK[:4])
    assert result.stderr == "1 of 25 sentences need more memory than 100 kB, so that fewer heads were tried.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["marked.conllu", "-o", "k.jsonl", "--folds", "7"],
            "--folds must be an integer from 2 to the number of docum",
        ),
        (["marked.conllu", "-o", "k.jsonl", "--tag-folds", "7"], "--tag-folds must be an integer from 2 to the number"),
        (["plain.conllu", "-o", "k.jsonl", "--folds", "25"], "number of different sentences"),
        (["marked.conllu", "trees.mrg", "-o", "k.jsonl"], "marked.conllu is CoNLL-U and trees.mrg is not"),
        (["marked.conllu", "-o", "k.conllu"], "only .jsonl files hold these"),
        (["marked.conllu", "-o", "k.jsonl", "--markov", "2,1"], "--markov belongs to treebanks of bracketed trees"),
        (["marked.conllu", "-o", "k.jsonl", "--beam", "2"], "--beam belongs to treebanks of bracketed trees"),
        (["marked.conllu", "-o", "k.jsonl", "--coarse", "2"], "--coarse belongs to treebanks of bracketed trees"),
        (["marked.conllu", "-o", "k.jsonl", "--unknown", "3"], "--unknown belongs to treebanks of bracketed trees"),
        (["marked.conllu", "-o", "k.jsonl", "--skip"], "--skip belongs to treebanks of bracketed trees"),
        (["trees.mrg", "-o", "k.jsonl", "--order", "1"], "--order belongs to treebanks of CoNLL-U"),
        (["trees.mrg", "-o", "k.jsonl", "--epochs", "1"], "--epochs belongs to treebanks of CoNLL-U"),
        (["trees.mrg", "-o", "k.jsonl", "--tags", "upos"], "--tags belongs to treebanks of CoNLL-U"),
        (["trees.mrg", "-o", "k.jsonl", "--add-gold"], "--add-gold belongs to treebanks of CoNLL-U"),
        (["trees.mrg", "-o", "k.jsonl", "--tag-weight", "2"], "--tag-weight belongs to treebanks of CoNLL-U"),
        (["marked.conllu", "-o", "k.jsonl", "--tag-weight", "2"], "--tag-weight belongs to --tag-folds"),
        (["trees.mrg", "-o", "k.jsonl", "--tag-folds", "2"], "--tag-folds belongs to treebanks of CoNLL-U"),
        (["marked.conllu", "-o", "k.jsonl", "--folder", "trees.mrg"], "trees.mrg is a file, and a folder is needed"),
        (["circle.conllu", "-o", "k.jsonl"], "The heads form a circle"),
        (["untagged.conllu", "-o", "k.jsonl"], "sentence 1: the word 'a' has no tag. Tag the file first"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(arguments, message, here):
    Path("trees.mrg").write_text("(S (N a))")
    Path("circle.conllu").write_text("1\ta\t_\tX\tY\t_\t1\tx\t_\t_\n")
    Path("untagged.conllu").write_text("1\ta\t_\t_\t_\t_\t0\tx\t_\t_\n")
    assert message in refused("candidates", *arguments)


def test_an_interruption_exits_with_130_and_leaves_nothing(here):
    interrupt(SLOW_CORE, "at work", "train_dependencies", "candidates", "marked.conllu", "-o", "k.jsonl", *QUICK)
