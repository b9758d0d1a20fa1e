"""The paper's experiments run in a tiny version, and the data are read whole."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from espalier.cli.main import app
from espalier.structures.fragment import Fragment
from espalier_experiments import data as sets
from espalier_experiments import pighin2009
from espalier_experiments.pighin2009 import boundary, published
from espalier_experiments.store import Store


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
        assert set(result["greedy"]["best_by_level"]) == set(result["exact"]["best"])
        assert result["exact"]["proven"] and not result["greedy"]["proven"]
        assert abs(result["exact"]["accuracy"] - result["machine"]["accuracy"]) < 0.1
    assert str(data) not in text


def test_boundaries_run_in_a_tiny_version(data, tmp_path):
    (path,) = pighin2009.run("boundary", data=data, out=tmp_path, quick=True)
    text = path.read_text()
    assert "## F1 on the test part" in text and "## Stages of linear training" in text
    assert (tmp_path / "pighin2009" / "boundary-quick-cost.svg").is_file()
    stored = json.loads((tmp_path / "pighin2009" / "boundary-quick.json").read_text())
    assert [entry["key"]["method"] for entry in stored["results"]] == ["kernel", "kernel", "linear", "linear"]
    assert all(0 <= entry["result"]["f1"] <= 1 for entry in stored["results"])


def test_roles_run_in_a_tiny_version(data, tmp_path):
    (path,) = pighin2009.run("roles", data=data, out=tmp_path, quick=True)
    assert "## F1 by role" in path.read_text()
    stored = json.loads((tmp_path / "pighin2009" / "roles-quick.json").read_text())
    results = {tuple(entry["key"].values()): entry["result"] for entry in stored["results"]}
    assert len(results) == 3
    assert all(result["accuracy"] > 0.5 for result in results.values())


def test_growth_is_extrapolated_beyond_what_was_measured(tmp_path):
    results = Store(tmp_path).open("boundary", settings={"fragments": 5, "choice_rows": 10})
    common = {"kernel": "K", "C": 1.0, "test_rows": 7, "f1": 0.5, "precision": 0.5, "recall": 0.5, "test_seconds": 1.0}
    for n, seconds in ((1000, 1.0), (10_000, 100.0)):
        results.add({"method": "kernel", "rows": n}, {**common, "train_seconds": seconds}, seconds=1)
    stages = {"splits": 10, "features": 9, "mine_seconds": 1.0, "extract_seconds": 1.0, "learn_seconds": 1.0}
    for n in (1000, 10_000, 100_000):
        results.add({"method": "linear", "rows": n}, {**common, **stages, "train_seconds": 3.0}, seconds=1)
    text = boundary.page(results).text
    assert "grows with the power 2.00" in text
    assert "it would take 2.8 hours for 100,000 candidates, 3333 times what the linear machine took" in text


def test_the_command_names_its_experiments():
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, ["reproduce", "pighin2009", "answers"])
    assert (
        result.exit_code == 2
        and "There is no experiment 'answers'; there are questions, boundary, roles, fragments and all."
        in result.stderr
    )


def test_fragments_run_in_a_tiny_version(data, tmp_path):
    (path,) = pighin2009.run("fragments", data=data, out=tmp_path, quick=True)
    assert "## How many are among our first 100" in path.read_text()
    stored = json.loads((tmp_path / "pighin2009" / "fragments-quick.json").read_text())
    results = {entry["key"]["machine"]: entry["result"]["classes"] for entry in stored["results"]}
    assert set(results["questions, the paper's values"]) == {"ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"}
    for classes in results.values():
        for own in classes.values():
            first = [fragment for fragment, _ in own["first"]]
            for fragment, rank, _, weight in own["found"]:
                assert (rank is None) == (weight is None)
                assert (fragment in first) == (rank is not None and rank <= len(first))
                assert rank is None or rank > len(first) or own["first"][rank - 1] == [fragment, weight]


def test_published_fragments_are_read_as_fragments_and_tables_are_complete():
    sizes = {label: len(fragments) for label, fragments in published.FRAGMENTS.items()}
    assert sizes == {"ABBR": 13, "DESC": 16, "ENTY": 13, "HUM": 22, "LOC": 20, "NUM": 17, "boundary": 14}
    for fragments in published.FRAGMENTS.values():
        assert len(set(fragments)) == len(fragments)
        assert [str(Fragment.from_brackets(text)) for text in fragments] == list(fragments)
