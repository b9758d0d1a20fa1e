"""Checks that many kernels share, each written once: values, gradient weights, settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, KernelOverflowError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.row_blocks import ByRows
from espalier.structures.columns import refuse_masked
from espalier.structures.numbers import float_array


def check_finite(values: NDArray[Any], *, item: str = "item", advice: str = "Use smaller hyperparameters.") -> None:
    """Raise if a matrix or a diagonal has a value that is not finite, and name the place.

    The message says ``item`` for what a row is, and ``advice`` for what to do.
    """
    # A finite sum means that every value is finite; this makes no copy of the matrix.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    bad = np.argwhere(~np.isfinite(values))
    if len(bad) == 0:  # only the sum was too large
        return
    rows = bad[0].tolist()
    place = f"{item} {rows[0]} with itself" if len(set(rows)) == 1 else f"{item} {rows[0]} with {item} {rows[1]}"
    more = f" ({len(bad):,} values are)" if len(bad) > 1 else ""
    raise KernelOverflowError(f"The kernel value of {place} is too large for a float64{more}. {advice}")


def check_rows(cotangent: object, shape: tuple[int, ...]) -> NDArray[np.float64] | ByRows:
    """As :func:`check_cotangent`, for a pull-back that reads row blocks; blocks are not joined into a matrix."""
    if isinstance(cotangent, ByRows) and cotangent.shape == shape:
        return cotangent
    return check_cotangent(cotangent, shape)


def check_cotangent(cotangent: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the gradient weights as float64; raise if their shape is not that of the values."""
    refuse_masked(cotangent, "The array of gradient weights")
    array: NDArray[np.float64] = np.asarray(cotangent, np.float64)
    if array.shape != shape:
        raise ValueError(f"The gradient weights must have the matrix's shape {shape}, got {array.shape}.")
    return array


def symmetric_matrix(given: object, entry: Callable[[int, int], str]) -> NDArray[np.float64]:
    """Return a copy of a symmetric matrix of finite numbers; ``entry`` names an entry in messages."""
    refuse_masked(given, "matrix")
    matrix = float_array(given, "matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"matrix must be square, got the shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise InputError(f"matrix must hold finite numbers, but {entry(i, j)} is {matrix[i, j]}.")
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12):
        i, j = divmod(int(np.abs(matrix - matrix.T).argmax()), len(matrix))
        raise InputError(
            f"matrix must be symmetric, but {entry(i, j)} is {matrix[i, j]:g} and {entry(j, i)} is {matrix[j, i]:g}. "
            "Use (matrix + matrix.T) / 2 if both are meant."
        )
    return matrix


def check_one_number(name: str, setting: object) -> None:
    """Refuse a value per label or per dimension if the setting must be one number."""
    if isinstance(setting, hyper.PerEach):
        raise TypeError(f"{name} must be one number, fixed(...) or Learned(...), got {setting!r}.")
