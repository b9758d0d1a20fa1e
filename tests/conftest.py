"""Fixtures that every test folder shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the research data sets, which are not part of the project."""
    folder = (ROOT / os.environ.get("ESPALIER_DATA", "../shared/data")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}; set ESPALIER_DATA to the folder that holds it")
    return folder
