"""What the documents say about the code is true: the files exist, the rooms are complete, the walk never goes back."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "espalier"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason="the sources are not part of this copy")


def rooms_in_order():
    """The rooms of the package from the bottom, as the contract of imports lists them; equal numbers share a line."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {name: place for place, line in enumerate(reversed(layers)) for name in re.findall(r"\w+", line)}


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md", "docs/engine.md"])
def test_files_that_a_document_names_exist(page):
    named = re.findall(r"`([\w.]+/[\w./-]*)`", (ROOT / page).read_text("utf-8"))
    elsewhere = ("build/", ".venv", "../")  # made by commands, or outside of the checkout
    missing = [
        path
        for path in named
        if not path.startswith(elsewhere) and not (ROOT / path).exists() and not (PACKAGE / path).exists()
    ]
    assert missing == []


def test_the_map_names_every_room_from_the_bottom_up():
    table = ARCHITECTURE[ARCHITECTURE.index("| room of") : ARCHITECTURE.index("Beside the package")]
    mapped = re.findall(r"^\| `(\w+)/`", table, re.MULTILINE)
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert sorted(mapped) == sorted(rooms)
    order = rooms_in_order()
    places = [order[room] for room in mapped if room != "testing"]
    assert places == sorted(places)


def test_the_walk_of_a_string_has_no_hop_back():
    walk = ARCHITECTURE[ARCHITECTURE.index("## The walk") : ARCHITECTURE.index("## Invariants")]
    rooms = re.findall(r"^\d+\. `(\w+)/", walk, re.MULTILINE)
    order = rooms_in_order()
    places = [order[room] for room in rooms]
    assert len(rooms) >= 10
    assert places == sorted(places)
