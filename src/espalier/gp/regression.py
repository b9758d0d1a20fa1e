"""Regression as an objective: the evidence of numbers under a kernel, noise, a mean and a transform of the targets.

The evidence is in the user's units: the Jacobian of the transform and of standardising is a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gp.inference import exact, kronecker
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.mean import Basis, as_mean
from espalier.gp.objective import kernel_at, kernel_parameters, kernel_slopes
from espalier.gp.parameters import Parameter, Vector
from espalier.gp.task_units import TaskUnits
from espalier.gp.transforms import Transform
from espalier.gp.units import TargetUnits
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.inputs import Inputs
from espalier.kernels.kronecker import KroneckerPlan
from espalier.kernels.plan import Pullback
from espalier.kernels.stored import columns_read
from espalier.kernels.task_pairs import TaskPairs
from espalier.storage import State, require


@dataclass(frozen=True, eq=False)
class Examples:
    """Training data and what is declared for them; a fitted model keeps these, and no plan."""

    kernel: Kernel  # bound: one entry for every label or dimension of the data
    inputs: Inputs  # pairs of an item and a task if there are several targets for each item
    y: Vector
    transform: Transform
    standardize: bool
    likelihood: Gaussian
    observed: Observed  # known variances in squared units of the transformed target
    basis: Basis

    @property
    def support(self) -> Inputs:
        """The rows whose covariances with others tell what is predicted."""
        return self.inputs

    def part(self, rows: NDArray[np.intp]) -> Examples:
        """Some of the examples."""
        return replace(
            self,
            inputs=self.inputs.rows(rows),
            y=self.y[rows],
            observed=self.observed.part(rows),
            basis=self.basis.part(rows),
        )

    def at(self, posterior: Posterior) -> Examples:
        """The examples with learned values in place of the declared ones."""
        own, transform = posterior.likelihood, posterior.target.transform
        return replace(self, kernel=posterior.kernel, likelihood=own, transform=transform)

    def to_state(self) -> dict[str, object]:
        """Return the examples and what is declared for them; the columns of the mean follow from the inputs."""
        columns = columns_read(self.kernel) | columns_read(self.basis.mean)
        return {
            "kernel": self.kernel,
            "inputs": self.inputs.to_state(columns),
            "y": self.y,
            "transform": self.transform,
            "standardize": self.standardize,
            "likelihood": vars(self.likelihood),
            "observed": {**vars(self.observed), "group": np.asarray(self.observed.group, np.int64)},
            "mean": self.basis.mean,
        }

    @staticmethod
    def from_state(state: State) -> Examples:
        """Make the examples that a file holds."""
        rows = state.part("inputs")
        inputs = TaskPairs.from_state(rows) if "tasks" in rows else Inputs.from_state(rows)
        y = state.array("y", np.float64)
        given = state.part("observed")
        numbers = {name: given.array(name, np.float64) for name in ("values", "weight", "known")}
        observed = Observed(group=given.array("group", np.int64), names=tuple(given.texts("names")), **numbers)
        columns = [y, observed.group, *numbers.values()]
        require(all(len(column) == len(inputs) > 0 for column in columns), "its targets do not fit its rows")
        require(np.isfinite(y).all() and np.isfinite(observed.known).all(), "a target is not a number")
        sound = np.all(observed.weight > 0) and np.all(np.isfinite(observed.weight)) and np.all(observed.known >= 0)
        in_range = np.all((observed.group >= 0) & (observed.group < len(observed.names)))
        require(sound and in_range, "a target has no noise")
        likelihood: dict[str, Any] = state.part("likelihood").values()
        return Examples(
            kernel=state.object("kernel", Kernel),
            inputs=inputs,
            y=y,
            transform=state.object("transform", Transform),
            standardize=state.truth("standardize"),
            likelihood=Gaussian(**likelihood),
            observed=observed,
            basis=Basis.of(as_mean(state.value("mean")), inputs),
        )

    def parameters(self) -> list[Parameter]:
        """Every number that is learned by gradients."""
        units, _, _ = self.units(self.transform)
        kernel = kernel_parameters(self.kernel, f"variance, in squared {units.unit}")
        return kernel + replace(self.likelihood, unit=units.unit).parameters() + self.transform.parameters()

    @property
    def tasks(self) -> tuple[str, ...] | None:
        """The names of the tasks, if there are several targets for each item."""
        return self.inputs.tasks if isinstance(self.inputs, TaskPairs) else None

    @property
    def targets(self) -> Vector:
        """The targets as they were given: a matrix with NaN for gaps if there are several for each item."""
        if not isinstance(self.inputs, TaskPairs):
            return self.y
        return self.inputs.filled(self.y).reshape(-1, len(self.inputs.tasks))

    def units(self, transform: Transform) -> tuple[TargetUnits | TaskUnits, Vector, float]:
        """The units of the targets, the modelled numbers, and the log of the Jacobian of all of them."""
        if isinstance(self.inputs, TaskPairs):
            pairs = self.inputs
            return TaskUnits.of(transform, self.y, pairs.tasks, pairs.task, standardize=self.standardize)
        return TargetUnits.of(transform, self.y, standardize=self.standardize)

    def new(self, X: object) -> Inputs:
        """New examples, read like those of training, each with every task; another vocabulary is translated."""
        if not isinstance(self.inputs, TaskPairs):
            return Inputs.of(X, like=self.support, translates=True)
        if isinstance(X, TaskPairs):
            return X
        items = Inputs.of(X, like=self.inputs.distinct, translates=True)
        return TaskPairs.all_of(items, self.inputs.tasks, like=self.inputs)

    def modelled(self, values: Mapping[str, float]) -> tuple[Gaussian, TargetUnits | TaskUnits, Observed, float]:
        """The likelihood, the units and the targets at some hyperparameters, and the log Jacobian of the units."""
        likelihood = self.likelihood.with_parameters(values)
        target, z, jacobian = self.units(self.transform.with_parameters(values))
        return likelihood, target, self.observed.in_units(z, target.scale), jacobian

    def objective(self, plan: Plan | KroneckerPlan | None = None, **options: Any) -> RegressionObjective:
        """The evidence of the examples; the plan of their kernel matrix is made if it is not given."""
        plan = plan or plan_of(self.kernel, self.inputs, self.observed, **options)
        return RegressionObjective(self, plan, options)


def plan_of(kernel: Kernel, inputs: Inputs, observed: Observed, **options: Any) -> Plan | KroneckerPlan:
    """The plan of the training examples: that of a Kronecker product, if targets, weights and kernel allow it."""
    if isinstance(inputs, TaskPairs) and not observed.known.any() and (observed.weight == 1).all():
        plan = KroneckerPlan.of(kernel, inputs, **options)
        if plan is not None:
            return plan
    return kernel.plan(inputs, **options)


@dataclass(frozen=True, eq=False)
class Posterior:
    """A process at some hyperparameters, given the targets of its examples."""

    kernel: Kernel
    likelihood: Gaussian
    target: TargetUnits | TaskUnits
    given: Any  # an ExactPosterior, a KroneckerPosterior or a SparsePosterior
    log_likelihood: float  # of the targets in the user's units


@dataclass(frozen=True, eq=False)
class RegressionObjective:
    """The log evidence of examples, at any hyperparameters."""

    examples: Examples
    plan: Plan | KroneckerPlan
    options: Mapping[str, Any]  # of a plan

    @property
    def n_targets(self) -> int:
        return len(self.examples.y)

    def __reduce__(self) -> tuple[object, ...]:
        # A plan holds buffers of the core: it is made again.
        return partial(self.examples.objective, **self.options), ()

    def part(self, rows: NDArray[np.intp]) -> RegressionObjective:
        """The objective of some of the examples."""
        return self.examples.part(rows).objective(**self.options)

    def parameters(self) -> list[Parameter]:
        return self.examples.parameters()

    def value(self, values: Mapping[str, float]) -> float:
        return self.posterior(values).log_likelihood

    @blas_threads()
    def posterior(self, values: Mapping[str, float]) -> Posterior:
        """The process at some hyperparameters, by path."""
        kernel = kernel_at(self.examples.kernel, values)
        return self._condition(kernel, values, self.plan.matrix(kernel))[0]

    @blas_threads()
    def gradient(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        kernel = kernel_at(self.examples.kernel, values)
        pulled: tuple[Any, Pullback] = self.plan.vjp(kernel)
        matrix, pull_back = pulled
        posterior, observed = self._condition(kernel, values, matrix)
        z, z_bar = observed.values, -posterior.given.dual
        bar, diagonal = _cotangent(posterior.given)
        out = kernel_slopes(pull_back(bar))
        out.update(posterior.likelihood.pull_back(observed, diagonal))
        known_bar = -2 * float(observed.known @ diagonal)
        out.update(posterior.target.pull_back(self.examples.y, z, z_bar, known_bar))
        return posterior.log_likelihood, out

    def _condition(self, kernel: Kernel, values: Mapping[str, float], matrix: Any) -> tuple[Posterior, Observed]:
        likelihood, target, observed, jacobian = self.examples.modelled(values)
        inference = exact if isinstance(self.plan, Plan) else kronecker
        given = inference.condition(matrix, likelihood, observed, self.examples.basis.columns)
        return Posterior(kernel, likelihood, target, given, given.log_evidence + jacobian), observed


def _cotangent(given: exact.ExactPosterior | kronecker.KroneckerPosterior) -> tuple[Any, Vector]:
    """The derivatives of the log evidence by what the plan gave, and by the noise variance of each target."""
    if isinstance(given, kronecker.KroneckerPosterior):
        return kronecker.cotangent(given)
    bar = exact.cotangent(given)
    return bar, bar.diagonal().copy()
