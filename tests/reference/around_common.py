"""A prior of several numbers by its definition: an integral over the common value that they are around."""

from __future__ import annotations

import math

from scipy.integrate import quad


def normal(x: float, mean: float, deviation: float) -> float:
    return math.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))


def log_density(values: list[float], median: float, spread: float, common_spread: float) -> float:
    """The log density of the logarithms."""
    logs = [math.log(value) for value in values]

    def joint(common: float) -> float:
        density = normal(common, math.log(median), common_spread)
        for place in logs:
            density *= normal(place, common, spread)
        return density

    middle, reach = sum(logs) / len(logs), 12 * (spread + common_spread)
    return math.log(quad(joint, middle - reach, middle + reach, points=[middle], epsabs=0.0, epsrel=1e-11)[0])
