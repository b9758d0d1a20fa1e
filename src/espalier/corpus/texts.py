"""How plain strings are read if both trees and words are possible: brackets are a tree, anything else is words.

Kernels of trees read brackets, kernels of sequences read words, and a text such as ``(S (NP cats) (VP sleep))`` could
be either. So one decision is made for all strings of a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from espalier.corpus.forest import Forest
from espalier.corpus.sequences import Sequences
from espalier.errors import InputError, TreeSyntaxError
from espalier.structures.notation import BLANKS, parse


def row_that_reads_as_a_tree(column: object, *, nested: bool = False) -> int | None:
    """Return a row which shows that the strings of a column are trees; None if they are words.

    They are trees if one of them is a tree with a bracket inside a bracket, or if all of them are trees: a lone
    ``(sic)`` among plain texts is words.

    Items that are not strings are ignored. With ``nested`` only a bracket inside a bracket counts, because something
    else says that strings are words.

    Examples
    --------
    >>> row_that_reads_as_a_tree(["(sic)", "the cat :("]), row_that_reads_as_a_tree(["the cat", "(NP (N cat))"])
    (None, 1)
    >>> row_that_reads_as_a_tree(["(N cat)", "(N dog)"]), row_that_reads_as_a_tree(["(N cat)"], nested=True)
    (0, None)
    """
    if isinstance(column, Forest | Sequences) or not isinstance(column, Iterable):
        return None
    first, all_are_trees = None, not nested
    for row, item in enumerate(column):
        text = item.strip(BLANKS) if isinstance(item, str) else ""
        if not text:
            continue
        if not _is_tree(text):
            all_are_trees = False
        elif text.count("(") > 1:
            return row
        elif first is None:
            first = row
    return first if all_are_trees else None


def check_words(column: Any, *, nested: bool = False) -> object:
    """Return a column, as a list if it can be iterated only once; refuse strings that read as trees."""
    if isinstance(column, Iterator):
        column = list(column)
    row = row_that_reads_as_a_tree(column, nested=nested)
    if row is None:
        return column
    text = next(item for number, item in enumerate(column) if number == row)
    raise InputError(
        f"Row {row} reads as a tree in brackets, {text!r:.60}, and could be plain words too. "
        "If it is a tree, pass Forest.from_trees(texts) or Tree.from_brackets(text): then the words of the tree count. "
        "If it is words, pass Sequences.from_items(texts) or lists of words."
    )


def _is_tree(text: str) -> bool:
    if text[0] != "(" or text[-1] != ")":
        return False
    try:
        return len(parse(text)[3]) == 1
    except TreeSyntaxError:
        return False
