"""The paper's experiments: each runs in a tiny version, resumes, and fails with one clear error."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from espalier.cli.main import app
from espalier.errors import InputError
from espalier_experiments import beck2015
from espalier_experiments.beck2015 import emotion, marginal, quality, synthetic, timing
from espalier_experiments.beck2015.emotion_models import MODELS, OWN, PAPER_FIGURES
from espalier_experiments.beck2015.emotion_page import joined_pearson, largest_decays
from espalier_experiments.beck2015.quality_models import MODELS as QUALITY_MODELS
from espalier_experiments.beck2015.quality_page import inputs_of, side_values
from espalier_experiments.beck2015.settings import Setup
from espalier_experiments.measures import Moments, pearson


def invoke(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(
        app, ["reproduce", "beck2015", *map(str, arguments)]
    )


@pytest.mark.parametrize("name", list(beck2015.EXPERIMENTS))
def test_each_experiment_runs_in_a_tiny_version(data, tmp_path, name):
    pytest.importorskip("espalier.gp")
    pytest.importorskip("espalier.svm")
    (path,) = beck2015.run(name, data=data, out=tmp_path, quick=True)
    text = path.read_text()
    assert "only shows that everything runs" in text and "aclanthology.org/Q15-1033" in text
    assert f"Made by `espalier reproduce beck2015 {name} --quick`" in text
    stored = (tmp_path / "beck2015" / f"{name}-quick.json").read_text()
    assert json.loads(stored)["settings"]["quick"] is True
    assert str(data) not in stored + text
    for line in text.splitlines():
        if line.startswith("!["):
            assert (path.parent / line.split("(")[1].rstrip(")")).exists()


def test_a_second_run_computes_nothing_and_writes_the_same(data, tmp_path):
    pytest.importorskip("espalier.gp")
    seen = []
    run = {"data": data, "out": tmp_path, "quick": True, "progress": seen.append}
    (path,) = beck2015.run("quality", **run)
    before = path.read_bytes()
    seen.clear()
    beck2015.run("quality", **run)
    assert len(seen) == 1 and path.read_bytes() == before
    beck2015.run("quality", out=tmp_path, quick=True, pages_only=True)
    assert path.read_bytes() == before


def test_only_some_tasks_can_be_asked_for(data, tmp_path):
    pytest.importorskip("espalier.gp")
    beck2015.run("quality", data=data, out=tmp_path, quick=True, only={"model": "features, Matern"})
    stored = json.loads((tmp_path / "beck2015" / "quality-quick.json").read_text())
    assert [record["key"]["model"] for record in stored["results"]] == ["features, Matern"]
    with pytest.raises(InputError, match="no task with model=nothing"):
        beck2015.run("quality", data=data, out=tmp_path, quick=True, only={"model": "nothing"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["sentiment"],
            "There is no experiment 'sentiment'; there are synthetic, time, emotion, quality, overfitting, marginal "
            "and all.",
        ),
        (["emotion", "--data", "/nowhere/at/all"], "There is no folder of data at /nowhere/at/all."),
        (["emotion", "--pages-only", "--out", "OUT"], "Run the experiment first."),
        (["emotion", "--only", "pair"], "--only takes NAME=VALUE, such as pair=en-es, got 'pair'."),
    ],
)
def test_mistakes_are_one_clear_error(tmp_path, arguments, message):
    result = invoke(*[tmp_path if argument == "OUT" else argument for argument in arguments])
    assert result.exit_code == 2
    assert message in result.stderr and "Traceback" not in result.stderr


def test_the_data_must_be_named(monkeypatch):
    monkeypatch.delenv("ESPALIER_DATA", raising=False)
    result = invoke("quality")
    assert result.exit_code == 2 and "Set ESPALIER_DATA" in result.stderr


def test_the_command_writes_a_page(data, tmp_path):
    pytest.importorskip("espalier.gp")
    result = invoke("quality", "--quick", "--data", data, "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "Written to" in result.stdout


def test_other_settings_are_not_mixed(data, tmp_path):
    pytest.importorskip("espalier.gp")
    invoke("quality", "--quick", "--data", data, "--out", tmp_path)
    result = invoke("quality", "--quick", "--data", data, "--out", tmp_path, "--seed", 1)
    assert result.exit_code == 2 and "seed 0 there, 1 here" in result.stderr


@pytest.mark.parametrize("module", [synthetic, timing, emotion, quality, marginal])
@pytest.mark.parametrize("quick", [False, True])
def test_keys_are_plain_and_different(module, quick, tmp_path):
    keys = [json.dumps(task.key, sort_keys=True) for task in module.tasks(Setup(tmp_path, quick=quick))]
    assert len(set(keys)) == len(keys) > 0
    assert str(tmp_path) not in "".join(keys)


def test_all_rows_of_the_paper_are_run(tmp_path):
    models = {task.key["model"] for task in emotion.tasks(Setup(tmp_path))}
    assert len(PAPER_FIGURES) == 9 and models == {*PAPER_FIGURES, *OWN} == set(MODELS)
    assert len(synthetic.tasks(Setup(tmp_path))) == 2 * 3 * 6 * 20


def test_joined_correlations_are_those_of_joined_data():
    y = {"anger": [1.0, 5.0, 2.0], "joy": [30.0, 10.0, 20.0]}
    p = {"anger": [2.0, 4.0, 2.0], "joy": [20.0, 15.0, 21.0]}
    records = [
        {"fold": 0, "mean": mean, "moments": vars(Moments.of([v - mean for v in y[e]], [v - mean for v in p[e]]))}
        for e, mean in (("anger", 3.0), ("joy", 18.0))
    ]
    whole = pearson([*y["anger"], *y["joy"]], [*p["anger"], *p["joy"]])
    assert joined_pearson(records, in_points=True) == pytest.approx(whole)
    assert joined_pearson(records) < whole


def test_learned_values_are_found_by_their_paths():
    learned = {"kernel.terms[0].decay[NP]": 0.2, "kernel.terms[0].decay[S]": 0.8, "kernel.terms[0].frontier[S]": 2.0}
    assert largest_decays([{"learned": learned}]) == [("S", 0.8), ("NP", 0.2)]
    assert side_values({"learned": learned}) == {}
    learned = {"kernel.terms[1].decay": 0.1, "kernel.terms[2].decay": 0.3, "kernel.terms[0].lengthscale[0]": 1.0}
    assert side_values({"learned": learned}) == {"decay source": 0.1, "decay target": 0.3}


def test_times_stand_in_the_order_of_budgets():
    budgets = [("gp", f"{count} iterations") for count in (200, 5, 20)] + [("svm", "fine grid"), ("svm", "coarse grid")]
    seconds = {"200 iterations": 1.0, "20 iterations": 2.0, "5 iterations": 0.5, "fine grid": 3.0, "coarse grid": 4.0}
    records = [
        {"method": method, "budget": budget, "size": size, "fit_seconds": seconds[budget], "rmse": 1.0}
        for size in (200, 100)
        for method, budget in budgets
    ]
    rows = [row[0] for row in timing.median_rows(records)]
    ordered = ["GP, 5 iterations", "GP, 20 iterations", "GP, 200 iterations", "SVM, coarse grid", "SVM, fine grid"]
    assert rows == [f"{size} trees, {budget}" for size in (100, 200) for budget in ordered]


def test_models_are_told_apart_by_what_they_read():
    inputs = {name: inputs_of(name) for name in QUALITY_MODELS}
    assert inputs["features, Matern, noise by length"] == "features"
    assert inputs["trees summed, symbol-aware"] == "trees summed" and inputs["trees multiplied"] == "trees"
    assert inputs["Matern + trees summed"] == inputs["RBF + trees multiplied"] == "features + trees"
