"""Dependency trees: validation, and the trees that KeLP writes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from espalier.errors import InputError
from espalier.structures import DependencyTree, TaggedSequence, Tree, read_klp


def sentence(**changes) -> DependencyTree:
    parts = {
        "words": ["Cats", "chase", "old", "mice"],
        "tags": ["NNS", "VBP", "JJ", "NNS"],
        "heads": [2, 0, 4, 2],
        "relations": ["nsubj", "root", "amod", "dobj"],
        "lemmas": ["cat", "chase", "old", "mouse"],
    }
    return DependencyTree(**{**parts, **changes})


def test_parts_become_tuples_and_the_tree_a_value():
    tree = sentence(heads=np.array([2, 0, 4, 2]))
    assert tree.heads == (2, 0, 4, 2) and type(tree.heads[0]) is int
    assert tree == sentence() and hash(tree) == hash(sentence())
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == tree
    assert len(tree) == 4 and tree.roots == [2]
    with pytest.raises(AttributeError):
        tree.words = ()


def test_tagged():
    assert sentence().tagged() == TaggedSequence(["Cats", "chase", "old", "mice"], ["NNS", "VBP", "JJ", "NNS"])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"tags": ["NNS"]}, InputError, "4 words, 1 tags"),
        ({"lemmas": ["cat"]}, InputError, "1 lemmas"),
        ({"features": [()]}, InputError, "1 features"),
        ({"heads": [2, 0, 5, 2]}, InputError, r"Token 3 \('old'\) has head 5.*from 1 to 4"),
        ({"heads": [2, 0, -1, 2]}, InputError, "Token 3"),
        ({"heads": [2, 0, 3, 2]}, InputError, r"circle: 3 \('old'\) -> 3 \('old'\)"),
        (
            {"heads": [3, 0, 4, 3]},
            InputError,
            r"circle: 3 \('old'\) -> 4 \('mice'\) -> 3 \('old'\)",
        ),
        ({"heads": [2, 1, 4, 2]}, InputError, "circle"),
        ({"heads": [2, 0, "4", 2]}, TypeError, r"heads\[2\] must be an int"),
        ({"words": "abcd"}, TypeError, "words must be a sequence"),
        ({"words": ["a", "b", None, "d"]}, TypeError, r"words\[2\] must be a str"),
        (
            {"words": [], "tags": [], "heads": [], "relations": [], "lemmas": []},
            InputError,
            "at least one token",
        ),
    ],
)
def test_what_is_no_dependency_tree(changes, error, message):
    with pytest.raises(error, match=message):
        sentence(**changes)


def test_tagged_sequences_are_checked():
    assert len(TaggedSequence([], [])) == 0
    assert TaggedSequence(["a"], ["X"]).words == ("a",)
    with pytest.raises(InputError, match="2 words, 1 tags"):
        TaggedSequence(["a", "b"], ["X"])
    with pytest.raises(TypeError, match="words must be"):
        TaggedSequence(3, ["X"])


def test_the_three_trees():
    tree = sentence()
    assert str(tree.grammatical_relation_tree()) == (
        "(SYNT##root (SYNT##nsubj (POS##NNS LEX##cat::n)) (POS##VBP LEX##chase::v) "
        "(SYNT##dobj (SYNT##amod (POS##JJ LEX##old::j)) (POS##NNS LEX##mouse::n)))"
    )
    assert str(tree.lexical_tree()) == (
        "(LEX##chase::v (LEX##cat::n POS##NNS SYNT##nsubj) "
        "(LEX##mouse::n (LEX##old::j POS##JJ SYNT##amod) POS##NNS SYNT##dobj) POS##VBP SYNT##root)"
    )
    assert str(tree.location_tree()) == ("(LEX##chase::v LEX##cat::n (LEX##mouse::n LEX##old::j))")


def test_plain_labels_and_unknown_lemmas():
    tree = sentence(lemmas=None)
    assert str(tree.location_tree(prefixes=False)) == "(chase cats (mice old))"
    assert str(tree.grammatical_relation_tree(prefixes=False)) == (
        "(root (nsubj (NNS cats)) (VBP chase) (dobj (amod (JJ old)) (NNS mice)))"
    )


def test_several_roots_stand_below_one_node():
    tree = sentence(heads=[0, 0, 4, 2])
    assert str(tree.location_tree(prefixes=False)) == "(TOP cat (chase (mouse old)))"
    relations = tree.grammatical_relation_tree()
    assert DependencyTree.from_grammatical_relation_tree(relations).heads == (0, 0, 4, 2)


def test_crossing_arcs_keep_their_arcs():
    tree = sentence(heads=[3, 0, 2, 1])
    again = DependencyTree.from_grammatical_relation_tree(tree.grammatical_relation_tree())
    assert again.grammatical_relation_tree() == tree.grammatical_relation_tree()
    assert again.lexical_tree() == tree.lexical_tree()


def test_a_long_chain_of_heads():
    n = 20_000
    tree = DependencyTree(["w"] * n, ["T"] * n, range(n), ["r"] * n)
    relations = tree.grammatical_relation_tree()
    assert relations.height == n + 1
    assert DependencyTree.from_grammatical_relation_tree(relations).heads == tree.heads
    assert tree.location_tree().height == n - 1


@pytest.mark.parametrize(
    "text",
    [
        "(SYNT##root (SYNT##nsubj (POS##N LEX##a::n)))",
        "(SYNT##root (POS##N LEX##a::n) (POS##N LEX##b::n))",
        "(SYNT##root (X a))",
        "(POS##N LEX##a::n)",
        "(X)",
    ],
)
def test_what_is_no_relation_tree(text):
    with pytest.raises(InputError, match="not a grammatical relation tree"):
        DependencyTree.from_grammatical_relation_tree(Tree.from_brackets(text))


@pytest.mark.parametrize(("split", "n"), [("train", 5452), ("test", 500)])
def test_every_tree_of_kelp_is_regenerated(data, split, n):
    table = read_klp(data / "trec" / f"dependency_{split}.klp.gz")
    assert len(table) == n
    for row in zip(table["grct"], table["lct"], table["loct"], strict=True):
        tree = DependencyTree.from_grammatical_relation_tree(row[0])
        made = (tree.grammatical_relation_tree(), tree.lexical_tree(), tree.location_tree())
        assert made == row


def test_a_lexical_tree_does_not_tell_where_the_head_stands():
    before = DependencyTree(["it", "is"], ["PRP", "VBZ"], [2, 0], ["nsubj", "root"])
    after = DependencyTree(["is", "it"], ["VBZ", "PRP"], [0, 1], ["root", "nsubj"])
    assert before.lexical_tree() == after.lexical_tree()
    assert before.grammatical_relation_tree() != after.grammatical_relation_tree()
