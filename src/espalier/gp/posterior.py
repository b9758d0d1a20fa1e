"""What a conditioned process says of new examples, and of each training example given all the others.

All in modelled units and without the noise of new observations. Leaving one out has a closed form: with ``P = C'^-1``,
the target differs from its prediction by ``alpha_i / P_ii``, whose variance is ``1 / P_ii`` (Rasmussen and Williams
2006, section 5.4.2).
"""

from __future__ import annotations

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.evidence import State
from espalier.gp.parameters import Vector

_LOST = 1e-14  # what is left of a precision beside the rounding of its parts


@blas_threads()
def means(state: State, cross: Vector, columns: Vector) -> Vector:
    """The mean of the function; ``cross`` is training x new, ``columns`` are those of the mean function."""
    return np.asarray(cross.T @ state.alpha + columns @ state.weights.mean)


@blas_threads()
def variances(state: State, cross: Vector, prior: Vector, columns: Vector) -> Vector:
    """The variance of the function, from its prior variance."""
    half = state.factor.half_solve(cross)
    # Rounding may take an example that was seen in training below 0.
    known = np.maximum(prior - (half**2).sum(axis=0), 0.0)
    return np.asarray(known + (state.weights.doubt(columns, half) ** 2).sum(axis=0))


@blas_threads()
def covariances(state: State, cross: Vector, prior: Vector, columns: Vector) -> Vector:
    """The covariances of the function, from its prior covariances."""
    half = state.factor.half_solve(cross)
    covariance = prior - half.T @ half
    covariance[np.diag_indices_from(covariance)] = np.maximum(covariance.diagonal(), 0.0)
    doubt = state.weights.doubt(columns, half)
    return np.asarray(covariance + doubt.T @ doubt)


@blas_threads()
def left_out(state: State) -> tuple[Vector, Vector]:
    """The mean and the variance of each target given all the others."""
    whole = state.factor.inverse_diagonal()
    precision = np.maximum(whole - (state.weights.dual**2).sum(axis=1), _LOST * whole)
    return state.z - state.alpha / precision, 1 / precision
