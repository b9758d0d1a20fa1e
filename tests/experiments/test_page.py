"""Pages: tables, numbers, and drawings that are equal for equal results."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from espalier.structures.palette import DARK
from espalier_experiments.page import Page, line_drawing, markdown_table, number


def panel(axes) -> None:
    axes.plot([1, 2, 3], [1, 4, 9], label="squares")
    axes.legend()


def test_drawings_are_equal_every_time_and_well_formed():
    first, second = line_drawing([panel, panel]), line_drawing([panel, panel])
    assert first == second
    assert ET.fromstring(first).tag.endswith("svg")
    assert "dc:date" not in first and " \n" not in first


def test_a_page_writes_its_text_and_drawings(tmp_path):
    page = Page("squares", "Squares")
    page.say("Of numbers.")
    page.section("Table")
    page.table(["x", "square"], [["2", "4"]])
    page.draw("figure", "The squares", [panel])
    path = page.write(tmp_path / "new")
    assert path.read_text() == (
        "# Squares\n\nOf numbers.\n\n## Table\n\n| x | square |\n|---|---:|\n| 2 | 4 |\n\n"
        "![The squares](squares-figure.svg)\n"
    )
    assert sorted(p.name for p in path.parent.iterdir()) == ["squares-figure.svg", "squares.md"]


def test_a_ragged_table_is_refused():
    with pytest.raises(ValueError, match="has 1 cells, and the header 2"):
        markdown_table(["a", "b"], [["1"]])


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, ".5000"), (-0.25, "-.2500"), (10.25, "10.2500"), (float("nan"), "-")]
)
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_drawings_suit_light_and_dark_pages():
    svg = line_drawing([panel])
    assert "prefers-color-scheme:dark" in svg
    # Every colour has a twin; matplotlib's own first blue stands for a colour of no one's choice.
    used = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg))
    assert used - DARK.keys() == {"#1f77b4"}
