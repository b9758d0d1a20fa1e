"""From CoNLL-U to dependency parsers and their parses: what the commands write, and what they say of bad input."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from tests.command_line import SLOW_CORE, done, interrupt, refused

import espalier as es
from dependency_files import conllu, verb_between_nouns
from espalier import DependencyTree
from espalier.parsing import PCFG, DependencyParser, PerceptronTagger, jackknifed_tags

RNG = random.Random(5)
KNOWN = [verb_between_nouns(RNG) for _ in range(60)]
NEW = [verb_between_nouns(RNG) for _ in range(12)]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a parser and a tagger."""
    folder = tmp_path_factory.mktemp("models")
    DependencyParser.from_treebank(KNOWN, bits=14).save(folder / "parser")
    PerceptronTagger.from_sentences([*KNOWN, *NEW]).save(folder / "tagger")  # it makes no mistake here
    return folder


@pytest.fixture
def here(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in models.iterdir():
        Path(path.name).write_bytes(path.read_bytes())
    Path("known.conllu").write_text(conllu(KNOWN))
    Path("new.conllu").write_text(conllu(NEW))
    Path("new.txt").write_text("".join(f"{' '.join(tree.words)}\n" for tree in NEW))
    return tmp_path


def best(**options):
    return [own[0].tree for own in DependencyParser.load("parser").parse_all(NEW, **options)]


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ([], {}),
        (["--order", "1", "--epochs", "2", "--seed", "3"], {"order": 1, "epochs": 2, "random_state": 3}),
        (["--order", "3"], {"order": 3}),
    ],
)
def test_a_parser_is_learned_from_several_files(here, given, options):
    Path("a.conllu").write_text(conllu(KNOWN[:20]))
    Path("b.conllu").write_text(conllu(KNOWN[20:]))
    result = done("grammar", "a.conllu", "b.conllu", "-o", "p", *given)
    order = options.get("order", 2)
    assert result.stdout == f"p: a dependency parser of order {order} with 3 relations, of 60 trees\n"
    assert result.stderr == ""
    own = DependencyParser.from_treebank(KNOWN, **options)
    assert es.load("p").parse_all(NEW, 5) == own.parse_all(NEW, 5)
    assert done("grammar", "a.conllu", "a.conllu", "-o", "p", "--epochs", 1).stdout.endswith("of 40 trees\n")


def test_the_tags_to_learn_from_are_chosen(here):
    for tags, known in (("joint", ["DT", "NN", "NNS", "VBD", "VBP"]), ("upos", ["DET", "NOUN", "VERB"])):
        done("grammar", "known.conllu", "-o", "p", "--epochs", 1, "--tags", tags)
        assert sorted(es.load("p").tokens.tags) == known
        # The column is found by its tags.
        assert done("parse", "p", "new.conllu", "-o", "out.conllu").stderr.startswith(
            "DEPS of 12 of 12 sentences became _"
        )
    assert es.load("p").tokens.coarse == es.load("p").tokens.tags


