"""``espalier describe`` of saved files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.saved_files import rewrite
from typer.testing import CliRunner

import espalier as es
from espalier.cli.main import app

TREES = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
OLD = Path(__file__).parents[2] / "golden" / "files"


def described(path):
    result = CliRunner().invoke(app, ["describe", str(path)])
    return result.exit_code, result.output


def test_a_process_says_what_it_is(tmp_path):
    table = es.Table(tree=TREES, note=list("abcd"))
    es.GPRegressor(es.SubsetTree(0.5, on="tree"), noise=0.01, learn=False).fit(table, [2.0, 2.1, 0.9, 1.0]).save(
        tmp_path / "x"
    )
    code, text = described(tmp_path / "x")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert code == 0
    assert lines[:2] == ["kind GPRegressor", f"written by Espalier {es.__version__}, version 1 of the format"]
    assert "rows 4" in lines and "column tree strings" in lines and "noise 0.01" in lines
    assert "kernel SubsetTree(decay=0.5, on='tree')" in lines and "examples.y float64 4" in lines


@pytest.mark.filterwarnings("ignore")  # one step teaches little, and the learner says so
def test_learned_numbers_are_listed(tmp_path):
    es.GPRegressor(es.SubsetTree(0.5), noise=0.01, max_iterations=1).fit(TREES, [2.0, 2.1, 0.9, 1.0]).save(
        tmp_path / "x"
    )
    _, text = described(tmp_path / "x")
    learned = text[text.index("learned:") : text.index("arrays:")]
    assert {line.split()[0] for line in learned.splitlines()[1:]} == {"kernel.decay", "kernel.frontier", "noise"}


@pytest.mark.filterwarnings("ignore:.*has no checksum")
@pytest.mark.parametrize("path", sorted(OLD.glob("*.safetensors")), ids=lambda path: path.stem)
def test_old_files_are_described_too(path):
    code, text = described(path)
    assert code == 0 and "Espalier 0.1" in text and "arrays:" in text


def test_corpora_and_kernels_are_described(tmp_path):
    es.Forest.from_brackets(TREES).save(tmp_path / "forest")
    assert "trees" in described(tmp_path / "forest")[1]
    es.SubsetTree().save(tmp_path / "kernel")
    assert described(tmp_path / "kernel")[1].startswith("kind         SubsetTree\n")


def test_damaged_files_are_one_message(tmp_path):
    es.KernelSVC(es.Subtree()).fit(TREES, list("aabb")).save(tmp_path / "x")
    rewrite(tmp_path / "x", lambda state, arrays: state["settings"].update(kernel={"$kind": "os"}))
    code, text = described(tmp_path / "x")
    assert code == 2 and "x is damaged: it holds a 'os'" in text
    (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:-1] + b"?")
    code, text = described(tmp_path / "x")
    assert code == 2 and "checksum" in text
