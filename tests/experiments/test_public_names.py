"""The experiments are users of the library: they import its rooms, and names that these rooms export."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

if not find_spec("espalier_experiments"):
    pytest.skip("the package espalier_experiments is not installed", allow_module_level=True)

import espalier as es
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_experiments_use_no_private_name_of_another_object(path):
    tree = ast.parse(path.read_text("utf-8"))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_self(node.value)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            assert _is_self(node.value) or node.attr in own, f"line {node.lineno}: {node.attr}"
        if isinstance(node, ast.ClassDef):
            bases = [getattr(es.kernels, base.id, None) for base in node.bases if isinstance(base, ast.Name)]
            for method in (each for each in node.body if isinstance(each, ast.FunctionDef)):
                is_private = method.name.startswith("_") and not method.name.startswith("__")
                assert not (is_private and any(hasattr(base, method.name) for base in bases if base)), method.name


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
