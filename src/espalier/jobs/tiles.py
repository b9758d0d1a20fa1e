"""Cutting a matrix into tiles of rows and columns."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from espalier.jobs.budget import pair_too_large
from espalier.jobs.schedule import Schedule

Matrix = NDArray[np.float64]

# The number of jobs of a matrix. It does not depend on the number of workers, so neither does any bit of the matrix.
_JOBS = 128
_LEAST_PAIRS, _MOST_PAIRS = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Tile:
    """Rows and columns of a matrix that are computed together."""

    rows: slice
    columns: slice
    on_diagonal: bool = False  # rows and columns are the same items, and only half of the pairs count
    mirrored: bool = False  # the transposed tile holds the same values
    only_diagonal: bool = False  # each row is compared only with itself

    @property
    def n_rows(self) -> int:
        return int(self.rows.stop - self.rows.start)

    @property
    def n_columns(self) -> int:
        return int(self.columns.stop - self.columns.start)

    @property
    def area(self) -> float:
        """How much of the matrix this tile covers; a mirrored one counts twice."""
        if self.only_diagonal:
            return self.n_rows
        return self.n_rows * self.n_columns * (2 if self.mirrored else 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tile's values."""
        return (self.n_rows,) if self.only_diagonal else (self.n_rows, self.n_columns)

    def put(self, values: Matrix, out: Matrix) -> None:
        """Write the tile's values into the matrix or diagonal; mirrored ones on both sides."""
        if self.only_diagonal:
            out[self.rows] = values.reshape(-1)
            return
        out[self.rows, self.columns] = values
        if self.mirrored:
            out[self.columns, self.rows] = values.T

    def take(self, cotangent: Matrix) -> Matrix:
        """The tile's part of the gradient weights."""
        if self.only_diagonal:
            return cotangent[self.rows]
        block: Matrix = cotangent[self.rows, self.columns]
        return block + cotangent[self.columns, self.rows].T if self.mirrored else block

    def cut(self, pieces: int) -> list[Tile]:
        """Cut into tiles that each hold about 1 / pieces of the pairs."""
        if self.only_diagonal:
            parts = _parts(self.rows, pieces)
            return [Tile(part, part, self.on_diagonal, only_diagonal=True) for part in parts]
        if self.on_diagonal:
            parts = _parts(self.rows, math.ceil(math.sqrt(2 * pieces)))
            return [
                Tile(rows, columns, on_diagonal=rows == columns, mirrored=rows != columns)
                for k, rows in enumerate(parts)
                for columns in parts[: k + 1]
            ]
        # Cut the longer side first: in square tiles most work is shared.
        across = math.sqrt(pieces * self.n_rows / self.n_columns)
        n_rows = min(max(1, round(across)), pieces)
        return [
            Tile(rows, columns, mirrored=self.mirrored)
            for rows in _parts(self.rows, n_rows)
            for columns in _parts(self.columns, math.ceil(pieces / n_rows))
        ]

    def for_jobs(self) -> list[Tile]:
        """Cut into tiles that each are a job for an executor; none if the matrix is too small to be cut."""
        pieces = max(min(_JOBS, int(self.area // _LEAST_PAIRS)), math.ceil(self.area / _MOST_PAIRS))
        return self.cut(pieces) if pieces > 1 else []


@dataclass(frozen=True)
class Items:
    """The name of the items of rows and columns in errors, and the numbers of the first of them."""

    name: str
    first_row: int = 0
    first_column: int = 0

    def pair(self, row: int, column: int) -> str:
        """Name a row and a column."""
        return f"{self.name.capitalize()} {self.first_row + row} with {self.name} {self.first_column + column}"


def cut_to_fit(tile: Tile, needed: int, items: Items, schedule: Schedule) -> list[Tile]:
    """Cut a tile that needs more memory than there is; a single pair cannot be cut and is an error."""
    if max(tile.n_rows, tile.n_columns) == 1:
        raise pair_too_large(items.pair(tile.rows.start, tile.columns.start), items.name, needed, schedule)
    return tile.cut(max(2, math.ceil(needed / schedule.memory)))


def most_needed(whole: Tile, needed: Callable[[Tile], int], most_cuts: int = 64) -> int:
    """The memory with which all tiles can be cut until they fit: that of the largest pair, or an upper bound of it.

    A part of a tile needs at most as much as the tile, except on a diagonal, where a tile holds half as many pairs as a
    part beside the diagonal. So the tile that may need most is cut first, and the first pair found is the largest.
    """
    heap = [(0, 0, whole)]
    n_seen = 0
    while True:
        bound, _, tile = heapq.heappop(heap)
        if n_seen and (max(tile.n_rows, tile.n_columns) == 1 or most_cuts == 0):
            return -bound
        most_cuts -= 1
        for part in [tile] if not n_seen else tile.cut(4):
            n_seen += 1
            is_half = part.on_diagonal and not part.only_diagonal and part.n_rows > 1
            heapq.heappush(heap, (-needed(part) * (2 if is_half else 1), n_seen, part))


def _parts(whole: slice, pieces: int) -> list[slice]:
    """Contiguous slices of nearly equal length, none empty."""
    n = whole.stop - whole.start
    pieces = min(pieces, n)
    bounds = [whole.start + k * n // pieces for k in range(pieces + 1)]
    return [slice(first, last) for first, last in pairwise(bounds)]
