"""CoNLL-U whose columns are replaced: what stays as it was, what is read without heads, and what is refused."""

from __future__ import annotations

import gzip

import pytest

from espalier.errors import InputError
from espalier.structures.conllu import read_conllu
from espalier.structures.conllu_text import DEPREL, DEPS, HEAD, UPOS, XPOS, ConlluText, columns_of_tags

TEXT = """\
# newdoc
# sent_id = a = 1
# text = Don't go.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t0:root\tA=B|C=D
3.1\tgone\tgo\tVERB\tVB\t_\t_\t_\t3:conj\t_

# text = Go
1\tGo\t_\t_\t_\t_\t_\t_\t_\t_


#sent_id=c
1\t_\t_\tX\t_\t_\t_\t_\t_\t_
2\tb c\t_\tY\tZ\t_\t1\t_\t_\t_
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("tail", ["", "\n\n", "# the end"])
def test_everything_else_is_kept(end, tail):
    whole = (TEXT.rstrip("\n") + tail).replace("\n", end)
    text = ConlluText.of(whole)
    assert len(text) == 3 and text.names == ["a = 1", None, "c"]
    assert text.forms() == [["Do", "n't", "go"], ["Go"], ["_", "b c"]]
    assert text.replaced([{}] * 3) == whole
    tags = [{UPOS: ["P", "Q", "R"], XPOS: ["p", "q", "r"]}, {UPOS: ["S"]}, {UPOS: ["T", "U"]}]
    expected = whole.replace("AUX\tVB", "P\tp").replace("PART\tRB", "Q\tq").replace("VERB\tVB", "R\tr", 1)
    expected = expected.replace("Go\t_\t_", "Go\t_\tS").replace("\tX\t", "\tT\t").replace("\tY\t", "\tU\t")
    assert text.replaced(tags) == expected


def test_arcs_are_replaced_and_enhanced_ones_removed():
    text = ConlluText.of(TEXT)
    new = [{HEAD: ["0"] * len(own), DEPREL: ["x"] * len(own), DEPS: ["_"] * len(own)} for own in text.words]
    lines = text.replaced(new, other={DEPS: "_"}).splitlines()
    assert lines[3] == TEXT.splitlines()[3]
    assert lines[4] == "1\tDo\tdo\tAUX\tVB\tMood=Imp\t0\tx\t_\t_"
    assert lines[7] == "3.1\tgone\tgo\tVERB\tVB\t_\t_\t_\t_\t_"


def test_tags_and_trees():
    text = ConlluText.of(TEXT.replace("Go\t_\t_\t_", "Go\t_\tV\tW"))
    assert [own.tags for own in text.tagged("upos")] == [("AUX", "PART", "VERB"), ("V",), ("X", "Y")]
    joint = text.tagged("joint")
    assert [own.tags for own in joint] == [("AUX|VB", "PART|RB", "VERB|VB"), ("V|W",), ("X", "Y|Z")]
    trees = text.trees(joint)
    assert trees[1:] == [None, None] and trees[0].heads == (3, 3, 0) and trees[0].tags == joint[0].tags
    with pytest.raises(InputError, match=r"f, sentence 2, line 11: the word 'Go' has no UPOS tag"):
        ConlluText.of(TEXT, "f").tagged("upos")
    assert columns_of_tags(["A|B", "C"], "joint") == {UPOS: ("A", "C"), XPOS: ("B", "_")}
    assert columns_of_tags(["A"], "xpos") == {XPOS: ["A"]} and columns_of_tags([], "joint") == {UPOS: (), XPOS: ()}


@pytest.mark.parametrize("text", ["", "\n \n", "# only a comment\n"])
def test_files_without_sentences(text):
    found = ConlluText.of(text)
    assert len(found) == 0 and found.forms() == found.tagged("joint") == [] and found.replaced([]) == text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1\tGo\t_", "1\tGo", "f, sentence 2, line 11: CoNLL-U has ten columns with tabs between them, and '1"),
        ("1\tGo\t_", "1 Go", "has 8"),
        ("1\tGo", "one\tGo", "line 11: 'one' is not a valid ID"),
        ("1\tGo", "2\tGo", "line 11: word 1 has the id 2; ids must count the words from 1"),
        ("1\tGo", "9" * 5000 + "\tGo", r"word 1 has the id 9+\.\.\."),
        ("1\tGo", "1\t", "line 11: word 1 is empty"),
        ("1\tGo", "1-2\tGo", "f, sentence 2: it has no word"),
    ],
)
def test_broken_sentences_are_named(old, new, message):
    assert TEXT.count(old) == 1
    with pytest.raises(InputError, match=message) as caught:
        ConlluText.of(TEXT.replace(old, new), "f")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("head", "message"), [("9", "head 9"), ("1", "circle"), ("x", "'x' is no head"), ("²", "no he")]
)
def test_broken_heads_are_named_where_trees_are_asked_for(head, message):
    text = ConlluText.of(TEXT.replace("\t0\troot", f"\t{head}\troot").replace("3\taux", "1\taux"), "f")
    with pytest.raises(InputError, match=rf"f, sentence 1, line 5: .*{message}"):
        text.trees(ConlluText.of(TEXT.replace("Go\t_\t_", "Go\t_\tV")).tagged("upos"))


@pytest.mark.parametrize("tag", ["", "a\tb", "a\nb", "a\rb"])
def test_what_cannot_stand_in_a_column_is_refused(tag):
    with pytest.raises(InputError, match="cannot be written into a column of CoNLL-U"):
        ConlluText.of("1\ta" + "\t_" * 8).replaced([{UPOS: [tag]}])


def test_a_treebank_is_read_as_the_other_reader_reads_it(data):
    path = data / "ewt_ud/en_ewt-ud-dev.conllu.gz"
    whole = gzip.decompress(path.read_bytes()).decode()
    text = ConlluText.of(whole)
    trees = read_conllu(path, tags="joint")
    tagged = text.tagged("joint")
    assert tagged == [tree.tagged() for tree in trees]
    found = text.trees(tagged)
    assert [(own.heads, own.relations) for own in found] == [(tree.heads, tree.relations) for tree in trees]
    assert text.replaced([columns_of_tags(own.tags, "joint") for own in tagged]) == whole
    assert text.names[0] == "weblog-blogspot.com_nominations_20041117172713_ENG_20041117_172713-0001"
