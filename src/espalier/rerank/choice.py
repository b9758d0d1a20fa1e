"""How probable each choice is where utilities are normal: of two candidates in closed form, of more by draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from espalier.blas import blas_threads

Floats = NDArray[np.float64]

LOG_DRAWS = 10  # 1,024 draws for each group
_NOISE = 0.5  # the variance of one utility as it shows: 1 in the difference of two


def pairwise(mean: Floats, covariance: Floats) -> Floats:
    """The probability that the candidate of each row is preferred to that of each column; 1/2 to itself."""
    variance = covariance.diagonal()
    apart = np.maximum(variance[:, None] + variance - 2 * covariance, 0.0)
    return np.asarray(ndtr((mean[:, None] - mean) / np.sqrt(1 + apart)))


@blas_threads()
def largest(mean: Floats, covariance: Floats) -> Floats:
    """The probability that the utility of each candidate, as it shows with its noise, is the largest.

    Of more than two it is a mean over draws of all utilities, the same for the same numbers: each candidate's own is
    integrated out given the others. Draws are spread evenly (a scrambled Sobol sequence), which leaves an error of at
    most some 0.01; the probabilities are brought to a sum of 1.
    """
    if len(mean) == 1:
        return np.ones(1)
    if len(mean) == 2:
        return np.diagonal(pairwise(mean, covariance)[:, ::-1]).copy()
    whole = covariance + _NOISE * np.eye(len(mean))
    root = np.linalg.cholesky(whole)
    inverse = np.linalg.inv(whole)
    uniform = qmc.Sobol(len(mean), scramble=True, seed=0).random_base2(LOG_DRAWS)
    moves = ndtri(np.clip(uniform, 1e-12, 1 - 1e-12)) @ root.T
    precision = inverse.diagonal()
    given_others = mean + moves - moves @ inverse / precision
    found = ndtr((given_others - _best_other(mean + moves)) * np.sqrt(precision)).mean(axis=0)
    return np.asarray(found / found.sum())


def _best_other(values: Floats) -> Floats:
    """In each row, the largest value beside each one."""
    rows = np.arange(len(values))
    first = values.argmax(axis=1)
    out = np.repeat(values.max(axis=1)[:, None], values.shape[1], axis=1)
    rest = values.copy()
    rest[rows, first] = -np.inf
    out[rows, first] = rest.max(axis=1)
    return out
