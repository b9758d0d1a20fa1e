"""The README says how to use Espalier once it is installed, and names all of its parts."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import espalier as es

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
WRITTEN_AS_SIGNS = (es.kernels.Sum, es.kernels.Product)
FOR_COMMANDS = {"test", "dev", "bench"}  # extras that the Makefile installs


def test_readme_names_every_extra_that_users_add_and_what_it_installs():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    rows = {
        name: row for row in re.findall(r"^\| `.*\|$", README, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    for name in extras.keys() - FOR_COMMANDS:
        installed = [re.split(r"\W", requirement)[0] for requirement in extras[name]]
        assert [library for library in installed if library not in rows[name].lower()] == []


def test_readme_names_every_example():
    examples = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
    assert sorted(set(re.findall(r"\]\(examples/(\w+\.py)\)", README))) == examples


@pytest.mark.parametrize("environment", [".venv", "other-environment"])
def test_demo_ends_by_saying_where_its_environment_is(environment):
    planned = subprocess.run(
        ["make", "-n", "demo", f"VENV={environment}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    after = planned[planned.index(f"{environment}/bin/espalier demo") :]
    assert f". {environment}/bin/activate" in after
    assert "examples/question_neighbours.py" in after


def test_readme_says_how_to_use_the_environment_of_the_commands():
    assert ". .venv/bin/activate" in README
    assert "pip install ." in README


def test_readme_names_every_kernel_and_structure():
    kernels = [
        name
        for name in es.__all__
        if isinstance(own := getattr(es, name), type) and issubclass(own, es.Kernel) and own not in WRITTEN_AS_SIGNS
    ]
    assert len(kernels) > 15
    named = set(re.findall(r"`(\w+)`", README))
    structures = {"Tree", "DependencyTree", "TaggedSequence", "Graph", "Table", "Forest"}
    assert {*kernels, *structures} - {"Kernel"} <= named


def caption_below(picture, page="README.md"):
    text = (ROOT / page).read_text()
    return text[text.index(f"figures/{picture}.svg)") :].split("\n\n")[1]


def test_caption_of_the_learned_decays_names_every_symbol_in_the_picture():
    picture = (ROOT / "docs" / "figures" / "learned.svg").read_text()
    symbols = set(re.findall(r">([A-Z]{1,6})<", picture))
    assert {"NP", "S", "SBAR", "IN", "MD", "CC"} <= symbols
    assert symbols - set(re.findall(r"\b[A-Z]+\b", caption_below("learned", "docs/learn.md"))) == set()


def test_caption_of_the_first_picture_explains_its_symbols():
    picture = (ROOT / "docs" / "figures" / "subset_tree.svg").read_text()
    assert all(symbol in picture and f"{symbol} is `" in caption_below("subset_tree") for symbol in "λα")
