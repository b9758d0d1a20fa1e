"""Vocabularies grow, extend, and never change what they extend."""

import pickle

import pytest

from espalier.corpus import Vocabulary


def test_numbers_are_in_order_of_first_sight() -> None:
    vocabulary = Vocabulary(["S", "NP", "S", "VP"])
    assert list(vocabulary) == ["S", "NP", "VP"]
    assert [vocabulary.id(label) for label in vocabulary] == [0, 1, 2]


def test_unknown_labels_and_numbers_are_errors() -> None:
    vocabulary = Vocabulary(["S"])
    with pytest.raises(KeyError, match="NP"):
        vocabulary.id("NP")
    with pytest.raises(IndexError, match="label number"):
        vocabulary[1]


def test_an_extension_does_not_change_its_base_and_two_extensions_do_not_meet() -> None:
    base = Vocabulary(["S"])
    one, two = base.extended(["A"]), base.extended(["B"])
    assert list(base) == ["S"]
    assert list(one) == ["S", "A"]
    assert list(two) == ["S", "B"]
    assert one.extends(base) and not base.extends(one) and not one.extends(two)


def test_an_extension_keeps_to_the_base_as_it_was() -> None:
    base = Vocabulary(["S"])
    wider = base.extended()
    base._native.add("LATER")
    assert "LATER" not in wider
    assert wider.extended(["LATER"]).id("LATER") == 1
    assert not wider.extends(base)


def test_vocabularies_with_the_same_labels_agree_however_they_were_made() -> None:
    base = Vocabulary(["S", "NP"])
    copy = pickle.loads(pickle.dumps(base))
    assert copy.extends(base) and base.extends(copy) and base.extended(["VP"]).extends(copy)
    assert not Vocabulary(["NP", "S"]).extends(base)


def test_many_labels_and_odd_ones() -> None:
    labels = [f"label{k}" for k in range(5000)] + ["", "é", "a b", "(", "\u00a0", "x" * 10_000]
    vocabulary = Vocabulary(labels)
    assert [vocabulary.id(label) for label in labels] == list(range(len(labels)))
    assert list(pickle.loads(pickle.dumps(vocabulary))) == labels
