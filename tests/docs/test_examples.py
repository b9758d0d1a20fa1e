"""The examples run, without a warning, and say what they promise."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROMISES = {
    "average_hyperparameters.py": ["most probable numbers       1.", "kernel.lengthscale", "draws.svg"],
    "many_trees.py": ["20 combinations of 100 trees", "all of them ", "many_trees.svg"],
    "classify_questions.py": [
        "all questions: 8",
        "the surest four fifths: 9",
        "where the teacher should",
        "a place: -1",
    ],
    "grade_translations.py": ["thresholds: -5", "grades   5", "grades   log loss 0.8", "(NP (D) (A) (N))"],
    "mixed_table.py": ["structure alone  the room was dirty", "both must agree  the staff helped us"],
    "open_the_box.py": [
        "2,000 heaviest fragments, proven",
        "kernel machine 94.7%",
        "linear model   94.3%",
        "asks for the",
    ],
    "own_kernel.py": ["keeps the laws", "factors[1].width"],
    "quality_estimation.py": [
        "features and trees       -33",
        "learned.svg, predictions.svg",
        "kernel.terms[0].decay[NN]",
    ],
    "question_neighbours.py": ["73% answered", "by the words they share: 28%", "question_neighbours.svg"],
    "rerank_parser.py": [
        "the grammar's best parses    F1 88",
        "chosen by the perceptron     F1 99",
        "of the errors are gone",
        "rerank_parser.svg",
    ],
    "several_tasks.py": [
        "learned relation    -1.5",
        "as if independent: -6.6",
        "90% from",
        "several_tasks.svg",
    ],
    "select_features.py": [
        "features were counted in the first pass",
        "the parser's best trees  95.",
        "hardly due to chance",
    ],
}


pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not part of this copy")


def test_every_example_is_run():
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(PROMISES)


@pytest.mark.parametrize("name", PROMISES)
def test_example_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [name])
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    assert [text for text in PROMISES[name] if text not in printed] == []
    assert all((tmp_path / picture).exists() for picture in re.findall(r"\w+\.svg", printed))
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_examples_are_short():
    lengths = {path.name: len(path.read_text().splitlines()) for path in EXAMPLES.glob("*.py")}
    assert [name for name, length in lengths.items() if length > 60] == []


def test_example_draws_the_neighbours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "question_neighbours.py"), run_name="__main__")
    assert (tmp_path / "question_neighbours.svg").read_text().startswith("<svg")
