"""Check that pairs of sequences or dependency trees fit the memory before anything is allocated.

For each pair the compiled core needs a grid of numbers, one pair at a time in each thread. Few corpora come near the
budget, which the largest items of both sides show; grids are counted only if that is not enough to tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.jobs.budget import pair_too_large
from espalier.jobs.schedule import Schedule
from espalier.jobs.tiles import Items
from espalier.kept import kept

ALL, SYMMETRIC, DIAGONAL = range(3)  # which pairs the core computes

Sizes = NDArray[np.int64]
Side = tuple[NDArray[np.int32], NDArray[np.int64]]  # symbols, and where each sequence starts


def which_pairs(is_symmetric: bool, only_diagonal: bool) -> int:
    """Which pairs the core computes of one side with itself, of two, or of each item with itself."""
    return DIAGONAL if only_diagonal else SYMMETRIC if is_symmetric else ALL


@dataclass(frozen=True, eq=False)
class Grids:
    """The grids of numbers that the core needs, one for each pair.

    A grid has a cell for each pair of positions, with one row and one column more, unless ``cells`` tells of fewer.
    """

    sizes: tuple[Sizes, ...]  # how many positions each item has, on either side
    bytes_per_cell: int
    cells: Callable[[int], Sizes] | None = None  # by row, how many cells its grids with all columns have

    def largest(self, pairs: int, beyond: int = 0) -> tuple[int, int, int]:
        """The bytes, the row and the column of the largest grid of ``pairs``: ALL, SYMMETRIC or DIAGONAL.

        If no grid needs more than ``beyond`` bytes, the answer may be 0 bytes.
        """
        rows, columns = (side + 1 for side in self.sizes)
        bound = rows * (rows if pairs == DIAGONAL else columns.max(initial=0)) * self.bytes_per_cell
        worst = (0, 0, 0)
        for row in np.flatnonzero(bound > beyond).tolist():
            found = rows[row] * columns if self.cells is None else self.cells(row)
            first, last = (row if pairs == DIAGONAL else 0), (len(found) if pairs == ALL else row + 1)
            column = first + int(found[first:last].argmax())
            needed = int(found[column]) * self.bytes_per_cell
            if needed > worst[0]:
                worst = needed, row, column
        return worst


NO_GRIDS = Grids((np.zeros(0, np.int64),) * 2, 0)


def threads_within(schedule: Schedule, grids: Grids, pairs: int, items: Items) -> int:
    """How many threads may each hold the grid of a pair; MemoryBudgetError if a single one is too large."""
    worst, row, column = grids.largest(pairs, schedule.memory // schedule.n_threads)
    if worst > schedule.memory:
        raise pair_too_large(items.pair(row, column), items.name, worst, schedule)
    return min(schedule.n_threads, schedule.memory // worst) if worst else schedule.n_threads


def sizes_of(*sides: Side) -> tuple[Sizes, ...]:
    """How many symbols each sequence has, on either side."""
    return tuple(np.diff(start) for _, start in sides)


class Shared:
    """What one sequence of the first side shares with each of the second."""

    def __init__(self, a: Side, b: Side) -> None:
        self._a, self._b = a, b

    @kept
    def _n_symbols(self) -> int:
        return 1 + max(int(symbol.max(initial=-1)) for symbol, _ in (self._a, self._b))

    @kept
    def _row(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self._b[1]) - 1), np.diff(self._b[1]))

    @kept
    def _distinct(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The symbols of each sequence of the second side, each once."""
        found = np.unique(self._row * self._n_symbols + self._b[0])
        return found // self._n_symbols, found % self._n_symbols

    def _counts(self, row: int) -> NDArray[np.int64]:
        symbol, start = self._a
        return np.bincount(symbol[start[row] : start[row + 1]], minlength=self._n_symbols)

    def _summed(self, row: NDArray[Any], values: NDArray[Any]) -> Sizes:
        return np.bincount(row, values, minlength=len(self._b[1]) - 1).astype(np.int64)

    def grid(self, row: int) -> Sizes:
        """Cells over the positions whose symbols both have, with one row and one column more."""
        counts = self._counts(row)
        columns = self._summed(self._row, counts[self._b[0]] > 0)
        holder, symbol = self._distinct
        return (self._summed(holder, counts[symbol]) + 1) * (columns + 1)

    def equal(self, row: int) -> Sizes:
        """Pairs of positions with equal symbols."""
        return self._summed(self._row, self._counts(row)[self._b[0]])
