"""Check that pairs of sequences fit the memory before anything is allocated.

For each pair the compiled core needs a grid of numbers, one pair at a time in each thread. Few corpora come near the
budget, which the longest sequences of both sides show; grids are counted only if that is not enough to tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import MemoryBudgetError
from espalier.jobs.budget import pair_too_large
from espalier.jobs.schedule import Schedule
from espalier.kept import kept

ALL, SYMMETRIC, DIAGONAL = range(3)  # which pairs the core computes

Sizes = NDArray[np.int64]
Side = tuple[NDArray[np.int32], NDArray[np.int64]]  # symbols, and where each sequence starts
Cells = Callable[[int], Sizes]  # of the grids of one row with every column

_NUMBER = 8
_MATCH = 64  # of a list of matches: 32 bytes each, and lists grow by doubling


def which_pairs(is_symmetric: bool, only_diagonal: bool) -> int:
    """Which pairs the core computes of one side with itself, of two, or of each item with itself."""
    return DIAGONAL if only_diagonal else SYMMETRIC if is_symmetric else ALL


def threads_within(
    schedule: Schedule,
    sizes: tuple[Sizes, Sizes],
    pairs: int,
    bytes_per_cell: int,
    *,
    cells: Cells | None = None,
    item: str = "sequence",
) -> int:
    """How many threads may each hold the grid of a pair; MemoryBudgetError if a single one is too large.

    Parameters
    ----------
    schedule
        Its memory is the budget, and its threads are the most to use.
    sizes
        How many positions each sequence has, on either side.
    pairs
        Which pairs are computed: ALL, SYMMETRIC or DIAGONAL.
    bytes_per_cell
        What one cell of a grid needs.
    cells
        By row, how many cells its grids with all columns have, if that is fewer than one for each pair of positions,
        with one row and one column more.
    item
        What a row is, in the message.
    """
    rows, columns = (side + 1 for side in sizes)
    if not len(rows) or not len(columns):
        return schedule.n_threads
    bound = rows * (rows if pairs == DIAGONAL else columns.max()) * bytes_per_cell
    worst, place = 0, (0, 0)
    for row in np.flatnonzero(bound > schedule.memory // schedule.n_threads).tolist():
        found = rows[row] * columns if cells is None else cells(row)
        first, last = (row if pairs == DIAGONAL else 0), (len(found) if pairs == ALL else row + 1)
        column = first + int(found[first:last].argmax())
        needed = int(found[column]) * bytes_per_cell
        if needed > worst:
            worst, place = needed, (row, column)
    if worst > schedule.memory:
        raise pair_too_large(f"{item.capitalize()} {place[0]} with {item} {place[1]}", item, worst, schedule)
    return min(schedule.n_threads, schedule.memory // worst) if worst else schedule.n_threads


def needed_for_one(threads: Callable[[Schedule], int], schedule: Schedule) -> int:
    """The budget of the call that suffices for the pair that needs most."""
    try:
        threads(replace(schedule, memory=1, n_threads=1))
    except MemoryBudgetError as error:
        assert error.told is not None
        return error.told[2]
    return 1


def subsequence_threads(
    a: Side, b: Side, pairs: int, schedule: Schedule, length: int, *, pulling_back: bool, soft: bool = False
) -> int:
    """As :func:`threads_within`, for subsequences up to a length.

    A grid has a row for each position whose symbol the other side has too, and columns likewise; with ``soft`` matching
    it has one for each position. It is kept once for matches and once for each length, and three times more for
    gradients.
    """
    bytes_per_cell = _NUMBER * (length + 1 + (3 if pulling_back else 0))
    cells = None if soft else _Shared(a, b).grid
    return threads_within(schedule, (np.diff(a[1]), np.diff(b[1])), pairs, bytes_per_cell, cells=cells)


def tagging_threads(a: Side, b: Side, pairs: int, schedule: Schedule, *, pulling_back: bool, gaps: bool = False) -> int:
    """As :func:`threads_within`, for runs of tags: gradients need a list of all positions with equal tags.

    With gaps there are two grids over all positions instead.
    """
    if not pulling_back:
        return schedule.n_threads
    if gaps:
        return threads_within(schedule, (np.diff(a[1]), np.diff(b[1])), pairs, 2 * _NUMBER)
    return threads_within(schedule, (np.diff(a[1]), np.diff(b[1])), pairs, _MATCH, cells=_Shared(a, b).equal)


class _Shared:
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
