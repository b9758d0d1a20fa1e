"""What the strings of a column are: trees in brackets, or words."""

from __future__ import annotations

import pytest

import espalier as es
from espalier.corpus.texts import check_words, row_that_reads_as_a_tree


@pytest.mark.parametrize(
    ("column", "row"),
    [
        (["the cat", "a dog"], None),
        ([], None),
        (["", "  "], None),
        (["(N cat)", "", "(N dog)"], 0),
        (["the cat", "(sic)", "(see below)", "sad :(", "(A a) (B b)", "(S (NP a)"], None),
        (["the cat", "(NP (N cat))"], 1),
        (["the cat", "  ( (S cats))\n"], 1),
        (["(a) first, (b) second"], None),
        ([["(NP", "(N"], "the cat"], None),
        ([es.Tree("a"), "(NP (N cat))"], 1),
        (es.Forest.from_trees(["(N cat)"]), None),
        (3, None),
    ],
)
def test_strings_are_trees_if_all_are_or_if_one_has_a_bracket_inside_a_bracket(column, row):
    assert row_that_reads_as_a_tree(column) == row


def test_beside_words_only_a_bracket_inside_a_bracket_makes_a_tree():
    assert row_that_reads_as_a_tree(["(sic)"], nested=True) is None
    assert row_that_reads_as_a_tree(["(sic)", "(S (N a))"], nested=True) == 1


def test_a_generator_is_checked_and_kept():
    assert check_words(text for text in ["the cat", "(sic)"]) == ["the cat", "(sic)"]
    with pytest.raises(es.InputError, match=r"^Row 1 reads as a tree in brackets, '\(S \(N a\)\)'"):
        check_words(text for text in ["the cat", "(S (N a))"])
