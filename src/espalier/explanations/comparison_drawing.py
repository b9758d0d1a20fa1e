"""Two candidates drawn side by side: their differences, the fragments that decided, and bars of what these add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from espalier.explanations.arc_marks import RAISED, arcs_of_both
from espalier.explanations.comparison import Comparison, signed
from espalier.explanations.explanation import Reason, node_colours
from espalier.explanations.together import told_reason
from espalier.explanations.word_shares import drawn, together, word_nodes
from espalier.structures.arc_drawing import arc_summary
from espalier.structures.dependency import DependencyTree
from espalier.structures.drawing import arranged, card, placed_side_by_side, summary, svg_text
from espalier.structures.fragment import Position, walk
from espalier.structures.layout import Highlight, pixels, printable
from espalier.structures.palette import BLUE, LINE, TEXT
from espalier.structures.tree import Tree
from espalier.structures.tree_elements import MARK

WINNER, LOSER, BOTH = BLUE, MARK, LINE
_MARGIN, _LINE, _ROW = 18, 30, 24
_NUMBER, _BAR = 24, 150  # columns of the list: a number, a bar
_LIST = 700  # the least width of a list if its fragments are long


def comparison_svg(comparison: Comparison, width: int | None, n: int) -> str:
    """The picture of a comparison, with the first n fragments."""
    shown = comparison.shown[:n]
    numbers = numbered(shown)
    titles = [
        f"{name}: {value:.4g}".replace("-", "\N{MINUS SIGN}")
        for name, value in zip(comparison.names, comparison.values, strict=True)
    ]
    rivals = [own for own in (comparison.winner, comparison.loser) if isinstance(own, DependencyTree)]
    if rivals and is_of_arcs(comparison):
        pieces, full_width, full_height = arranged(arcs_of_both(comparison, numbers, rivals), titles, width)
        summaries = [arc_summary(own) for own in rivals]
    else:
        trees = drawn_trees(comparison)
        marks, notes = _marks(comparison, trees, numbers)
        pieces, full_width, full_height = placed_side_by_side(
            trees, highlights=marks, titles=titles, pale=shared_nodes(*trees), notes=notes, width=width
        )
        summaries = [summary(own) for own in trees]
    head = comparison.summary
    needed = _text_start(shown) + max((pixels(told_reason(reason)) for reason in shown), default=0)
    full_width = max(full_width, min(needed + _MARGIN, min(width or _LIST, _LIST)), pixels(head) + 2 * _MARGIN)
    rows: list[str] = []
    if shown:
        top = full_height + _LINE + _ROW // 2
        rows = [*_legend(shown, top), *_bars(shown, numbers, full_width, top + _ROW)]
        full_height += _ROW * (len(shown) + 1) + _MARGIN
    title = (
        f'<text class="i b" x="{full_width // 2}" y="{_MARGIN + 10}" fill="{TEXT}" font-weight="bold">'
        f"{svg_text(head)}</text>"
    )
    told = "; ".join([head, *summaries])
    moved = [f'<g transform="translate(0,{_LINE})">', *pieces, "</g>"]
    return card([title, *moved, *rows], full_width, full_height + _LINE, told)


def is_of_arcs(comparison: Comparison) -> bool:
    """Whether what is marked are arcs of dependency trees or their words, not nodes of trees made of them."""
    return not comparison.trees or comparison.trees[0].split in ("head", "modifiers")


def drawn_trees(comparison: Comparison) -> list[Tree]:
    """The two candidates as trees."""
    if comparison.trees:
        return [own.tree for own in comparison.trees]
    return [drawn(own) for own in (comparison.winner, comparison.loser)]


def shared_nodes(a: Tree, b: Tree) -> tuple[set[Position], set[Position]]:
    """The inner nodes that both trees have, of each: those with the same label over the same words.

    Examples
    --------
    >>> first, _ = shared_nodes(Tree.from_brackets("(S (A a) (B b))"), Tree.from_brackets("(S (A a) (C b))"))
    >>> sorted(first)
    [(), (0,)]
    """
    spans = [_spans(a), _spans(b)]
    common = Counter(key for key, _ in spans[0]) & Counter(key for key, _ in spans[1])
    out: list[set[Position]] = []
    for own in spans:
        left = common.copy()
        found = set()
        for key, position in own:
            if left[key] > 0:
                left[key] -= 1
                found.add(position)
        out.append(found)
    return out[0], out[1]


def numbered(shown: Sequence[Reason]) -> dict[int, int]:
    """Numbers of the marked fragments: those that favour the winner and occur more often in one tree."""
    marked = [
        k for k, reason in enumerate(shown) if reason.effect > 0 and len(reason.in_winner) != len(reason.in_loser)
    ]
    return {k: number for number, k in enumerate(marked, start=1)}


def _spans(tree: Tree) -> list[tuple[tuple[str, int, int], Position]]:
    """Label, first and last word of every inner node, each before its children."""
    spans = []
    n_words = 0
    for position, node in walk(tree):
        if node.children:
            spans.append(((node.label, n_words, n_words + len(node.words())), position))
        else:
            n_words += 1
    return spans


def _marks(
    comparison: Comparison, trees: list[Tree], numbers: dict[int, int]
) -> tuple[list[Highlight], list[dict[Position, str]]]:
    """What is marked in each tree, and the numbers at the roots."""
    if comparison.is_of_words and not numbers:
        rivals = (comparison.winner, comparison.loser)
        by_word = together(comparison.trees, rivals)
        coloured: list[Highlight] = []
        for own, rival in zip(comparison.trees, rivals, strict=True):
            shares = np.zeros_like(own.shares)
            shares[word_nodes(rival)] = by_word
            coloured.append(node_colours(replace(own, shares=shares)))
        return coloured, [{}, {}]
    marks: list[Highlight] = []
    notes: list[dict[Position, str]] = []
    for which, (tree, colour) in enumerate(zip(trees, (WINNER, LOSER), strict=True)):
        nodes: dict[Position, str] = {}
        at: dict[Position, list[str]] = {}
        for k, number in numbers.items():
            reason = comparison.shown[k]
            here, there = (reason.in_winner, reason.in_loser)[:: 1 if which == 0 else -1]
            for root in here if len(here) > len(there) else ():
                nodes |= dict.fromkeys(reason.fragment.nodes(tree, root), colour)
                at.setdefault(root, []).append(str(number).translate(RAISED))
        marks.append(nodes)
        notes.append({root: " ".join(own) for root, own in at.items()})
    return marks, notes


def _text_start(shown: Sequence[Reason]) -> int:
    """Where fragments are written: to the right of the numbers, the bars and their values."""
    says = max((pixels(signed(reason.effect)) for reason in shown), default=0)
    return _MARGIN + _NUMBER + _BAR + 10 + says + 12


def _legend(shown: Sequence[Reason], y: int) -> list[str]:
    """What the colours of bars and frames mean."""
    out, x = [], _MARGIN + _NUMBER
    used = {_colour(reason) for reason in shown}
    for colour, text in ((WINNER, "more in the winner"), (LOSER, "more in the loser"), (BOTH, "as often in both")):
        if colour not in used:
            continue
        out.append(_bar(x, y, 12, colour))
        out.append(_text(x + 18, y + 3, text, "start"))
        x += 18 + pixels(text) + 16
    return out


def _bars(shown: Sequence[Reason], numbers: dict[int, int], width: int, top: int) -> list[str]:
    """One line for each fragment: number, bar, what it adds, the fragment."""
    values = [reason.effect for reason in shown]
    most = max(map(abs, values)) or 1.0
    both_ways = min(values) < 0
    unit = (_BAR / 2 if both_ways else _BAR) / most
    zero = _MARGIN + _NUMBER + (_BAR // 2 if both_ways else 0)
    start = _text_start(shown)
    out = []
    for k, (reason, value) in enumerate(zip(shown, values, strict=True)):
        y = top + _ROW * k
        length = max(1.5, abs(value) * unit)
        left = zero if value > 0 else zero - length
        out += [
            _bar(left, y, length, _colour(reason)),
            _text(_MARGIN, y + 3, str(numbers.get(k, "")), "start"),
            _text(start - 12, y + 3, signed(value), "end"),
            _text(start, y + 3, _cut(told_reason(reason), width - _MARGIN - start), "start"),
        ]
    if both_ways:
        ends = f"M{zero} {top - _ROW // 2}V{top + _ROW * len(shown) - _ROW // 2}"
        out.append(f'<path class="e" d="{ends}" stroke="{LINE}"/>')
    return out


def _bar(x: float, y: int, length: float, colour: str) -> str:
    name = ' class="p"' if colour == LOSER else ' class="u"'  # both have other colours on dark pages
    return f'<rect{name} x="{x:.1f}" y="{y - 8}" width="{length:.1f}" height="12" rx="3" fill="{colour}"/>'


def _text(x: int, y: int, text: str, anchor: str) -> str:
    # The style of the card would override attributes, so these are a style, too.
    style = f"font-size:13px;text-anchor:{anchor}"
    return f'<text class="i" x="{x}" y="{y}" fill="{TEXT}" style="{style}">{svg_text(text)}</text>'


def _colour(reason: Reason) -> str:
    more = len(reason.in_winner) - len(reason.in_loser)
    return WINNER if more > 0 else LOSER if more < 0 else BOTH


def _cut(text: str, room: int) -> str:
    """A text cut to the room there is."""
    text = printable(text, 400)
    if pixels(text) <= room:
        return text
    while text and pixels(text + "…") > room:
        text = text[:-1]
    return text + "…"
