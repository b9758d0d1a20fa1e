"""Trees: construction, access, comparison, and depth without recursion."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from espalier.errors import InputError
from espalier.structures import Tree

SENTENCE = "(S (NP (D the) (N cat)) (VP (V sat)))"
DEPTH = 50_000


@pytest.fixture
def tree() -> Tree:
    return Tree.from_brackets(SENTENCE)


@pytest.fixture(scope="module")
def chain() -> Tree:
    return make_chain()


def make_chain() -> Tree:
    node = Tree("word")
    for _ in range(DEPTH):
        node = Tree("a", [node])
    return node


def test_str_children_become_leaves():
    assert Tree("N", ["cat"]) == Tree("N", [Tree("cat")])
    assert Tree("N", ["cat"]).children[0].is_leaf


def test_children_may_be_any_iterable():
    assert Tree("X", (c for c in "ab")) == Tree("X", ["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1,), TypeError, "must be a str, got 1"),
        (("X", "cat"), TypeError, r"Write Tree\('X', \['cat'\]\)"),
        (("X", [3]), TypeError, "as_tree"),
        (("X", [None]), TypeError, "child of 'X'"),
        (("a\0b",), InputError, "NUL"),
        (("\ud800",), InputError, "surrogate"),
        (("X", ["\0"]), InputError, "NUL"),
    ],
)
def test_bad_parts_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Tree(*arguments)


def test_trees_cannot_be_changed(tree):
    with pytest.raises(AttributeError, match="cannot be changed"):
        tree.label = "X"
    with pytest.raises(AttributeError, match="cannot be changed"):
        tree.colour = "red"
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del tree.label
    assert isinstance(tree.children, tuple)


def test_equality_is_of_content():
    a, b = Tree.from_brackets(SENTENCE), Tree.from_brackets(SENTENCE)
    assert a == b and a is not b and hash(a) == hash(b)
    assert len({a, b}) == 1
    assert a != SENTENCE and a != None  # noqa: E711
    assert a != Tree.from_brackets("(S (NP (D the) (N dog)) (VP (V sat)))")


def test_a_leaf_differs_from_an_inner_node_of_the_same_label():
    assert Tree("X") != Tree("X", [Tree("")])
    assert Tree.from_brackets("(A (X))") == Tree.from_brackets("(A X)")


@pytest.mark.parametrize("other", [Tree("Y", ["a"]), Tree("X", ["b"]), Tree("X", ["a", "a"])])
def test_equality_does_not_trust_the_hash(other):
    tree = Tree("X", ["a"])
    Tree.__dict__["_hash"].__set__(other, hash(tree))
    assert hash(tree) == hash(other) and tree != other


def test_shared_subtrees_are_compared_once():
    def doubled() -> Tree:
        node = Tree("x")
        for _ in range(200):
            node = Tree("a", [node, node])
        return node

    assert doubled() == doubled()
    assert doubled().size == 2**201 - 1


def test_iteration_is_in_pre_order(tree):
    assert [node.label for node in tree] == ["S", "NP", "D", "the", "N", "cat", "VP", "V", "sat"]


def test_positions_address_nodes_in_order_of_iteration(tree):
    positions = list(tree.positions())
    assert positions[:4] == [(), (0,), (0, 0), (0, 0, 0)]
    assert [tree[position] for position in positions] == list(tree)


def test_an_int_is_a_position(tree):
    assert tree[1] is tree.children[1] and tree[-1] is tree[1] and tree[()] is tree


def test_positions_outside_are_errors(tree):
    with pytest.raises(IndexError, match=r"position \(0, 5\).*'NP' at \(0,\) has 2 children"):
        tree[0, 5]
    with pytest.raises(TypeError, match="tuple of ints"):
        tree["NP"]


def test_words_leaves_size_height(tree):
    assert tree.words() == ["the", "cat", "sat"]
    assert tree.leaves() == [Tree("the"), Tree("cat"), Tree("sat")]
    assert (tree.size, tree.height) == (9, 3)
    assert (Tree("x").size, Tree("x").height) == (1, 0)


def test_preterminals(tree):
    assert tree[0, 0].is_preterminal and not tree[0].is_preterminal and not tree.is_preterminal
    assert not tree[0, 0, 0].is_preterminal


def test_repr_evaluates_to_an_equal_tree(tree):
    odd = Tree("it's", ['"', "\\", "a b", "", tree])
    assert eval(repr(odd), {"Tree": Tree}) == odd


def test_copies_are_the_tree_itself(tree):
    assert copy.copy(tree) is tree and copy.deepcopy([tree])[0] is tree


def test_numpy_takes_a_tree_as_one_object(tree):
    assert np.array([tree, tree], dtype=object).shape == (2,)


def test_pretty_reads_back_and_fits(tree):
    assert tree.pretty() == SENTENCE
    narrow = tree.pretty(width=22)
    assert narrow == "(S\n  (NP (D the) (N cat))\n  (VP (V sat)))"
    assert Tree.from_brackets(narrow) == tree
    assert Tree("x").pretty() == "(x)"
    empty = Tree("", ["a", Tree("B", ["c" * 40]), "d" * 40])
    assert Tree.from_brackets(empty.pretty(width=20)) == empty


def test_fold_visits_children_first(tree):
    order: list[str] = []
    tree.fold(lambda node, _: order.append(node.label))
    assert order == ["the", "D", "cat", "N", "NP", "sat", "V", "VP", "S"]


class TestDeepChain:
    def test_hash_and_equality(self, chain):
        other = make_chain()
        assert other == chain and hash(other) == hash(chain)
        assert other != Tree("a", [chain])

    def test_numbers(self, chain):
        assert (chain.size, chain.height) == (DEPTH + 1, DEPTH)
        assert sum(1 for _ in chain) == DEPTH + 1
        assert chain.words() == ["word"]
        assert chain[(0,) * DEPTH].label == "word"

    def test_text_both_ways(self, chain):
        assert Tree.from_brackets(str(chain)) == chain
        assert repr(chain).startswith("Tree.from_brackets('(a (a (a")
        assert Tree.from_brackets(chain.pretty()) == chain
        assert len(chain.pretty()) < 100 * DEPTH

    def test_copy_and_pickle(self, chain):
        assert copy.deepcopy(chain) is chain
        assert pickle.loads(pickle.dumps(chain)) == chain

    def test_positions_are_lazy(self, chain):
        positions = chain.positions()
        assert [len(next(positions)) for _ in range(3)] == [0, 1, 2]

    def test_it_is_freed(self):
        node = make_chain()
        watch = weakref.ref(node)
        del node
        gc.collect()
        assert watch() is None


def test_wide_trees():
    wide = Tree("X", ["w"] * 100_000)
    assert Tree.from_brackets(str(wide)) == wide
    assert wide.size == 100_001
    assert Tree.from_brackets(wide.pretty()) == wide
