"""Distinguish values that are too small for floating-point numbers from values that are 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import KernelOverflowError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Matrix
from espalier.kernels.hyperparameters import Fixed, Learned, PerDimension, PerLabel
from espalier.kernels.inputs import Inputs
from espalier.kernels.vectors import VectorKernel

SMALLEST = 1e-280  # dividing by less gives gradients beyond floating-point numbers
SMALL = 1e-3  # errors name hyperparameters below it as the cause
MODERATE = (0.1, 1e-3)  # replaces small hyperparameters to see if there are fragments; the second after an overflow
ROUNDING = 8 * float(np.finfo(np.float64).eps)  # the relative rounding error of a kernel value, at most
DIGITS = 1e-3  # the share of a gradient that may be rounding

Mask = NDArray[np.bool_]


def without_fragment(kernel: Kernel, inputs: Inputs, diagonal: Matrix, known: Mask | None = None) -> Mask:
    """Which items have no fragment, or a vector of zeros, so that their value with themselves, ``diagonal``, is 0.

    Items that are ``known`` to have none are not checked again. FloatingPointError if an item has fragments, but its
    value is 0 or nearly so because they weigh too little; or if its vector is not all zeros, but its numbers are too
    small.
    """
    empty: Mask = np.zeros(len(diagonal), bool) if known is None else known
    small = np.flatnonzero((diagonal < SMALLEST) & ~empty)
    if not len(small):
        return empty
    found = small[diagonal[small] > 0]
    if not len(found):
        found = small[_counted(kernel, inputs.rows(small).with_unit_vectors()) > 0]
    if len(found):
        row = int(found[0])
        contents = _worded(
            kernel, "numbers other than 0 for", "fragments, and numbers other than 0, for", "fragments of"
        )
        raise FloatingPointError(
            f"{len(found):,} of {len(diagonal):,} items have {contents} {kernel!r}, but these weigh too "
            f"little for floating-point numbers: the value of item {row} with itself is {diagonal[row]:.3g}. "
            f"{_advice(kernel, inputs.rows(found[:1]))}"
        )
    empty = empty.copy()
    empty[small] = True
    return empty


def lack(kernel: Kernel) -> str:
    """What items with a value of 0 have, as words for a message that end before the kernel's name.

    Examples
    --------
    >>> from espalier.kernels.vectors import Linear
    >>> lack(Linear())
    'only zeros for'
    """
    return _worded(kernel, "only zeros for", "no fragment, or only zeros, for", "no fragment of")


def _worded(kernel: Kernel, of_vectors: str, of_both: str, of_fragments: str) -> str:
    kinds = _kinds(kernel)
    if kinds == {True}:
        return of_vectors
    return of_both if True in kinds else of_fragments


def _kinds(kernel: Kernel) -> set[bool]:
    """Whether the kernels inside that read a column read vectors."""
    return {isinstance(inside, VectorKernel) for inside in kernel._every_kernel() if hasattr(inside, "on")}


def may_cancel(kernel: Kernel) -> bool:
    """True if some learned number is so small that rounding could hide the gradient of a normalised value."""
    return any(value * DIGITS < ROUNDING for value in _positive(kernel).values())


def check_cancellation(kernel: Kernel, gradients: Mapping[str, float], parts: float) -> None:
    """Raise if a gradient of a normalised kernel may be mostly rounding: more than a thousandth of it and of ``parts``.

    The gradient is the part of the matrix less the part of the diagonals. For a number t, each part may be as large as
    ``parts / t``, where ``parts`` is the sum of the absolute products of gradient weight and value. Rounding is in
    proportion to the parts, however small their difference is.
    """
    for path, value in _positive(kernel).items():
        gradient = gradients.get(path, 0.0)
        rounding = parts * ROUNDING  # of value times gradient; dividing by the value could overflow
        if rounding > DIGITS * value * max(abs(gradient), parts):
            raise FloatingPointError(
                f"{path} is {value:.3g}, too small for its gradient in {kernel!r}: the gradient is a difference "
                f"between two nearly equal numbers, and rounding has left too few digits of it. Use a larger {path}."
            )


def _positive(kernel: Kernel) -> dict[str, float]:
    """The learned numbers that divide their gradients as they vanish; signed ones, such as weights of tasks, do not."""
    return {path: value for path, (value, bounds, *_) in kernel._declared().items() if bounds[0] >= 0}


def _counted(kernel: Kernel, inputs: Inputs) -> Matrix:
    """The values of items with themselves, at hyperparameters that are not small."""
    for value in MODERATE:
        try:
            return kernel._with_settings(partial(_moderate, value=value)).diagonal(inputs)
        except KernelOverflowError:
            continue
    return np.ones(len(inputs))


def _moderate(setting: Any, value: float) -> Any:
    """A setting with numbers raised to at least this value; zeros stay."""
    if isinstance(setting, PerLabel):
        values = {name: _moderate(number, value) for name, number in setting.values}
        return replace(setting, value=_moderate(setting.value, value), values=values)
    if isinstance(setting, PerDimension):
        own = None if setting.values is None else tuple(_moderate(number, value) for number in setting.values)
        return replace(setting, value=_moderate(setting.value, value), values=own)
    if isinstance(setting, Learned):
        return _moderate(setting.value, value)
    if isinstance(setting, Fixed):
        return Fixed(_moderate(setting.value, value))
    return max(setting, value) if hyper.is_number(setting) and setting > 0 else setting


def _advice(kernel: Kernel, inputs: Inputs) -> str:
    """What to do about items that weigh too little; an example shows if hyperparameters or vectors are too small."""
    if True in _kinds(kernel) and _counted(kernel, inputs)[0] < SMALLEST:
        return "Scale the vectors up, for example by dividing all of them by their largest number."
    settings = [setting for inside in kernel._every_kernel() for setting in inside._settings()]
    names = dict.fromkeys(name for name, setting in settings if 0 < hyper.default_of(setting) < SMALL)
    return f"Use a larger {' and a larger '.join(names)}." if names else "Use larger hyperparameters."
