"""Pandas frames of results; pandas is optional, and the first frame loads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from espalier.errors import MissingDependencyError


def load_pandas() -> Any:
    """Import pandas, or say which extra of Espalier installs it."""
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("pandas", extra="frames", purpose="A frame") from None
    return pandas


def frame_of(rows: Sequence[object], columns: Sequence[str] | None = None) -> Any:
    """A pandas frame of some rows: mappings by column, or tuples in the order of ``columns``."""
    return load_pandas().DataFrame(rows, columns=columns)
