"""One tree as elements of an SVG picture: labels, edges, and frames around what is marked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from html import escape

from espalier.structures.fragment import Position
from espalier.structures.layout import Highlight, Nodes, list_nodes, pixels, place
from espalier.structures.palette import LINE, ORANGE, TEXT, WORD
from espalier.structures.tree import Tree

MARK, MARKED = ORANGE, "#8a2c06"  # the frame and the label of a node that is marked in no other colour
GAP, MAX_LABEL = 16, 40  # pixels between nodes, characters of a label
_LEVEL = 48
_PALE = ".5"  # the opacity of what stands back
_COLOUR = re.compile(r"#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?|[a-zA-Z]+")


def tree_elements(
    tree: Tree, highlight: Highlight, pale: Collection[Position], notes: Mapping[Position, str], max_nodes: int
) -> tuple[str, int, int]:
    """Return one tree as SVG elements, with their width and height."""
    nodes = list_nodes(tree, max_nodes=max_nodes, max_label=MAX_LABEL)
    marks = nodes.marks(tree, highlight, MARK)
    for colour in marks.values():
        check_colour(colour)
    back = nodes.marks(tree, pale, "").keys() - marks.keys()
    for n, note in nodes.marks(tree, notes, "").items():
        nodes.texts[n] += f" {note}"
    widths = [max(8, pixels(text) + (6 if n in marks else 0)) for n, text in enumerate(nodes.texts)]
    x, width = place(nodes, widths, GAP)
    y = [depth * _LEVEL + 12 for depth in nodes.depth]
    texts, frames = [], []
    for n, text in enumerate(nodes.texts):
        label = _label(text, x[n], y[n], marks.get(n), nodes.is_word[n])
        texts.append(f'<g opacity="{_PALE}">{label}</g>' if n in back else label)
        if n in marks:
            left = x[n] - (widths[n] + 2) // 2
            frames.append(
                f'<rect class="{mark_class(marks[n], "p")}" x="{left}" y="{y[n] - 12}" width="{widths[n] + 2}" '
                f'height="22" rx="7" fill="{marks[n]}" fill-opacity=".13" stroke="{marks[n]}" '
                f'stroke-opacity=".55"/>'
            )
    edges = _edges(nodes, x, y, marks, back)
    return "".join([*edges, *frames, *texts]), width, y[-1] + 12


def _label(text: str, x: int, y: int, mark: str | None, is_word: bool) -> str:
    if not text.strip():  # an empty label is a dot
        return f'<circle class="i" cx="{x}" cy="{y - 1}" r="3" fill="{TEXT}"/>'
    if mark is not None:
        name, fill = ("m", MARKED) if mark == MARK else ("i b", TEXT)
        bold = ' font-weight="bold"'
    else:
        name, fill = ("w", WORD) if is_word else ("i", TEXT)
        bold = ""
    return f'<text class="{name}" x="{x}" y="{y + 4}" fill="{fill}"{bold}>{escape(text, quote=False)}</text>'


def check_colour(colour: object) -> None:
    """Refuse what is no colour: it would become part of the picture's text."""
    if not _COLOUR.fullmatch(str(colour)):
        raise ValueError(f"A colour is '#rgb', '#rrggbb' or a name of CSS, got {colour!r}.")


def mark_class(colour: str, name: str) -> str:
    """The class of the default mark, whose label differs on dark pages too; other marks share one."""
    return name if colour == MARK else "u"


def _edges(nodes: Nodes, x: list[int], y: list[int], marks: Mapping[int, str], back: Collection[int]) -> list[str]:
    lines: dict[str, list[str]] = {"": [], _PALE: []}
    for n in range(1, len(x)):
        parent = nodes.parent[n]
        colour = marks.get(n, "")
        if colour != marks.get(parent, ""):
            colour = ""
        if n in back and not colour:
            colour = _PALE
        lines.setdefault(colour, []).append(f"M{x[parent]} {y[parent] + 11}L{x[n]} {y[n] - 13}")
    paths = []
    for style, opacity in (("", ""), (_PALE, f' opacity="{_PALE}"')):
        if plain := "".join(lines.pop(style)):
            paths.append(f'<path class="e" d="{plain}" stroke="{LINE}" fill="none"{opacity}/>')
    for colour, pieces in lines.items():
        paths.append(
            f'<path class="{mark_class(colour, "o")}" d="{"".join(pieces)}" stroke="{colour}" stroke-width="2.5" '
            'fill="none"/>'
        )
    return paths
