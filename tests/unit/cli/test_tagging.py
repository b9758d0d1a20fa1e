"""From tagged sentences to reranked tags: what the commands write, and what they say of bad input."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.command_line import SLOW_CORE, done, interrupt, invoke, refused

import espalier as es
from espalier.parsing import PCFG, PerceptronTagger, Tagger
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


@pytest.mark.parametrize(
    ("options", "made", "learned"),
    [
        ([], PerceptronTagger, "features"),
        (["--model", "perceptron"], PerceptronTagger, "features"),
        (["--model", "trigram"], Tagger, "words"),
    ],
)
def test_the_whole_path_from_tags_to_reranked_tags(here, options, made, learned):
    told = done("tag", "fit", "known.conllu", "-o", "t", *options).stdout
    assert told.startswith("t: 3 tags and ") and told.endswith(f" {learned} of 40 sentences\n")
    assert isinstance(es.load("t"), made)
    done("tag", "candidates", "known.conllu", "-o", "known.jsonl", "-k", 4, "--folds", 4, "--seed", 1, *options)
    groups = es.read_groups("known.jsonl")
    assert groups == jackknifed(KNOWN, 4, folds=4, random_state=1, make=made.from_sentences)
    done("tag", "apply", "t", "new.conllu", "--format", "conllu", "-o", "new.jsonl", "-k", 4)
    assert [group.gold for group in es.read_groups("new.jsonl")] == NEW
    done("rerank", "fit", "known.jsonl", "-o", "r")
    assert "best of each list" in done("rerank", "score", "r", "new.jsonl").stdout
    assert len(done("rerank", "apply", "r", "new.jsonl").stdout.splitlines()) == len(NEW)


def test_lists_of_a_perceptron_are_as_long_as_they_are_asked_to_be(here):
    done("tag", "fit", "known.conllu", "-o", "t")
    assert es.load("t").width == 4
    done("tag", "apply", "t", "new.txt", "-o", "new.jsonl", "-k", 7)
    assert {len(group) for group in es.read_groups("new.jsonl")} == {7}
    done("tag", "candidates", "known.conllu", "-o", "k.jsonl", "-k", 7, "--folds", 2)
    assert {len(group) for group in es.read_groups("k.jsonl")} == {7}


CONLLU = """\
# newdoc
# sent_id = a
1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
1\tthe\tx\tX\tY\tA=B\t_\t_\t_\tSpaceAfter=No
2\tfish\t_\t_\t_\t_\t_\t_\t_\t_
2.1\tduck\t_\tX\tY\t_\t_\t_\t1:x\t_

# text = saw
1\tsaw\t_\t_\tY\t_\t1\tdep\t1:dep\t_
# the end
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tags_are_replaced_in_conllu_and_nothing_else(here, end):
    given = CONLLU.replace("\n", end)
    Path("odd.conllu").write_bytes(given.encode())  # heads are missing, or form a circle
    told = done("tag", "apply", "tagger", "odd.conllu", "-o", "out.conllu").stdout
    assert told == "out.conllu: UPOS tags of 2 sentences\n"
    words = [["the", "fish"], ["saw"]]
    (one, two), (three,) = (own[0].sequence.tags for own in Tagger.load("tagger").tag_all(words))
    expected = given.replace("x\tX", f"x\t{one}").replace("fish\t_\t_", f"fish\t_\t{two}")
    expected = expected.replace("saw\t_\t_", f"saw\t_\t{three}")
    assert Path("out.conllu").read_bytes() == expected.encode()
    assert invoke("tag", "apply", "tagger", "odd.conllu", "--format", "conllu").stdout_bytes == expected.encode()


def test_joint_tags_and_fine_tags_go_into_their_columns(here):
    text = Path("known.conllu").read_text()
    for tag in "DNV":
        text = text.replace(f"\t{tag}\t_\t", f"\t{tag}\t{2 * tag}\t")
    Path("both.conllu").write_text(text)
    for tags, what in (("joint", "UPOS and XPOS"), ("xpos", "XPOS"), ("upos", "UPOS")):
        done("tag", "fit", "both.conllu", "-o", "t", "--tags", tags)
        assert "D|DD" in es.load("t").tags or tags != "joint"
        told = done("tag", "apply", "t", "both.conllu", "-o", "out.conllu").stdout  # the column is told by its tags
        assert told == f"out.conllu: {what} tags of 40 sentences\n"
        lines = [line.split("\t") for line in Path("out.conllu").read_text().splitlines()]
        assert all(line[4] == 2 * line[3] for line in lines if len(line) == 10) or tags != "joint"
        assert {line[4] for line in lines if len(line) == 10} == {"DD", "NN", "VV"}
        assert {line[3] for line in lines if len(line) == 10} == {"D", "N", "V"}
    told = done("tag", "apply", "t", "both.conllu", "-o", "out.conllu", "--tags", "xpos").stdout
    assert told == "out.conllu: XPOS tags of 40 sentences\n" and "\tNN\t" not in Path("out.conllu").read_text()


