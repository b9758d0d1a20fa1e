"""Files of bracketed trees, as treebanks and parsers write them."""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterable

from espalier.errors import InputError
from espalier.structures import notation
from espalier.structures.files import Readable, read_text, source_name, write_text
from espalier.structures.limits import DEFAULT_LIMITS, ReadLimits
from espalier.structures.tree import Tree, trees_from_arrays

_PIECE = 1 << 16  # characters that are read at once to find a tree


def read_brackets(path: Readable, *, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> list[Tree]:
    r"""Read all trees of a file. A tree may span several lines, and a line may contain several trees.

    Equal subtrees, within a tree and across the file, are one object. An empty file is an empty list. If a bracket is
    missing or a word is outside all brackets, a TreeSyntaxError names file, line and column; if the file is not text in
    ``encoding``, or damaged gzip, that is an InputError.

    Parameters
    ----------
    path
        A path or an open file, plain or compressed with gzip.
    encoding
        How the file is encoded.
    limits
        The largest text that is read; see :class:`ReadLimits`.

    Examples
    --------
    >>> import io
    >>> read_brackets(io.StringIO("(NP (D the)\n    (N cat))\n(NP (N it))"))
    [Tree.from_brackets('(NP (D the) (N cat))'), Tree.from_brackets('(NP (N it))')]
    """
    return trees_of_text(read_text(path, encoding=encoding, limits=limits), source_name(path))


def trees_of_text(text: str, name: str) -> list[Tree]:
    """Return all trees of a text; errors name the file from which it was read."""
    return trees_from_arrays(notation.parse(text, source=name))


def locate_tree(text: str, row: int) -> tuple[int, str]:
    r"""The line, counted from 1, on which a tree of a text begins, and the tree as it is written there.

    The text must be readable. ``row`` counts from 0.

    Examples
    --------
    >>> locate_tree("(A a)\n\n(B\n  b) (C c)", 1)
    (3, '(B\n  b)')
    """
    at, before, size = 0, 0, _PIECE
    while True:
        piece = text[at : at + size]
        n_trees, end = notation.whole_trees(piece)
        if before + n_trees > row:
            break
        if at + len(piece) == len(text):
            raise InputError(f"There are {before + n_trees:,} trees in this text, and none has the number {row}.")
        if n_trees:
            at, before, size = at + end, before + n_trees, _PIECE
        else:  # a tree longer than the piece
            size *= 2
    start, stop = (_end_of(piece, n) for n in (row - before, row - before + 1))
    start += len(piece[start:stop]) - len(piece[start:stop].lstrip(notation.BLANKS))
    return text.count("\n", 0, at + start) + 1, piece[start:stop]


def _end_of(text: str, n_trees: int) -> int:
    """Return the offset at which this many trees have ended."""
    return bisect.bisect_left(range(len(text)), n_trees, key=lambda end: notation.whole_trees(text[:end])[0])


def write_brackets(trees: Iterable[Tree], path: str | os.PathLike[str]) -> None:
    """Write trees to a file, one per line, in UTF-8.

    The file is written completely or not at all, and replaces an existing one. A name that ends in
    ``.gz`` is compressed. ``read_brackets`` reads equal trees back.
    """
    lines = []
    for index, tree in enumerate(trees):
        if not isinstance(tree, Tree):
            raise TypeError(
                f"Element {index} is not a Tree but of type {type(tree).__name__}. espalier.as_tree converts it."
            )
        lines.append(f"{tree.to_brackets()}\n")
    write_text(path, "".join(lines))
