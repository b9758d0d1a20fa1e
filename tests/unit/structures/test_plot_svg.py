"""Plots as pictures for light and dark pages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from matplotlib.figure import Figure

from espalier.cli import demo_page
from espalier.explanations import comparison_drawing
from espalier.explanations import page as explanation_page
from espalier.structures.drawing import tree_svg
from espalier.structures.palette import AGAINST, BLUE, CARD, DARK, FOR, LINE, TEXT
from espalier.structures.plot_svg import themed_svg
from espalier.structures.tree import Tree


def drawn(colour: str) -> str:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([1, 2], [3, 4], color=colour)
    axes.set_xlabel("words", color=TEXT)
    return themed_svg(figure)


def dark_rules(svg: str) -> str:
    return re.search(r"@media \(prefers-color-scheme:dark\)\{(.*?)</style>", svg, re.DOTALL)[1]


def test_every_colour_of_a_plot_has_a_twin_on_dark_pages():
    for colour in DARK:
        rules = dark_rules(drawn(colour))
        assert f'[style*="stroke: {colour}"]{{stroke:{DARK[colour]} !important}}' in rules
        assert f'[style*="fill: {TEXT}"]{{fill:{DARK[TEXT]} !important}}' in rules


def test_a_plot_stands_on_a_card_that_is_dark_on_dark_pages():
    svg = drawn(BLUE)
    assert ET.fromstring(svg).tag.endswith("svg")
    assert f'style="fill: {CARD};' in svg
    assert f'[style*="fill: {CARD}"]{{fill:{DARK[CARD]} !important}}' in dark_rules(svg)


def test_marks_of_trees_are_lighter_on_dark_pages():
    svg = tree_svg(Tree.from_brackets("(S (A a) (B b))"), highlight={(0,): FOR, (1,): AGAINST})
    for colour in (FOR, AGAINST, BLUE):
        assert f'.u[stroke="{colour}"]{{stroke:{DARK[colour]}}}' in dark_rules(svg)


def brightness(colour: str) -> float:
    """The relative luminance of WCAG."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_lines_and_words_can_be_told_from_the_card_in_both_modes():
    for light in (TEXT, FOR, AGAINST, BLUE, "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#9a6700", "#57606a"):
        for colour, card in ((light, CARD), (DARK[light], DARK[CARD])):
            high, low = sorted((brightness(colour), brightness(card)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 3


@pytest.mark.parametrize("template", [explanation_page.TEMPLATE, demo_page.TEMPLATE], ids=["explanation", "demo"])
def test_pages_have_the_dark_colours_of_the_pictures(template):
    page = template.read_text("utf-8")
    dark = page[page.index("@media (prefers-color-scheme:dark)") : page.index("</style>")]
    used = set(re.findall(r"#[0-9a-f]{6}", dark))
    assert used and used <= set(DARK.values())
    assert set(re.findall(r"#[0-9a-f]{6}", page)) - used <= DARK.keys()


def test_bars_of_a_comparison_are_marks_with_twins_on_dark_pages():
    for colour in (comparison_drawing.WINNER, comparison_drawing.LOSER, comparison_drawing.BOTH):
        bar = comparison_drawing._bar(0, 0, 10, colour)
        assert 'class="p"' in bar or ('class="u"' in bar and (colour == LINE or colour in DARK))
