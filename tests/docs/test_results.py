"""Pages of results say what the stored results are, and guides say what the pages do."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESULTS = DOCS / "results"


def page(name):
    return (RESULTS / f"{name}.md").read_text("utf-8")


def cells(name, section, row):
    """The numbers in a row of the first table below a heading, deviations left out."""
    text = page(name)
    text = text[text.index(section) :]
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} |"))
    return [
        float(found[0].replace(",", "")) if (found := re.findall(r"-?\d[\d,]*(?:\.\d+)?", cell)) else None
        for cell in line.removeprefix(f"| {row} |").split("|")[:-1]
    ]


PAPERS = sorted(folder.name for folder in RESULTS.iterdir() if folder.is_dir())


@pytest.mark.skipif(not find_spec("espalier_experiments"), reason="the package espalier_experiments is not installed")
@pytest.mark.parametrize("paper", PAPERS)
def test_pages_are_made_of_the_results_beside_them(paper, tmp_path):
    import espalier_experiments

    # Run `espalier reproduce PAPER --pages-only` where this fails.
    shutil.copytree(RESULTS / paper, tmp_path / paper)
    for path in espalier_experiments.paper(paper).run(out=tmp_path, pages_only=True):
        assert path.read_text("utf-8") == (RESULTS / paper / path.name).read_text("utf-8"), path.name


def test_the_guide_to_reranking_says_what_was_measured():
    guide = " ".join((DOCS / "rerank.md").read_text("utf-8").split())
    plain, tuned, large = (
        cells("collins2001/questions", f"**{part}**", "perceptron with the grammar, two epochs")[2]
        for part in (
            "800 / 200 / 336, the plain grammar",
            "800 / 200 / 336, the best markovized grammar",
            "2,400 / 400 / 1,189, the plain grammar",
        )
    )
    assert f"removes {plain:.0f} per cent of the errors of a plain grammar" in guide
    assert f"and {tuned:.0f} per cent of those of a tuned grammar" in guide
    assert (
        f"with three times the questions, it removes {large:.0f} per cent of the errors of the plain grammar" in guide
    )
    for treebank, phrase in (
        ("Wall Street", "sentences rise from {} to {} F1"),
        ("English Web", "sentences of the web from {} to {}"),
    ):
        section = re.search(rf"## {treebank}.*, markovized grammar.*", page("collins2001/treebanks"))[0]
        rows = ("the grammar's first parse", "perceptron with the grammar")
        before, after = (cells("collins2001/treebanks", section, row)[3] for row in rows)
        assert phrase.format(before, after) in guide
    tagger, _, reranked, *_ = cells("collins2001/tagging", "## Accuracy", "web, universal tags")
    assert f"tags of web text rises from {tagger:.2f} to {reranked:.2f} per cent" in guide


def test_the_guide_to_reranking_says_how_good_the_parser_is():
    guide = " ".join((DOCS / "rerank.md").read_text("utf-8").split())
    web, newspaper = (
        {kind: cells("parsing", "## Quality", f"{part} | {kind}") for kind in ("plain", "tuned")}
        for part in ("EWT test, 2,056", "WSJ sample, 782")
    )
    assert (
        f"a labelled F1 of {web['tuned'][0]:.1f} on its test part, where plain rules reach {web['plain'][0]:.1f}"
        in guide
    )
    assert f"it is {newspaper['tuned'][0]:.1f} and {newspaper['plain'][0]:.1f}" in guide
    assert f"would reach {web['tuned'][4]:.1f} and {newspaper['tuned'][4]:.1f}, on 200 test sentences" in guide


PAGES = sorted(path.relative_to(RESULTS).as_posix() for path in RESULTS.glob("**/*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_pages_state_a_goal_what_was_measured_and_what_was_compared(name):
    before = (RESULTS / name).read_text("utf-8").split("\n## ")[0]
    assert [part for part in ("Goal", "Measured", "Compared") if f"**{part}.** " not in before] == []


@pytest.mark.parametrize("name", PAGES)
def test_pages_speak_of_goals_and_prototypes_and_of_figures_that_can_be_read(name):
    text = (RESULTS / name).read_text("utf-8").lower()
    unclear = [
        "| asked",
        "asked:",
        "asked for were",
        "what was asked",
        "sketch",
        "be had",
        "be consulted",
        "could not see",
    ]
    assert [phrase for phrase in unclear if phrase in text] == []


def test_the_page_of_fragments_counts_what_its_lists_show():
    text = page("pighin2009/fragments")
    counted = cells("pighin2009/fragments", "## How many", "questions, the paper's values: all classes")
    section = text[text.index("## questions, the paper's values") :]
    ranks = [
        re.split(r" \| ", line)[1:3]
        for line in section.split("\n## ")[1 if section.startswith("\n") else 0].splitlines()
        if line.startswith("| `")
    ]
    assert len(ranks) == counted[0] == 101
    for column in (0, 1):
        found = [int(row[column].replace(",", "")) for row in ranks if row[column] != "-"]
        assert sum(rank <= 100 for rank in found) == counted[1 + column]


def test_the_guide_to_fragments_says_how_many_of_the_papers_are_found():
    guide = " ".join((DOCS / "fragments.md").read_text("utf-8").split())
    counted = cells("pighin2009/fragments", "## How many", "questions, the paper's values: all classes")
    assert f"Of the {counted[0]:.0f} fragments" in guide and f"[{counted[1]:.0f} are among our first 100]" in guide
