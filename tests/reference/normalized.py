"""Normalisation from its definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def normalized(kernel: Callable[[Any, Any], float], x: Any, y: Any) -> float:
    size = math.sqrt(kernel(x, x)) * math.sqrt(kernel(y, y))
    return kernel(x, y) / size if size > 0 else 0.0
