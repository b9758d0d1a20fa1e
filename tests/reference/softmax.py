"""Laplace's approximation for several classes on whole matrices: all classes of all examples in one long vector."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from reference.laplace import Array


def laplace(K: Array, codes: Array, n_classes: int, offset: float = 0.0) -> tuple[Array, Array, float]:
    """The mode (a column for each class), the covariances of all latent values (class by class), and the evidence."""
    n = len(K)
    prior = np.kron(np.eye(n_classes), K)
    root = np.linalg.cholesky(prior)

    def probabilities(f: Array) -> Array:
        powers = np.exp(f.reshape(n_classes, n) + offset)
        return powers / powers.sum(axis=0)

    def objective(x: Array) -> tuple[float, Array]:
        f = root @ x
        p = probabilities(f)
        slope = -p
        slope[codes, np.arange(n)] += 1
        value = 0.5 * x @ x - np.log(p[codes, np.arange(n)]).sum()
        return float(value), x - root.T @ slope.ravel()

    x = minimize(objective, np.zeros(n * n_classes), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    f = root @ x
    p = probabilities(f)
    stacked = np.vstack([np.diag(row) for row in p])
    curvature = np.diag(p.ravel()) - stacked @ stacked.T
    sign, log_determinant = np.linalg.slogdet(np.eye(n * n_classes) + prior @ curvature)
    assert sign > 0
    covariance = prior @ np.linalg.inv(np.eye(n * n_classes) + curvature @ prior)
    return f.reshape(n_classes, n).T, covariance, -objective(x)[0] - 0.5 * float(log_determinant)