def test_a_tagger_learns_from_sentences_without_heads(here):
    text = Path("known.conllu").read_text()
    Path("bare.conllu").write_text(text.replace("\t0\troot\t", "\t_\t_\t").replace("\t1\tdep\t", "\t_\t_\t"))
    for command in (["fit"], ["candidates", "--folds", 2, "-k", 3]):
        outputs = []
        for name in ("known", "bare"):
            done("tag", *command, f"{name}.conllu", "-o", f"{name}.jsonl")
            outputs.append(Path(f"{name}.jsonl").read_bytes())
        assert outputs[0] == outputs[1]


def test_tags_are_joint_by_default_and_those_of_one_column_if_the_other_is_blank(here):
    Path("both.conllu").write_text(Path("known.conllu").read_text().replace("\tN\t_\t", "\tN\tNN\t"))
    Path("fine.conllu").write_text(Path("both.conllu").read_text().replace("\tN\tNN\t", "\t_\tNN\t"))
    for name, known in (("known", "DNV"), ("both", ["D", "N|NN", "V"]), ("fine", ["D", "V", "_|NN"])):
        done("tag", "fit", f"{name}.conllu", "-o", "t")
        assert sorted(es.load("t").tags) == list(known)
        done("tag", "apply", "t", "new.conllu", "-o", "out.conllu")
        done("tag", "candidates", f"{name}.conllu", "-o", "k.jsonl", "-k", 2, "--folds", 2)
        assert {tag for group in es.read_groups("k.jsonl") for tag in group.gold.tags} == set(known)
        done("grammar", f"{name}.conllu", "-o", "p", "--epochs", 1, "--order", 1)
        assert done("parse", "p", "new.txt", "--tagger", "t").stderr == ""


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


def test_empty_lines_stay_empty_and_are_left_out_of_lists(here):
    Path("k.txt").write_bytes(b"\r\nthe can\r\n\r\n\t\r\nfish\r\n\r\n")
    found = done("tag", "apply", "tagger", "k.txt")
    assert [line.count("/") for line in found.stdout.splitlines()] == [0, 2, 0, 0, 1]
    assert found.stderr == "3 of 5 lines have no words: they stay empty.\n"
    told = done("tag", "apply", "tagger", "k.txt", "-o", "k.jsonl").stderr
    assert told == "3 of 5 lines have no words: they are left out, and the others are named by their lines.\n"
    assert [(group.name, group.words) for group in es.read_groups("k.jsonl")] == [
        ("2", ["the", "can"]),
        ("5", ["fish"]),
    ]


def test_what_looks_like_conllu_is_text_if_one_says_so(here):
    Path("one.conllu").write_text("1\tthe\t_\tD\t_\t_\t0\troot\t_\t_\n")
    assert len(done("tag", "apply", "tagger", "one.conllu", "--format", "text").stdout.split()) == 10
    Path("numbers.txt").write_text("1 2 3\n# 1\n4-5\t6\n")
    assert len(done("tag", "apply", "tagger", "numbers.txt").stdout.splitlines()) == 3


@pytest.mark.parametrize("options", [[], ["--format", "text"]])
def test_a_text_becomes_conllu_if_the_output_has_such_a_name(here, options):
    Path("k.txt").write_bytes(b"\r\nthe can\r\n\r\nfish\r\n")
    found = done("tag", "apply", "tagger", "k.txt", "-o", "k.conllu", *options)
    assert found.stdout == "k.conllu: UPOS tags of 2 sentences\n"
    assert found.stderr == "2 of 4 lines have no words: they are left out, and the others are named by their lines.\n"
    tags = [own[0].sequence.tags for own in Tagger.load("tagger").tag_all([["the", "can"], ["fish"]])]
    lines = [
        "# sent_id = 2",
        f"1 the _ {tags[0][0]} _ _ _ _ _ _",
        f"2 can _ {tags[0][1]} _ _ _ _ _ _",
        "",
        "# sent_id = 4",
        f"1 fish _ {tags[1][0]} _ _ _ _ _ _",
        "",
    ]
    assert Path("k.conllu").read_text() == "".join(line.replace(" ", "\t") + "\n" for line in lines).replace(
        "#\tsent_id\t=\t", "# sent_id = "
    )
    done("tag", "apply", "tagger", "k.txt", "-o", "fine.conllu", "--tags", "xpos", *options)
    assert f"1\tfish\t_\t_\t{tags[1][0]}\t_" in Path("fine.conllu").read_text()


