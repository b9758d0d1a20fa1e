"""From a treebank to parses: what the commands write, and what they say of bad input."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest
from tests.command_line import done, interrupt, invoke, refused

import espalier as es
from espalier.cli import proposals
from espalier.demo import generate_attachments
from espalier.parsing import PCFG, evaluate
from espalier.rerank import jackknifed

TREES = generate_attachments(60, seed=4)
KNOWN, NEW = TREES[:40], TREES[40:]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a treebank, its grammar and new sentences."""
    monkeypatch.chdir(tmp_path)
    es.structures.write_brackets(KNOWN, "known.mrg")
    es.structures.write_brackets(NEW, "new.mrg")
    Path("new.txt").write_text("".join(f"{' '.join(tree.words())}\n" for tree in NEW))
    PCFG.from_treebank(KNOWN).save("grammar.safetensors")
    return tmp_path


def test_a_grammar_is_learned_from_several_files(here):
    es.structures.write_brackets(KNOWN[:10], "a.mrg.gz")
    Path("b.mrg").write_text("".join(f"( {tree} )\n" for tree in KNOWN[10:]) + "( (S (-NONE- *)) )")
    result = done("grammar", "a.mrg.gz", "b.mrg", "-o", "g", "--markov", "2,1", "--skip")
    assert result.stdout.startswith("g: ") and result.stdout.endswith(" words of 40 trees\n")
    assert result.stderr == "1 of 41 trees have no words, or a word without a tag: they are left out.\n"
    assert PCFG.load("g").grammar.symbols == PCFG.from_treebank(KNOWN, markov=(2, 1)).grammar.symbols


def test_faults_of_trees_tell_line_number_and_spelling(here):
    Path("spread.mrg").write_text(
        "(S (N cats)\n   (V sleep)) (S (N dogs))\n\n\n( (S-TOP (NP-SBJ=1 (-NONE- *T*-1))\n (V  bark) so))"
    )
    result = invoke("grammar", "spread.mrg", "-o", "g")
    assert result.exit_code == 2 and not Path("g").exists()
    assert "spread.mrg, line 5, tree 3: it has a word without a tag above it. Pass --skip to" in result.stderr
    assert "( (S-TOP (NP-SBJ=1 (-NONE- *T*-1)) (V bark) so))" in " ".join(result.stderr.split())


def test_trees_without_words_are_left_out_of_what_is_parsed(here):
    text = NEW[0].to_brackets()
    Path("mixed.mrg").write_text(
        f"(S (-NONE- *))\n{text}\n(S (N dogs) bark)\n(S () (N dogs))\n{text}\n(S (N x) (N y))\n"
    )
    options = ("--format", "brackets", "-o", "k.jsonl")
    assert invoke("parse", "grammar.safetensors", "mixed.mrg", *options).exit_code == 2
    result = done("parse", "grammar.safetensors", "mixed.mrg", *options, "--skip")
    assert result.stderr.startswith("2 of 6 trees lack words: they are left out.\n")
    assert [str(group.gold) for group in es.read_groups("k.jsonl")] == [
        text,
        "(S (N dogs) bark)",
        text,
        "(S (N x) (N y))",
    ]
    told = done("parse", "grammar.safetensors", "mixed.mrg", *options, "--skip", "--tagged").stderr
    assert told.startswith("3 of 6 trees lack words or tags: they are left out.\n")
    # Numbers are those of the file, whatever was left out.
    assert "1 of 3 sentences are not covered by the grammar; the first is on line 6, tree 6.\n" in told


def test_the_best_tree_of_each_sentence_on_a_line(here):
    best = [parses[0].tree for parses in PCFG.load("grammar.safetensors").parse_all([t.words() for t in NEW], 1)]
    result = done("parse", "grammar.safetensors", "new.txt")
    assert result.stdout.splitlines() == [tree.to_brackets() for tree in best]
    assert (
        done("parse", "grammar.safetensors", "new.txt", "-o", "best.mrg").stdout == "best.mrg: parses of 20 sentences\n"
    )
    assert es.read_brackets("best.mrg") == best


