"""Sparse Gaussian processes from their definitions, with dense n x n matrices.

``Ku`` holds the covariances of the inducing variables, ``cross`` those of these (rows) with the function values of the
data (columns), ``K`` those of the function values, ``noise`` the variance of each target.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def projected(Ku: Array, cross: Array) -> Array:
    """``Q``: what the inducing variables explain of the covariances."""
    return cross.T @ np.linalg.inv(Ku) @ cross


def log_normal(z: Array, covariance: Array) -> float:
    sign, log_determinant = np.linalg.slogdet(covariance)
    assert sign > 0
    return -0.5 * float(z @ np.linalg.inv(covariance) @ z + log_determinant + len(z) * math.log(2 * math.pi))


def variational_bound(Ku: Array, cross: Array, K: Array, noise: Array, z: Array) -> float:
    """The mean log density of the targets under the best normal of the inducing variables, less its divergence."""
    mean, covariance = inducing_posterior(Ku, cross, noise, z)
    weights = np.linalg.inv(Ku) @ cross
    latent = weights.T @ mean
    spread = (K - projected(Ku, cross) + weights.T @ covariance @ weights).diagonal()
    fit = -0.5 * (np.log(2 * math.pi * noise) + ((z - latent) ** 2 + spread) / noise).sum()
    inverse = np.linalg.inv(Ku)
    divergence = 0.5 * (
        np.trace(inverse @ covariance)
        + mean @ inverse @ mean
        - len(mean)
        + np.linalg.slogdet(Ku)[1]
        - np.linalg.slogdet(covariance)[1]
    )
    return float(fit - divergence)


def fitc_evidence(Ku: Array, cross: Array, K: Array, noise: Array, z: Array) -> float:
    """The evidence if targets are independent given the inducing variables (Snelson and Ghahramani 2006)."""
    Q = projected(Ku, cross)
    return log_normal(z, Q + np.diag((K - Q).diagonal() + noise))


def inducing_posterior(Ku: Array, cross: Array, spread: Array, z: Array) -> tuple[Array, Array]:
    """The inducing variables given targets with these variances around ``cross.T Ku^-1 u``."""
    weights = np.linalg.inv(Ku) @ cross
    covariance = np.linalg.inv(np.linalg.inv(Ku) + weights @ np.diag(1 / spread) @ weights.T)
    return covariance @ weights @ (z / spread), covariance


def power_ep(Ku: Array, cross: Array, K: Array, noise: Array, z: Array, power: float) -> tuple[float, Array, Array]:
    """Power expectation propagation as it is defined: cavities, tilted moments, and the energy where nothing moves.

    Returns the log evidence, and the mean and the covariance of the inducing variables.
    """
    weights = np.linalg.inv(Ku) @ cross
    spare = (K - projected(Ku, cross)).diagonal()
    n = len(z)
    precision, natural = np.zeros(n), np.zeros(n)  # of the sites, each a normal factor of weights[:, i] @ u
    for _ in range(80):
        for i in range(n):
            mean, variance = _marginal(Ku, weights, precision, natural, i, power)
            total = variance + spare[i] + noise[i] / power  # a normal to a power is wider by the power
            gained = 1 / (total - variance), z[i] / (total - variance)
            precision[i] = (1 - power) * precision[i] + gained[0]
            natural[i] = (1 - power) * natural[i] + gained[1]
    covariance = np.linalg.inv(np.linalg.inv(Ku) + weights @ np.diag(precision) @ weights.T)
    mean = covariance @ weights @ natural
    energy = _log_normaliser(mean, covariance) - _log_normaliser(np.zeros(len(Ku)), Ku)
    for i in range(n):
        own = weights[:, i]
        inverse = np.linalg.inv(covariance) - power * precision[i] * np.outer(own, own)
        wide = np.linalg.inv(inverse)
        centre = wide @ (np.linalg.inv(covariance) @ mean - power * natural[i] * own)
        total = own @ wide @ own + spare[i] + noise[i] / power
        tilted = -0.5 * (math.log(2 * math.pi * total) + (z[i] - own @ centre) ** 2 / total)
        tilted += 0.5 * math.log(2 * math.pi * noise[i] / power) - 0.5 * power * math.log(2 * math.pi * noise[i])
        energy += (tilted + _log_normaliser(centre, wide) - _log_normaliser(mean, covariance)) / power
    return float(energy), mean, covariance


def predicted(Ku: Array, new: Array, K_new: Array, mean: Array, covariance: Array) -> tuple[Array, Array]:
    """The mean and the covariances of the function elsewhere; ``new`` holds its covariances with the inducing ones."""
    weights = np.linalg.inv(Ku) @ new
    return weights.T @ mean, K_new - new.T @ weights + weights.T @ covariance @ weights


def _marginal(Ku: Array, weights: Array, precision: Array, natural: Array, i: int, power: float) -> tuple[float, float]:
    """The mean and the variance of ``weights[:, i] @ u`` if its site counts ``1 - power`` times."""
    share = np.ones(len(precision))
    share[i] = 1 - power
    inverse = np.linalg.inv(Ku) + weights @ np.diag(share * precision) @ weights.T
    covariance = np.linalg.inv(inverse)
    own = weights[:, i]
    return float(own @ covariance @ weights @ (share * natural)), float(own @ covariance @ own)


def _log_normaliser(mean: Array, covariance: Array) -> float:
    """The log of the integral of ``exp(-x P x / 2 + x P m)``, with the inverse covariance P."""
    return 0.5 * float(
        len(mean) * math.log(2 * math.pi) + np.linalg.slogdet(covariance)[1] + mean @ np.linalg.inv(covariance) @ mean
    )
