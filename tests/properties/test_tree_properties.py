"""Laws that hold for every tree."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from espalier.errors import InputError, TreeSyntaxError
from espalier.structures import Tree, as_tree

SPECIAL = st.text(alphabet="()\\ \t\n\r\v\f-|<+aé\u00a0\u2028", max_size=5)
LABELS = st.one_of(SPECIAL, st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
TREES = st.recursive(
    LABELS.map(Tree),
    lambda children: st.builds(Tree, LABELS, st.lists(children, max_size=4)),
    max_leaves=20,
)


@given(TREES)
def test_text_gives_the_tree_back(tree):
    text = tree.to_brackets()
    again = Tree.from_brackets(text)
    assert again == tree and hash(again) == hash(tree)
    assert again.to_brackets() == text


@given(TREES, st.integers(1, 60))
def test_indented_text_gives_the_tree_back(tree, width):
    assert Tree.from_brackets(tree.pretty(width=width)) == tree


@given(TREES)
def test_pickle_and_repr_give_the_tree_back(tree):
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert eval(repr(tree), {"Tree": Tree}) == tree


@given(TREES, TREES)
def test_equal_means_the_same_text(a, b):
    assert (a == b) == (a.to_brackets() == b.to_brackets())


@given(TREES)
def test_counts_agree_with_iteration(tree):
    nodes = list(tree)
    assert tree.size == len(nodes)
    assert tree.height == max(map(len, tree.positions()))
    assert [tree[position] for position in tree.positions()] == nodes


@given(TREES, st.sampled_from(["left", "right"]), st.one_of(st.none(), st.integers(0, 3)))
def test_binarization_is_undone_or_refused(tree, branching, order):
    try:
        binary = tree.binarized(branching, order=order)
    except InputError:
        assert any("|<" in node.label for node in tree if not node.is_leaf)
    else:
        assert all(len(node.children) <= 2 for node in binary)
        assert binary.unbinarized() == tree


@given(TREES, st.booleans())
def test_collapsing_is_undone_or_refused(tree, preterminals):
    try:
        collapsed = tree.collapsed(preterminals=preterminals)
    except InputError:
        assert any("+" in node.label for node in tree if not node.is_leaf)
    else:
        assert collapsed.expanded() == tree


@given(TREES)
def test_tuples_give_the_tree_back(tree):
    assert as_tree(tree.fold(lambda node, below: (node.label, below))) == tree


@given(st.text(alphabet="()\\ ab\n\0é", max_size=30))
def test_any_text_is_a_tree_or_one_clear_error(text):
    try:
        tree = Tree.from_brackets(text)
    except TreeSyntaxError as error:
        assert error.line is not None and error.column is not None
    else:
        assert Tree.from_brackets(tree.to_brackets()) == tree
