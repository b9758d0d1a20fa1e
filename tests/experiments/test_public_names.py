"""The experiments are users of the library: they import its rooms, and names that these rooms export."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

if not find_spec("espalier_experiments"):
    pytest.skip("the package espalier_experiments is not installed", allow_module_level=True)

import espalier_experiments

FILES = sorted(Path(espalier_experiments.__file__).parent.rglob("*.py"))


def imports(path: Path) -> list[tuple[str, str | None]]:
    """The modules of the library that a file imports, each with the name that it takes from there."""
    found: list[tuple[str, str | None]] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
    return [(module, name) for module, name in found if module.split(".")[0] == "espalier"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_experiments_import_rooms_and_their_public_names(path):
    for module, name in imports(path):
        assert module.count(".") <= 1, f"{module} is inside a room"
        assert name is None or name in import_module(module).__all__, f"{module} does not export {name}"
