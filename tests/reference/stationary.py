"""RBF and Matern kernels by plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence


def scaled_distance(x: Sequence[float], y: Sequence[float], lengthscales: Sequence[float]) -> float:
    return math.sqrt(sum(((p - q) / scale) ** 2 for p, q, scale in zip(x, y, lengthscales, strict=True)))


def rbf(x: Sequence[float], y: Sequence[float], lengthscales: Sequence[float]) -> float:
    return math.exp(-0.5 * scaled_distance(x, y, lengthscales) ** 2)


def matern(x: Sequence[float], y: Sequence[float], lengthscales: Sequence[float], smoothness: float) -> float:
    r = scaled_distance(x, y, lengthscales)
    if smoothness == 0.5:
        return math.exp(-r)
    if smoothness == 1.5:
        return (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r)
    return (1 + math.sqrt(5) * r + 5 * r**2 / 3) * math.exp(-math.sqrt(5) * r)
