"""Pictures of trees: SVG for pages and notebooks, box characters for a terminal.

A drawing is self-contained: no script, no font to load, colours for light and dark pages inside. Marked nodes
differ by shape as well as by colour. ``layout`` says where things go; ``explain`` says what to mark.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from html import escape

from espalier.structures.fragment import Position
from espalier.structures.layout import Highlight, cells, list_nodes, pixels, place, printable
from espalier.structures.palette import AGAINST, BLUE, CARD, DARK, EDGE, FOR, LINE, MUTED, TEXT, WORD
from espalier.structures.tree import Tree, nodes
from espalier.structures.tree_elements import GAP, MARK, MARKED, MAX_LABEL, tree_elements

UNEXPANDED = "#6e7781"  # the frame of a node whose children a fragment leaves out

_MARGIN, _TITLE = 18, 26
_APART = 4  # columns between drawings in a terminal
# Marks in the library's own colours; any other colour of a caller stays as it is.
_MARKS = "".join(
    f'.espalier .u[{kind}="{light}"]{{{kind}:{DARK[light]}}}'
    for light in (FOR, AGAINST, BLUE)
    for kind in ("fill", "stroke")
)
_STYLE = f"""\
.espalier text{{font:14px Helvetica,Arial,"Liberation Sans",sans-serif;text-anchor:middle}}
.espalier .m,.espalier .b{{font-weight:bold}}.espalier .h{{font-size:13px;font-style:italic}}
@media (prefers-color-scheme:dark){{
.espalier .c{{fill:{DARK[CARD]};stroke:{DARK[EDGE]}}}.espalier .i{{fill:{DARK[TEXT]}}}.espalier .w{{fill:{DARK[WORD]}}}
.espalier .e{{stroke:{DARK[LINE]}}}.espalier .o{{stroke:{DARK[MARK]}}}
.espalier .p{{fill:{DARK[MARK]};stroke:{DARK[MARK]}}}
.espalier .m{{fill:{DARK[MARKED]}}}.espalier .h{{fill:{DARK[MUTED]}}}
{_MARKS}}}
"""


def tree_svg(tree: Tree, *, highlight: Highlight = (), title: str | None = None, max_nodes: int = 20_000) -> str:
    """Draw a tree as a self-contained SVG picture, readable on light and on dark pages.

    Parameters
    ----------
    tree
        The tree to draw.
    highlight
        Positions of nodes to mark, each a tuple of child indices from the root; or a mapping of
        positions to colours (``#rgb``, ``#rrggbb`` or a name). An edge is marked if both of its ends
        are, in one colour.
    title
        A line above the tree.
    max_nodes
        Of a larger tree only the upper levels are drawn; a node above an omitted part says how
        many nodes it has.

    Examples
    --------
    >>> svg = tree_svg(Tree.from_brackets("(NP (D the) (N cat))"), highlight=[(), (0,), (1,)])
    >>> svg.startswith("<svg") and svg.endswith("</svg>")
    True
    """
    return side_by_side([tree], highlights=[highlight], titles=[title or ""], max_nodes=max_nodes)


def side_by_side(
    trees: Sequence[Tree],
    *,
    highlights: Sequence[Highlight] = (),
    titles: Sequence[str] = (),
    pale: Sequence[Collection[Position]] = (),
    notes: Sequence[Mapping[Position, str]] = (),
    width: int | None = None,
    max_nodes: int = 20_000,
) -> str:
    """Draw several trees next to each other in one SVG picture.

    Parameters
    ----------
    trees
        The trees, from left to right.
    highlights, titles
        What to mark in each tree, and a line above each; one per tree, or nothing.
    pale, notes
        For each tree, the positions of nodes to draw pale, and short texts to write after the labels of others.
    width
        If the next tree would exceed this many pixels, it starts a new row. None puts all trees in one row.
    max_nodes
        As for :func:`tree_svg`, for each tree.

    Examples
    --------
    >>> trees = [Tree.from_brackets("(N cat)"), Tree.from_brackets("(N dog)")]
    >>> side_by_side(trees, titles=["one", "two"]).count("<g ")
    2
    """
    pieces, full_width, full_height = placed_side_by_side(
        trees, highlights=highlights, titles=titles, pale=pale, notes=notes, width=width, max_nodes=max_nodes
    )
    return card(pieces, full_width, full_height, "; ".join(map(summary, trees)))


def placed_side_by_side(
    trees: Sequence[Tree],
    *,
    highlights: Sequence[Highlight],
    titles: Sequence[str],
    pale: Sequence[Collection[Position]],
    notes: Sequence[Mapping[Position, str]],
    width: int | None,
    max_nodes: int = 20_000,
) -> tuple[list[str], int, int]:
    """Return the elements of such a picture, and their width and height."""
    _check_one_per_tree(trees, highlights=highlights, titles=titles, pale=pale, notes=notes)
    if not isinstance(width, int | float | None):
        raise TypeError(f"width must be a number of pixels or None, got {width!r}.")
    elements = [
        tree_elements(
            tree,
            highlights[k] if highlights else (),
            pale[k] if pale else (),
            notes[k] if notes else {},
            max_nodes,
        )
        for k, tree in enumerate(trees)
    ]
    return arranged(elements, titles, width)


def arranged(
    elements: Sequence[tuple[str, int, int]], titles: Sequence[str], width: int | None
) -> tuple[list[str], int, int]:
    """Put drawings, each with its width and height, next to each other under titles; return them, width and height.

    A drawing that would exceed the width starts a new row.
    """
    pieces: list[str] = []
    x = y = _MARGIN
    full_width = full_height = 2 * _MARGIN
    head = _TITLE if any(titles) else 0
    for k, (group, own_width, own_height) in enumerate(elements):
        title = printable(titles[k], 200) if titles else ""
        room = max(own_width, pixels(title))
        if width is not None and x > _MARGIN and x + room + _MARGIN > width:
            x, y = _MARGIN, full_height
        if title:
            at = f'x="{x + room // 2}" y="{y + 10}"'
            pieces.append(f'<text class="h" {at} fill="{MUTED}">{escape(title, quote=False)}</text>')
        shift = x + (room - own_width) // 2
        pieces.append(f'<g transform="translate({shift},{y + head})">{group}</g>')
        full_width = max(full_width, x + room + _MARGIN)
        full_height = max(full_height, y + head + own_height + _MARGIN)
        x += room + 3 * GAP
    return pieces, full_width, full_height


def svg_text(text: str) -> str:
    """Return text that is allowed in a picture: XML has no control characters, not even escaped."""
    return escape(printable(text, len(text)))


def card(pieces: Sequence[str], width: int, height: int, alternative: str) -> str:
    """Put elements on a card, with a description for readers who cannot see them."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="espalier" role="img" aria-label="{svg_text(alternative)}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="Helvetica,Arial,sans-serif" font-size="14" text-anchor="middle">'
        f"<style>{_STYLE}</style>"
        f'<rect class="c" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" '
        f'fill="{CARD}" stroke="{EDGE}"/>{"".join(pieces)}</svg>'
    )


