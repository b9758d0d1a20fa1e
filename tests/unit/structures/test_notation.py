"""Bracket notation: what each spelling means, and what errors say."""

from __future__ import annotations

import pytest

from espalier.errors import TreeSyntaxError
from espalier.structures import Tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(X)", Tree("X")),
        ("()", Tree("")),
        ("( )", Tree("")),
        ("(X a)", Tree("X", ["a"])),
        ("(X (a))", Tree("X", ["a"])),
        ("(X\ta\n\r\v\fb)", Tree("X", ["a", "b"])),
        ("( X  a )", Tree("X", ["a"])),
        ("(X(A)(B))", Tree("X", ["A", "B"])),
        ("( (S a))", Tree("", [Tree("S", ["a"])])),
        ("((S a))", Tree("", [Tree("S", ["a"])])),
        ("( (a) b)", Tree("", ["a", "b"])),
        ("(X ())", Tree("X", [""])),
        ("( ())", Tree("", [""])),
        ("( -LRB-)", Tree("-LRB-")),
        (r"(CD 1\/2)", Tree("CD", [r"1\/2"])),
        (r"(X \( \) a\ b)", Tree("X", ["(", ")", "a b"])),
        (r"(X a\\)", Tree("X", ["a\\"])),
        (r"(X \\a)", Tree("X", [r"\a"])),
        (r"(X \a)", Tree("X", [r"\a"])),
        ("(X a\\\nb)", Tree("X", ["a\nb"])),
        ("(X a\u00a0b)", Tree("X", ["a\u00a0b"])),
        ("(X a\u2028b \x85)", Tree("X", ["a\u2028b", "\x85"])),
        ("(N häuser)", Tree("N", ["häuser"])),
        ("  (X a)\n", Tree("X", ["a"])),
    ],
)
def test_what_a_text_means(text, tree):
    assert Tree.from_brackets(text) == tree
    assert Tree.from_brackets(tree.to_brackets()) == tree


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Tree("X"), "(X)"),
        (Tree(""), "()"),
        (Tree("X", ["a", Tree("Y", ["b"])]), "(X a (Y b))"),
        (Tree("", [Tree("S", ["a"])]), "( (S a))"),
        (Tree("", ["a", "b"]), "( (a) b)"),
        (Tree("", ["", "b"]), "( () b)"),
        (Tree("X", [""]), "(X ())"),
        (Tree("X", ["(", ")"]), r"(X \( \))"),
        (Tree("X", [r"1\/2"]), r"(X 1\/2)"),
        (Tree("X", ["\\"]), r"(X \\)"),
        (Tree("X", ["\\("]), r"(X \\\()"),
        (Tree("X", [r"\\b"]), r"(X \\\b)"),
        (Tree("a b", ["c"]), r"(a\ b c)"),
    ],
)
def test_how_a_tree_is_written(tree, text):
    assert str(tree) == text


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "no tree", 1, 1),
        (" \n ", "no tree", 1, 1),
        ("cat", "outside any bracket", 1, 1),
        ("(X a) b", "outside any bracket", 1, 7),
        ("(X a))", "never opened", 1, 6),
        (")", "never opened", 1, 1),
        ("(X (Y a)", "never closed", 1, 1),
        ("(X a)\n(Y b)", "holds 2", 1, 1),
        ("(X a)\r\n  )", "never opened", 2, 3),
        ("(X a\0)", "NUL", 1, 5),
        ("(ä \ud800)", "surrogate", 1, 4),
        ("(ä ö) )", "never opened", 1, 7),
    ],
)
def test_what_is_no_tree(text, message, line, column):
    with pytest.raises(TreeSyntaxError, match=message) as caught:
        Tree.from_brackets(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_text_must_be_text():
    with pytest.raises(TypeError, match="must be a str, got bytes"):
        Tree.from_brackets(b"(X a)")


def test_a_ten_megabyte_line_fails_briefly():
    with pytest.raises(TreeSyntaxError) as caught:
        Tree.from_brackets("(X " + "word " * 2_000_000)
    assert len(str(caught.value)) < 400
