"""Where the nodes of a drawn tree go: on levels, side by side, each parent over its children.

``drawing`` turns the places into SVG or into characters; this module knows neither. Every subtree has a
band of columns to itself, so nothing overlaps, and the leaves are in order from left to right.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from espalier.structures.fragment import Position
from espalier.structures.numbers import whole_number
from espalier.structures.tree import Tree

Highlight = Iterable[Position] | Mapping[Position, str]

_JOINERS = "\u200c\u200d"  # they decide how Persian, Hindi or an emoji is drawn


@dataclass(frozen=True)
class Nodes:
    """The nodes of a tree level by level: parents before children, siblings next to each other."""

    texts: list[str]
    parent: list[int]
    depth: list[int]
    children: list[range]  # the numbers of the children of each
    is_word: list[bool]

    def marks(self, tree: Tree, highlight: Highlight, default: str) -> dict[int, str]:
        """The colour of each highlighted node, by number; a position outside the tree is an error."""
        colours = highlight if isinstance(highlight, Mapping) else dict.fromkeys(highlight, default)
        marks: dict[int, str] = {}
        for position, colour in colours.items():
            if not isinstance(position, tuple):
                raise TypeError(f"A highlighted position is a tuple of child indices, got {position!r}.")
            tree[position]
            n = 0
            for index in position:
                if not self.children[n]:  # the drawing was cut above the position
                    break
                n = self.children[n][index]
            else:
                marks[n] = colour
        return marks


def list_nodes(tree: Tree, *, max_nodes: int, max_label: int) -> Nodes:
    """List the nodes level by level; if there are more than ``max_nodes``, record what is left out."""
    if not isinstance(tree, Tree):
        raise TypeError(f"Only a Tree can be drawn, got {type(tree).__name__}. espalier.as_tree converts it.")
    whole_number("max_nodes", max_nodes, most=math.inf)
    trees = [tree]
    nodes = Nodes([], [-1], [0], [], [])
    for n, node in enumerate(trees):  # the list grows while it is read: breadth first
        text = printable(node.label, max_label)
        n_children = len(node.children)
        if len(trees) + n_children > max_nodes:
            text, n_children = f"{text} … {node.size - 1:,} more", 0
        nodes.texts.append(text)
        nodes.is_word.append(not node.children)
        nodes.children.append(range(len(trees), len(trees) + n_children))
        if n_children:
            trees.extend(node.children)
            nodes.parent.extend([n] * n_children)
            nodes.depth.extend([nodes.depth[n] + 1] * n_children)
    return nodes


def place(nodes: Nodes, widths: list[int], gap: int) -> tuple[list[int], int]:
    """Return the centre of each node and the width of the whole: leaves from left to right, parents over children."""
    n_nodes = len(widths)
    below = [0] * n_nodes  # columns that the children of a node take together
    band = widths[:]
    for n in range(n_nodes - 1, -1, -1):  # children have larger numbers than parents
        below[n] += gap * max(0, len(nodes.children[n]) - 1)
        band[n] = max(widths[n], below[n])
        if n:
            below[nodes.parent[n]] += band[n]
    left = [0] * n_nodes
    for n in range(n_nodes):
        start = left[n] + (band[n] - below[n]) // 2
        for child in nodes.children[n]:
            left[child] = start
            start += band[child] + gap
    centre = [0] * n_nodes
    for n in range(n_nodes - 1, -1, -1):
        before, after = (widths[n] - 1) // 2, widths[n] // 2
        if children := nodes.children[n]:
            middle = (centre[children[0]] + centre[children[-1]]) // 2
        else:
            middle = left[n] + (band[n] - 1) // 2
        centre[n] = min(max(middle, left[n] + before), left[n] + band[n] - 1 - after)
    return centre, band[0]


def printable(label: str, max_length: int) -> str:
    r"""Return a label that can be shown: control characters visible, long text shortened with an ellipsis.

    Examples
    --------
    >>> printable("a\tb", 10), printable("incomprehensible", 8)
    ('a␉b', 'incompr…')
    """
    if len(label) > max_length:
        label = label[: max_length - 1] + "…"
    if label.isprintable():
        return label
    return "".join(c if c.isprintable() or c in _JOINERS else _visible(c) for c in label)


def _visible(character: str) -> str:
    if character < " ":
        return chr(0x2400 + ord(character))
    return " " if unicodedata.category(character) == "Zs" else "\ufffd"


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Examples
    --------
    >>> cells("tree"), cells("木"), cells("e\u0301")
    (4, 2, 1)
    """
    return len(text) if text.isascii() else sum(_measure(c, 1, 2) for c in text)


def pixels(text: str) -> int:
    """How many pixels a text takes at a font size of 14 in a face with the widths of Helvetica."""
    per_mille = sum(_measure(c, _HELVETICA.get(c, 600), 1000) for c in text)
    # Wider faces stand in where Helvetica and Arial are missing: leave them 8 per cent more room.
    return round(per_mille * 14 / 1000 * 1.08) + 1


def _measure(character: str, narrow: int, wide: int) -> int:
    if not character.isascii() and unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return wide if unicodedata.east_asian_width(character) in "WF" else narrow


_HELVETICA = {
    character: width
    for width, characters in {
        200: "ijl'|",
        290: " !,./:;I[\\]ft",
        340: '()-`r{}"',
        390: "*^",
        500: "Jckvxyszª",
        556: "0123456789abdeghnopquL_#$?",
        584: "+<=>~",
        612: "FTZ",
        667: "ABEKPSVXY&",
        722: "CDHNRUw",
        778: "GOQ",
        833: "Mm",
        945: "W%…",
        1015: "@",
    }.items()
    for character in characters
}
