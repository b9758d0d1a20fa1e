"""Transforms: the rules of treebanks, normal forms and their inverses."""

from __future__ import annotations

import pytest

from espalier.errors import InputError
from espalier.structures import Tree, read_brackets


def brackets(text: str) -> Tree:
    return Tree.from_brackets(text)


def chain(depth: int = 50_000) -> Tree:
    node = Tree("N-1", ["Word"])
    for _ in range(depth):
        node = Tree("A-SBJ", [node])
    return node


@pytest.mark.parametrize(
    ("label", "stripped"),
    [
        ("NP", "NP"),
        ("NP-SBJ", "NP"),
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-SBJ=2", "NP"),
        ("PRP$", "PRP$"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("ADVP|PRT-CLR", "ADVP|PRT"),
        ("=", "="),
        ("", ""),
    ],
)
def test_function_tags(label, stripped):
    assert Tree(label, ["so-called"]).without_function_tags() == Tree(stripped, ["so-called"])


@pytest.mark.parametrize(
    ("label", "stripped"),
    [
        ("NP-SBJ-1", "NP-SBJ"),
        ("NP=2", "NP"),
        ("NP-1=2", "NP"),
        ("NP-SBJ", "NP-SBJ"),
        ("-LRB-", "-LRB-"),
        ("-1", "-1"),
    ],
)
def test_indices(label, stripped):
    assert Tree(label, ["1-2"]).without_indices() == Tree(stripped, ["1-2"])


def test_indices_of_traces_go_too():
    assert str(brackets("(NP (-NONE- *T*-1))").without_indices()) == "(NP (-NONE- *T*))"


def test_traces_take_emptied_constituents_with_them():
    tree = brackets("(S (NP-SBJ (-NONE- *)) (VP (V go) (SBAR (-NONE- 0) (S (NP (-NONE- *T*))))))")
    assert str(tree.without_traces()) == "(S (VP (V go)))"
    assert brackets("(S (NP (-NONE- *)))").without_traces() is None
    untouched = brackets("(S (NP (N cats)))")
    assert untouched.without_traces() is untouched


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("( (S a))", "(S a)"),
        ("(ROOT (S a))", "(S a)"),
        ("(TOP (S a))", "(S a)"),
        ("( (TOP (S a)))", "(S a)"),
        ("(S1 (S a))", "(S1 (S a))"),
        ("(ROOT a)", "(ROOT a)"),
        ("(ROOT (S a) (S b))", "(ROOT (S a) (S b))"),
    ],
)
def test_outer_labels(text, inner):
    assert str(brackets(text).without_outer()) == inner


def test_outer_labels_by_choice():
    assert str(brackets("(S1 (S a))").without_outer(["S1"])) == "(S a)"
    with pytest.raises(TypeError, match="collection"):
        brackets("(S1 (S a))").without_outer("S1")


def test_words():
    tree = brackets("(NP (DT The) (NNP Hague))")
    assert str(tree.with_lower_case_leaves()) == "(NP (DT the) (NNP hague))"
    assert str(tree.with_tags_for_words()) == "(NP DT NNP)"
    assert str(brackets("(NP the (N cat))").with_tags_for_words()) == "(NP the N)"
    assert Tree("X").with_tags_for_words() == Tree("X")


def test_brackets_in_words_both_ways():
    tree = brackets("(X (-LRB- -LRB-) (NFP :-RRB-) (Y -LCB- -RCB- -LSB- -RSB-))")
    assert tree.unescaped().words() == ["(", ":)", "{", "}", "[", "]"]
    assert tree.unescaped()[0].label == "-LRB-"
    assert tree.unescaped().escaped() == tree


@pytest.mark.parametrize(
    ("text", "collapsed"),
    [
        ("(S (VP (V go) (A now)))", "(S+VP (V go) (A now))"),
        ("(S (VP (V go)))", "(S+VP (V go))"),
        ("(S (A a) (B (C (D d) (E e))))", "(S (A a) (B+C (D d) (E e)))"),
        ("(V go)", "(V go)"),
        ("(X)", "(X)"),
        ("( (S (V a) b))", "( (S (V a) b))"),
        ("( (S (VP (V go) (P on))))", "( (S+VP (V go) (P on)))"),
        ("(S ( (VP (V go) (P on))))", "(S ( (VP (V go) (P on))))"),
        ("( ( (A a) (B b)))", "( ( (A a) (B b)))"),
    ],
)
def test_unary_chains(text, collapsed):
    tree = brackets(text)
    assert str(tree.collapsed()) == collapsed
    assert tree.collapsed().expanded() == tree


def test_unary_chains_down_to_the_word():
    tree = brackets("(S (VP (V go)))")
    assert str(tree.collapsed("_", preterminals=True)) == "(S_VP_V go)"
    assert tree.collapsed("_", preterminals=True).expanded("_") == tree


