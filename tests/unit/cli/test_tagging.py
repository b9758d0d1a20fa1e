"""From tagged sentences to reranked tags: what the commands write, and what they say of bad input."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.command_line import done, refused

import espalier as es
from espalier.parsing import Tagger
from espalier.rerank import jackknifed


def sentences(n: int) -> list[es.TaggedSequence]:
    """Sentences in which most words are nouns and verbs alike."""
    rng = random.Random(3)
    out = []
    for _ in range(n):
        tags = ["D", "N", "V", "D", "N"] if rng.random() < 0.6 else ["N", "V", "N"]
        words = ["the" if tag == "D" else rng.choice(["saw", "fish", "can", "duck"]) for tag in tags]
        out.append(es.TaggedSequence(words, tags))
    return out


SENTENCES = sentences(60)
KNOWN, NEW = SENTENCES[:40], SENTENCES[40:]


def write_conllu(sentences: list[es.TaggedSequence], path: str) -> None:
    """Write tags as CoNLL-U: every word hangs on the first."""
    trees = [
        es.DependencyTree(own.words, own.tags, [0, *[1] * (len(own) - 1)], ["root", *["dep"] * (len(own) - 1)])
        for own in sentences
    ]
    es.structures.write_groups([es.Group([tree]) for tree in trees], path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_conllu(KNOWN, "known.conllu")
    write_conllu(NEW, "new.conllu")
    Path("new.txt").write_text("".join(f"{' '.join(own.words)}\n" for own in NEW))
    Tagger.from_sentences(KNOWN).save("tagger")
    return tmp_path


def test_the_whole_path_from_tags_to_reranked_tags(here):
    learned = done("tag", "fit", "known.conllu", "-o", "t").stdout
    assert learned == "t: 3 tags and 5 words of 40 sentences\n"
    done("tag", "candidates", "known.conllu", "-o", "known.jsonl", "-k", 4, "--folds", 4, "--seed", 1)
    groups = es.read_groups("known.jsonl")
    assert groups == jackknifed(KNOWN, 4, folds=4, random_state=1, make=Tagger.from_sentences)
    done("tag", "apply", "t", "new.conllu", "--format", "conllu", "-o", "new.jsonl", "-k", 4)
    assert [group.gold for group in es.read_groups("new.jsonl")] == NEW
    done("rerank", "fit", "known.jsonl", "-o", "r")
    assert "best of each list" in done("rerank", "score", "r", "new.jsonl").stdout
    assert len(done("rerank", "apply", "r", "new.jsonl").stdout.splitlines()) == len(NEW)


def test_names_of_sentences_are_kept(here):
    Path("k.conllu").write_text(Path("new.conllu").read_text().replace("sent_id = ", "sent_id = s-"))
    done("tag", "apply", "tagger", "k.conllu", "--format", "conllu", "-o", "new.jsonl")
    assert [group.name for group in es.read_groups("new.jsonl")] == [f"s-{row + 1}" for row in range(len(NEW))]
    done("tag", "candidates", "k.conllu", "-o", "k.jsonl", "--folds", 2)
    assert [group.name for group in es.read_groups("k.jsonl")] == [f"s-{row + 1}" for row in range(len(NEW))]


def test_words_end_at_ascii_blanks_and_files_with_empty_lines(here):
    Path("k.txt").write_text("10\u00a0000\tducks\u2003fish \r\nthe can\n \n\n\n")
    lines = done("tag", "apply", "tagger", "k.txt").stdout.splitlines()
    words = [[token.rpartition("/")[0] for token in line.split(" ")] for line in lines]
    assert words == [["10\u00a0000", "ducks\u2003fish"], ["the", "can"]]


def test_what_looks_like_conllu_is_text_if_one_says_so(here):
    Path("one.conllu").write_text("1\tthe\t_\tD\t_\t_\t0\troot\t_\t_\n")
    assert len(done("tag", "apply", "tagger", "one.conllu", "--format", "text").stdout.split()) == 10
    Path("numbers.txt").write_text("1 2 3\n# 1\n4-5\t6\n")
    assert len(done("tag", "apply", "tagger", "numbers.txt").stdout.splitlines()) == 3


def test_the_best_tags_of_each_sentence_on_a_line(here):
    best = [found[0].sequence for found in Tagger.load("tagger").tag_all([own.words for own in NEW])]
    wanted = [" ".join(f"{w}/{t}" for w, t in zip(own.words, own.tags, strict=True)) for own in best]
    assert done("tag", "apply", "tagger", "new.txt").stdout.splitlines() == wanted
    assert done("tag", "apply", "tagger", "new.txt", "-o", "new.tags").stdout == "new.tags: tags of 20 sentences\n"
    assert Path("new.tags").read_text().splitlines() == wanted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nowhere", "-o", "t"], "nowhere: No such file or directory"),
        (["fit", "empty", "-o", "t"], "empty contains no sentence"),
        (["fit", "new.txt", "-o", "t"], "new.txt, sentence 1"),
        (["fit", "known.conllu", "-o", "t", "--tags", "xpos"], "has no XPOS tag"),
        (["fit", "known.conllu", "-o", "folder"], "this is a folder"),
        (["apply", "known.conllu", "new.txt"], "known.conllu is not a safetensors file"),
        (["apply", "tagger", "empty"], "empty contains no sentence"),
        (["apply", "tagger", "blank.txt"], "blank.txt, line 2: there is no word here"),
        (["apply", "tagger", "new.conllu"], "new.conllu looks like CoNLL-U: pass --format conllu, or --format"),
        (["apply", "tagger", "range.conllu"], "range.conllu looks like CoNLL-U: pass --format conllu"),
        (["apply", "tagger", "trees.mrg"], "trees.mrg looks like trees, but sentences are needed, one per line"),
        (["apply", "tagger", "new.txt", "-k", "3"], "give -o GROUPS.jsonl"),
        (["apply", "tagger", "new.txt", "--format", "brackets"], "--format must be one of text, conllu"),
        (["apply", "tagger", "new.txt", "--format", "conllu"], "new.txt, sentence 1"),
        (["candidates", "known.conllu", "-o", "k.txt"], "only .jsonl files hold these"),
        (["candidates", "known.conllu", "-o", "k.jsonl", "--folds", "41"], "--folds must be an integer from 2 to"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(arguments, message, here):
    Path("folder").mkdir()
    Path("empty").write_text("\n")
    Path("blank.txt").write_text("a b\n\nc\n")
    Path("range.conllu").write_text("\r\n# newdoc\r\n1-2\tdon't" + "\t_" * 8 + "\r\n")
    Path("trees.mrg").write_text("(S (N a))")
    assert message in refused("tag", *arguments)
