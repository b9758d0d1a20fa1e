"""Weights of lengths: one number for each, learned unless fixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import hyperparameters as hyper
from espalier.kernels.hyperparameters import Fixed, Learned, PerDimension


def weights_by_length(given: Any, n: int, shortest: int = 1) -> Any:
    """One weight for each of ``n`` lengths, from a tuple, a number for all, or what says so already."""
    if isinstance(given, tuple | list):
        given = PerDimension(1.0, values=tuple(given))
    if isinstance(given, int | float | Learned) and not isinstance(given, bool):
        given = PerDimension(given, values=(hyper.number_of(given),) * n)
    if isinstance(given, PerDimension) and given.values is None:
        given = replace(given, values=(hyper.number_of(given),) * n)
    if isinstance(given, PerDimension) and len(given.values or ()) != n:
        raise ValueError(
            f"order_weights must have one weight for each length from {shortest} to {shortest + n - 1}, "
            f"got {len(given.values or ())}."
        )
    return given


def order_values(setting: Any, n: int) -> NDArray[np.float64]:
    """The weights as numbers."""
    return np.array((setting.value,) * n if isinstance(setting, Fixed) else setting.values, np.float64)
