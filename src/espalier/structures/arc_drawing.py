"""A picture of a dependency tree: arcs over its words, as SVG for pages and notebooks."""

from __future__ import annotations

from collections.abc import Mapping

from espalier.structures.arc_elements import arc_elements
from espalier.structures.dependency import DependencyTree
from espalier.structures.drawing import arranged, card
from espalier.structures.layout import printable
from espalier.structures.numbers import is_whole
from espalier.structures.tree_elements import MAX_LABEL


def dependency_svg(
    tree: DependencyTree,
    *,
    arcs: Mapping[int, str] | None = None,
    words: Mapping[int, str] | None = None,
    title: str | None = None,
) -> str:
    """Draw a dependency tree as a self-contained SVG picture: arcs over the words, as they are written.

    Parameters
    ----------
    tree
        The tree to draw; of more than 1,000 words only the first are drawn.
    arcs, words
        The colours of arcs to mark, by the numbers of their modifiers, and of words; words count from 1.
    title
        A line above the tree.

    Examples
    --------
    >>> from espalier.structures import DependencyTree
    >>> tree = DependencyTree(["Cats", "sleep"], ["NNS", "VBP"], [2, 0], ["nsubj", "root"])
    >>> svg = dependency_svg(tree, words={1: "teal"})
    >>> svg.count(">Cats<"), svg.count(">nsubj<")
    (1, 1)
    """
    for what, given in (("arcs", arcs or {}), ("words", words or {})):
        if wrong := [own for own in given if not (is_whole(own) and 1 <= own <= len(tree))]:
            raise ValueError(f"{what} counts words from 1 to {len(tree)}, got {wrong[0]!r}.")
    pieces, width, height = arranged([arc_elements(tree, arcs or {}, words or {}, (), {})], [title or ""], None)
    return card(pieces, width, height, arc_summary(tree))


def arc_summary(tree: DependencyTree) -> str:
    """Describe the picture of a dependency tree for readers who cannot see it."""
    words = " ".join(printable(word, MAX_LABEL) for word in tree.words[:30])
    return f"dependency tree of {words}{' …' if len(tree) > 30 else ''}"
