"""What a user declared and gave, checked before anything is computed: how to learn, and what from."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

from espalier.gp.evidence import Problem
from espalier.gp.learning import Settings
from espalier.gp.mean import Basis, as_mean
from espalier.gp.noise import Noise
from espalier.gp.transforms import as_transform
from espalier.gram.targets import check_numbers
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.unused import bound_to_labels
from espalier.structures.numbers import as_float, shown, truth_value, whole_number

if TYPE_CHECKING:
    from espalier.gp.regressor import GPRegressor


def checked_kernel(kernel: Any) -> Kernel:
    """The kernel, if it is one."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a kernel of Espalier such as SubsetTree(), got {kernel!r}.")
    return kernel


def settings_of(model: GPRegressor) -> Settings:
    """How a model wants to learn."""
    for name, low in (("restarts", 0), ("max_iterations", 0), ("pilot", 1)):
        value = getattr(model, name)
        if name == "pilot" and value is None:
            continue
        whole_number(name, value, low, wanted=f"an integer of at least {low}")
    tolerance = model.tolerance
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 < as_float(tolerance) < math.inf:
        raise ValueError(f"tolerance must be a positive finite number, got {shown(tolerance)}.")
    for name in ("learn", "standardize"):
        truth_value(name, getattr(model, name))
    if model.progress is not None and not callable(model.progress):
        raise TypeError(f"progress must be a function that takes a FitProgress, or None, got {model.progress!r}.")
    return Settings(
        model.restarts,
        model.pilot,
        model.max_iterations,
        model.tolerance,
        model.n_threads,
        model.memory,
        model.progress,
    )


def problem_of(model: GPRegressor, X: Any, y: Any, weight: Any, known: Any, groups: Any) -> Problem:
    """What a model is to learn from: the rows whose weight is not 0."""
    kernel = checked_kernel(model.kernel)
    inputs = Inputs.of(X)
    noise = Noise.of(model.noise, len(inputs), groups, weight, known)
    y = check_numbers(y, len(inputs), noise.rows)
    transform = as_transform(model.target_transform).prepared(y)
    if len(y) < len(inputs):
        inputs = inputs.rows(noise.rows)
    basis = Basis.of(as_mean(model.mean), inputs)
    plan = kernel.plan(inputs, n_threads=model.n_threads, memory=model.memory)
    return Problem(bound_to_labels(plan, kernel), plan, inputs, y, transform, bool(model.standardize), noise, basis)