def test_standard_output_holds_every_character_of_the_words(here):
    Path("odd.txt").write_text("the \x1b[31mcat sleeps\n")
    done("parse", GRAMMAR, "odd.txt", "-o", "odd.mrg")
    written = Path("odd.mrg").read_text()
    assert "\x1b[31mcat" in written
    assert done("parse", GRAMMAR, "odd.txt").stdout == done("parse", GRAMMAR, "odd.txt", "-o", "-").stdout == written


def test_lists_of_candidates(here, monkeypatch):
    monkeypatch.setattr(proposals, "N_SENTENCES", 7)  # several at a time, the last fewer
    done("parse", "grammar.safetensors", "new.txt", "-k", 3, "-o", "k.txt", "--threads", 2)
    done("parse", "grammar.safetensors", "new.mrg", "-k", 3, "-o", "k.jsonl", "--format", "brackets")
    parsed = PCFG.load("grammar.safetensors").parse_all([tree.words() for tree in NEW], 3)
    plain, with_gold = es.read_groups("k.txt"), es.read_groups("k.jsonl")
    assert [list(group.candidates) for group in plain] == [parses.candidates for parses in parsed]
    assert [list(group.scores) for group in plain] == [[parse.score for parse in parses] for parses in parsed]
    assert [group.gold for group in with_gold] == NEW
    assert [group.candidates for group in with_gold] == [group.candidates for group in plain]
    assert done("parse", "grammar.safetensors", "new.txt", "-k", 3).stdout == Path("k.txt").read_text()


def test_names_in_jsonl_hold_a_hundred_by_default(here):
    done("parse", "grammar.safetensors", "new.txt", "-o", "k.jsonl")
    assert 10 < max(map(len, es.read_groups("k.jsonl"))) <= 100


def test_trees_lose_traces_and_function_tags_before_they_are_gold(here):
    Path("raw.mrg").write_text("(ROOT (S (NP-SBJ (DT the) (NN sailor)) (VP (VBD found) (NP (-NONE- *T*-1))) (. .)))")
    done("parse", "grammar.safetensors", "raw.mrg", "-o", "k.jsonl", "--format", "brackets")
    (group,) = es.read_groups("k.jsonl")
    assert str(group.gold) == "(S (NP (DT the) (NN sailor)) (VP (VBD found)) (. .))"


def test_tags_are_kept_and_unknown_ones_passed_over(here):
    Path("tagged.txt").write_text("the/DT zork/NN found/VBD the/DT and/or/ZZZ ./.\n")
    result = done("parse", "grammar.safetensors", "tagged.txt", "--tagged")
    (tree,) = (es.Tree.from_brackets(line) for line in result.stdout.splitlines())
    assert str(tree) == "(S (NP (DT the) (NN zork)) (VP (VBD found) (NP (DT the) (NN and/or))) (. .))"
    of_trees = done("parse", "grammar.safetensors", "new.mrg", "--tagged", "--format", "brackets").stdout
    found = [es.Tree.from_brackets(line) for line in of_trees.splitlines()]
    assert evaluate(NEW, found).tagging == 100.0


def test_words_end_at_ascii_blanks_and_files_with_empty_lines(here):
    Path("k.txt").write_text("the\u00a0old sailor\tfound \n\n \n")
    (tree,) = map(es.Tree.from_brackets, done("parse", "grammar.safetensors", "k.txt").stdout.splitlines())
    assert tree.words() == ["the\u00a0old", "sailor", "found"]
    Path("k.txt").write_text("the\u00a0old/NN found/VBD\n\n")
    (tree,) = map(es.Tree.from_brackets, done("parse", "grammar.safetensors", "k.txt", "--tagged").stdout.splitlines())
    assert tree.words() == ["the\u00a0old", "found"]


