r"""Inducing variables that are weighted combinations of structures, :math:`u = W f(S)`.

The weights are learned by the variational bound, which depends on the row space of :math:`W` alone. So the structures
are first made independent, :math:`K_{SS} = L L^T` and :math:`W = U L^{-1}`: with orthonormal rows of :math:`U`, the
covariance of the inducing variables is the unit matrix. At fixed numbers of the kernel the data enter only through two
s x s matrices (see :class:`~espalier.gp.sparse.choosing.Moments`), so that no step of the climb reads them.

Rows that maximise what depends on the structures alone, :math:`\sum_i (e_i - \log(1 + e_i))` over the eigenvalues of
:math:`U M U^T`, are the first eigenvectors of :math:`M`, whatever the targets are. A climb goes on from there, and
another one from the first of the chosen structures with small weights of all others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from espalier.blas import blas_threads
from espalier.gp.parameters import Vector
from espalier.gp.sparse.choosing import Moments

MAX_STEPS = 200
SMALL = 0.01  # the size of weights of structures that are not the chosen ones


@dataclass(frozen=True, eq=False)
class Combined:
    """Weights of structures, one row for each combination, and how far they raise the bound above no structures."""

    weights: Vector
    gain: float


@blas_threads()
def combine(inducing: Vector, told: Moments, m: int, rng: np.random.Generator) -> Combined:
    """Learn ``m`` combinations of structures with these covariances."""
    low = np.asarray(np.linalg.cholesky(inducing), np.float64)
    independent = _of_independent(low, told)
    _, vectors = np.linalg.eigh(independent.by_total)
    start = SMALL * rng.standard_normal((m, len(low)))
    start[:, :m] += np.eye(m)
    best = max(
        (_climbed(independent, first) for first in (vectors[:, ::-1][:, :m].T, start)), key=lambda found: found.gain
    )
    weights = solve_triangular(low, best.weights.T, lower=True, trans="T").T
    return Combined(np.ascontiguousarray(weights), best.gain)


def gain_of(rows: Vector, told: Moments) -> tuple[float, Vector]:
    """How far combinations of independent structures raise the bound, and its derivative by their weights."""
    m = len(rows)
    square = rows @ rows.T
    noisy, whole = rows @ told.by_noise, rows @ told.by_total
    inner = square + whole @ rows.T
    slope = rows @ told.slope
    inverse, spread = np.linalg.inv(square), np.linalg.inv(inner)
    mean = spread @ slope
    heights = np.linalg.slogdet(square)[1] - np.linalg.slogdet(inner)[1]
    gain = 0.5 * (heights + slope @ mean + np.einsum("ij,ij->", inverse, noisy @ rows.T))
    # By ``square``, by ``inner``, by ``noisy @ rows.T`` and by ``slope``:
    by_square = 0.5 * (inverse - inverse @ (noisy @ rows.T) @ inverse)
    by_inner = -0.5 * (spread + np.outer(mean, mean))
    out = 2 * (by_square + by_inner) @ rows + 2 * by_inner @ whole + inverse @ noisy + np.outer(mean, told.slope)
    return float(gain), np.asarray(out).reshape(m, -1)


def _of_independent(low: Vector, told: Moments) -> Moments:
    """What data tell of the independent functions that the structures are combinations of."""

    def both(matrix: Vector) -> Vector:
        half = solve_triangular(low, matrix, lower=True)
        whole = solve_triangular(low, half.T, lower=True)
        return np.asarray(0.5 * (whole + whole.T))

    return Moments(both(told.by_noise), both(told.by_total), solve_triangular(low, told.slope, lower=True))


def _climbed(told: Moments, start: Vector) -> Combined:
    """Climb from some weights; the rows of the result are orthonormal."""
    shape = start.shape

    def downhill(place: Vector) -> tuple[float, Vector]:
        gain, slope = gain_of(place.reshape(shape), told)
        return -gain, -slope.ravel()

    found = minimize(downhill, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    rows = np.linalg.qr(found.x.reshape(shape).T)[0].T
    return Combined(rows, -float(found.fun))
