"""What learning maximises: a function of named numbers, with its value and its gradient.

A climb takes an :class:`Objective` and knows nothing of kernels, targets or likelihoods. Most objectives learn a
kernel; the functions below put the kernel's paths beside those of everything else that is learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from espalier.blas import blas_threads
from espalier.gp.parameters import Parameter
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import VARIANCE

_PREFIX = "kernel."


class Objective(Protocol):
    """A log likelihood as a function of hyperparameters, which are given by path in natural units."""

    @property
    def n_targets(self) -> int:
        """How many targets it explains: tolerances are per target."""

    def parameters(self) -> list[Parameter]:
        """Return every number that can be learned."""

    def value(self, values: Mapping[str, float]) -> float:
        """Return the log likelihood."""

    def gradient(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """Return the log likelihood, and its derivative by path; a path that is left out has a derivative of 0."""


def values_at(known: Mapping[str, float], theta: Mapping[str, float] | None) -> dict[str, float]:
    """All hyperparameters by path: those that a user gives, and the others as they are known."""
    if theta is not None and not isinstance(theta, Mapping):
        raise TypeError(f"theta must map paths to values, as learned_.to_dict() does, got {type(theta).__name__}.")
    for path in theta or {}:
        if path not in known:
            raise KeyError(f"{path!r} is not a learned hyperparameter; these are: {', '.join(known)}.")
    return {**known, **(theta or {})}


def value_and_slopes(
    objective: Objective, values: Mapping[str, float], n_threads: int | None, *, gradient: bool
) -> float | tuple[float, dict[str, float]]:
    """The objective at some hyperparameters, and, if wanted, its derivative by each of them."""
    with blas_threads(n_threads):
        if not gradient:
            return objective.value(values)
        value, slopes = objective.gradient(values)
    return value, {path: slopes.get(path, 0.0) for path in values}


def kernel_parameters(kernel: Kernel, variance_unit: str, variance_prior: object = None) -> list[Parameter]:
    """The numbers of a kernel that are learned.

    ``variance_unit`` is the unit of the kernel's values; ``variance_prior`` is the prior of those variances that have
    none of their own.
    """
    out = []
    for path, (value, bounds, own, unit) in kernel._declared().items():
        is_variance = unit == VARIANCE
        prior = variance_prior if own is None and is_variance else own
        shown = variance_unit if is_variance else unit
        out.append(Parameter(_PREFIX + path, value, *bounds, prior, shown, signed=bounds[0] < 0))
    return out


def kernel_at(kernel: Kernel, values: Mapping[str, float]) -> Kernel:
    """The kernel at some hyperparameters; paths that are not its own are ignored."""
    return kernel.with_parameters(
        {path.removeprefix(_PREFIX): value for path, value in values.items() if path.startswith(_PREFIX)}
    )


def kernel_slopes(slopes: Mapping[str, float]) -> dict[str, float]:
    """The gradients from a kernel's pull-back, by the paths of :func:`kernel_parameters`."""
    return {_PREFIX + path: slope for path, slope in slopes.items()}
