"""Radialization from its definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def radial(kernel: Callable[[Any, Any], float], x: Any, y: Any, width: float) -> float:
    squared_distance = kernel(x, x) + kernel(y, y) - 2 * kernel(x, y)
    return math.exp(-squared_distance / (2 * width**2))
