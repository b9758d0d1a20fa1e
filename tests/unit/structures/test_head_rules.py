"""Constituency trees become dependency trees by rules for heads: by hand, on a treebank, and on trees of every kind."""

from __future__ import annotations

import pytest
from tests.reference.dependencies import has_crossing_arcs

from espalier import Tree
from espalier.errors import InputError
from espalier.structures import read_brackets


def dependencies(text, rules=None):
    found = Tree.from_brackets(text).to_dependencies(rules)
    return found.heads, found.relations


def test_heads_are_those_of_yamada_and_matsumoto():
    text = "(S (NP (DT the) (NN cat)) (VP (MD will) (VP (VB see) (NP (NNS dogs)) (PP (IN in) (NP (NN spring))))) (. .))"
    heads, relations = dependencies(text)
    assert heads == (2, 3, 0, 3, 4, 4, 6, 3)
    assert relations == ("DT", "NP", "root", "VP", "NP", "PP", "NP", ".")


def test_own_rules_choose_other_heads():
    text = "(NP (D the) (J old) (N cat))"
    assert dependencies(text, {"NP": "r N;r"})[0] == (3, 3, 0)
    assert dependencies(text, {"NP": "r D|J;l"})[0] == (2, 0, 2)
    assert dependencies(text, {"NP": "l D|J;l"})[0] == (0, 1, 1)
    assert dependencies(text, {"*": "l"})[0] == (0, 1, 1)
    assert dependencies(text, {"NP": "l X"})[0] == (3, 3, 0)  # no part applies: the last child


def test_one_word():
    assert dependencies("(N dogs)") == ((0,), ("root",))
    assert dependencies("(S (NP (N dogs)))") == ((0,), ("root",))


@pytest.mark.parametrize(
    ("text", "rules", "message"),
    [
        ("(S (N dogs) bark)", None, "The word 'bark' has no tag above it"),
        ("(S (NP) (V bark))", None, "The word .NP. has no tag above it"),
        ("(X (N dogs) (V bark))", {"S": "r"}, r"constituent 'X'\. Add a rule for this label, or one for '\*'"),
        ("(X (N dogs) (V bark))", {"X": "up N"}, "The rule for 'X' contains 'up N'"),
        ("(X (N dogs) (V bark))", {"X": "r N V"}, "The rule for 'X' contains 'r N V'"),
    ],
)
def test_what_has_no_heads_is_refused(text, rules, message):
    with pytest.raises(InputError, match=message):
        dependencies(text, rules)


def test_deep_trees_need_no_recursion():
    tree = Tree("N", ["dogs"])
    for _ in range(5_000):
        tree = Tree("NP", [Tree("J", ["old"]), tree])
    found = tree.to_dependencies()
    assert found.heads == (5_001,) * 5_000 + (0,)


def test_shared_subtrees_are_counted_as_often_as_they_occur():
    noun = Tree("NP", [Tree("N", ["dogs"])])
    assert Tree("VP", [Tree("VBD", ["saw"]), noun, noun]).to_dependencies().heads == (0, 1, 1)


def test_a_treebank_becomes_trees_without_crossing_arcs(data):
    trees = read_brackets(data / "wsj" / "sample.mrg.gz")[:200]
    plain = [tree.without_traces().without_function_tags().without_outer() for tree in trees]
    for tree in plain:
        found = tree.to_dependencies()
        assert list(found.words) == tree.words()
        assert len(found.roots) == 1
        assert not has_crossing_arcs(found.heads)
