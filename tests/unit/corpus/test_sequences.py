"""Sequences: what goes in comes out, selections, and mistakes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import espalier as es
from espalier.corpus.sequences import Sequences
from espalier.errors import InputError


def test_what_goes_in_comes_out():
    corpus = Sequences.from_items(["the cat", [], ["a word", "b"], " spaced \t out\n"])
    assert list(corpus) == [("the", "cat"), (), ("a word", "b"), ("spaced", "out")]
    assert corpus.shape == (4,) and repr(corpus) == "<Sequences: 4 with 6 symbols>"
    assert list(Sequences.from_items(["é b"], "characters")) == [("é", " ", "b")]
    assert list(pickle.loads(pickle.dumps(corpus))) == list(corpus)


def test_selections():
    corpus = Sequences.from_items(["a", "b c", "", "d"])
    assert list(corpus[[3, 1, 1]]) == [("d",), ("b", "c"), ("b", "c")]
    assert list(corpus[1:3]) == [("b", "c"), ()] and corpus[-1] == ("d",)
    assert list(corpus[np.array([True, False, False, True])]) == [("a",), ("d",)]
    with pytest.raises(IndexError, match="Row 4 is out of range"):
        corpus[4]


def test_arrays_cannot_be_changed():
    symbol, start = Sequences.from_items(["a b"]).arrays
    for array in (symbol, start):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_another_vocabulary_grows_by_what_it_lacks():
    first = Sequences.from_items(["a b"])
    second = Sequences.from_items(["b c"])
    moved = second.with_vocabulary(first.vocabulary.extended())
    assert list(moved) == [("b", "c")] and moved.vocabulary.extends(first.vocabulary)
    assert list(first.vocabulary) == ["a", "b"]


def test_dependency_trees_give_words_and_tags():
    tree = es.DependencyTree(["cats", "sleep"], heads=[2, 0], tags=["NNS", "VBP"], relations=["nsubj", "root"])
    assert list(Sequences.from_items([tree])) == [("cats", "sleep")]
    assert list(Sequences.from_items([tree], "tags")) == [("NNS", "VBP")]


def test_no_rows_and_odd_ones_are_selected_or_refused():
    corpus = Sequences.from_items(["a", "b c"])
    assert len(corpus[[]]) == 0 and len(corpus[:0]) == 0
    for rows in ([0.5], ["a"], [[0]], "x", None):
        with pytest.raises(TypeError, match="A corpus is indexed by integers, a slice or a mask"):
            corpus[rows]
    with pytest.raises(IndexError, match="out of bounds"):
        corpus[[2]]


def test_a_corpus_knows_what_its_symbols_are():
    letters = Sequences.from_items(["ab", "b"], "characters")
    assert letters.of == letters[[0]].of == letters.with_vocabulary(es.corpus.Vocabulary()).of == "characters"
    assert pickle.loads(pickle.dumps(letters)).of == "characters"
    assert es.Spectrum(1, of="characters")(letters).tolist() == [[2.0, 1.0], [1.0, 1.0]]
    with pytest.raises(InputError, match=r"These sequences contain characters, but words are needed. Pass of='chara"):
        es.Spectrum(1)(letters)


@pytest.mark.parametrize("items", ["the cat", b"the cat", 3, None])
def test_what_is_no_list_of_items_is_an_error(items):
    with pytest.raises(TypeError, match="A corpus is a list of sequences, got"):
        Sequences.from_items(items)


@pytest.mark.parametrize("of", ["words", "characters"])
def test_half_a_character_is_an_error_that_names_the_row(of):
    with pytest.raises(InputError, match="Row 1 contains half of a surrogate pair, which is not valid Unicode"):
        Sequences.from_items(["fine", "a \ud800"], of)


@pytest.mark.parametrize("item", [None, 3, b"bytes", ["a", 1], {"a": 1}])
def test_other_items_are_an_error_that_names_the_row(item):
    with pytest.raises(InputError, match="Row 1 must be a text"):
        Sequences.from_items(["fine", item])


def test_words_are_parted_by_ascii_blanks_alone_as_tokens_of_trees_are():
    text = "10\u00a0000 cats\u2003sleep\tin\n\x0b\x0c\r\x85a\x1chouse"
    words = es.Sequences.from_items([text])[0]
    assert words == ("10\u00a0000", "cats\u2003sleep", "in", "\x85a\x1chouse")
    assert words == es.Sequences.from_items([es.Tree.from_brackets(f"(S {text})")])[0]
    assert es.BagOfWords().value(text, "10 000") == 0
