"""Dot products by plain loops."""

from __future__ import annotations

from collections.abc import Sequence


def linear(x: Sequence[float], y: Sequence[float], variances: Sequence[float]) -> float:
    return sum(variance * p * q for p, q, variance in zip(x, y, variances, strict=True))


def polynomial(x: Sequence[float], y: Sequence[float], degree: int, offset: float, scale: float) -> float:
    value = 1.0
    for _ in range(degree):
        value *= scale * sum(p * q for p, q in zip(x, y, strict=True)) + offset
    return value