def test_empty_lines_stay_empty_and_are_left_out_of_lists(here):
    lines = Path("new.txt").read_text().splitlines()
    Path("gaps.txt").write_text("\n".join(["", *lines[:2], " \t", "", *lines[2:4], "", ""]))
    whole = done("parse", GRAMMAR, "new.txt").stdout.splitlines()
    found = done("parse", GRAMMAR, "gaps.txt")
    assert found.stdout == "\n".join(["", *whole[:2], "", "", *whole[2:4], ""])
    assert found.stderr == "3 of 7 lines have no words: they stay empty.\n"
    told = done("parse", GRAMMAR, "gaps.txt", "-k", 2, "-o", "k.txt").stderr
    assert told == "3 of 7 lines have no words: they are left out.\n"
    told = done("parse", GRAMMAR, "gaps.txt", "-k", 2, "-o", "k.jsonl").stderr
    assert told == "3 of 7 lines have no words: they are left out, and the others are named by their lines.\n"
    groups = es.read_groups("k.jsonl")
    assert groups == es.read_groups("k.txt") and [group.name for group in groups] == ["2", "3", "6", "7"]
    Path("gaps.txt").write_text("\n\nso dogs bark bark\n")
    assert "the first is on line 3.\n" in done("parse", GRAMMAR, "gaps.txt").stderr


@pytest.mark.parametrize("text", ["2\n-1 (S (N a))\n-2 (X (N a))\n", '{"id": "a", "candidates": []}\n'])
def test_groups_in_a_pipe_are_told_from_trees(here, text):
    os.mkfifo("pipe")
    threading.Thread(target=Path("pipe").write_text, args=(text,), daemon=True).start()
    assert "pipe looks like groups of candidates" in invoke("grammar", "pipe", "-o", "g").stderr


def test_what_is_not_covered_is_said_and_kept(here):
    rng = random.Random(0)
    long = rng.choices([word for tree in KNOWN for word in tree.words()], k=300)
    sentences = [NEW[0].words(), ["zork", "Blorped", "12-ish", "(", "!"], long]
    Path("odd.txt").write_text("".join(f"{' '.join(words)}\n" for words in sentences))
    result = done("parse", "grammar.safetensors", "odd.txt", "--beam", 12)
    trees = [es.Tree.from_brackets(line) for line in result.stdout.splitlines()]
    assert [tree.words() for tree in trees] == sentences
    assert result.stderr == "2 of 3 sentences are not covered by the grammar; the first is on line 2.\n"


def test_what_needs_more_memory_is_said_once(here, monkeypatch):
    monkeypatch.setattr(proposals, "N_SENTENCES", 1)
    words = " ".join(" ".join(tree.words()[:-1]) for tree in NEW)
    Path("long.txt").write_text(f"{' '.join(NEW[0].words())}\n{words}\n{words}\n")
    result = done("parse", "grammar.safetensors", "long.txt", "--memory", "100 kB", "-o", "long.mrg")
    assert "2 of 3 sentences need more memory than 100 kB" in result.stderr and "line 2." in result.stderr
    assert [len(tree.words()) for tree in es.read_brackets("long.mrg")] == [
        len(NEW[0].words()),
        *[len(words.split())] * 2,
    ]


def test_options_of_grammars_and_parsers(here):
    done("grammar", "known.mrg", "-o", "g", "--markov", "2,2", "--split-tags", "--least", 3)
    own = PCFG.from_treebank(KNOWN, markov=(2, 2), split_tags=True, least=3)
    assert PCFG.load("g").grammar.symbols == own.grammar.symbols
    done("parse", "g", "new.txt", "--coarse", 10, "--beam", 12, "-o", "new.jsonl")
    parsed = own.parse_all([tree.words() for tree in NEW], coarse=10, beam=12)
    assert [list(group.candidates) for group in es.read_groups("new.jsonl")] == [own.candidates for own in parsed]
    done("candidates", "known.mrg", "-k", 3, "-o", "c.jsonl", "--split-tags", "--markov", "2,2", "--folds", 2)
    assert es.read_groups("c.jsonl") == jackknifed(KNOWN, 3, folds=2, split_tags=True, markov=(2, 2))


