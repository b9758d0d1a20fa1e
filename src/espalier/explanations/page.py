"""An explanation as a page of its own: tables and drawings in one HTML file that needs nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from espalier.explanations.comparison import Comparison
from espalier.explanations.explanation import Explanation, Reason, TreeShares, fragment_colours, node_colours
from espalier.explanations.together import Together
from espalier.structures.drawing import side_by_side, tree_svg
from espalier.structures.palette import FOR
from espalier.structures.tree import Tree

TEMPLATE = Path(__file__).with_name("page.html")
_DRAWN = 3  # examples of each score
_SMALLEST = 0.7  # how far two candidates shrink to fit into a window
_VISIBLE = 2  # features of the same arcs that are listed without unfolding
_SMALL = 0.1  # weights that are all below it are written with three digits, not three decimals
SPLITS = {
    "equal": "Every fragment is shared equally by its productions.",
    "root": "Every fragment counts for its root.",
    "mixed": "Fragments are shared equally by their productions, or count for their roots, as their kernel has it.",
    "end": "Every run of tags counts for its last tag; with gaps, every subsequence of tags.",
    "head": "Every subtree counts for its head.",
    "modifiers": "Every subtree is shared equally by the words that its arcs attach to their heads.",
    "words": "Every n-gram is shared equally by its words.",
    "last word": "Every subsequence counts for its last word.",
}
_WORDS = "Marked are the words that speak most for the winner, in green, and for the loser, in red."
_MARKED = (
    "Marked are {} that speak for the winner: those that it has in blue, and those that the loser had better "
    "not have in orange, numbered{}. Grey is what both candidates have. Bars to the right speak for the "
    "winner."
)


def explanation_page(explanation: Explanation) -> str:
    """The page of a model, of one example, or of two candidates."""
    from jinja2 import Environment
    from markupsafe import Markup

    local = explanation.value is not None
    compared = isinstance(explanation, Comparison)
    summed = isinstance(explanation, Comparison) and bool(explanation.together)
    kind = explanation.shown_kinds if isinstance(explanation, Comparison) and summed else explanation.kind
    scores = []
    for score in explanation.scores:
        reasons = [reason for reason in explanation.shown if reason.score == score]
        is_small = max(abs(reason.effect) for reason in reasons) < _SMALL
        rows = _rows(reasons, "+.3g" if compared or is_small else "+.3f")
        shown = [(reason, reason.example.tree) for reason in reasons if reason.example is not None][:_DRAWN]
        drawn = side_by_side(
            [tree for _, tree in shown],
            highlights=[fragment_colours(reason) for reason, _ in shown],
            titles=[str(reason.fragment) for reason, _ in shown],
            width=1200,
        )
        scores.append((score, rows, Markup(drawn) if shown else ""))
    title = "What decides" if not local else f"Why {explanation.scores[0] if explanation.scores else 'this'}"
    if isinstance(explanation, Comparison):
        title, scores = "Why this one", [("What decides", rows, drawn) for _, rows, drawn in scores]
    template = Environment(autoescape=True).from_string(TEMPLATE.read_text("utf-8"))
    return template.render(
        title=title,
        sums=_sums(explanation),
        drawings=[(heading, text, Markup(svg)) for heading, text, svg in _drawings(explanation)],
        scores=scores,
        compared=compared,
        least=_least_width,
        visible=_VISIBLE,
        kind=kind,
        summed=summed,
        value_name="adds" if local else "weight",
        intervals=any(reason.low is not None for reason in explanation),
        counted=any(reason.n_trees is not None for reason in explanation),
        left_out=", ".join(explanation.left_out),
    )


def _drawings(explanation: Explanation) -> list[tuple[str, str, str]]:
    """A heading, what is marked, and a drawing, for each tree of an example, or for two candidates together."""
    pushed = "Marked are the {} that raise the score most, in green, or lower it most, in red."
    if isinstance(explanation, Comparison):
        of_words = f"{_WORDS} {SPLITS[explanation.trees[0].split]}" if explanation.is_of_words else ""
        if explanation.marks_words():
            return [("", of_words, explanation.to_svg())]
        if not explanation.shown:
            return [("", "", explanation.to_svg())]
        at_roots = "" if explanation.shown_kinds == "arcs" else " at their roots"
        out = [("", _MARKED.format(explanation.shown_kinds, at_roots), explanation.to_svg())]
        if of_words:
            text = Tree("", [Tree(word) for word, _ in explanation.by_word()])
            shares = np.array([0.0, *(share for _, share in explanation.by_word())])
            words = TreeShares(None, text, float(shares.sum()), shares, explanation.trees[0].split)
            out.append(("The words", of_words, _running_text(words)))
        return out
    return [
        (
            own.column or f"The {own.item}",
            f"{pushed.format('words' if own.is_text else 'nodes')} {SPLITS[own.split]}",
            _running_text(own) if own.is_text else tree_svg(own.tree, highlight=node_colours(own)),
        )
        for own in explanation.trees
    ]


def _running_text(own: TreeShares) -> str:
    """A text as a paragraph, its words marked."""
    from markupsafe import escape

    colours = node_colours(own)
    words = []
    for place, word in enumerate(own.tree.children):
        colour = colours.get((place,))
        kind = "up" if colour == FOR else "down"
        words.append(f'<mark class="{kind}">{escape(word.label)}</mark>' if colour else str(escape(word.label)))
    return f'<p class="text">{" ".join(words)}</p>'


def _least_width(svg: str) -> int:
    found = re.search(r' width="(\d+)"', svg)
    return round(_SMALLEST * int(found[1])) if found else 0


def _rows(reasons: list[Reason], form: str) -> list[dict[str, object]]:
    most = max((abs(reason.effect) for reason in reasons), default=1.0) or 1.0
    return [
        {
            "reason": reason,
            "value": reason.effect,
            "text": format(reason.effect, form),
            "share": f"{100 * abs(reason.effect) / most:.1f}",
            "interval": "" if reason.low is None else f"{reason.low:+.2f} to {reason.high:+.2f}",
            **(_parts(reason, form) if isinstance(reason, Together) else {}),
        }
        for reason in reasons
    ]


def _parts(whole: Together, form: str) -> dict[str, object]:
    """What the features of the same arcs add, each with its text, and those that are not listed."""
    n_left = whole.n_parts - len(whole.parts)
    return {
        "parts": [{"text": format(own.effect, form), "fragment": own.fragment} for own in whole.parts],
        "rest": {"text": format(whole.rest, form), "n": f"{n_left:,}"} if n_left else None,
    }


def _sums(explanation: Explanation) -> list[tuple[str, str]]:
    """What the score of an example is made of."""
    if explanation.value is None:
        return []
    if isinstance(explanation, Comparison):
        out = [(name, f"{value:.4g}") for name, value in zip(explanation.names, explanation.values, strict=True)]
        out.append(("the lead", f"{explanation.value:+.4g}"))
        scores = explanation.named_scores
        named = {"of it, the parser's": explanation.from_score} if len(scores) == 1 else scores
        out += [(name, f"{own:+.4g}") for name, own in named.items()]
        of_trees = explanation.kind_of_parts
        out += [(of_trees, f"{explanation.of_trees:+.4g}")] * bool(explanation.trees)
        listed = sum(reason.effect for reason in explanation.shown)
        kinds = explanation.shown_kinds if explanation.together else f"{len(explanation)} {explanation.shown_kinds}"
        out += [(f"the {kinds} listed below", f"{listed:+.4g}")] * bool(explanation.shown)
    else:
        out = [("the score", f"{explanation.value:.4g}"), ("of it, constant", f"{explanation.intercept:.4g}")]
        out += [(own.column or f"the {own.item}", f"{own.total:+.4g}") for own in explanation.trees]
    if explanation.elsewhere:
        out.append(("other kernels", f"{explanation.elsewhere:+.4g}"))
    if explanation.variance is not None:
        out.append(("standard deviation", f"{explanation.variance**0.5:.4g}"))
    return out
