"""The location and scale of numbers, and whether they differ at all."""

from __future__ import annotations

import numpy as np

from espalier.gp.parameters import Vector


def is_constant(values: Vector) -> bool:
    """True if numbers differ at most by rounding, so that standardising has nothing to divide by."""
    top = float(np.abs(values).max(initial=0.0))
    # Use halves, since the difference of two huge numbers may overflow.
    return bool(values.max(initial=-top) / 2 - values.min(initial=top) / 2 <= np.spacing(top))


def location_and_scale(values: Vector) -> tuple[float, float]:
    """The mean and the standard deviation of some numbers; the latter is 1 if they are equal."""
    top = float(np.abs(values).max()) or 1.0
    part = values / top  # so that squares of huge numbers do not overflow
    location, scale = float(part.mean()) * top, float(part.std()) * top
    return location, 1.0 if is_constant(values) else scale
