"""The table of what was learned: each hyperparameter with its unit, start, bounds and gradient."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from espalier.gp.parameters import Parameters
from espalier.storage import require
from espalier.structures.frames import frame_of

if TYPE_CHECKING:
    from pandas import DataFrame

Row = TypeVar("Row")


class Rows(Generic[Row]):
    """A table of results: iterate over its rows, which are dataclasses, or take ``to_frame()``."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dict for each row."""
        return [asdict(row) for row in self.rows]  # type: ignore[call-overload]

    def to_frame(self) -> DataFrame:
        """Return a pandas frame of the rows."""
        return frame_of(self.to_dicts())


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
    effect: bool = True  # False: the targets did not depend on it, and it stayed where it started, or a prior moved it


class LearnedTable(Rows[LearnedRow]):
    """All learned hyperparameters, readable.

    Iterate over its rows, one ``LearnedRow`` each, look one up by path (``table["noise"]``), or take ``to_frame()``.
    """

    def __init__(self, rows: list[LearnedRow], *, learning: bool = True) -> None:
        super().__init__(rows)
        self._learning = learning  # False if learning was off

    @staticmethod
    def of(
        parameters: Parameters,
        values: Mapping[str, float],
        gradient: Mapping[str, float],
        felt: Collection[str] = (),
        *,
        learning: bool = True,
    ) -> LearnedTable:
        """Make the table from the best climb; ``felt`` are the paths on which the targets depend."""
        rows = []
        for p in parameters:
            value, slope = values[p.path], gradient.get(p.path, 0.0)
            place, low, high = p.encode(value), p.encode(p.low), p.encode(p.high)
            near = 1e-6 * max(1.0, high - low if math.isfinite(high - low) else 1.0)
            bound = "low" if place - low < near else "high" if high - place < near else ""
            prior = "" if p.prior is None else repr(p.prior)
            rows.append(LearnedRow(p.path, value, p.start, p.low, p.high, bound, slope, prior, p.unit, p.path in felt))
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
        """The largest gradient in the searched space that no bound explains; small when learning converged."""
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

    def __getitem__(self, path: str) -> LearnedRow:
        for row in self.rows:
            if row.path == path:
                return row
        raise KeyError(f"{path!r} was not learned; see the paths in the table's rows.")

    def to_dict(self) -> dict[str, float]:
        """Return the learned values by path."""
        return {row.path: row.value for row in self.rows}

    def __repr__(self) -> str:
        if not self.rows:
            reason = "every hyperparameter is fixed" if self._learning else "learning was off (learn=False)"
            return f"Nothing was learned: {reason}."
        columns = {
            "hyperparameter": [row.path for row in self.rows],
            "value": [f"{row.value:.4g}" for row in self.rows],
            "start": [f"{row.start:.4g}" for row in self.rows],
            "bounds": [f"{row.low:g}..{row.high:g}" for row in self.rows],
            "at": [row.bound if row.effect else "no effect" for row in self.rows],
            "gradient": [f"{row.gradient:+.1e}" for row in self.rows],
            "unit": [row.unit for row in self.rows],
            "prior": [row.prior for row in self.rows],
        }
        if not any(columns["prior"]):
            del columns["prior"]
        numbers = aligned(columns, right=("value", "start", "gradient"))
        return f"{numbers}\nlargest free gradient {self.gradient_norm:.1e}"


def aligned(columns: Mapping[str, list[str]], right: Collection[str]) -> str:
    """Lay out columns of text under their names; those in ``right`` are aligned to the right."""
    laid_out = []
    for name, cells in columns.items():
        width = max(map(len, [name, *cells]))
        align = str.rjust if name in right else str.ljust
        laid_out.append([align(cell, width) for cell in [name, *cells]])
    return "\n".join("  ".join(line).rstrip() for line in zip(*laid_out, strict=True))
