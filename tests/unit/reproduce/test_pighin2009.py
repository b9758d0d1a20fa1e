"""The paper's experiments run in a tiny version, and the data are read whole."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from espalier.cli.main import app
from espalier.reproduce import data as sets
from espalier.reproduce import pighin2009


def test_questions_are_read_whole(data):
    train, test = sets.questions(data, "train"), sets.questions(data, "test")
    assert (len(train), len(test)) == (5452, 500)
    assert (
        sorted(set(train["coarse"])) == ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"] and len(set(train["fine"])) == 50
    )
    assert train["tree"][0].words()[:3] == ["How", "did", "serfdom"]
    dependencies = sets.question_dependencies(data, "test")
    assert len(dependencies) == 500 and dependencies["coarse"] == test["coarse"]


def test_questions_run_in_a_tiny_version(data, tmp_path):
    (path,) = pighin2009.run("questions", data=data, out=tmp_path, quick=True)
    text = path.read_text()
    assert "Made by `espalier reproduce pighin2009 questions --quick`" in text and "**HUM**" in text
    stored = json.loads((tmp_path / "pighin2009" / "questions-quick.json").read_text())
    for entry in stored["results"]:
        result = entry["result"]
        assert result["exact"]["proven"] and not result["greedy"]["proven"]
        assert abs(result["exact"]["accuracy"] - result["machine"]["accuracy"]) < 0.1
    assert str(data) not in text


def test_the_command_names_its_experiments():
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, ["reproduce", "pighin2009", "answers"])
    assert (
        result.exit_code == 2
        and "There is no experiment 'answers'; there are questions, boundary, roles and all." in result.stderr
    )
