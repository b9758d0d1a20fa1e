"""The Cholesky factor of a covariance matrix, made inside the matrix itself.

Half of a symmetric matrix holds all of it: the factor takes one triangle, the other keeps the original. A failed
attempt starts again from it with a little more on the diagonal. That jitter is kept and reported, never silent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from espalier.gp.parameters import Vector
from espalier.gp.tiled import factorize_tiled, invert_factor_tiled, invert_tiled, is_tiled

FIRST_JITTER, LAST_JITTER = 1e-12, 1e-3  # relative to the mean of the diagonal
_BLOCK = 256


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """A covariance matrix stays indefinite even with the largest jitter."""


@dataclass(frozen=True, eq=False)
class Factor:
    """``C = L L^T``: the upper triangle of ``matrix`` holds the transpose of L, the lower one still holds C."""

    matrix: Vector
    jitter: float  # what was added to the diagonal in addition to the noise

    def solve(self, right: Vector) -> Vector:
        """``C^-1 right``."""
        solution, info = lapack.dpotrs(self.matrix.T, right, lower=1)
        if info != 0:
            raise NotPositiveDefiniteError("The covariance matrix could not be solved.")
        return np.asarray(solution)

    def half_solve(self, right: Vector, *, transposed: bool = False) -> Vector:
        """``L^-1 right``, or with the transpose of L."""
        solution, _ = lapack.dtrtrs(self.matrix.T, right, lower=1, trans=int(transposed))
        return np.asarray(solution)

    @property
    def log_determinant(self) -> float:
        """``log |C|``."""
        return float(2 * np.log(self.matrix.diagonal()).sum())

    def inverse_diagonal(self) -> Vector:
        """The diagonal of ``C^-1``: sums of squares in the columns of ``L^-1``."""
        matrix = np.array(self.matrix, order="C")
        info = invert_factor_tiled(matrix) if is_tiled(matrix) else lapack.dtrtri(matrix.T, lower=1, overwrite_c=1)[1]
        if info != 0:
            raise NotPositiveDefiniteError("The covariance matrix could not be inverted.")
        out = np.empty(len(matrix))
        for start in range(0, len(matrix), _BLOCK):
            rows = slice(start, start + _BLOCK)
            block = np.triu(matrix[rows, start:])
            out[rows] = np.einsum("ij,ij->i", block, block)
        return out

    def inverse_in_place(self) -> Vector:
        """``C^-1``, in place of the factor, which is overwritten."""
        if is_tiled(self.matrix):
            matrix, info = self.matrix, invert_tiled(self.matrix)
        else:
            inverse, info = lapack.dpotri(self.matrix.T, lower=1, overwrite_c=1)
            matrix = np.asarray(inverse).T
        if info != 0:
            raise NotPositiveDefiniteError("The covariance matrix could not be inverted.")
        mirror_upper(matrix)
        return matrix


def factorize(matrix: Vector, noise: Vector | float) -> Factor:
    """Factorize ``matrix + diag(noise)`` in place of the matrix, which must be symmetric and in C order."""
    diagonal = matrix.diagonal() + noise
    if not np.isfinite(diagonal).all():
        raise NotPositiveDefiniteError("The covariance matrix contains infinite values.")
    size = float(np.abs(diagonal).mean()) if len(diagonal) else 1.0
    jitter = 0.0
    while True:
        np.fill_diagonal(matrix, diagonal + jitter)
        if is_tiled(matrix):
            factor, info = matrix.T, factorize_tiled(matrix)
        else:
            factor, info = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1, clean=0)
        if info == 0 and np.isfinite(factor.diagonal()).all():
            return Factor(factor.T, jitter)
        jitter = max(10 * jitter, FIRST_JITTER * size)
        if not 0 < jitter <= LAST_JITTER * size:
            raise NotPositiveDefiniteError(
                "The covariance matrix is not positive definite, even with "
                f"{LAST_JITTER:g} of its mean diagonal added: the kernel may not be positive semi-definite, or its "
                "values differ too much in size. Normalise the kernel, or raise the lower bound of the noise."
            )
        mirror_upper(matrix.T)  # the lower triangle still holds the original


def mirror_upper(matrix: Vector) -> None:
    """Copy the upper triangle over the lower one, in place, block by block."""
    n = len(matrix)
    for start in range(0, n, _BLOCK):
        rows = slice(start, min(start + _BLOCK, n))
        block = matrix[rows, rows]
        lower = np.tril_indices(len(block), -1)
        block[lower] = block.T[lower]
        for column in range(rows.stop, n, _BLOCK):
            columns = slice(column, min(column + _BLOCK, n))
            matrix[columns, rows] = matrix[rows, columns].T


def square_root(matrix: Vector) -> Vector:
    """Return some ``R`` with ``R R^T = matrix``, for a matrix that may be singular: variances of 0 stay 0."""
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(matrix)
    top = float(np.abs(matrix.diagonal()).max()) if len(matrix) else 0.0
    if not values[0] >= -1e-6 * max(top, float(values[-1])):
        raise NotPositiveDefiniteError(
            f"The covariance matrix has a negative eigenvalue, {values[0]:.3g}, beside {values[-1]:.3g}: "
            "the kernel is not positive semi-definite."
        )
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
