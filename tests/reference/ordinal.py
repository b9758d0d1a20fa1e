"""Ordered grades without approximation: sums over fine grids for a handful of rows, and plain ordered probit.

A grade says that the latent value plus normal noise of variance 1 lies between two thresholds, so the probability of
some grades is the mass of a normal distribution in a box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Array = NDArray[np.float64]


def log_evidence(K: Array, grades: Sequence[int], thresholds: Sequence[float], n_points: int = 32) -> float:
    """The log probability of the grades of a few rows: a sum over a grid of all their noisy latent values."""
    covariance = K + np.eye(len(K))
    nodes, weights = np.polynomial.legendre.leggauss(n_points)
    edges = [-math.inf, *thresholds, math.inf]
    points, masses = np.zeros((1, 0)), np.ones(1)
    for row, grade in enumerate(grades):
        far = 8.0 * math.sqrt(covariance[row, row])
        low, high = max(edges[grade], -far), min(edges[grade + 1], far)
        own = low + (high - low) * (nodes + 1) / 2
        points = np.column_stack([np.repeat(points, n_points, axis=0), np.tile(own, len(points))])
        masses = np.repeat(masses, n_points) * np.tile(weights * (high - low) / 2, len(masses))
    _, size = np.linalg.slogdet(2 * math.pi * covariance)
    densities = np.exp(-0.5 * np.einsum("pi,ij,pj->p", points, np.linalg.inv(covariance), points) - 0.5 * size)
    return math.log(masses @ densities)


def probabilities(K: Array, grades: Sequence[int], thresholds: Sequence[float]) -> Array:
    """The probability of each grade of the last row, given the grades of all rows before."""
    logs = [log_evidence(K, [*grades, grade], thresholds) for grade in range(len(thresholds) + 1)]
    return np.exp(np.array(logs) - log_evidence(K[:-1, :-1], grades, thresholds))


def ordered_probit(x: Array, grades: Sequence[int]) -> tuple[float, Array]:
    """The most probable slope and thresholds of grades that depend on one number, without any prior."""

    def beyond(z: float) -> float:
        return 0.5 * math.erfc(z / math.sqrt(2))

    def loss(numbers: Array) -> float:
        edges = [-math.inf, *np.cumsum([numbers[1], *np.exp(numbers[2:])]), math.inf]
        means = numbers[0] * x
        at = [(edges[grade] - own, edges[grade + 1] - own) for own, grade in zip(means, grades, strict=True)]
        return -sum(math.log(max(beyond(low) - beyond(high), 1e-300)) for low, high in at)

    start = np.array([0.0, -1.0, *np.zeros(max(grades) - 1)])
    found = minimize(loss, start, method="Nelder-Mead", options={"maxiter": 10_000, "xatol": 1e-8, "fatol": 1e-10}).x
    return float(found[0]), np.cumsum([found[1], *np.exp(found[2:])])
