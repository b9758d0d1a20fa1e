"""An explanation as a page of its own: tables and drawings in one HTML file that needs nothing else."""

from __future__ import annotations

import re

from espalier.explanations.comparison import Comparison
from espalier.explanations.explanation import Explanation, Reason, TreeShares, fragment_colours, node_colours
from espalier.structures.drawing import side_by_side, tree_svg
from espalier.structures.palette import FOR

_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title>
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<style>
.espalier-page{font:15px/1.5 Helvetica,Arial,sans-serif;max-width:1250px;margin:1.5rem auto;padding:0 1rem;
color:#1f2328}
body{background:#f6f8fa}
.espalier-page h1{font-size:1.5rem}.espalier-page h2{font-size:1.1rem;margin-top:2rem}
.drawing{overflow-x:auto}.drawing svg{max-width:none;height:auto}
.drawing.pair svg{max-width:max(100%,var(--least))}
.espalier-page table{border-collapse:collapse}
.espalier-page td,.espalier-page th{padding:.15rem 1rem .15rem 0;text-align:left;vertical-align:top}
.espalier-page .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.espalier-page code{font-size:.9em;overflow-wrap:anywhere}
.text{line-height:2}.text mark{color:inherit;padding:.15rem .3rem;border-radius:4px;font-weight:600}
.text .up{background:#1a7f3726;outline:1px solid #1a7f3780}.text .down{background:#cf222e1f;outline:1px solid #cf222e80}
.bar{height:.7rem;border-radius:3px;margin-top:.4rem}.for{background:#1a7f37}.against{background:#cf222e}
@media (prefers-color-scheme:dark){body{background:#0d1117}.espalier-page{color:#e6edf3}
.for{background:#3fb950}.against{background:#f85149}}
</style></head><body><div class="espalier-page">
<h1>{{ title }}</h1>
{% if sums %}<table>{% for name, value in sums %}<tr><td>{{ name }}</td><td class="n">{{ value }}</td></tr>{% endfor %}
</table>{% endif %}
{% for heading, text, svg in drawings %}
{% if heading %}<h2>{{ heading }}</h2>{% endif %}
<p>{{ text }}</p>
<div class="drawing{% if compared %} pair" style="--least:{{ least(svg) }}px{% endif %}">{{ svg }}</div>
{% endfor %}
{% for score, rows, drawn in scores %}
<h2>{{ score }}</h2>
<table><tr><th class="n">{{ value_name }}</th><th></th>
{% if intervals %}<th class="n">95 % of the weight</th>{% endif %}
{% if compared %}<th class="n">winner</th><th class="n">loser</th>{% endif %}
<th class="n">{{ "trees" if kind == "fragment" else "items" }}</th><th>{{ kind }}</th></tr>
{% for row in rows %}<tr><td class="n">{{ row.text }}</td>
<td style="width:9rem"><div class="bar {{ 'for' if row.value > 0 else 'against' }}" style="width:{{ row.share }}%">
</div></td>
{% if intervals %}<td class="n">{{ row.interval }}</td>{% endif %}
{% if compared %}<td class="n">{{ row.reason.in_winner|length }}</td><td class="n">{{ row.reason.in_loser|length }}</td>
{% endif %}<td class="n">{{ "" if row.reason.n_trees is none else row.reason.n_trees }}</td>
<td><code>{{ (row.reason.column ~ ": ") if row.reason.column else "" }}{{ row.reason.fragment }}</code></td></tr>
{% endfor %}</table>
{% if drawn %}<p>The heaviest, each in {{ "a tree" if kind == "fragment" else "an item" }} of the model:</p>
<div class="drawing">{{ drawn }}</div>{% endif %}
{% endfor %}
{% if left_out %}<p>Without fragments, and not shown: {{ left_out }}.</p>{% endif %}
</div></body></html>
"""
_DRAWN = 3  # examples of each score
_SMALLEST = 0.7  # how far two candidates shrink to fit into a window
SPLITS = {
    "equal": "Every fragment is shared equally by its productions.",
    "root": "Every fragment counts for its root.",
    "mixed": "Fragments are shared equally by their productions, or count for their roots, as their kernel has it.",
    "end": "Every run of tags counts for its last tag; with gaps, every subsequence of tags.",
    "head": "Every subtree counts for its head.",
    "words": "Every n-gram is shared equally by its words.",
    "last word": "Every subsequence counts for its last word.",
}
_WORDS = "Marked are the words that speak most for the winner, in green, and for the loser, in red."
_MARKED = (
    "Marked are fragments that speak for the winner: those that it has in blue, and those that the loser had better "
    "not have in orange, numbered at their roots. Grey is what both candidates have. Bars to the right speak for the "
    "winner."
)


def explanation_page(explanation: Explanation) -> str:
    """The page of a model, of one example, or of two candidates."""
    from jinja2 import Environment
    from markupsafe import Markup

    local = explanation.value is not None
    compared = isinstance(explanation, Comparison)
    scores = []
    for score in explanation.scores:
        reasons = explanation.of(score)
        rows = _rows(reasons, "+.3g" if compared else "+.3f")
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
    return (
        Environment(autoescape=True)
        .from_string(_PAGE)
        .render(
            title=title,
            sums=_sums(explanation),
            drawings=[(heading, text, Markup(svg)) for heading, text, svg in _drawings(explanation)],
            scores=scores,
            compared=compared,
            least=_least_width,
            kind=explanation.kind,
            value_name="adds" if local else "weight",
            intervals=any(reason.low is not None for reason in explanation),
            left_out=", ".join(explanation.left_out),
        )
    )


def _drawings(explanation: Explanation) -> list[tuple[str, str, str]]:
    """A heading, what is marked, and a drawing, for each tree of an example, or for two candidates together."""
    pushed = "Marked are the {} that raise the score most, in green, or lower it most, in red."
    if isinstance(explanation, Comparison):
        of_words = f"{_WORDS} {SPLITS[explanation.trees[0].split]}" if explanation.is_of_words else ""
        return [("", of_words or (_MARKED if len(explanation) else ""), explanation.to_svg())]
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
        }
        for reason in reasons
    ]


def _sums(explanation: Explanation) -> list[tuple[str, str]]:
    """What the score of an example is made of."""
    if explanation.value is None:
        return []
    if isinstance(explanation, Comparison):
        out = [(name, f"{value:.4g}") for name, value in zip(explanation.names, explanation.values, strict=True)]
        out += [("the lead", f"{explanation.value:+.4g}"), ("of it, the parser's", f"{explanation.from_score:+.4g}")]
        of_trees = explanation.kind_of_parts
        out += [(of_trees, f"{explanation.of_trees:+.4g}")] * bool(explanation.trees)
    else:
        out = [("the score", f"{explanation.value:.4g}"), ("of it, constant", f"{explanation.intercept:.4g}")]
        out += [(own.column or f"the {own.item}", f"{own.total:+.4g}") for own in explanation.trees]
    if explanation.elsewhere:
        out.append(("other kernels", f"{explanation.elsewhere:+.4g}"))
    if explanation.variance is not None:
        out.append(("standard deviation", f"{explanation.variance**0.5:.4g}"))
    return out
