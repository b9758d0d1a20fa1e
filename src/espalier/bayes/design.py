"""Points around a mode that stand for a normal distribution: a central composite design.

The centre, two points on each axis, and the corners of a cube, or a regular part of them, all on one sphere (Rue,
Martino and Chopin, 2009, section 6.5). The weights give a normal distribution its mean, its covariances, and the fourth
moment of its radius. In one dimension these are the three points of the Gauss-Hermite rule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.gp.parameters import Vector

# Columns of a Hadamard matrix that keep single effects and pairs apart (Sanchez and Sanchez, 2005): no four of them
# multiply to 1. Beyond ten dimensions, columns of odd parity need fewer corners; no three of those multiply to 1.
_COLUMNS = (1, 2, 4, 8, 15, 16, 32, 51, 64, 85)


def central_composite(n: int) -> tuple[Vector, Vector]:
    """Standardised points, one row for each, the centre first, and their weights, which sum to 1."""
    axes = np.concatenate([np.eye(n), -np.eye(n)])
    sphere = np.concatenate([axes, corners(n) / np.sqrt(n)]) if n > 1 else axes
    weights = np.full(len(sphere) + 1, n / (n + 2.0) / len(sphere))
    weights[0] = 2.0 / (n + 2.0)
    return np.concatenate([np.zeros((1, n)), np.sqrt(n + 2.0) * sphere]), weights


def corners(n: int) -> Vector:
    """A regular part of the corners of a cube in ``n`` dimensions, one row for each."""
    columns = np.array(_COLUMNS[:n])
    if n > len(_COLUMNS):
        numbers = np.arange(4 * n)
        columns = numbers[_is_odd(numbers)][:n]
    rows = np.arange(1 << int(columns.max()).bit_length())
    return np.where(_is_odd(rows[:, None] & columns[None, :]), -1.0, 1.0)


def _is_odd(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True where a number has an odd number of bits that are set."""
    odd = np.zeros(numbers.shape, bool)
    while numbers.any():
        odd ^= (numbers & 1).astype(bool)
        numbers = numbers >> 1
    return odd