def _check_one_per_tree(trees: Sequence[Tree], **options: Sequence[object]) -> None:
    for name, given in options.items():
        if given and len(given) != len(trees):
            raise ValueError(f"{name} must have one entry per tree: got {len(given)} for {len(trees)} trees.")


def summary(tree: Tree) -> str:
    """Describe the picture for readers who cannot see it."""
    leaves = (printable(node.label, MAX_LABEL) for node in nodes(tree) if node.is_leaf)
    words = " ".join(itertools.islice(leaves, 30))
    return f"tree of {words}" if next(leaves, None) is None else f"tree of {words} …"


# Arms of a character: up, down, left, right.
_LIGHT = {
    (1, 1, 0, 0): "│", (1, 1, 1, 0): "┤", (1, 1, 0, 1): "├", (1, 1, 1, 1): "┼", (1, 0, 1, 1): "┴",
    (0, 1, 1, 1): "┬", (0, 1, 0, 1): "┌", (0, 1, 1, 0): "┐", (1, 0, 0, 1): "└", (1, 0, 1, 0): "┘",
    (0, 0, 1, 1): "─",
}  # fmt: skip
_HEAVY = dict(zip(_LIGHT, "┃┫┣╋┻┳┏┓┗┛━", strict=True))


def tree_text(tree: Tree, *, highlight: Highlight = (), max_nodes: int = 2_000) -> str:
    """Draw a tree with box characters, for a terminal; the parameters are those of :func:`tree_svg`.

    A marked node is written ``[NP]``, and lines are heavy if a node and all of its children are marked.

    Examples
    --------
    >>> print(tree_text(Tree.from_brackets("(S (NP (D the) (N cat)) (VP (V sat)))")))
           S
       ┌───┴───┐
       NP      VP
     ┌─┴──┐    │
     D    N    V
     │    │    │
    the  cat  sat
    """
    nodes = list_nodes(tree, max_nodes=max_nodes, max_label=MAX_LABEL)
    marks = nodes.marks(tree, highlight, MARK)
    texts = [f"[{text}]" if n in marks else text or "·" for n, text in enumerate(nodes.texts)]
    widths = [cells(text) for text in texts]
    centre, _ = place(nodes, widths, 2)
    lines: list[list[tuple[int, str, int]]] = [[] for _ in range(2 * nodes.depth[-1] + 1)]
    for n, text in enumerate(texts):
        row = 2 * nodes.depth[n]
        lines[row].append((centre[n] - (widths[n] - 1) // 2, text, widths[n]))
        if children := nodes.children[n]:
            heavy = n in marks and all(child in marks for child in children)
            columns = [centre[child] for child in children]
            lines[row + 1].append(_connector(centre[n], columns, _HEAVY if heavy else _LIGHT))
    return "\n".join(_line(pieces) for pieces in lines)


def _connector(
    parent: int, children: list[int], boxes: Mapping[tuple[int, int, int, int], str]
) -> tuple[int, str, int]:
    """The characters that join a parent's column with those of its children."""
    first, last = min(parent, children[0]), max(parent, children[-1])
    below = set(children)
    text = "".join(
        boxes[int(x == parent), int(x in below), int(x > first), int(x < last)] for x in range(first, last + 1)
    )
    return first, text, last - first + 1


def _line(pieces: list[tuple[int, str, int]]) -> str:
    out, column = [], 0
    for start, text, width in pieces:
        out.append(" " * (start - column) + text)
        column = start + width
    return "".join(out)


def side_by_side_text(
    trees: Sequence[Tree],
    *,
    highlights: Sequence[Highlight] = (),
    titles: Sequence[str] = (),
    width: int = 100,
    max_nodes: int = 2_000,
) -> str:
    """Draw trees with box characters next to each other, as many in a row as ``width`` columns hold.

    Examples
    --------
    >>> trees = [Tree.from_brackets("(N cat)"), Tree.from_brackets("(N dog)")]
    >>> print(side_by_side_text(trees, titles=["one", "two"]))
    one    two
    <BLANKLINE>
     N      N
     │      │
    cat    dog
    """
    _check_one_per_tree(trees, highlights=highlights, titles=titles)
    blocks: list[list[str]] = []
    for k, tree in enumerate(trees):
        drawing = tree_text(tree, highlight=highlights[k] if highlights else (), max_nodes=max_nodes)
        blocks.append([*([printable(titles[k], width), ""] if titles else []), *drawing.split("\n")])
    rows: list[list[list[str]]] = []
    used = 0
    for block in blocks:
        columns = max(map(cells, block)) + _APART
        if not rows or used + columns > width + _APART:
            rows.append([])
            used = 0
        rows[-1].append(block)
        used += columns
    return "\n\n".join(_joined(row) for row in rows)


def _joined(blocks: list[list[str]]) -> str:
    widths = [max(map(cells, block)) for block in blocks]
    lines = []
    for shown in itertools.zip_longest(*blocks, fillvalue=""):
        padded = [text + " " * (width - cells(text)) for text, width in zip(shown, widths, strict=True)]
        lines.append((" " * _APART).join(padded).rstrip())
    return "\n".join(lines)
