"""Pandas frames of results; pandas is optional, and the first frame loads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from espalier.errors import MissingDependencyError

if TYPE_CHECKING:
    from pandas import DataFrame


def frame_of(rows: Sequence[object], columns: Sequence[str] | None = None) -> DataFrame:
    """A pandas frame of some rows: mappings by column, or tuples in the order of ``columns``."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise MissingDependencyError("pandas", extra="frames", purpose="A frame") from None
    return DataFrame(rows, columns=columns)
