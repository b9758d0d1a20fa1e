"""Weights of lengths: one number for each, learned unless fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import hyperparameters as hyper
from espalier.kernels.hyperparameters import Fixed, Learned, PerDimension


class OrderWeights(PerDimension):
    """One weight for each length, printed as a user writes it: a number for all, or a tuple."""

    def __repr__(self) -> str:
        values = self.values or ()
        inner = self.value if isinstance(self.value, Learned | Fixed) else None
        if inner is None:
            return repr(values if len(set(values)) > 1 else values[0])
        if isinstance(inner, Learned) and set(values) == {inner.value}:
            return repr(inner)
        return f"PerDimension({inner!r}, values={values!r})"


def weights_by_length(
    given: Any, n: int, shortest: int = 1, *, name: str = "order_weights", each: str = "length"
) -> Any:
    """One weight for each of ``n`` lengths, from a tuple, a number for all, or what says so already."""
    if isinstance(given, tuple | list):
        given = PerDimension(1.0, values=tuple(given))
    if isinstance(given, int | float | np.number | Learned) and not isinstance(given, bool):
        given = PerDimension(given if isinstance(given, Learned) else float(given))
    if not isinstance(given, PerDimension):
        return given
    values = (hyper.number_of(given),) * n if given.values is None else given.values
    if isinstance(given, OrderWeights) and len(set(values)) == 1:
        values = values[:1] * n  # one weight for all lengths, made for another number of them
    if len(values) != n:
        raise ValueError(
            f"{name} must have one weight for each {each} from {shortest} to {shortest + n - 1}, got {len(values)}."
        )
    # A plain number beside the values says nothing more: equal weights are equal, however they were written.
    return OrderWeights(given.value if isinstance(given.value, Learned | Fixed) else 1.0, values)


def order_values(setting: Any, n: int) -> NDArray[np.float64]:
    """The weights as numbers."""
    return np.array((setting.value,) * n if isinstance(setting, Fixed) else setting.values, np.float64)
