"""Gaussian process regression from its definition: dense inverses, determinants, and sums over fine grids."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


def log_normal_density(z: Array, mean: Array, covariance: Array) -> float:
    sign, log_determinant = np.linalg.slogdet(covariance)
    assert sign > 0
    residual = z - mean
    return -0.5 * float(
        residual @ np.linalg.inv(covariance) @ residual + log_determinant + len(z) * math.log(2 * math.pi)
    )


def log_evidence(K: Array, z: Array, noise: Array, mean: Array | float = 0.0) -> float:
    return log_normal_density(z, np.zeros(len(z)) + mean, K + np.diag(noise))


def posterior(K: Array, cross: Array, K_new: Array, z: Array, noise: Array) -> tuple[Array, Array]:
    """The mean and the covariance of the function at new points; ``cross`` is training x new."""
    inverse = np.linalg.inv(K + np.diag(noise))
    return cross.T @ inverse @ z, K_new - cross.T @ inverse @ cross


def left_out(K: Array, z: Array, noise: Array) -> tuple[Array, Array]:
    """Mean and variance of each observation given all the others, by leaving it out."""
    means, variances = [], []
    for i in range(len(z)):
        rest = np.arange(len(z)) != i
        mean, variance = posterior(K[np.ix_(rest, rest)], K[rest][:, [i]], K[[i]][:, [i]], z[rest], noise[rest])
        means.append(mean[0])
        variances.append(variance[0, 0] + noise[i])
    return np.array(means), np.array(variances)


def integrated_log_evidence(K: Array, z: Array, noise: Array, log_slopes: Array, n_points: int = 401) -> float:
    """Two observations: the sum over a grid of functions of prior times likelihood of the user's targets."""
    assert len(z) == 2
    sd = np.sqrt(K.diagonal())
    axes = [np.linspace(-9 * s, 9 * s, n_points) for s in sd]
    f = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    inverse = np.linalg.inv(K)
    prior = np.exp(-0.5 * np.einsum("abi,ij,abj->ab", f, inverse, f)) / (2 * math.pi * math.sqrt(np.linalg.det(K)))
    likelihood = np.prod(np.exp(-0.5 * (z - f) ** 2 / noise + log_slopes) / np.sqrt(2 * math.pi * noise), axis=-1)
    cell = np.prod([axis[1] - axis[0] for axis in axes])
    return math.log((prior * likelihood).sum() * cell)


def pushed_moments(inverse: Function, mean: float, sd: float, n_points: int = 200_001) -> tuple[float, float]:
    """Mean and standard deviation of ``inverse(normal)``, by a fine sum."""
    x = np.linspace(-12, 12, n_points)
    weight = np.exp(-0.5 * x**2)
    weight /= weight.sum()
    values = inverse(mean + sd * x)
    first = float(weight @ values)
    return first, math.sqrt(float(weight @ (values - first) ** 2))


# The transforms, written again: forward, log slope, inverse.


def box_cox(power: float) -> tuple[Function, Function, Function]:
    if power == 0:
        return np.log, lambda y: -np.log(y), np.exp
    return (
        lambda y: (y**power - 1) / power,
        lambda y: (power - 1) * np.log(y),
        lambda z: np.maximum(power * z + 1, 0) ** (1 / power),
    )


def warp(location: float, scale: float, steps: list[tuple[float, float, float]]) -> tuple[Function, Function]:
    """The line with soft steps (height, steepness, centre), and its log slope by a difference."""

    def forward(y: Array) -> Array:
        u = (y - location) / scale
        return u + sum(a * np.tanh(b * (u - c)) for a, b, c in steps)

    def log_slope(y: Array) -> Array:
        step = 1e-6 * scale
        return np.log((forward(y + step) - forward(y - step)) / (2 * step))

    return forward, log_slope


def central_difference(function: Callable[[float], float], x: float, step: float) -> float:
    """A derivative with an error of the fourth order."""
    near = function(x + step) - function(x - step)
    far = function(x + 2 * step) - function(x - 2 * step)
    return (8 * near - far) / (12 * step)