def test_a_separator_in_a_label_is_refused():
    with pytest.raises(InputError, match=r"'A\+B' contains '\+'.*another separator"):
        brackets("(S (A+B c))").collapsed()
    assert brackets("(S (A a+b))").collapsed() == brackets("(S (A a+b))")


@pytest.mark.parametrize(
    "text", ["(S (+A a))", "(S (+ +) (N a))", "(S (X (++ a) (N b)))", "(NP (C++ a) (A+ b))", "(+ (+ +))"]
)
def test_labels_that_are_no_chains_stay_when_chains_are_expanded(text):
    assert brackets(text).expanded() == brackets(text)


def test_an_empty_separator_is_refused():
    for change in (brackets("(S (A a))").collapsed, brackets("(S (A a))").expanded):
        with pytest.raises(ValueError, match="The separator must not be empty"):
            change("")


def test_labels_that_run_into_a_longer_separator_are_refused():
    with pytest.raises(InputError, match=r"be confused with the separator '\+\+', so 'A\+\+\+B' could not be expanded"):
        brackets("(A+ (B (C c) (D d)))").collapsed("++")


@pytest.mark.parametrize(
    ("label", "bare"),
    [
        ("-RRB--1", "-RRB-"),
        ("-LRB--SBJ=2", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("-NONE-=1", "-NONE-"),
        ("-", "-"),
        ("--", "--"),
        ("-X", "-X"),
        ("---", "---"),
        ("NP=2-TMP", "NP"),
    ],
)
def test_functions_are_cut_off_labels_between_marks_too(label, bare):
    assert brackets(f"(S ({label} a-b))").without_function_tags() == brackets(f"(S ({bare} a-b))")


@pytest.mark.parametrize("branching", ["left", "right"])
@pytest.mark.parametrize("order", [None, 0, 1, 2])
@pytest.mark.parametrize(
    "text",
    ["(X)", "(X a)", "(X a b)", "(X a b c)", "(X (A a) (B b c d e) (C c) d)", "( (a) b c d)"],
)
def test_binarization_is_undone(text, branching, order):
    tree = brackets(text)
    binary = tree.binarized(branching, order=order)
    assert all(len(node.children) <= 2 for node in binary)
    assert binary.words() == tree.words()
    assert binary.unbinarized() == tree


def test_labels_of_binarized_nodes():
    tree = brackets("(X (A a) (B b) (C c) (D d))")
    assert str(tree.binarized()) == "(X (A a) (X|<B-C-D> (B b) (X|<C-D> (C c) (D d))))"
    assert str(tree.binarized(order=0)) == "(X (A a) (X|<> (B b) (X|<> (C c) (D d))))"
    assert str(tree.binarized("left")) == "(X (X|<C-B-A> (X|<B-A> (A a) (B b)) (C c)) (D d))"


def test_what_binarize_refuses():
    with pytest.raises(ValueError, match="'right' or 'left'"):
        Tree("X").binarized("up")
    with pytest.raises(ValueError, match="at least 0"):
        Tree("X").binarized(order=-1)
    with pytest.raises(InputError, match=r"contains '\|<'"):
        brackets("(X|<A> a)").binarized()
    with pytest.raises(InputError, match="order=2"):
        Tree("X", ["a"] * 6000).binarized()
    with pytest.raises(InputError, match="whole tree"):
        brackets("(X|<A> a)").unbinarized()


def test_wide_trees_binarize():
    wide = Tree("X", [Tree("Y", [str(i)]) for i in range(30_000)])
    assert wide.binarized(order=2).unbinarized() == wide
    assert wide.binarized("left", order=0).unbinarized() == wide


def test_nothing_recurses():
    deep = chain()
    assert deep.without_function_tags().height == deep.height
    assert deep.without_indices()[(0,) * 50_000].label == "N"
    assert deep.without_traces() is deep
    assert deep.with_lower_case_leaves().words() == ["word"]
    assert deep.with_tags_for_words().words() == ["N-1"]
    assert deep.collapsed().height == 2
    assert deep.collapsed().expanded() == deep
    assert deep.binarized().unbinarized() == deep
    assert deep.escaped().unescaped() is deep
    assert deep.without_outer(["A-SBJ"]).label == "N-1"


def test_shared_subtrees_stay_shared():
    part = Tree("NP-SBJ", ["it"])
    tree = Tree("S", [part, part]).without_function_tags()
    assert tree[0] is tree[1]


def test_transforms_hold_on_the_wall_street_journal(data):
    trees = read_brackets(data / "wsj" / "sample.mrg.gz")
    for tree in trees[::8]:
        plain = tree.without_outer().without_traces().without_function_tags()
        assert not any("-NONE-" in node.label for node in plain)
        assert all("-" not in node.label[1:-1] for node in plain if not node.is_leaf)
        assert plain.collapsed().expanded() == plain
        assert plain.binarized(order=1).unbinarized() == plain
