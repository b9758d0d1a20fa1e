r"""Bracket notation: how a tree is spelled, and how the compiled parser's errors become ours.

The grammar, for the whole project::

    tree  =  "(" label? item* ")"        item  =  tree | word

* Only ASCII white space separates tokens; a no-break space belongs to its word.
* ``(X)`` and a bare ``X`` inside a tree are the same leaf. ``()`` is a leaf with an empty label.
* ``( (S ...))``: a bracket directly followed by a bracket has the empty label.
* A backslash before ``(``, ``)``, a backslash or ASCII white space stands for that character;
  any other backslash is literal, as in the Wall Street Journal's ``1\/2``.
* ``-LRB-`` and its kin are ordinary labels; ``Tree.unescaped`` turns them into brackets.

Parsing itself happens in ``espalier._core``: there is no second parser.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import InputError, TreeSyntaxError
from espalier.structures.numbers import whole_number

if TYPE_CHECKING:
    from espalier.structures.tree import Tree

BLANKS = " \t\n\r\v\f"  # what parts tokens, here and in lines of text
_NEEDS_ESCAPE = re.compile(r"[() \t\n\r\v\f]|\\(?=[()\\ \t\n\r\v\f]|\Z)")
MAX_NODES = 10_000_000  # of a tree that is written out, unless the caller says otherwise
_WORD = re.compile(f"[^{BLANKS}]+")

PostOrder = tuple[list[str], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]


def escape_label(label: str) -> str:
    r"""Spell a label as a token of bracketed text.

    Examples
    --------
    >>> print(escape_label("a (b)"), escape_label(r"1\/2"))
    a\ \(b\) 1\/2
    """
    return label if label.isalnum() else _NEEDS_ESCAPE.sub(r"\\\g<0>", label)


def split_words(line: str) -> list[str]:
    r"""Split a line of text into words, as brackets are split into tokens: a no-break space belongs to its word.

    Examples
    --------
    >>> split_words("10\u00a0000 cats\tsleep")
    ['10\xa0000', 'cats', 'sleep']
    """
    return _WORD.findall(line)


def check_label(label: object) -> str:
    """Return ``label`` if it can be written in brackets, or say why it cannot."""
    if not isinstance(label, str):
        raise TypeError(f"A label must be a str, got {label!r} of type {type(label).__name__}.")
    if "\0" in label:
        raise InputError(f"A label cannot contain the NUL character, got {label!r}.")
    if not label.isascii():
        try:
            label.encode()
        except UnicodeEncodeError:
            raise InputError(f"A label must be valid Unicode, got {label!r} with half of a surrogate pair.") from None
    return label


def parse(text: str, *, source: str | None = None) -> PostOrder:
    """Parse every tree of a text into post-order arrays: labels, label_ids, n_children and tree_end.

    Node ``k`` has label ``labels[label_ids[k]]`` and takes the last ``n_children[k]`` nodes that have no parent yet;
    tree ``t`` ends before node ``tree_end[t]``.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise syntax_error(
                "this is half of a surrogate pair, not valid Unicode", text, error.start, source=source
            ) from None
    try:
        arrays: Any = _core.parse_brackets(text)
    except _core.BracketError as error:
        message, position = error.args[:2]
        raise syntax_error(message, text, position, source=source) from None
    labels, label_ids, n_children, tree_end = arrays
    return labels, label_ids, n_children, tree_end


def whole_trees(text: str) -> tuple[int, int]:
    """Count the complete trees at the beginning of a readable text, and say where the next one begins."""
    try:
        return len(_core.parse_brackets(text)[3]), len(text)
    except _core.BracketError as error:
        start = int(error.args[1])
        return len(_core.parse_brackets(text[:start])[3]), start


def syntax_error(message: str, text: str, position: int, *, source: str | None = None) -> TreeSyntaxError:
    """Build the error that shows character ``position`` of a whole text in its line."""
    start = text.rfind("\n", 0, position) + 1
    stop = text.find("\n", position)
    line = text[start:] if stop < 0 else text[start:stop]
    return TreeSyntaxError(
        message,
        source=source,
        line=text.count("\n", 0, position) + 1,
        text=line.rstrip("\r"),
        position=position - start,
    )


def check_size(tree: Tree, max_nodes: int | None = MAX_NODES) -> None:
    """Refuse to write out a tree of more nodes; shared subtrees count as often as they occur.

    A few nested shared subtrees make a tree of any size: thirty are enough for a billion nodes.
    """
    if max_nodes is not None and tree.size > whole_number("max_nodes", max_nodes, most=math.inf, none=True):
        size = f"{tree.size:,}" if tree.size < 10**18 else "more than 10^18"
        raise InputError(
            f"This tree has {size} nodes once all its shared subtrees are written out, and the limit is "
            f"{max_nodes:,}. Pass max_nodes=None to to_brackets or pretty to write it anyway; Tree.fold visits each "
            "shared subtree once."
        )


def write(
    tree: Tree,
    max_nodes: int | None = MAX_NODES,
    width: int | None = None,
    unexpanded: Collection[int] | None = None,
) -> str:
    """Write a tree on one line, or with a width indented over several; parsing the text gives an equal tree.

    With a width, a subtree that fits its line is written on it. If leaves are given by their numbers as unexpanded,
    these are in brackets and other leaves are not, which is the notation of a fragment.
    """
    check_size(tree, max_nodes)
    n_leaves = 0
    pieces: list[str] = []
    stack: list[tuple[Tree | str, int]] = [(tree, 0)]
    while stack:
        item, indent = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif not item.children:
            token = escape_label(item.label)
            if unexpanded is None:  # the first word below a node without a label would be read as that label
                is_bare = bool(pieces) and pieces[-2] != "("
            else:
                is_bare = n_leaves not in unexpanded
            pieces.append(token if is_bare and token else f"({token})")
            n_leaves += 1
        elif width is not None and (item.is_preterminal or _fits(item, width - indent)):
            pieces.append(write(item))
        else:
            inner = 0 if width is None else min(indent + 2, width // 2)
            gap = " " if width is None else "\n" + " " * inner
            pieces.append(f"({escape_label(item.label)}")
            stack.append((")", 0))
            for child in reversed(item.children):
                stack.extend([(child, inner), (gap, 0)])
    return "".join(pieces)


def _fits(tree: Tree, width: int) -> bool:
    # Each node takes at least one character, so a large tree is refused without writing it.
    return tree.size <= width and len(write(tree)) <= width
