"""CoNLL files: the treebanks, what is skipped, and what is refused."""

from __future__ import annotations

import io

import pytest

from espalier.errors import InputError
from espalier.structures import Group, read_conllu, read_conllu_documents, read_groups, write_groups

SENTENCE = """\
# text = Don't go.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp|VerbForm=Fin\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tgone\tgo\tVERB\tVB\t_\t_\t_\t3:conj\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""


@pytest.mark.parametrize(
    ("name", "tags", "encoding", "n", "n_several_roots"),
    [
        ("ewt_ud/en_ewt-ud-dev.conllu.gz", "xpos", "utf-8", 2001, 0),
        ("ewt_ud/en_ewt-ud-test.conllu.gz", "upos", "utf-8", 2077, 0),
        ("atis_ud/en_atis-ud-train.conllu.gz", "upos", "utf-8", 4274, 0),
        ("atis_ud/en_atis-ud-dev.conllu.gz", "upos", "utf-8", 572, 0),
        ("atis_ud/en_atis-ud-test.conllu.gz", "upos", "utf-8", 586, 0),
        ("conll2007/esp.test.gz", "xpos", "utf-8", 563, 0),
        ("conll2007/eus.train.gz", "xpos", "latin-1", 2595, 1007),
    ],
)
def test_treebanks(data, name, tags, encoding, n, n_several_roots):
    trees = read_conllu(data / name, tags=tags, encoding=encoding)
    assert len(trees) == n
    assert sum(len(tree.roots) > 1 for tree in trees) == n_several_roots
    for tree in trees[::50]:
        assert len(tree.lexical_tree().words()) == 2 * len(tree)


def test_the_large_treebank(data):
    trees = read_conllu(data / "ewt_ud/en_ewt-ud-train.conllu.gz", tags="xpos")
    assert len(trees) == 12544


def test_multiword_tokens_and_empty_nodes_are_skipped():
    (tree,) = read_conllu(io.StringIO(SENTENCE))
    assert tree.words == ("Do", "n't", "go", ".")
    assert tree.heads == (3, 3, 0, 3)
    assert tree.tags == ("AUX", "PART", "VERB", "PUNCT")
    assert tree.lemmas == ("do", "not", "go", ".")
    assert tree.features == (("Mood=Imp", "VerbForm=Fin"), (), (), ())


def test_words_stand_for_lemmas_that_a_file_leaves_out():
    rows = ["1 Cats _ NOUN _ _ 2 nsubj _ _", "2 sleep _ VERB _ _ 0 root _ _"]
    (tree,) = read_conllu(io.StringIO("\n".join(row.replace(" ", "\t") for row in rows)))
    assert tree.lemmas is None
    assert "LEX##cats::n" in tree.lexical_tree().to_brackets()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_any_system(end):
    (tree,) = read_conllu(io.StringIO(SENTENCE.replace("\n", end)))
    assert tree.words == ("Do", "n't", "go", ".")


def test_crossing_arcs_and_several_roots_are_read():
    heads = {"3\taux": "0\taux", "3\tadvmod": "4\tadvmod", "3\tpunct": "1\tpunct"}
    text = SENTENCE
    for old, new in heads.items():
        text = text.replace(f"\t{old}", f"\t{new}")
    (tree,) = read_conllu(io.StringIO(text))
    assert tree.heads == (0, 4, 0, 1) and tree.roots == [1, 3]


@pytest.mark.parametrize("line", ["1-2\tDon't" + "\t_" * 8, "0.1\tx\tx\tX" + "\t_" * 6])
def test_a_sentence_of_nothing_else_is_an_error(line):
    with pytest.raises(InputError, match=r"sentence 1 .*It has no word"):
        read_conllu(io.StringIO(line + "\n\n"))


def test_either_tags():
    (tree,) = read_conllu(io.BytesIO(SENTENCE.encode()), tags="xpos")
    assert tree.tags == ("VB", "RB", "VB", ".")


def test_joint_tags(tmp_path):
    text = SENTENCE.replace("PART\tRB", "PART\t_").replace("PUNCT\t.", "_\t.")
    (tree,) = read_conllu(io.StringIO(text), tags="joint")
    assert tree.tags == ("AUX|VB", "PART", "VERB|VB", "_|.")
    write_groups([Group([tree])], tmp_path / "again.conllu")
    assert [line.split("\t")[3:5] for line in (tmp_path / "again.conllu").read_text().splitlines()[2:4]] == [
        ["AUX", "VB"],
        ["PART", "_"],
    ]
    assert read_conllu(tmp_path / "again.conllu", tags="joint") == [tree]
    assert read_groups(tmp_path / "again.conllu", tags="joint")[0].candidates == (tree,)


def test_joint_tags_of_a_treebank_without_fine_tags(data):
    path = data / "atis_ud/en_atis-ud-dev.conllu.gz"
    assert read_conllu(path, tags="joint") == read_conllu(path)


@pytest.mark.parametrize("mark", ["# newdoc", "# newdoc id = a-1", "#newdoc id=a"])
def test_documents(mark):
    first, other = SENTENCE.replace("go", "first"), SENTENCE.replace("go", "other")
    text = f"{first}{mark}\n{SENTENCE}{other}{mark}\n{SENTENCE}"
    documents = read_conllu_documents(io.StringIO(text), tags="xpos")
    assert [[tree.words[2] for tree in document] for document in documents] == [["first"], ["go", "other"], ["go"]]
    assert [tree for document in documents for tree in document] == read_conllu(io.StringIO(text), tags="xpos")


def test_without_documents_each_sentence_is_one(data):
    assert [len(document) for document in read_conllu_documents(io.StringIO(SENTENCE * 3))] == [1, 1, 1]
    text = SENTENCE + "# newpar\n# newdocument = no\n" + SENTENCE  # a paragraph is no document
    assert [len(document) for document in read_conllu_documents(io.StringIO(text))] == [1, 1]


def test_documents_of_a_treebank(data):
    path = data / "ewt_ud/en_ewt-ud-dev.conllu.gz"
    documents = read_conllu_documents(path, tags="joint")
    assert len(documents) == 318 and sum(map(len, documents)) == 2001


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_files_without_sentences(text):
    assert read_conllu(io.StringIO(text)) == read_conllu_documents(io.StringIO(text)) == []


def test_missing_tags_say_which_to_take(data):
    with pytest.raises(InputError, match=r"sentence 1 .*no XPOS tag. Pass tags='upos'"):
        read_conllu(data / "atis_ud/en_atis-ud-dev.conllu.gz", tags="xpos")
    for read in (read_conllu, read_conllu_documents, read_groups):
        with pytest.raises(ValueError, match="tags must be 'upos', 'xpos' or 'joint', got 'pos'"):
            read(io.StringIO(SENTENCE), tags="pos")


def test_another_encoding_is_named(data):
    with pytest.raises(InputError, match=r"eus.test.gz, line \d+, column \d+.*latin-1"):
        read_conllu(data / "conll2007/eus.test.gz")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t3\taux", "\t9\taux", "sentence 2 .*head 9"),
        ("\t0\troot", "\t1\troot", "circle"),
        ("\t0\troot", "\t_\troot", r"Word 3 \('go'\) has no head"),
        ("\t0\troot", "\tx\troot", r"'x', in the line of 'go', is no head: a number, or _ where"),
        ("\t0\troot", "\t1.5\troot", r"'1\.5', in the line of 'go', is no head"),
        ("\n3\tgo\t", "\n3\t\t", "Word 3 is empty; a word that is not known is written _"),
        (
            "\n3\tgo",
            "\n3-2\tgo",
            "'3-2' is not a valid ID: a number, a range such as 1-2, or an empty node such as 1.1",
        ),
        ("\n3\tgo", "\nthree\tgo", "not a valid ID"),
        ("\n3\tgo", "\n7\tgo", "Word 3 has the id 7"),
        ("2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_", "2\tn't", "the column 'head' is missing"),
        ("2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_", "nonsense", "sentence 2"),
    ],
)
def test_broken_sentences_are_named(old, new, message):
    assert old in SENTENCE
    with pytest.raises(InputError, match=message):
        read_conllu(io.StringIO(SENTENCE + SENTENCE.replace(old, new, 1)))


@pytest.mark.parametrize("columns", [("2", "9" * 5_000), ("9" * 5_000, "1"), ("2-" + "9" * 5_000, "_")])
def test_a_number_of_thousands_of_digits_is_told_with_file_and_line(tmp_path, columns):
    number, head = columns
    first = ("1", "a", "a", "X", "X", "_", "0", "root", "_", "_")
    rows = [first, (number, "b", "b", "X", "X", "_", head, "x", "_", "_")]
    good = "\n".join("\t".join(row) for row in rows[:1])
    bad = "\n".join("\t".join(row) for row in rows)
    place = tmp_path / "long.conllu"
    place.write_text(f"{good}\n\n{bad}\n")
    with pytest.raises(InputError, match=r"long.conllu, sentence 2 from line 3 on .* number of 5,00. digits"):
        read_conllu(place)
