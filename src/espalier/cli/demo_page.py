"""The demo as a page: drawings as SVG files, and one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from espalier.demo.answers import AnsweredQuestion, Answers
from espalier.structures.drawing import side_by_side
from espalier.structures.files import write_text

TEMPLATE = Path(__file__).with_name("demo_page.html")


def write_page(answers: Answers, folder: Path) -> Path:
    """Write one drawing per example and ``index.html``; each file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [(example, draw(example)) for example in answers.examples]
    for k, (_, svg) in enumerate(drawn, start=1):
        write_text(folder / f"question-{k}.svg", svg)
    template = Environment(autoescape=True).from_string(TEMPLATE.read_text("utf-8"))
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
