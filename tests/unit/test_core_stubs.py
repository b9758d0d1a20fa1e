"""The types of the compiled core that are kept in the tree are those of its bindings."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "native" / "bindings" / "stubs.py"


@pytest.mark.skipif(not SCRIPT.is_file(), reason="the core is not part of this copy")
def test_stubs_of_the_core_are_those_that_its_bindings_generate():
    pytest.importorskip("nanobind", reason="nanobind, which generates the stubs, is not installed")
    pytest.importorskip("ruff", reason="ruff, which formats the stubs, is not installed")
    generated = runpy.run_path(str(SCRIPT))["generated"]()
    kept = (ROOT / "src" / "espalier" / "_core.pyi").read_text("utf-8")
    assert generated == kept, "The bindings say otherwise: run `make stubs`, or build an old core anew."