def test_candidates_are_searched_as_parses_are(here):
    own: list[PCFG] = []

    class Coarse(PCFG):
        def parse_all(self, *arguments, **options):
            return super().parse_all(*arguments, coarse=1.0, **options)

    def make(trees, **options):
        own.append(PCFG.from_treebank(trees, **options))
        return Coarse(own[-1].grammar, own[-1].lexicon, own[-1].labels, hides_root=own[-1].hides_root)

    done("candidates", "known.mrg", "-k", 9, "-o", "c.jsonl", "--folds", 2, "--coarse", 1, "--smoothing", 7)
    groups = es.read_groups("c.jsonl")
    assert groups == jackknifed(KNOWN, 9, folds=2, smoothing=7.0, make=make)
    assert [list(map(len, jackknifed(KNOWN, 9, folds=2, smoothing=7.0)))] != [list(map(len, groups))]
    words = " ".join(" ".join(tree.words()[:-1]) for tree in NEW)
    long = "".join(f"(NP (NN {word}))" for word in words.split())
    Path("long.mrg").write_text(f"(S {long})\n{Path('known.mrg').read_text()}")
    result = done("candidates", "long.mrg", "-k", 2, "-o", "d.jsonl", "--folds", 2, "--memory", "100 kB")
    told = "1 of 41 sentences need more memory than 100 kB, so that their parses are not exactly the best.\n"
    assert result.stderr == told


def test_candidates_come_from_grammars_that_have_not_seen_the_sentence(here):
    result = done("candidates", "known.mrg", "-o", "k.jsonl", "-k", 5, "--folds", 4, "--seed", 3, "--markov", "1")
    groups = es.read_groups("k.jsonl")
    assert groups == jackknifed(KNOWN, 5, folds=4, random_state=3, markov=(1, None))
    Path("untagged.mrg").write_text("(S (N a) b)")
    skipped = done("candidates", "untagged.mrg", "known.mrg", "-o", "s.jsonl", "-k", 5, "--folds", 2, "--skip")
    assert skipped.stderr.startswith("1 of 41 trees have") and len(es.read_groups("s.jsonl")) == 40
    found = sum(group.gold in group.candidates for group in groups)
    assert result.stdout == (
        f"k.jsonl: {sum(map(len, groups))} candidates of 40 sentences; {found} have the gold tree among them\n"
    )


GOLD = "(TOP (S (NP-SBJ (N cats)) (VP (V sleep) (PRT (R up))) (NP (-NONE- *)) (. .)))"
PARSE = "(S (NP (N cats)) (VP (V sleep)) (ADVP (R up)) (. .))"


def measured(*options: str) -> dict[str, str]:
    lines = done("evaluate", "gold.mrg", "parsed.mrg", *options).stdout.splitlines()
    return {" ".join(line.split()[:-1]): line.split()[-1] for line in lines}


def test_evaluation_by_the_rules_of_collins_and_without(here):
    Path("gold.mrg").write_text(GOLD)
    Path("parsed.mrg").write_text(PARSE)
    found = measured()
    assert found["sentences"] == "1" and found["gold constituents"] == "4"
    assert found["precision"] == found["recall"] == found["F1"] == found["score"] == "75.00"
    assert found["exact"] == "0.00" and found["tags"] == "100.00"
    assert measured("--all-labels")["recall"] == "40.00"  # TOP is missed, and PRT is no ADVP
    Path("parsed.mrg").write_text(PARSE.replace("(. .)", "(, .)"))
    assert measured("--all-punctuation")["tags"] == "75.00" and measured()["tags"] == "100.00"


