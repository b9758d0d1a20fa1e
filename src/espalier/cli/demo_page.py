"""The demo as a page: drawings as SVG files, and one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from espalier.demo.answers import AnsweredQuestion, Answers
from espalier.structures.drawing import side_by_side
from espalier.structures.files import write_text

_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Espalier: questions in which words mislead</title>
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<style>
body{font:16px/1.5 Helvetica,Arial,sans-serif;max-width:1250px;margin:2rem auto;padding:0 1rem;
background:#f6f8fa;color:#1f2328}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2.2rem}
.drawing{overflow-x:auto}.drawing svg{max-width:100%;min-width:1000px;height:auto}
table{border-collapse:collapse}td,th{padding:.2rem 1rem .2rem 0;text-align:left}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.bar{background:#1a7f37;height:.7rem;border-radius:3px}
code{font-size:.9em;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}.bar{background:#3fb950}}
</style></head><body>
<h1>Questions in which words mislead</h1>
<p>{{ e.n_train }} questions to learn from, {{ e.n_held_out }} held out, seed {{ e.seed }}. Each holds
<i>who</i>, <i>where</i> and <i>when</i>; what is asked for depends on the structure alone. One label in
twenty is wrong on purpose. Decay {{ e.decay }} was chosen on the training questions, each left out in
turn; the drawings use it.</p>
<table><tr><th>answered by</th><th class="n">right</th><th></th></tr>
{% for score in e.scores %}{% set share = "%.1f"|format(100 * score.share) %}
<tr><td>{{ score.name }}</td><td class="n">{{ share }} %</td>
<td style="width:16rem"><div class="bar" style="width:{{ share }}%"></div></td></tr>
{% endfor %}</table>
{% for example, svg in drawn %}
<h2>{{ example.asked.question }}</h2>
<p>Asks for the <b>{{ example.asked.label }}</b>. Nearest tree ({{ "%.2f"|format(example.similarity) }},
{{ example.nearest.label }}): <i>{{ example.nearest.question }}</i><br>
Nearest by words ({{ example.nearest_by_words.label }}): <i>{{ example.nearest_by_words.question }}</i></p>
<div class="drawing">{{ svg }}</div>
<p>The heaviest shared fragment is marked. What they share, by weight:</p>
<table>{% for shared in example.shared %}<tr><td class="n">{{ "%.2f"|format(shared.weight) }}</td>
<td><code>{{ shared }}</code></td></tr>{% endfor %}</table>
{% endfor %}
</body></html>
"""


def write_page(answers: Answers, folder: Path) -> Path:
    """Write one drawing per example and ``index.html``; each file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [(example, draw(example)) for example in answers.examples]
    for k, (_, svg) in enumerate(drawn, start=1):
        write_text(folder / f"question-{k}.svg", svg)
    template = Environment(autoescape=True).from_string(_PAGE)
    page = folder / "index.html"
    # tree_svg escapes what it shows, so its output is markup already.
    write_text(page, template.render(e=answers, drawn=[(example, Markup(svg)) for example, svg in drawn]))
    return page


def draw(example: AnsweredQuestion) -> str:
    """A question and its nearest tree, side by side where they fit, with what they share marked."""
    return side_by_side(
        [example.asked["tree"], example.nearest["tree"]],
        highlights=example.marks(),
        titles=[f"question ({example.asked['label']})", f"nearest tree ({example.nearest['label']})"],
        width=1250,
    )
