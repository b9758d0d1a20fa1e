"""Squared distances between vectors, dense or sparse, without loss of precision by cancellation.

Sparse vectors stay sparse: a squared distance is the sum of two squared lengths less twice a dot product. If the
distance is small compared with the lengths, few of its digits are right. Such a pair is computed again, from the
difference of its two vectors. Before that, dimensions whose numbers are far from 0 and near each other, such as years,
are shifted towards 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels.base import Matrix
from espalier.kernels.row_blocks import row_blocks
from espalier.kernels.underflow import Mask
from espalier.kernels.vector_columns import Dense, Vectors
from espalier.kernels.vectors import by_dimension, dot_products, is_sparse, squared_entries, squared_lengths

FAR = 1e300  # squared distances are clipped here, where every profile is 0, so that 0 is never multiplied by infinity

_SMALL = 1e-6  # share of the two squared lengths below which a squared distance has lost half of its digits
_CELLS = 1 << 21  # how many numbers of the differences are held at once

Indices = NDArray[np.intp]


def squared_distances(a: Vectors, b: Vectors, *, same: bool) -> Matrix:
    """The squared distance of each vector of ``a`` to each of ``b``; ``same`` if ``b`` is ``a``."""
    if 0 in (a.shape[0], b.shape[0], a.shape[1], b.shape[1]):
        return np.zeros((a.shape[0], b.shape[0]))
    if not is_sparse(a) and not is_sparse(b):
        from scipy.spatial.distance import cdist

        return np.minimum(cdist(a, b, "sqeuclidean"), FAR)
    out = dot_products(a, b)
    lengths, others = squared_lengths(a, 1.0), squared_lengths(b, 1.0)
    for block in row_blocks(out.shape):
        part = out[block]
        with np.errstate(over="ignore", invalid="ignore"):  # lengths may be infinite
            part *= -2.0
            part += lengths[block, None] + others
        again = are_small(part, lengths[block], others)
        if same:
            np.fill_diagonal(again[:, block], False)
        for rows, columns, squares in squared_differences(a[block], b, again):
            part[rows, columns] = np.asarray(squares.sum(axis=1)).ravel()
        np.clip(part, 0.0, FAR, out=part)
    if same:
        np.fill_diagonal(out, 0.0)
    return out


def are_small(squared: Matrix, lengths: Dense, others: Dense) -> Mask:
    """Which squared distances are so small beside the squared lengths that rounding may have left too few digits."""
    return ~(squared >= _SMALL * (lengths[:, None] + others))  # negated, so that nan counts as small


def squared_differences(a: Vectors, b: Vectors, pairs: Mask) -> Iterator[tuple[Indices, Indices, Vectors]]:
    """For a few pairs at a time: their rows of ``a``, their rows of ``b``, and the squared differences by dimension."""
    rows, columns = np.nonzero(pairs)
    step = max(1, _CELLS // (_row_size(a) + _row_size(b)))
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        with np.errstate(over="ignore"):
            difference = a[i] - b[j]
        yield i, j, squared_entries(difference if is_sparse(difference) else np.asarray(difference))


def _row_size(vectors: Vectors) -> int:
    return 1 + int(vectors.nnz // vectors.shape[0] if is_sparse(vectors) else vectors.shape[1])


def nearer_to_zero(a: Vectors, b: Vectors) -> tuple[Vectors, Vectors]:
    """Shift each dimension towards 0, so that distances stay the same and lengths become smaller.

    If the numbers of a dimension differ by a factor of at most 2, the smallest is subtracted from all of them. Such
    differences are exact. Dimensions in which a sparse vector has no entry stay as they are.
    """
    if 0 in (a.shape[0], b.shape[0], a.shape[1]):
        return a, b
    (low_a, high_a), (low_b, high_b) = _ranges(a), _ranges(b)
    low, high = np.minimum(low_a, low_b), np.maximum(high_a, high_b)
    shift = np.where((low > 0) & (high / 2 <= low), low, 0.0) + np.where((high < 0) & (low / 2 >= high), high, 0.0)
    if not shift.any():
        return a, b
    moved = by_dimension(a, np.subtract, shift)
    return moved, moved if b is a else by_dimension(b, np.subtract, shift)


def _ranges(vectors: Vectors) -> tuple[Dense, Dense]:
    """The smallest and the largest number of each dimension."""
    ends: list[Any] = [vectors.min(axis=0), vectors.max(axis=0)]
    low, high = (np.asarray(end.toarray() if is_sparse(end) else end).ravel() for end in ends)
    return low, high