LINE = "the sailor found the hat .\n"
GRAMMAR = "grammar.safetensors"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grammar", "nowhere", "-o", "g"], "nowhere: No such file or directory"),
        (["grammar", "known.mrg"], "-o"),
        (["grammar", "empty", "-o", "g"], "empty contains no tree"),
        (["grammar", "binary", "-o", "g"], "is not utf-8 text"),
        (["grammar", "new.txt", "-o", "g"], "new.txt, line 1, column 1: a word stands outside any bracket"),
        (["grammar", "groups.jsonl", "-o", "g"], "groups.jsonl looks like groups of candidates"),
        (["grammar", "groups.txt", "-o", "g"], "groups.txt looks like groups of candidates"),
        (
            ["grammar", "known.mrg", "traces.mrg", "-o", "g"],
            "traces.mrg, line 1, tree 1: it has no words beside traces",
        ),
        (
            ["grammar", "untagged.mrg", "-o", "g"],
            "untagged.mrg, line 1, tree 1: it has a word without a tag above it. Pass --skip",
        ),
        (
            ["grammar", "traces.mrg", "untagged.mrg", "-o", "g", "--skip"],
            "no tree with words and tags in traces.mrg, unt",
        ),
        (["grammar", "known.mrg", "-o", "folder"], "this is a folder"),
        (["grammar", "known.mrg", "-o", "nowhere/g"], "nowhere: There is no such folder to write to"),
        (["grammar", "known.mrg", "-o", "g", "--markov", "two"], "--markov takes ancestors and siblings"),
        (["grammar", "known.mrg", "-o", "g", "--markov", "2,1,1"], "--markov takes ancestors and siblings"),
        (["grammar", "known.mrg", "-o", "g", "--markov", "0,1"], "ancestors >= 1"),
        (["grammar", "known.mrg", "-o", "g", "--unknown", "0"], "--unknown"),
        (["parse", GRAMMAR, "nowhere"], "nowhere: No such file or directory"),
        (["parse", GRAMMAR, "empty"], "empty contains no sentence"),
        (["parse", GRAMMAR, "binary"], "is not utf-8 text"),
        (["parse", GRAMMAR, "nul"], "line 2: a NUL character stands here"),
        (["parse", GRAMMAR, "new.mrg"], "new.mrg looks like trees: pass --format brackets"),
        (
            ["parse", GRAMMAR, "one.conllu"],
            "one.conllu looks like CoNLL-U, but sentences are needed, one per line",
        ),
        (["parse", GRAMMAR, "groups.jsonl"], "groups.jsonl looks like groups of candidates"),
        (["parse", GRAMMAR, "groups.txt", "--format", "brackets"], "groups.txt looks like groups of candidates"),
        (["parse", GRAMMAR, "new.txt", "--format", "brackets"], "a word stands outside any bracket"),
        (["parse", GRAMMAR, "traces.mrg", "--format", "brackets"], "traces.mrg, line 1, tree 1: it has no words"),
        (
            ["parse", GRAMMAR, "hollow.mrg", "--format", "brackets"],
            "hollow.mrg, line 2, tree 2: it has an empty word, written ()",
        ),
        (["parse", GRAMMAR, "untagged.mrg", "--format", "brackets", "--tagged"], "tree 1: it has a word without a tag"),
        (["parse", GRAMMAR, "new.txt", "--tagged"], "new.txt, line 1: with --tagged each word is written word/TAG"),
        (["parse", GRAMMAR, "new.txt", "--format", "xml"], "--format must be one of text, brackets, got 'xml'"),
        (["parse", GRAMMAR, "new.txt", "--skip"], "--skip leaves out trees: it belongs to --format brackets"),
        (["parse", GRAMMAR, "traces.mrg", "--format", "brackets", "--skip"], "no tree with words in traces.mrg"),
        (["parse", GRAMMAR, "new.txt", "-k", "0"], "-k"),
        (["parse", GRAMMAR, "new.txt", "--beam", "-1"], "--beam"),
        (["parse", GRAMMAR, "new.txt", "--beam", "nan"], "--beam"),
        (["parse", GRAMMAR, "new.txt", "--beam", "0"], "--beam"),
        (["parse", GRAMMAR, "new.txt", "--coarse", "0"], "--coarse"),
        (["parse", GRAMMAR, "new.txt", "-o", "folder"], "this is a folder"),
        (["parse", GRAMMAR, "new.txt", "-o", "nowhere/k.jsonl"], "no such folder"),
        (["parse", GRAMMAR, "new.txt", "-o", "k.csv"], "What is parsed cannot be written as .csv"),
        (["parse", GRAMMAR, "new.txt", "-o", "k.JSON.gz"], "What is parsed cannot be written as .json"),
        (["grammar", "known.mrg", "-o", "k.npz"], "A grammar cannot be written as .npz"),
        (["parse", "nowhere", "new.txt"], "nowhere: No such file or directory"),
        (["parse", "folder", "new.txt"], "folder: A saved file is one file, and this is a folder"),
        (["parse", "known.mrg", "new.txt"], "known.mrg is not a safetensors file"),
        (["parse", "empty", "new.txt"], "empty is not a safetensors file"),
        (["candidates", "known.mrg", "-o", "k.jsonl", "--coarse", "0"], "--coarse"),
        (["candidates", "known.mrg", "-o", "k.jsonl", "--memory", "much"], "much"),
        (["candidates", "known.mrg", "-o", "k.txt"], "only .jsonl files hold these"),
        (["candidates", "empty", "-o", "k.jsonl"], "empty contains no tree"),
        (["candidates", "known.mrg", "-o", "k.jsonl", "--folds", "41"], "--folds must be an integer from 2 to"),
        (["candidates", "known.mrg", "-o", "k.jsonl", "--folds", "1"], "--folds"),
        (["candidates", "known.mrg", "traces.mrg", "-o", "k.jsonl"], "traces.mrg, line 1, tree 1: it has no words"),
        (["candidates", "groups.jsonl", "-o", "k.jsonl"], "looks like groups of candidates"),
        (["evaluate", "new.mrg", "known.mrg"], "new.mrg has 20 trees and known.mrg 40"),
        (["evaluate", "new.mrg", "groups.jsonl"], "groups.jsonl looks like groups of candidates"),
        (["evaluate", "new.mrg", "empty"], "empty contains no tree"),
        (["evaluate", "other.mrg", "traces.mrg"], "traces.mrg, line 1, tree 1: it has no words beside traces"),
        (
            ["evaluate", "other.mrg", "untagged.mrg"],
            "untagged.mrg, line 1, tree 1: it has different words from its gold tree, other.mrg, line 1",
        ),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(arguments, message, here):
    Path("folder").mkdir()
    Path("empty").write_text("\n")
    Path("binary").write_bytes(bytes(range(128, 256)))
    Path("nul").write_bytes(b"the cat\nthe\0dog\n")
    Path("one.conllu").write_text("# sent_id = 1\n1\tthe\t_\tD\t_\t_\t0\troot\t_\t_\n")
    Path("traces.mrg").write_text("(S (-NONE- *))")
    Path("untagged.mrg").write_text("(S (N a) b)")
    Path("other.mrg").write_text("(S (N c))")
    Path("hollow.mrg").write_text("(S (N c))\n(S (N ()) (N c))")
    groups = [es.Group(["(S (N a))"], [-1.5])]
    es.structures.write_groups(groups, "groups.jsonl")
    es.structures.write_groups(groups, "groups.txt")
    assert message in refused(*arguments)


def test_a_reranker_is_no_grammar(here):
    right, wrong = "(S (N a) (N b))", "(S (X (N a) (N b)))"
    es.Reranker().fit([es.Group([wrong, right], gold=right)] * 5).save("reranker")
    result = invoke("parse", "reranker", "new.txt")
    assert result.exit_code == 2
    needed = "a grammar or a dependency parser is needed: espalier grammar writes both."
    assert result.stderr == f"Error: reranker holds a Reranker, and {needed}\n"


SLOW = """
import sys, time
from espalier.jobs import Progress
from espalier.parsing import PCFG
def slow(self, *arguments, progress, **options):
    progress(Progress("parsing", 0.5))
    print("parsing", file=sys.stderr, flush=True)
    time.sleep(100)
PCFG.parse_all = slow
from espalier.cli.main import run
run()
"""


@pytest.mark.parametrize("command", [["parse", GRAMMAR, "new.txt"], ["candidates", "known.mrg"]])
def test_an_interruption_exits_with_130_and_leaves_nothing(here, command):
    interrupt(SLOW, "parsing", *command, "-o", "k.jsonl")