def test_conllu_of_another_name_stays_conllu_in_output_of_such_a_name(here):
    Path("new.tab").write_bytes(Path("new.conllu").read_bytes())
    for name in ("new.tab", "new.conllu"):
        done("tag", "apply", "tagger", name, "-o", f"of-{name}.conllu")
    assert Path("of-new.tab.conllu").read_text() == Path("of-new.conllu.conllu").read_text()


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
        (["apply", "tagger", "new.tab"], "new.tab looks like CoNLL-U: pass --format conllu, or --format"),
        (["apply", "tagger", "range.tab"], "range.tab looks like CoNLL-U: pass --format conllu"),
        (["apply", "tagger", "range.conllu"], "range.conllu, sentence 1: it has no word"),
        (["fit", "untagged.conllu", "-o", "t"], "untagged.conllu, sentence 2, line 3: the word 'saw' has no tag"),
        (["fit", "line.conllu", "-o", "t"], "line.conllu, sentence 1: the word '_' has no tag. Tag the file first"),
        (["candidates", "untagged.conllu", "-o", "t.jsonl"], "tagger learns from words that all have tags: --tags na"),
        (["apply", "tagger", "trees.mrg"], "trees.mrg looks like trees, but sentences are needed, one per line"),
        (["apply", "tagger", "new.txt", "-k", "3"], "give -o GROUPS.jsonl"),
        (["apply", "tagger", "new.txt", "--format", "brackets"], "--format must be one of text, conllu"),
        (["apply", "tagger", "new.txt", "--format", "conllu"], "new.txt, sentence 1"),
        (["apply", "tagger", "odd.tab", "-o", "k.jsonl"], "odd.tab looks like CoNLL-U: pass --format conllu"),
        (
            ["apply", "tagger", "odd.conllu", "-o", "k.jsonl", "--format", "conllu"],
            "line 5: the word 'fish' has no UPOS",
        ),
        (
            ["apply", "tagger", "new.txt", "-o", "k.conllu", "--format", "conllu"],
            "new.txt, sentence 1, line 1: CoNLL-U has ten columns",
        ),
        (["apply", "tagger", "empty", "-o", "k.conllu"], "empty contains no sentence"),
        (["apply", "tagger", "range.conllu", "-o", "k.conllu"], "range.conllu, sentence 1: it has no word"),
        (["apply", "tagger", "new.txt", "--tags", "xpos"], "--tags names a column of CoNLL-U"),
        (["apply", "grammar", "new.txt"], "grammar holds a PCFG, and a tagger is needed"),
        (["fit", "known.conllu", "-o", "t", "--model", "neural"], "--model"),
        (["candidates", "known.conllu", "-o", "k.txt"], "only .jsonl files hold these"),
        (["candidates", "known.conllu", "-o", "k.jsonl", "--folds", "41"], "--folds must be an integer from 2 to"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(arguments, message, here):
    Path("folder").mkdir()
    Path("empty").write_text("\n")
    Path("range.conllu").write_text("\r\n# newdoc\r\n1-2\tdon't" + "\t_" * 8 + "\r\n")
    Path("trees.mrg").write_text("(S (N a))")
    Path("odd.conllu").write_text(CONLLU)
    for name in ("new", "range", "odd"):
        Path(f"{name}.tab").write_bytes(Path(f"{name}.conllu").read_bytes())
    tagged = "1\tdogs\t_\tN\t_\t_\t0\troot\t_\t_\n\n"
    Path("untagged.conllu").write_text(tagged + tagged.replace("dogs", "saw").replace("\tN\t", "\t_\t"))
    Path("line.conllu").write_text("1\t_" + "\t_" * 8 + "\n")
    PCFG.from_treebank(["(S (N a))"]).save("grammar")
    assert message in refused("tag", *arguments)


@pytest.mark.parametrize(
    "command",
    [
        ["train_tagger", "tag", "fit", "known.conllu", "-o", "t"],
        ["train_tagger", "tag", "candidates", "known.conllu", "-o", "t.jsonl", "--folds", "2"],
        ["tag_by_beam", "tag", "apply", "perceptron", "new.conllu", "-o", "new.conllu.gz"],
    ],
)
def test_an_interruption_exits_with_130_and_leaves_nothing(here, command):
    PerceptronTagger.from_sentences(KNOWN).save("perceptron")
    interrupt(SLOW_CORE, "at work", *command)
