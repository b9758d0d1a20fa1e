"""Arithmetic on matrices by blocks of rows, so that it needs no further matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from espalier.jobs.tiles import Matrix

_BLOCK = 1 << 16  # matrix entries that stay in the cache while several operations pass over them


class ByRows:
    """A matrix, or a vector, that exists one block of rows at a time, computed from others when it is read."""

    def __init__(self, shape: tuple[int, ...], read: Callable[[slice], Matrix]) -> None:
        self.shape = shape
        self._read = read

    def __getitem__(self, rows: slice) -> Matrix:
        return self._read(rows)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Matrix:
        out = np.empty(self.shape)
        for rows in row_blocks(self.shape):
            out[rows] = self._read(rows)
        return out


def row_blocks(shape: tuple[int, ...], n_entries: int = _BLOCK) -> Iterator[slice]:
    """Cut the rows of a matrix into blocks of at most this many entries; by default they fit the cache."""
    step = max(1, n_entries // max(1, *shape[1:], 1))
    return (slice(start, start + step) for start in range(0, shape[0], step))


def inner_product(a: Matrix | ByRows, b: Matrix | ByRows) -> float:
    """The sum of the products of all entries."""
    if isinstance(a, ByRows) or isinstance(b, ByRows):
        return float(sum(np.vdot(a[rows], b[rows]) for rows in row_blocks(a.shape)))
    return float(np.vdot(a, b))
