"""What a user declared and gave, checked before anything is computed: how to learn, and what from."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

from espalier.gp.learning import Settings
from espalier.gp.likelihoods.gaussian import observed
from espalier.gp.mean import Basis, as_mean
from espalier.gp.regression import Examples, RegressionObjective
from espalier.gp.transforms import as_transform
from espalier.gram.targets import check_numbers
from espalier.jobs.progress import check_progress
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.unused import bound_to_labels
from espalier.structures.numbers import as_float, shown, truth_value, whole_number

if TYPE_CHECKING:
    from espalier.gp.regressor import GPRegressor

MAX_ITERATIONS, TOLERANCE = 200, 1e-5


def checked_kernel(kernel: object) -> Kernel:
    """The kernel, if it is one."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a kernel of Espalier such as SubsetTree(), got {kernel!r}.")
    return kernel


def settings_of(model: GPRegressor) -> Settings:
    """How a model wants to learn."""
    for name, low in (("restarts", 0), ("max_iterations", 0), ("pilot", 1)):
        value = getattr(model, name)
        if value is not None or name == "restarts":
            whole_number(name, value, low, wanted=f"an integer of at least {low}")
    tolerance = TOLERANCE if model.tolerance is None else model.tolerance
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 < as_float(tolerance) < math.inf:
        raise ValueError(f"tolerance must be a positive finite number, got {shown(tolerance)}.")
    for name in ("learn", "standardize", "verbose"):
        truth_value(name, getattr(model, name))
    check_progress(model.progress)
    return Settings(
        model.restarts,
        MAX_ITERATIONS if model.max_iterations is None else model.max_iterations,
        tolerance,
        n_threads=model.n_threads,
        pilot=model.pilot,
        learn=bool(model.learn),
    )


def objective_of(
    model: GPRegressor, X: object, y: object, weight: object, known: object, groups: object
) -> RegressionObjective:
    """What a model maximises: the evidence of the rows whose weight is not 0."""
    kernel = checked_kernel(model.kernel)
    inputs = Inputs.of(X)
    likelihood, targets, rows = observed(model.noise, len(inputs), groups, weight, known)
    y = check_numbers(y, len(inputs), rows)
    transform = as_transform(model.target_transform).prepared(y)
    if len(y) < len(inputs):
        inputs = inputs.rows(rows)
    basis = Basis.of(as_mean(model.mean), inputs)
    options: dict[str, Any] = {"n_threads": model.n_threads, "memory": model.memory}
    plan = kernel.plan(inputs, **options)
    bound = bound_to_labels(plan, kernel)
    examples = Examples(bound, inputs, y, transform, bool(model.standardize), likelihood, targets, basis)
    return examples.objective(plan, **options)