def test_tags_of_taggers_that_have_not_seen_the_sentence(here):
    Path("documents.conllu").write_text(conllu(KNOWN, documents=10))
    done("grammar", "documents.conllu", "-o", "p", "--folds", 3, "--epochs", 1)
    trees = jackknifed_tags(KNOWN, folds=3, documents=[row // 10 for row in range(60)])
    assert es.load("p").parse_all(NEW, 3) == DependencyParser.from_treebank(trees, epochs=1).parse_all(NEW, 3)
    assert "--folds must be an integer from 2 to the number of documents, 6" in (
        refused("grammar", "documents.conllu", "-o", "q", "--folds", 7)
    )


def test_several_roots_are_learned_and_said(here):
    rng = random.Random(1)
    trees = [verb_between_nouns(rng, several_roots=row % 2 == 0) for row in range(40)]
    Path("roots.conllu").write_text(conllu(trees))
    result = done("grammar", "roots.conllu", "-o", "p")
    assert result.stderr == "20 of 40 trees have several roots, so that parses may have several, too.\n"
    done("parse", "p", "roots.conllu", "-o", "out.conllu")
    assert [len(tree.roots) for tree in es.read_conllu("out.conllu")] == [1 + (row % 2 == 0) for row in range(40)]


def test_a_treebank_without_relations_is_learned_with_a_warning(here):
    Path("bare.conllu").write_text(conllu(KNOWN).replace("\tdet\t", "\t_\t"))
    n_trees = sum("det" in tree.relations for tree in KNOWN)
    told = done("grammar", "bare.conllu", "-o", "p", "--epochs", 1, "--order", 1).stderr
    assert told == f"Warning: {n_trees} of 60 trees lack relations, so that parses have the relation _.\n"


def test_arcs_are_replaced_in_conllu(here):
    result = done("parse", "parser", "new.conllu", "-o", "out.conllu")
    assert result.stdout == "out.conllu: parses of 12 sentences\n"
    assert result.stderr == "DEPS of 12 of 12 sentences became _: the old arcs there would contradict the new ones.\n"
    expected = conllu(best())
    for head in range(6):
        expected = expected.replace(f"\t{head}:x\t", "\t_\t")
    assert Path("out.conllu").read_text() == expected
    assert done("parse", "parser", "new.conllu").stdout == expected == done("parse", "parser", "out.conllu").stdout
    assert done("parse", "parser", "new.conllu", "--threads", 2, "-o", "-").stdout == expected


ODD = """\
# newdoc
1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
1\tthe\tx\tDET\tDT\tA=B\t_\t_\t_\tSpaceAfter=No
2\tdog\t_\tNOUN\tNN\t_\t_\t_\t_\t_
2.1\tduck\t_\tX\tY\t_\t_\t_\t1:x\t_
3\tsleep\t_\tVERB\tVBP\t_\t_\t_\t_\t_

# text = saw
1\tsaw\t_\tVERB\tVBD\t_\t1\tdep\t_\t_
# the end
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ranges_empty_nodes_comments_and_missing_heads(here, end):
    Path("odd.conllu").write_bytes(ODD.replace("\n", end).encode())  # heads are missing, or form a circle
    result = done("parse", "parser", "odd.conllu", "-o", "out.conllu")
    assert result.stderr.startswith("DEPS of 1 of 2 sentences became _")
    expected = ODD.replace("A=B\t_\t_", "A=B\t2\tdet").replace("NN\t_\t_\t_", "NN\t_\t3\targ").replace("1:x", "_")
    expected = expected.replace("VBP\t_\t_\t_", "VBP\t_\t0\troot").replace("1\tdep", "0\troot")
    assert Path("out.conllu").read_bytes() == expected.replace("\n", end).encode()


def test_a_tagger_tags_first_and_its_tags_are_written(here):
    without = "\n".join(
        "\t".join([*line.split("\t")[:3], "_", "_", line.split("\t")[5], "_", "_", "_", "_"]) if "\t" in line else line
        for line in conllu(NEW).split("\n")
    )
    Path("bare.conllu").write_text(without)
    assert "line 2: the word" in refused("parse", "parser", "bare.conllu", "-o", "out.conllu")
    done("parse", "parser", "bare.conllu", "-o", "out.conllu", "--tagger", "tagger")
    assert es.read_conllu("out.conllu", tags="joint") == [
        DependencyTree(own.words, own.tags, own.heads, own.relations, features=[("F=G",)] * len(own)) for own in best()
    ]


def test_text_becomes_conllu(here):
    tagged = done("parse", "parser", "new.txt", "--tagger", "tagger").stdout
    Path("out.conllu").write_text(tagged)
    assert [own.heads for own in es.read_conllu("out.conllu")] == [own.heads for own in best()]
    assert [own.tags for own in es.read_conllu("out.conllu", tags="joint")] == [own.tags for own in NEW]
    pairs = (" ".join(f"{w}/{t}" for w, t in zip(own.words, own.tags, strict=True)) for own in NEW)
    Path("pairs.txt").write_text("".join(f"{line}\n" for line in pairs))
    assert done("parse", "parser", "pairs.txt", "--tagged").stdout == tagged
    done("parse", "parser", "pairs.txt", "--tagged", "-o", "k.jsonl", "-k", 2)
    assert {group.gold for group in es.read_groups("k.jsonl")} == {None}


@pytest.mark.parametrize("options", [["--tagger", "tagger"], ["--tagged"]])
def test_empty_lines_are_left_out_and_sentences_are_named_by_their_lines(here, options):
    Path("gaps.txt").write_text("\n\ndog/NOUN|NN sleep/VERB|VBP\n \ndog/NOUN|NN\n\n")
    result = done("parse", "parser", "gaps.txt", *options)
    assert [line for line in result.stdout.splitlines() if "#" in line] == ["# sent_id = 3", "# sent_id = 5"]
    told = "3 of 5 lines have no words: they are left out, and the others are named by their lines.\n"
    assert told in result.stderr
    assert told in done("parse", "parser", "gaps.txt", *options, "-o", "k.jsonl").stderr
    assert [group.name for group in es.read_groups("k.jsonl")] == ["3", "5"]


def test_lists_of_candidates_for_a_reranker(here):
    told = done("parse", "parser", "new.conllu", "-o", "new.jsonl", "-k", 4).stdout
    assert told == "new.jsonl: up to 4 parses of 12 sentences\n"
    groups = es.read_groups("new.jsonl")
    found = DependencyParser.load("parser").parse_all(NEW, 4)
    assert [list(group.candidates) for group in groups] == [own.candidates for own in found]
    assert [list(group.scores) for group in groups] == [own.scores for own in found]
    assert [group.gold for group in groups] == NEW
    assert [group.name for group in groups] == [f"s{row + 1}" for row in range(12)]
    done("parse", "parser", "known.conllu", "-o", "known.jsonl", "--tagger", "tagger")
    assert max(map(len, es.read_groups("known.jsonl"))) == 10
    done("rerank", "fit", "known.jsonl", "-o", "r")
    assert "best of each list" in done("rerank", "score", "r", "new.jsonl").stdout
    done("rerank", "apply", "r", "new.jsonl", "-o", "chosen.conllu")
    assert len(es.read_conllu("chosen.conllu", tags="joint")) == 12


def test_lists_as_conllu_for_a_reranker(here):
    done("parse", "parser", "new.conllu", "-o", "new.jsonl", "-k", 4)
    done("parse", "parser", "known.conllu", "-o", "known.jsonl")
    result = done("parse", "parser", "new.conllu", "-o", "new.conllu.gz", "-k", 4)
    assert result.stdout == "new.conllu.gz: up to 4 parses of 12 sentences\n"
    assert "DEPS of 12 of 12 sentences became _" in result.stderr
    expected, groups = es.read_groups("new.jsonl"), es.read_groups("new.conllu.gz", tags="joint")
    for own, other in zip(groups, expected, strict=True):
        assert [replace(tree, features=None) for tree in own.candidates] == list(other.candidates)
        assert (own.scores, own.more_scores, own.name) == (other.scores, other.more_scores, other.name)
        assert own.gold is None
    done("rerank", "fit", "known.jsonl", "-o", "r")
    told = done("rerank", "score", "r", "new.jsonl").stdout
    assert done("rerank", "score", "r", "new.conllu.gz", "--gold", "new.conllu").stdout == told
    chosen = [es.load("r").predict([group])[0] for group in expected]
    done("rerank", "apply", "r", "new.conllu.gz", "-o", "chosen.conllu")
    bare = conllu(chosen)
    for head in range(6):
        bare = bare.replace(f"\t{head}:x\t", "\t_\t")
    assert Path("chosen.conllu").read_text() == bare  # with all columns, and without scores
    done("parse", "parser", "new.txt", "--tagger", "tagger", "-o", "text.conllu", "-k", 3)
    of_text = es.read_groups("text.conllu", tags="joint")
    assert [group.name for group in of_text] == [str(row) for row in range(1, 13)]
    assert "tags" in of_text[0].more_scores


def test_lists_as_conllu_keep_what_the_sentence_has(here):
    Path("odd.conllu").write_bytes(ODD.replace("# newdoc\n", "# newdoc\n# sent_id = a\n# score = 3\n# x\n").encode())
    done("parse", "parser", "odd.conllu", "-o", "k.conllu", "-k", 2)
    first, second, *others = Path("k.conllu").read_text().split("\n\n")
    assert first.split("\n")[:2] == ["# newdoc", "# sent_id = a"]
    assert first.split("\n")[2].startswith("# score = ") and first.split("\n")[4:6] == ["# x", ODD.split("\n")[1]]
    assert second.startswith("# sent_id = a\n# score = ") and "# x" not in second
    for text in (first, second):
        assert "SpaceAfter=No" in text and "2.1\tduck" in text and "1:x" not in text
    assert others[0].startswith("# text = saw\n# the end\n# sent_id = 2\n# score = ")
    Path("twice.conllu").write_text(conllu(NEW[:2]).replace("s2", "s1"))
    assert "would both have the sent_id 's1'" in refused("parse", "parser", "twice.conllu", "-o", "k2.conllu", "-k", 2)


def test_the_best_taggings_are_parsed_together(here):
    words = [list(own.words) for own in NEW]
    tagger, parser = es.load("tagger"), es.load("parser")
    for options, n in (([], 4), (["--taggings", 2], 2)):
        done("parse", "parser", "new.conllu", "-o", "k.jsonl", "--tagger", "tagger", "-k", 3, *options)
        expected = parser.parse_all(tagger.tag_all(words, n), 3)
        groups = es.read_groups("k.jsonl")
        assert [list(group.candidates) for group in groups] == [own.candidates for own in expected]
        assert [group.more_scores for group in groups] == [own.more_scores for own in expected]
    assert "--taggings belongs to --tagger" in refused("parse", "parser", "new.conllu", "--taggings", 2)
    done("candidates", "known.conllu", "-o", "c.jsonl", "--tag-folds", 2, "--folds", 2, "--epochs", 1, "-k", 3)
    assert {tuple(group.more_scores) for group in es.read_groups("c.jsonl")} == {("labels", "tags")}
    done("candidates", "known.conllu", "-o", "c.jsonl", "--folds", 2, "--epochs", 1, "-k", 3)
    assert {tuple(group.more_scores) for group in es.read_groups("c.jsonl")} == {("labels",)}
    assert "--taggings belongs to --tag-folds" in refused(
        "candidates", "known.conllu", "-o", "d.jsonl", "--taggings", 2
    )


def test_taggings_of_a_hidden_markov_model_have_a_weight_of_their_own(here, monkeypatch):
    done("tag", "fit", "known.conllu", "-o", "t", "--model", "trigram")
    done("parse", "parser", "new.conllu", "-o", "k.jsonl", "--tagger", "t", "-k", 3)
    taggings = es.load("t").tag_all([list(own.words) for own in NEW], 4)
    expected = es.load("parser").parse_all(taggings, 3, tag_weight=4.0)
    assert [list(group.scores) for group in es.read_groups("k.jsonl")] == [own.scores for own in expected]
    for tagger in ("t", "tagger"):
        done("parse", "parser", "new.conllu", "-o", "k.jsonl", "--tagger", tagger, "-k", 3, "--tag-weight", 2.5)
        taggings = es.load(tagger).tag_all([list(own.words) for own in NEW], 4)
        expected = es.load("parser").parse_all(taggings, 3, tag_weight=2.5)
        assert [list(group.scores) for group in es.read_groups("k.jsonl")] == [own.scores for own in expected]


def test_a_reranker_of_features_is_applied(here):
    done("candidates", "known.conllu", "-o", "c.jsonl", "--folds", 2, "--epochs", 1, "-k", 4)
    selector = es.KernelSpaceSelector(es.DependencySubtree(("tags",)), C=0.0, max_order=1, max_passes=2, target="best")
    model = es.FeatureReranker(selector, target="best")
    misled = [replace(own, scores=own.scores[::-1]) for own in es.read_groups("c.jsonl")]
    es.Reranker(model).fit(misled).save("r")
    assert "best of each list" in done("rerank", "score", "r", "c.jsonl").stdout
    done("rerank", "apply", "r", "c.jsonl", "-o", "chosen.conllu")
    assert len(es.read_conllu("chosen.conllu")) == 60
    es.load("r").chooser_.save("features")
    done("rerank", "apply", "features", "c.jsonl", "-o", "again.conllu")
    assert Path("again.conllu").read_bytes() == Path("chosen.conllu").read_bytes()
    told = done("rerank", "explain", "features", "c.jsonl", "--row", 1).stdout
    assert told == done("rerank", "explain", "r", "c.jsonl", "--row", 1).stdout and "cats → the" in told


def test_a_name_says_that_a_file_is_conllu(here):
    Path("broken.conllu").write_text("1\tshow\tVERB\n")
    Path("comments.conllu").write_text("# nothing\n")
    for command in (["parse", "parser"], ["grammar"]):
        for name, message in (("broken", "broken.conllu, "), ("comments", "comments.conllu contains no sentence")):
            assert message in refused(*command, f"{name}.conllu", "-o", "out.conllu")


def test_gold_trees_have_the_tags_of_their_candidates(here):
    Path("wrong.conllu").write_text(conllu(NEW).replace("\tNOUN\t", "\tX\t"))
    done("parse", "parser", "wrong.conllu", "-o", "k.jsonl", "--tagger", "tagger")
    assert [group.gold for group in es.read_groups("k.jsonl")] == NEW


def test_sentences_without_heads_have_no_gold_tree(here):
    Path("odd.conllu").write_text(conllu(NEW) + "\n" + ODD.replace("1\tdep", "0\troot"))
    result = done("parse", "parser", "odd.conllu", "-o", "k.jsonl")
    assert result.stderr == "1 of 14 sentences lack heads, so that their lists have no gold tree.\n"
    assert [group.gold is None for group in es.read_groups("k.jsonl")] == [False] * 12 + [True, False]


def test_a_sentence_of_300_words_and_little_memory(here):
    lines = "\n".join(f"{n}\tdog\t_\tNOUN\tNN\t_\t_\t_\t_\t_" for n in range(1, 301))
    Path("long.conllu").write_text(f"{conllu(NEW[:1])}{lines}\n")
    assert done("parse", "parser", "long.conllu", "-o", "out.conllu").stderr.startswith("DEPS")
    assert [len(tree) for tree in es.read_conllu("out.conllu")] == [len(NEW[0]), 300]
    result = done("parse", "parser", "long.conllu", "-o", "out.conllu", "--memory", "1 MB", "--threads", 1)
    other = done("parse", "parser", "long.conllu", "--memory", "1 MB", "--threads", 3)
    assert Path("out.conllu").read_text() == other.stdout and result.stderr == other.stderr
    assert "1 of 2 sentences need more memory than 1 MB, so that fewer heads were tried; the first is on line " in (
        result.stderr
    )


def test_tags_that_the_parser_has_not_learned_are_told(here):
    Path("other.conllu").write_text(conllu(NEW).replace("\tNN", "\tZZ").replace("\tVB", "\tYY"))
    told = done("parse", "parser", "other.conllu", "-o", "out.conllu").stderr
    assert "Warning: the parser has not learned " in told and "tags, such as 'NOUN|ZZ" in told
    assert "Warning" not in done("parse", "parser", "new.conllu", "-o", "out.conllu").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grammar", "nowhere.conllu", "-o", "p"], "nowhere.conllu: No such file or directory"),
        (["grammar", "empty", "-o", "p"], "empty contains no tree"),
        (["grammar", "known.conllu", "trees.mrg", "-o", "p"], "known.conllu is CoNLL-U and trees.mrg is not"),
        (["grammar", "known.conllu", "-o", "p", "--markov", "2,1"], "--markov belongs to treebanks of bracketed"),
        (["grammar", "known.conllu", "-o", "p", "--skip"], "--skip belongs to treebanks of bracketed trees"),
        (["grammar", "known.conllu", "-o", "p", "--smoothing", "2"], "--smoothing belongs to treebanks of brack"),
        (["grammar", "known.conllu", "-o", "p", "--unknown", "2"], "of bracketed trees, and known.conllu is CoNLL-U"),
        (["grammar", "known.conllu", "-o", "p", "--least", "0"], "--least belongs to treebanks of bracketed trees"),
        (["grammar", "trees.mrg", "-o", "p", "--order", "2"], "--order belongs to treebanks of CoNLL-U, and trees.mrg"),
        (["grammar", "trees.mrg", "-o", "p", "--folds", "2"], "--folds belongs to treebanks of CoNLL-U"),
        (["grammar", "known.conllu", "-o", "p", "--order", "4"], "--order"),
        (["grammar", "known.conllu", "-o", "p", "--epochs", "0"], "--epochs"),
        (["grammar", "odd.conllu", "-o", "p"], "odd.conllu, sentence 1 from line 1 on"),
        (["grammar", "circle.conllu", "-o", "p"], "The heads form a circle"),
        (["grammar", "untagged.conllu", "-o", "p"], "sentence 1: the word 'a' has no tag. Tag the file first"),
        (["grammar", "known.conllu", "-o", "folder"], "this is a folder"),
        (["parse", "parser", "empty"], "empty contains no sentence"),
        (["parse", "parser", "empty", "--tagger", "tagger"], "empty contains no sentence"),
        (["parse", "parser", "empty", "--format", "conllu"], "empty contains no sentence"),
        (["parse", "parser", "nowhere"], "nowhere: No such file or directory"),
        (["parse", "parser", "new.txt"], "A dependency parser needs tags: give a tagger by --tagger FILE, or pass"),
        (["parse", "parser", "new.txt", "--tagged"], "with --tagged each word is written word/TAG"),
        (["parse", "parser", "new.txt", "--tagged", "--tagger", "tagger"], "written word/TAG"),
        (["parse", "parser", "pairs.txt", "--tagged", "--tagger", "tagger"], "pass one of them"),
        (["parse", "parser", "new.txt", "--tagger", "tagger", "--tags", "upos"], "--tags names a column of CoNLL-U"),
        (["parse", "parser", "new.txt", "--format", "conllu"], "new.txt, sentence 1, line 1: CoNLL-U has ten columns"),
        (["parse", "parser", "new.txt", "--format", "brackets"], "--format must be one of text, conllu"),
        (["parse", "parser", "trees.mrg", "--tagger", "tagger"], "trees.mrg looks like trees"),
        (["parse", "parser", "new.conllu", "--tagged"], "--tagged belongs to text"),
        (["parse", "parser", "new.conllu", "--tagger", "parser"], "parser holds a DependencyParser, and a tagger is n"),
        (["parse", "parser", "new.conllu", "--tagger", "nowhere"], "nowhere: No such file or directory"),
        (["parse", "parser", "new.conllu", "--tag-weight", "2"], "--tag-weight belongs to --tagger"),
        (["parse", "parser", "new.conllu", "--tagger", "tagger", "--tag-weight", "-1"], "--tag-weight"),
        (["parse", "grammar", "new.txt", "--tag-weight", "1"], "--tag-weight belongs to dependency parsers"),
        (["parse", "parser", "new.conllu", "--tagger", "-"], "a model must be a file"),
        (["parse", "parser", "new.conllu", "-k", "3"], "give -o GROUPS.jsonl or -o GROUPS.conllu"),
        (["parse", "parser", "new.conllu", "--beam", "3"], "--beam belongs to grammars of bracketed trees"),
        (["parse", "parser", "new.conllu", "--coarse", "3"], "--coarse belongs to grammars of bracketed trees"),
        (["parse", "parser", "new.conllu", "--skip"], "--skip belongs to grammars of bracketed trees"),
        (["parse", "parser", "new.conllu", "--memory", "much"], "much"),
        (["parse", "parser", "new.conllu", "-o", "new.conllu"], "new.conllu is read"),
        (["parse", "parser", "new.conllu", "--tagger", "tagger", "-o", "tagger"], "tagger is read"),
        (["parse", "parser", "circle.conllu", "-o", "k.jsonl"], "circle.conllu, sentence 1, line 1: The heads form"),
        (["parse", "parser", "strange.conllu"], "The parser knows none of these tags, such as 'X|Y'"),
        (["parse", "parser", "untagged.conllu"], "line 1: the word 'a' has no tag. A dependency parser needs tags"),
        (["parse", "grammar", "trees.mrg", "--tagger", "tagger"], "--tagger belongs to dependency parsers"),
        (["parse", "grammar", "new.txt", "--tags", "xpos"], "--tags belongs to dependency parsers"),
        (["parse", "grammar", "new.conllu"], "new.conllu looks like CoNLL-U, but sentences are needed"),
        (["parse", "grammar", "new.conllu"], "Learn a dependency parser to parse it, or pass --format text"),
        (
            ["parse", "grammar", "new.conllu", "--format", "conllu"],
            "--format conllu belongs to dependency parsers, and",
        ),
        (["parse", "grammar", "new.txt", "-o", "p.conllu"], "-o with a name in .conllu belongs to dependency parsers"),
        (["parse", "tagger", "new.txt"], "tagger holds a PerceptronTagger, and a grammar or a dependency parser is"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(arguments, message, here):
    Path("folder").mkdir()
    Path("empty").write_text("\n")
    Path("trees.mrg").write_text("(S (N a))")
    Path("odd.conllu").write_text(ODD)
    Path("pairs.txt").write_text("the/DET dog/NOUN\n")
    Path("circle.conllu").write_text("1\ta\t_\tDET\tDT\t_\t1\tx\t_\t_\n")
    Path("strange.conllu").write_text("1\ta\t_\tX\tY\t_\t0\tx\t_\t_\n")
    Path("untagged.conllu").write_text("1\ta\t_\t_\t_\t_\t0\tx\t_\t_\n")
    PCFG.from_treebank(["(S (N a))"]).save("grammar")
    assert message in refused(*arguments)


@pytest.mark.parametrize(
    "command",
    [
        ["train_dependencies", "grammar", "known.conllu", "-o", "p"],
        ["train_tagger", "grammar", "known.conllu", "-o", "p", "--folds", "2"],
        ["parse_dependencies", "parse", "parser", "new.conllu", "-o", "out.conllu"],
        ["tag_by_beam", "parse", "parser", "new.conllu", "-o", "out.jsonl", "--tagger", "tagger"],
    ],
)
def test_an_interruption_exits_with_130_and_leaves_nothing(here, command):
    interrupt(SLOW_CORE, "at work", *command)
