"""Laplace's approximation from the definition: the log posterior of latent values, its peak and its Hessian there.

The likelihoods are written as plain formulas of one target and one latent value, and no derivative is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from reference.preference import gradient, hessian

Array = NDArray[np.float64]
LogDensity = Callable[[float, float], float]  # of a target and a latent value


def logistic(y: float, f: float) -> float:
    return -math.log1p(math.exp(-y * f))


def probit(y: float, f: float) -> float:
    return math.log(0.5 * math.erfc(-y * f / math.sqrt(2)))


def normal(variance: float) -> LogDensity:
    return lambda y, f: -0.5 * (y - f) ** 2 / variance - 0.5 * math.log(2 * math.pi * variance)


def poisson(rate: float) -> LogDensity:
    """Counts with mean ``rate * exp(f)``."""
    return lambda y, f: y * (math.log(rate) + f) - rate * math.exp(f) - math.lgamma(y + 1)


def ordinal(thresholds: list[float]) -> LogDensity:
    """Grades from 0, with normal noise of variance 1."""
    edges = [-math.inf, *thresholds, math.inf]

    def beyond(z: float) -> float:
        return 0.5 * math.erfc(z / math.sqrt(2))

    def log_density(y: float, f: float) -> float:
        low, high = edges[int(y)] - f, edges[int(y) + 1] - f
        return math.log(beyond(low) - beyond(high) if low + high > 0 else beyond(-high) - beyond(-low))

    return log_density


def student(scale: float, freedom: float) -> LogDensity:
    def log_density(y: float, f: float) -> float:
        constant = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
        return constant - math.log(scale) - (freedom + 1) / 2 * math.log(1 + ((y - f) / scale) ** 2 / freedom)

    return log_density


def laplace(K: Array, y: Array, log_density: LogDensity, offset: float = 0.0) -> tuple[Array, Array, float]:
    """The mode of the latent values, their posterior covariance, and the log evidence; for a regular matrix."""
    root = np.linalg.cholesky(K)

    def objective(x: Array) -> float:
        f = root @ x + offset
        return 0.5 * x @ x - sum(log_density(own, value) for own, value in zip(y.tolist(), f.tolist(), strict=True))

    x = minimize(objective, np.zeros(len(K)), method="BFGS", options={"maxiter": 10_000}).x
    for _ in range(4):  # the last digits
        x = x - np.linalg.solve(hessian(objective, x), gradient(objective, x))
    curvature = hessian(objective, x)
    _, log_determinant = np.linalg.slogdet(curvature)
    return root @ x, root @ np.linalg.inv(curvature) @ root.T, -objective(x) - 0.5 * log_determinant


def normal_mean(function: Callable[[float], float], mean: float, variance: float, n_points: int = 40_001) -> float:
    """The mean of a function of a normal latent value, by a fine sum."""
    nodes = np.linspace(-10, 10, n_points)
    weight = np.exp(-0.5 * nodes**2)
    values = [function(mean + math.sqrt(variance) * node) for node in nodes.tolist()]
    return float(weight / weight.sum() @ np.array(values))


def predictive(y: float, mean: float, variance: float, log_density: LogDensity, n_points: int = 40_001) -> float:
    """The log density of a target whose latent value is normal."""
    return math.log(normal_mean(lambda f: math.exp(log_density(y, f)), mean, variance, n_points))
