"""KeLP's format."""

from __future__ import annotations

import io

import numpy as np
import pytest

from espalier.errors import InputError, TreeSyntaxError
from espalier.structures import Tree, read_klp

LINES = """\
HUM |BS:q| Who | it ? |ES| |BV:bow| who:1.0 a:b:2 |EV| |BDV:d| 1.0,2 |EDV| |BT:t| (A(B)(C(D))) |ET|
LOC |BS:q| Where ? |ES| |BV:bow| where:3 |EV| |BDV:d| 3 4 |EDV| |BT:t| (A(B)) |ET|
"""


def read(text: str, **options):
    return read_klp(io.StringIO(text), **options)


def test_every_kind_of_part():
    table = read(LINES)
    assert table.columns == ("label", "q", "bow", "d", "t")
    assert table["label"] == ("HUM", "LOC")
    assert table["q"] == ("Who | it ?", "Where ?")
    assert table["bow"].toarray().tolist() == [[2, 0, 1], [0, 3, 0]]
    assert table["bow"].has_sorted_indices and table["bow"].has_canonical_format
    assert table.feature_names["bow"] == ("a:b", "where", "who")
    assert table["d"].tolist() == [[1, 2], [3, 4]]
    assert table["t"] == (Tree.from_brackets("(A B (C D))"), Tree.from_brackets("(A B)"))
    assert table["t"][0][0] is table["t"][1][0]


def test_columns_survive_taking_rows():
    table = read(LINES)[[1]]
    assert table["bow"].toarray().tolist() == [[0, 3, 0]]
    assert table.feature_names["bow"] == ("a:b", "where", "who")


def test_labels_of_trees_end_at_brackets_alone():
    (tree,) = read("X |BT:t| (New York( a\\b)( ) (c::n)) |ET|")["t"]
    assert [node.label for node in tree] == ["New York", "a\\b", "", "c::n"]


def test_several_labels_are_tuples():
    assert read("A B |BS:q| x |ES|\n|BS:q| y |ES|\n")["label"] == (("A", "B"), ())


def test_missing_texts_and_trees_are_none():
    table = read("A |BS:q| x |ES|\nB |BT:t| (A) |ET|\n")
    assert table["q"] == ("x", None) and table["t"] == (None, Tree("A"))


def test_an_empty_file_is_an_empty_table():
    assert len(read("")) == 0


def test_features_in_a_given_order():
    train = read(LINES)
    with pytest.warns(UserWarning, match="1 values of features that are not in"):
        test = read("A |BV:bow| who:2 new:1 |EV|", feature_names=train.feature_names)
    assert test["bow"].toarray().tolist() == [[0, 0, 2]]


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        ("A", InputError, "line 2: this line has no part"),
        ("", InputError, "line 2: this line has no part"),
        ("A |BS:q| x", InputError, r"line 2, column 3: \|BS:q\| is not closed by \|ES\|"),
        ("A |BS:q| x |ES| y", InputError, "line 2, column 17: 'y' is outside"),
        ("A |BG:g| x |EG|", InputError, "kind 'G'"),
        ("A |BT:q| (A) |ET|", InputError, "'q' is of kind T here and S before"),
        ("A |BS:q| x |ES| |BS:q| x |ES|", InputError, "line 2: 'q' occurs twice"),
        ("A |BS:label| x |ES|", InputError, "'label' is taken"),
        ("A |<||BS:q| x |ES||,|", InputError, "Pairs"),
        ("A |BT:t| (A(B) |ET|", TreeSyntaxError, "line 2, column 1: this bracket is never closed"),
        ("A |BT:t| (A)) |ET|", TreeSyntaxError, "line 2, column 4"),
        ("A |BT:t| (A)(B) |ET|", TreeSyntaxError, "line 2, .*holds 2"),
        ("A |BT:t| |ET|", TreeSyntaxError, "line 2, .*no tree"),
        ("A |BT:t| (A(B)c) |ET|", TreeSyntaxError, "line 2, column 6: a label is outside"),
        ("A |BV:v| a:1 |EV|", InputError, "line 1: the vector 'v' is missing"),
    ],
)
def test_broken_lines_are_named(line, error, message):
    with pytest.raises(error, match=message) as caught:
        read(f"A |BS:q| x |ES|\n{line}\nA |BS:q| x |ES|\n")
    assert "StringIO" in str(caught.value)


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ("|BV:v| a |EV|", "line 1: 'a' is not a feature:number"),
        ("|BV:v| a:x |EV|", "'a:x' is not"),
        ("|BV:v| a:nan |EV|", "'a:nan' is not"),
        ("|BV:v| a:1 a:2 |EV|", "'a' occurs twice"),
        ("|BDV:v| 1 x |EDV|", "line 1, vector 'v': 'x' is not a number"),
        ("|BDV:v| 1 |EDV|\nA |BDV:v| 1 2 |EDV|", "line 2, vector 'v': 2 numbers, but 1"),
    ],
)
def test_broken_vectors_are_named(vector, message):
    with pytest.raises(InputError, match=message):
        read(f"A {vector}")


def test_the_question_corpus(data):
    train = read_klp(data / "trec" / "dependency_train.klp.gz")
    assert train.columns == ("label", "quest", "bow", "grct", "lct", "loct", "cgrct", "clct")
    assert train.shape == (5452, 8)
    assert set(train["label"]) == {"ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"}
    assert train["bow"].shape == (5452, len(train.feature_names["bow"]))
    assert np.all(train["bow"].data > 0)
    assert train["quest"][0] == "How did serfdom develop in and then leave Russia ?"


def test_ascii_blanks_alone_part_labels_features_and_numbers():
    table = read("HUM\u00a0A |BV:v| x\u2003y:1\tz:2 |EV| |BT:t| (\u00a0A (b)) |ET| |BS:s| \u00a0text |ES|")
    assert table["label"] == ("HUM\u00a0A",)
    assert table.feature_names["v"] == ("x\u2003y", "z")
    assert table["t"][0].label == "\u00a0A"
    assert table["s"] == ("\u00a0text",)
    for vector in ("|BDV:d| 1\u00a02 |EDV|", "|BDV:d| 1\u00a0 |EDV|", "|BDV:d| 1_0 |EDV|", "|BV:d| a:1\u00a0 |EV|"):
        with pytest.raises(InputError, match="is not a"):
            read(f"A {vector}")
