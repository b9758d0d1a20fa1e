"""The nearest correlation matrix: Higham's alternating projections with Dykstra's correction (2002)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def nearest_correlation(
    matrix: NDArray[np.float64], n_steps: int = 5_000, tolerance: float = 1e-11
) -> NDArray[np.float64]:
    """Project in turn on matrices without negative eigenvalues and on those with 1 on the diagonal."""
    correction = np.zeros_like(matrix)
    unit = matrix.copy()
    for _ in range(n_steps):
        corrected = unit - correction
        found, vectors = np.linalg.eigh(corrected)
        positive = (vectors * np.maximum(found, 0.0)) @ vectors.T
        correction = positive - corrected
        before, unit = unit, positive.copy()
        np.fill_diagonal(unit, 1.0)
        if max(np.abs(unit - before).max(), np.abs(unit - positive).max()) < tolerance:
            break
    return unit


def clipped(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Negative eigenvalues set to 0, rows longer than 1 shortened, 1 on the diagonal."""
    found, vectors = np.linalg.eigh(matrix)
    rows = vectors * np.sqrt(np.maximum(found, 0.0))
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    out = rows @ rows.T
    np.fill_diagonal(out, 1.0)
    return out
