"""The weights of runs and subsequences: one for each length, learned unless fixed, and those of symbols and gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import hyperparameters as hyper
from espalier.kernels.hyperparameters import Fixed, Learned, PerDimension
from espalier.structures.numbers import as_float

MOST_WEIGHTS = 1_000_000


@dataclass(frozen=True, eq=False)
class SubsequenceWeights:
    """The value of one occurrence of a subsequence in the feature space of a kernel.

    It is a product: ``match`` of each symbol, ``gap`` of each symbol skipped between the first and the last, and
    ``order`` of the length. If all gaps are 0, subsequences are runs: n-grams.
    """

    match: NDArray[np.float64]  # by symbol
    gap: NDArray[np.float64]  # by symbol
    order: NDArray[np.float64]  # by length, from 1; longer subsequences do not count
    binary: bool = False  # whether a symbol counts once in a sequence, however often it occurs

    @property
    def has_gaps(self) -> bool:
        """Whether subsequences may skip symbols."""
        return bool((self.gap > 0).any())


class OrderWeights(PerDimension):
    """One weight for each length, printed as users write it: one number for all, or a tuple."""

    def __repr__(self) -> str:
        values = self.values or ()
        inner = self.value if isinstance(self.value, Learned | Fixed) else None
        if inner is None:
            return repr(values if len(set(values)) > 1 else values[0])
        if isinstance(inner, Learned) and set(values) == {inner.value}:
            return repr(inner)
        return f"PerDimension({inner!r}, values={values!r})"


def weights_by_length(
    given: object, n: int, shortest: int = 1, *, name: str = "order_weights", each: str = "length"
) -> object:
    """One weight for each of ``n`` lengths, from a tuple, one number for all, or a ``PerDimension``."""
    if n > MOST_WEIGHTS:
        raise ValueError(
            f"{name} has one number for each {each}, and at most {MOST_WEIGHTS:,} are allowed, got {n:,}. Use a "
            "smaller number."
        )
    if isinstance(given, tuple | list):
        given = _of_tuple(tuple(given), name)
    if isinstance(given, int | float | np.number | Learned) and not isinstance(given, bool):
        given = PerDimension(given if isinstance(given, Learned) else as_float(given))
    if not isinstance(given, PerDimension):
        return given
    values = (hyper.default_of(given),) * n if given.values is None else given.values
    if isinstance(given, OrderWeights) and len(set(values)) == 1:
        values = values[:1] * n  # one weight for all lengths, made for another number of lengths
    if len(values) != n:
        raise ValueError(
            f"{name} must have one weight for each {each} from {shortest} to {shortest + n - 1}, got {len(values)}."
        )
    # Drop a plain number beside the values, so that equal weights are equal however they were written.
    return OrderWeights(given.value if isinstance(given.value, Learned | Fixed) else 1.0, values)


def _of_tuple(given: tuple[Any, ...], name: str) -> PerDimension:
    """Weights that are all learned, or all fixed; only the latter may be 0."""
    if given and all(isinstance(value, Fixed) for value in given):
        return PerDimension(Fixed(1.0), values=tuple(value.value for value in given))
    for place, value in enumerate(given):
        if not hyper.is_number(value):
            raise TypeError(
                f"{name}[{place}] must be a plain number, got {value!r}. Weights are all learned, (1.0, 0.5), or all "
                "fixed, (fixed(0), fixed(1.0))."
            )
        if value == 0:
            raise ValueError(
                f"{name}[{place}] must be positive, got {value!r}. Zero is allowed only if all are fixed: "
                "(fixed(0), fixed(1.0))."
            )
    return PerDimension(1.0, values=given)


def order_values(setting: Any, n: int) -> NDArray[np.float64]:
    """The weights as numbers."""
    return np.array((setting.value,) * n if isinstance(setting, Fixed) else setting.values, np.float64)
