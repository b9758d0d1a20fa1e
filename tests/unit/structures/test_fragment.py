"""Fragments: their notation, where they occur, and depth without recursion."""

from __future__ import annotations

import pickle

import pytest

from espalier.errors import TreeSyntaxError
from espalier.structures.fragment import Fragment
from espalier.structures.tree import Tree


@pytest.mark.parametrize(
    "text",
    [
        "(NP (D the) (N))",
        "(NP)",
        "(NP (D) (N))",
        "(S a (B) c (D (E) f))",
        r"(X \( (Y\ Z) a\\)",
        "(NP ())",
    ],
)
def test_notation_round_trips(text):
    fragment = Fragment.from_brackets(text)
    assert fragment.to_brackets() == str(fragment) == text
    assert eval(repr(fragment)) == fragment


def test_an_unexpanded_node_and_a_word_spelled_alike_differ():
    node, word = Fragment.from_brackets("(A (B))"), Fragment.from_brackets("(A B)")
    assert node != word
    assert node.tree == word.tree
    assert len({node, word, Fragment.from_brackets("(A  (B) )")}) == 2


def test_broken_text_is_a_syntax_error_with_its_place():
    with pytest.raises(TreeSyntaxError, match="column 1"):
        Fragment.from_brackets("(NP (D the)")


def test_unexpanded_must_name_leaves():
    with pytest.raises(ValueError, match="0 to 0 here"):
        Fragment(Tree("A", ["b"]), (1,))


def test_occurrences_tell_words_from_nodes():
    tree = Tree.from_brackets("(S (NP (D the) (N cat)) (NP (D the) (N dog)) (NP the cat))")
    assert Fragment.from_brackets("(NP (D the) (N))").occurrences(tree) == [(0,), (1,)]
    assert Fragment.from_brackets("(NP the cat)").occurrences(tree) == [(2,)]
    assert Fragment.from_brackets("(NP (the) (cat))").occurrences(tree) == []
    assert Fragment.from_brackets("(NP (D) (N) (P))").occurrences(tree) == []


def test_positions_are_those_of_the_tree_it_stands_in():
    fragment = Fragment.from_brackets("(NP (D the) (N))")
    assert list(fragment.positions((1,))) == [(1,), (1, 0), (1, 0, 0), (1, 1)]


def test_weight_counts_productions_and_cuts():
    fragment = Fragment.from_brackets("(S (NP (D the) (N)) (VP))")
    assert fragment.n_productions == 3
    assert fragment.weight(0.5, 0.1) == pytest.approx(0.5**3 * 0.1**2)


def test_a_deep_fragment_reads_matches_and_prints():
    text = "(A " * 20_000 + "(B)" + ")" * 20_000
    fragment = Fragment.from_brackets(text)
    assert fragment.to_brackets() == text
    assert fragment.matches(Tree.from_brackets(text.replace("(B)", "(B b)")))
    assert not fragment.matches(Tree.from_brackets(text.replace("(B)", "(C b)")))
    assert pickle.loads(pickle.dumps(fragment)) == fragment


def test_a_fragment_with_equal_parts_is_found_as_a_partial_tree():
    fragment = Fragment.from_brackets("(S (A x) (A x))")
    tree = Tree.from_brackets("(S (A x) (B y) (A x))")
    assert fragment.partial_roots(tree) == ((),)
    assert fragment.nodes(tree, ()) == [(), (0,), (0, 0), (2,), (2, 0)]
