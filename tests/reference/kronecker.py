"""Several tasks on the same items, from the definition: the whole covariance matrix by ``np.kron``, inverted."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def covariance(K: Array, B: Array, noise: Array) -> Array:
    """Of the targets: all tasks of the first item, then those of the next."""
    return np.kron(K, B) + np.kron(np.eye(len(K)), np.diag(noise))


def log_evidence(K: Array, B: Array, noise: Array, Z: Array) -> float:
    C, z = covariance(K, B, noise), Z.ravel()
    sign, log_determinant = np.linalg.slogdet(C)
    assert sign > 0
    return -0.5 * float(z @ np.linalg.inv(C) @ z + log_determinant + len(z) * math.log(2 * math.pi))


def posterior(K: Array, B: Array, noise: Array, Z: Array, cross: Array, K_new: Array) -> tuple[Array, Array]:
    """The mean and the covariance of the functions at new items; ``cross`` is training x new."""
    inverse, whole = np.linalg.inv(covariance(K, B, noise)), np.kron(cross, B)
    return whole.T @ inverse @ Z.ravel(), np.kron(K_new, B) - whole.T @ inverse @ whole


def left_out(K: Array, B: Array, noise: Array, Z: Array) -> tuple[Array, Array]:
    """Mean and variance of each target given all the others, by leaving it out."""
    C, z = covariance(K, B, noise), Z.ravel()
    means, variances = np.zeros(len(z)), np.zeros(len(z))
    for i in range(len(z)):
        rest = np.arange(len(z)) != i
        inverse = np.linalg.inv(C[np.ix_(rest, rest)])
        means[i] = C[i, rest] @ inverse @ z[rest]
        variances[i] = C[i, i] - C[i, rest] @ inverse @ C[rest, i]
    return means.reshape(Z.shape), variances.reshape(Z.shape)


def matrix_slopes(K: Array, B: Array, noise: Array, Z: Array) -> tuple[Array, Array, Array]:
    """The derivatives of the log evidence by each entry of K and of B, and by each noise."""
    n, p = Z.shape
    inverse = np.linalg.inv(covariance(K, B, noise))
    alpha = inverse @ Z.ravel()
    bar = 0.5 * (np.outer(alpha, alpha) - inverse).reshape(n, p, n, p)
    by_noise = np.array([sum(bar[i, t, i, t] for i in range(n)) for t in range(p)])
    by_K = np.array([[float((bar[i, :, j, :] * B).sum()) for j in range(n)] for i in range(n)])
    by_B = np.array([[float((bar[:, s, :, t] * K).sum()) for t in range(p)] for s in range(p)])
    return by_K, by_B, by_noise
