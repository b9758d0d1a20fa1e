"""An error that names an extra names one that installs the missing library."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import espalier
import espalier as es
from espalier.errors import MissingDependencyError

SOURCES = Path(espalier.__file__).resolve().parent
PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def raised_for_missing_libraries() -> list[tuple[str, str, str]]:
    """The file, the libraries and the extra of every error about a missing library in the package."""
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                call = node.exc
                if isinstance(call.func, ast.Name) and call.func.id == "MissingDependencyError":
                    keywords = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
                    found.append((path.name, ast.literal_eval(call.args[0]), keywords["extra"]))
    return found


def test_every_extra_named_in_an_error_installs_what_is_missing():
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    raised = raised_for_missing_libraries()
    assert {libraries for _, libraries, _ in raised} >= {"pandas", "polars or pyarrow"}
    for file, libraries, extra in raised:
        installed = {requirement.split(">=")[0] for requirement in extras[extra]}
        assert installed & set(libraries.split(" or ")), f"{file}: espalier[{extra}] does not install {libraries}"


@pytest.mark.parametrize("call", ["learned", "compared", "explained", "nodes", "mined"])
def test_every_frame_without_pandas_names_the_extra_that_installs_it(call, monkeypatch):
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A d) (B b))", "(S (A d) (B c))"]
    model = es.GPRegressor(es.SubsetTree(0.4), noise=es.fixed(0.1)).fit(trees, [1.0, 2.0, 3.0, 4.0])
    frames = {
        "learned": lambda: model.learned_.to_frame(),
        "compared": lambda: es.compare({"one": model, "two": model}).to_frame(),
        "explained": lambda: es.explain(model).to_frame(),
        "nodes": lambda: es.explain(model, trees[0]).nodes(),
        "mined": lambda: es.mine_fragments(model, n=2).to_frame(),
    }
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r"espalier\[frames\]"):
        frames[call]()
