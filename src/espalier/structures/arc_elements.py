"""One dependency tree as elements of an SVG picture: words in a row, tags below them, and an arc over each pair.

An arc goes from a head to its modifier, which has the arrow, and bears its relation. A line from above leads to a root.
Shorter arcs are below longer ones, so that no two arcs of a projective tree cross.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

from espalier.structures.dependency import DependencyTree
from espalier.structures.layout import pixels, printable
from espalier.structures.palette import LINE, MUTED, TEXT, WORD
from espalier.structures.tree_elements import GAP, MAX_LABEL, check_colour, mark_class

MAX_WORDS = 1_000
_LEVEL, _ROOM = 26, 14  # pixels between arcs, and above the highest for its relation
_OUT, _ROUND = 5, 8  # how far beside the middle of its head an arc begins, and the radius of its corners
_BELOW = 46  # pixels for words and tags
_PALE = ".4"


def arc_elements(
    tree: DependencyTree,
    arcs: Mapping[int, str],
    words: Mapping[int, str],
    pale: Collection[int],
    notes: Mapping[int, str],
    max_words: int = MAX_WORDS,
) -> tuple[str, int, int]:
    """Return a dependency tree as SVG elements, with their width and height.

    Parameters
    ----------
    tree
        Only its first ``max_words`` words are drawn, and arcs between these.
    arcs, words
        The colours of marked arcs, each by the number of its modifier, and of marked words. Words count from 1. Both
        words of a marked arc are bold.
    pale
        The modifiers of arcs that stand back if they are not marked.
    notes
        Short texts to write after the relations of arcs.
    """
    for colour in (*arcs.values(), *words.values()):
        check_colour(colour)
    n = min(len(tree), max_words)
    drawn = [(token, tree.heads[token - 1]) for token in range(1, n + 1) if tree.heads[token - 1] <= n]
    texts = [printable(word, MAX_LABEL) or "·" for word in tree.words[:n]]
    tags = [printable(tag, MAX_LABEL) for tag in tree.tags[:n]]
    labels = {
        token: " ".join(filter(None, [printable(tree.relations[token - 1], MAX_LABEL), notes.get(token, "")]))
        for token, _ in drawn
    }
    x, width = _places([max(pixels(a), pixels(b)) for a, b in zip(texts, tags, strict=True)], drawn, labels)
    level = _levels(drawn, n)
    highest = max(level.values(), default=0)
    base = _ROOM + _LEVEL * (highest + any(head == 0 for _, head in drawn))
    lines, names = [], []
    for token, head in sorted(drawn, key=lambda arc: arc[0] in arcs):  # what is marked lies above what is not
        top = base - _LEVEL * level[token] if head else _ROOM
        lines.append(_arc(x, token, head, top, base, arcs.get(token), token in pale))
        at = (x[head] + x[token]) // 2 if head else x[token]
        names.append(_name(labels[token], at, top - 4, arcs.get(token), token in pale))
    ends = {own for token in arcs for own in (token, tree.heads[token - 1])}
    rows = []
    for token, (text, tag) in enumerate(zip(texts, tags, strict=True), 1):
        rows.append(_word(text, x[token], base + 16, words.get(token), token in ends))
        rows.append(f'<text class="h" x="{x[token]}" y="{base + 35}" fill="{MUTED}">{escape(tag, quote=False)}</text>')
    if n < len(tree):
        more = f"… {len(tree) - n:,} more"
        rows.append(f'<text class="i" x="{width + pixels(more) // 2}" y="{base + 16}" fill="{TEXT}">{more}</text>')
        width += pixels(more)
    return "".join([*lines, *names, *rows]), width, base + _BELOW


def _places(
    widths: Sequence[int], drawn: Sequence[tuple[int, int]], labels: Mapping[int, str]
) -> tuple[list[int], int]:
    """The middle of each word by its number, so far apart that every relation fits under its arc; and the width."""
    x, right = [0], 0
    needed: dict[int, list[tuple[int, int]]] = {}  # by the right end of an arc: its left end, and the room it needs
    margin = last_root = 0
    for token, head in drawn:
        room = pixels(labels[token]) + 2 * _ROUND
        if head:
            needed.setdefault(max(token, head), []).append((min(token, head), room))
            continue
        if last_root:
            needed.setdefault(token, []).append((last_root, (room + pixels(labels[last_root])) // 2))
        margin, last_root = max(margin, room // 2), token
    for token, own in enumerate(widths, 1):
        middle = right + own // 2
        for left, room in needed.get(token, ()):
            middle = max(middle, x[left] + room)
        x.append(middle)
        right = middle + own - own // 2 + GAP
    shift = max(0, margin - (x[1] if len(x) > 1 else 0))
    return [own + shift for own in x], right - GAP + shift + margin


def _levels(drawn: Sequence[tuple[int, int]], n: int) -> dict[int, int]:
    """How high each arc is, by its modifier: one more than all arcs between its words."""
    above = [0] * (n + 1)  # by word: the highest arc over the gap to its right
    out = {}
    for token, head in sorted(drawn, key=lambda arc: (abs(arc[0] - arc[1]), arc)):
        if head:
            left, right = sorted((token, head))
            out[token] = 1 + max(above[left:right])
            above[left:right] = [out[token]] * (right - left)
    return out


def _arc(x: Sequence[int], token: int, head: int, top: int, base: int, mark: str | None, is_pale: bool) -> str:
    end = x[token]
    if head == 0:
        line = f"M{end} {top}V{base - 5}"
    else:
        side = 1 if end > x[head] else -1
        start = x[head] + side * _OUT
        bend = side * min(_ROUND, abs(end - start) // 2)
        line = f"M{start} {base}V{top + _ROUND}Q{start} {top} {start + bend} {top}"
        line += f"H{end - bend}Q{end} {top} {end} {top + _ROUND}V{base - 5}"
    tip = f"M{end - 4} {base - 7}L{end} {base}L{end + 4} {base - 7}Z"
    if mark is None:
        dim = f' opacity="{_PALE}"' if is_pale else ""
        return (
            f'<g{dim}><path class="e" d="{line}" stroke="{LINE}" fill="none"/>'
            f'<path class="e" d="{tip}" stroke="{LINE}" fill="none"/></g>'
        )
    name = mark_class(mark, "o")
    return (
        f'<path class="{name}" d="{line}" stroke="{mark}" stroke-width="2.5" fill="none"/>'
        f'<path class="{name}" d="{tip}" stroke="{mark}" stroke-width="2.5" fill="none"/>'
    )


def _name(label: str, x: int, y: int, mark: str | None, is_pale: bool) -> str:
    bold = "" if mark is None else ' font-weight="bold"'
    dim = f' opacity="{_PALE}"' if is_pale and mark is None else ""
    kind = "i" if mark is None else "i b"
    return f'<text class="{kind}" x="{x}" y="{y}" fill="{TEXT}"{bold}{dim}>{escape(label, quote=False)}</text>'


def _word(text: str, x: int, y: int, mark: str | None, is_end: bool) -> str:
    if mark is None:
        name, bold = ("w b", ' font-weight="bold"') if is_end else ("w", "")
        return f'<text class="{name}" x="{x}" y="{y}" fill="{WORD}"{bold}>{escape(text, quote=False)}</text>'
    width = pixels(text) + 8
    return (
        f'<rect class="{mark_class(mark, "p")}" x="{x - width // 2}" y="{y - 15}" width="{width}" height="20" rx="7" '
        f'fill="{mark}" fill-opacity=".13" stroke="{mark}" stroke-opacity=".55"/>'
        f'<text class="i b" x="{x}" y="{y}" fill="{TEXT}" font-weight="bold">{escape(text, quote=False)}</text>'
    )
