"""The table of what was learned: each hyperparameter with its unit, start, bounds and gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.gp.parameters import Parameters
from espalier.storage import require
from espalier.structures.frames import frame_of

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class LearnedRow:
    """One hyperparameter after learning."""

    path: str
    value: float
    start: float
    low: float
    high: float
    bound: str  # "low" or "high" if it ended at a bound, else ""
    gradient: float  # of the objective in the searched space (log, logit); near 0 at an optimum inside the bounds
    prior: str
    unit: str
    effect: bool = True  # False: the targets did not depend on it, and it stayed where it started


class LearnedTable:
    """All learned hyperparameters, readable.

    Iterate over its rows, look one up by path (``table["noise"]``), or take ``to_frame()``.

    Attributes
    ----------
    rows
        One ``LearnedRow`` for each hyperparameter.
    n_effective
        How many of them the targets depend on.
    gradient_norm
        The largest gradient in the searched space that no bound explains; small when learning converged.
    """

    def __init__(self, rows: list[LearnedRow], *, learning: bool = True) -> None:
        self.rows = rows
        self._learning = learning  # False if learning was off

    @staticmethod
    def of(
        parameters: Parameters,
        values: Mapping[str, float],
        gradient: Mapping[str, float],
        began: Mapping[str, float] | None = None,
        *,
        learning: bool = True,
    ) -> LearnedTable:
        """Make the table from the best climb; ``began`` is where it started."""
        rows = []
        for p in parameters:
            value, slope = values[p.path], gradient.get(p.path, 0.0)
            effect = slope != 0 or value != (began or {}).get(p.path)
            place, low, high = p.encode(value), p.encode(p.low), p.encode(p.high)
            near = 1e-6 * max(1.0, high - low if math.isfinite(high - low) else 1.0)
            bound = "low" if place - low < near else "high" if high - place < near else ""
            prior = "" if p.prior is None else repr(p.prior)
            rows.append(LearnedRow(p.path, value, p.start, p.low, p.high, bound, slope, prior, p.unit, effect))
        return LearnedTable(rows, learning=learning)

    @staticmethod
    def from_rows(rows: Any, *, learning: bool) -> LearnedTable:
        """Make a table from the rows in a file."""
        kinds = {"float": (float, int), "str": (str,), "bool": (bool,)}
        for row in rows:
            require(isinstance(row, LearnedRow), "what it learned is not a table")
            sound = all(type(getattr(row, field.name)) in kinds[str(field.type)] for field in fields(row))
            require(sound, "what it learned has other columns")
        return LearnedTable(list(rows), learning=learning)

    @property
    def gradient_norm(self) -> float:
        """The largest gradient in the searched space that no bound explains."""
        free = [
            abs(row.gradient)
            for row in self.rows
            if not (row.bound == "low" and row.gradient < 0) and not (row.bound == "high" and row.gradient > 0)
        ]
        return max(free, default=0.0)

    @property
    def at_bounds(self) -> list[str]:
        """The paths that ended at a bound."""
        return [row.path for row in self.rows if row.bound]

    @property
    def n_effective(self) -> int:
        """How many of the numbers the targets depend on."""
        return sum(row.effect for row in self.rows)

    def __iter__(self) -> Iterator[LearnedRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, path: str) -> LearnedRow:
        for row in self.rows:
            if row.path == path:
                return row
        raise KeyError(f"{path!r} was not learned; see the paths in the table's rows.")

    def to_dict(self) -> dict[str, float]:
        """Return the learned values by path."""
        return {row.path: row.value for row in self.rows}

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each hyperparameter."""
        return frame_of([asdict(row) for row in self.rows])

    def __repr__(self) -> str:
        if not self.rows:
            reason = "every hyperparameter is fixed" if self._learning else "learning was off (learn=False)"
            return f"Nothing was learned: {reason}."
        cells: list[tuple[str, ...]] = [
            ("hyperparameter", "value", "start", "bounds", "at", "gradient", "unit", "prior")
        ]
        cells += [
            (
                row.path,
                f"{row.value:.4g}",
                f"{row.start:.4g}",
                f"{row.low:g}..{row.high:g}",
                row.bound if row.effect else "no effect",
                f"{row.gradient:+.1e}",
                row.unit,
                row.prior,
            )
            for row in self.rows
        ]
        if not any(row.prior for row in self.rows):
            cells = [row[:-1] for row in cells]
        return aligned(cells, right={1, 2, 5}) + f"\nlargest free gradient {self.gradient_norm:.1e}"


def aligned(cells: list[tuple[str, ...]], right: set[int]) -> str:
    """Lay out a table of text: a header, then rows; columns in ``right`` are aligned to the right."""
    widths = np.array([[len(cell) for cell in row] for row in cells]).max(axis=0)
    lines = []
    for row in cells:
        parts = [
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)
