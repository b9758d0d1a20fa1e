"""Preferences by a Gaussian process, from the definition: utilities of candidates, one by one, and fine sums."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr
from scipy.stats import norm

Array = NDArray[np.float64]


def log_likelihood(f: Array, start: list[int], offset: Array | float = 0.0) -> Array:
    """The first candidate of each group is preferred to each other one; utilities stand on the last axis."""
    f = f + offset
    total = np.zeros(f.shape[:-1])
    for first, last in itertools.pairwise(start):
        for rival in range(first + 1, last):
            total += log_ndtr(f[..., first] - f[..., rival])
    return total


def laplace(K: Array, start: list[int], offset: Array | float = 0.0) -> tuple[Array, Array, float]:
    """The mode of the utilities, the inverse of minus the Hessian there, and the evidence; for a regular matrix."""
    root = np.linalg.cholesky(K)

    def objective(x: Array) -> float:
        """Minus the log posterior, up to a constant, of utilities whose prior is standard normal after the root."""
        return 0.5 * x @ x - float(log_likelihood(root @ x, start, offset))

    x = minimize(objective, np.zeros(len(K)), method="BFGS", options={"maxiter": 10_000}).x
    for _ in range(4):  # the last digits
        x = x - np.linalg.solve(hessian(objective, x), gradient(objective, x))
    curvature = hessian(objective, x)
    _, log_determinant = np.linalg.slogdet(curvature)
    return root @ x, root @ np.linalg.inv(curvature) @ root.T, -objective(x) - 0.5 * log_determinant


def gradient(function, x: Array, step: float = 1e-4) -> Array:
    return np.array([_difference(function, x, k, step) for k in range(len(x))])


def hessian(function, x: Array, step: float = 1e-3) -> Array:
    out = np.empty((len(x), len(x)))
    for k in range(len(x)):
        for m in range(len(x)):
            out[k, m] = _difference(lambda y, m=m: _difference(function, y, m, step), x, k, step)
    return 0.5 * (out + out.T)


def _difference(function, x: Array, k: int, step: float) -> float:
    """A derivative with an error of the fourth order."""
    unit = np.zeros(len(x))
    unit[k] = step
    near = function(x + unit) - function(x - unit)
    far = function(x + 2 * unit) - function(x - 2 * unit)
    return (8 * near - far) / (12 * step)


def exact_evidence(K: Array, start: list[int], n_points: int = 121) -> float:
    """The likelihood summed over a grid of utilities in units of the prior: for two or three candidates."""
    axis = np.linspace(-7, 7, n_points)
    places = np.stack(np.meshgrid(*[axis] * len(K), indexing="ij"), axis=-1).reshape(-1, len(K))
    weight = norm.pdf(places).prod(axis=-1) * (axis[1] - axis[0]) ** len(K)
    return math.log(weight @ np.exp(log_likelihood(places @ np.linalg.cholesky(K).T, start)))


def drawn_choices(mean: Array, covariance: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """How often each utility is the largest where each shows with noise of variance 1/2."""
    f = rng.multivariate_normal(mean, covariance, n_draws, method="eigh")
    shown = f + math.sqrt(0.5) * rng.standard_normal(f.shape)
    return np.bincount(shown.argmax(axis=1), minlength=len(mean)) / n_draws
