"""The posterior of two or three latent values from its definition: sums over a grid of all their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def posterior(
    K: Array, log_likelihood: Callable[[Array], Array], n_points: int = 61, reach: float = 8.0
) -> tuple[Array, Array, float]:
    """The mean, the covariance and the log evidence; ``log_likelihood`` takes latent values with a row for each point.

    The grid is of independent standard normal values, which a root of the covariances turns into latent ones.
    """
    steps = np.linspace(-reach, reach, n_points)
    z = np.stack([axis.ravel() for axis in np.meshgrid(*[steps] * len(K), indexing="ij")], axis=1)
    f = z @ np.linalg.cholesky(K).T
    prior = np.exp(-0.5 * (z**2).sum(axis=1))
    weight = prior / prior.sum() * np.exp(log_likelihood(f))
    evidence = weight.sum()
    weight /= evidence
    mean = weight @ f
    return mean, (weight[:, None] * (f - mean)).T @ (f - mean), float(np.log(evidence))
