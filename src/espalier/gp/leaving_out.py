"""Each training target predicted from all the others, in closed form, without fitting anything again.

With ``P = C^-1``, the target that is left out differs from its prediction by ``alpha_i / P_ii``, whose variance is
``1 / P_ii`` (Rasmussen and Williams 2006, section 5.4.2). Where the mean has weights, they are those without the
target too: the difference is then ``alpha_i / (P_ii (1 - leverage_i))``.
"""

from __future__ import annotations

import numpy as np

from espalier.gp.evidence import State, column_sizes
from espalier.gp.parameters import Vector

_RANK = 1e-12  # singular values below this, relative to the largest, count as 0
_ALONE = 1e-8  # a leverage this close to 1: the example alone decides a weight


def left_out(state: State, basis: Vector | None) -> tuple[Vector, Vector]:
    """The mean and the variance of each target given all the others, in modelled units."""
    precision = state.factor.inverse_diagonal()
    if basis is None:
        return state.z - state.alpha / precision, 1 / precision
    basis = basis / column_sizes(basis)
    solved = state.factor.solve(basis)
    normal = basis.T @ solved
    explained = np.linalg.pinv(normal, rcond=_RANK, hermitian=True) @ solved.T
    leverage = np.einsum("ij,ji->i", solved, explained) / precision
    alone = 1 - leverage < _ALONE
    residual = state.alpha / (precision * np.where(alone, 1.0, 1 - leverage))
    dual = state.factor.solve(state.z) if alone.any() else state.z
    for i in np.flatnonzero(alone):
        # Taking row i out of C changes its inverse by a matrix of rank 1.
        row = solved[i]
        rest = normal - np.outer(row, row) / precision[i]
        right = solved.T @ state.z - row * dual[i] / precision[i]
        weights = np.linalg.lstsq(rest, right, rcond=_RANK)[0]
        residual[i] = (dual[i] - row @ weights) / precision[i]
    return state.z - residual, 1 / precision
