"""The log evidence of any likelihood under a kernel, by any approximate inference, as an objective to maximise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from espalier.blas import blas_threads
from espalier.errors import KernelOverflowError
from espalier.gp.inference import Conditioned, Cotangent, laplace
from espalier.gp.likelihoods.base import Likelihood
from espalier.gp.objective import kernel_at, kernel_parameters, kernel_slopes
from espalier.gp.parameters import Parameter, Vector
from espalier.kernels.base import Kernel, Plan

T = TypeVar("T")

_LARGEST = 1e150  # sums of squares of larger covariances may overflow


class LinearMap(Protocol):
    """Linear combinations of function values, such as differences, to which targets refer."""

    def both(self, matrix: Vector) -> Vector:
        """Return the covariances of the combinations, from those of the function."""

    def both_back(self, matrix: Vector) -> Vector:
        """Return the transpose of :meth:`both`, applied to a derivative."""


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """A linear kernel of one feature, added to the learned kernel; its variance is learned, too."""

    path: str  # of the variance
    feature: Vector  # its value for each latent value that is observed
    unit: str  # of the variance

    def parameter(self) -> Parameter:
        """The variance, as a number to learn."""
        return Parameter(self.path, 1.0, 1e-6, 1e6, None, self.unit, declared=False)

    def variance(self, values: Mapping[str, float]) -> float:
        """The variance among some hyperparameters."""
        return values.get(self.path, 1.0)


class Inference(Protocol):
    """Approximate inference, such as the modules ``laplace``, ``ep`` and ``variational``."""

    def condition(
        self, K: Vector, likelihood: Likelihood[Any], targets: Any, offset: Vector | float = 0.0, near: Any = None
    ) -> Conditioned:
        """Return the latent values given the targets; ``near`` is a result at other covariances, to start from."""

    def cotangent(
        self, given: Any, K: Vector, likelihood: Likelihood[Any], targets: Any, offset: Vector | float = 0.0
    ) -> Cotangent:
        """Return the derivatives of the log evidence; this may overwrite the factor of ``given``."""


class Method(NamedTuple):
    """Inference as a value that can be pickled: the functions of a module."""

    condition: Any
    cotangent: Any


@dataclass(frozen=True, eq=False)
class LatentPosterior:
    """A function at some hyperparameters, given what was observed of it."""

    kernel: Kernel
    likelihood: Likelihood[Any]
    given: Any  # what the inference returns, such as a LaplacePosterior


@dataclass(eq=False)
class LatentObjective(Generic[T]):
    """The log evidence of targets that depend on a latent function, at any hyperparameters."""

    kernel: Kernel  # bound: with one entry for every label of the data
    plan: Plan
    likelihood: Likelihood[T]
    targets: T  # what was observed of each latent value
    n_targets: int
    observed: LinearMap | None = None  # from the function to these latent values; None if they are its values
    term: LinearTerm | None = None  # a linear kernel that is added to their covariances
    columns: Vector | None = None  # of a mean, in units in which the prior of each weight is N(0, 1)
    offset: Vector | float = 0.0  # what is added to the latent values before the likelihood
    variance_unit: str = "variance of the function"  # of the kernel's values
    variance_prior: Any = None  # of each learned variance of the kernel that has no prior of its own
    inference: Inference = laplace
    near: Any = None  # where the last inference ended, from which the next one starts

    def parameters(self) -> list[Parameter]:
        own = [] if self.term is None else [self.term.parameter()]
        return (
            kernel_parameters(self.kernel, self.variance_unit, self.variance_prior) + self.likelihood.parameters() + own
        )

    def value(self, values: Mapping[str, float]) -> float:
        return float(self.posterior(values).given.log_evidence)

    @blas_threads()
    def posterior(self, values: Mapping[str, float]) -> LatentPosterior:
        """The function at some hyperparameters, by path."""
        kernel = kernel_at(self.kernel, values)
        K = self._covariances(self.plan.matrix(kernel), values)
        likelihood = self.likelihood.with_parameters(values)
        return LatentPosterior(kernel, likelihood, self._condition(K, likelihood))

    @blas_threads()
    def gradient(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        matrix, pull_back = self.plan.vjp(kernel_at(self.kernel, values))
        likelihood = self.likelihood.with_parameters(values)
        K = self._covariances(matrix, values)
        given = self._condition(K, likelihood)
        evidence = float(given.log_evidence)
        bar, out = self.inference.cotangent(given, K, likelihood, self.targets, self.offset)
        if self.term is not None:
            out[self.term.path] = float(self.term.feature @ bar @ self.term.feature)
        out |= kernel_slopes(pull_back(bar if self.observed is None else self.observed.both_back(bar)))
        return evidence, out

    def _covariances(self, matrix: Vector, values: Mapping[str, float]) -> Vector:
        """The prior covariances of the latent values that are observed."""
        K = matrix if self.observed is None else self.observed.both(matrix)
        if self.columns is not None and self.columns.size:
            K += self.columns @ self.columns.T
        if self.term is not None:
            K += np.outer(self.term.variance(values) * self.term.feature, self.term.feature)
        return K

    def _condition(self, K: Vector, likelihood: Likelihood[T]) -> Any:
        largest = float(np.abs(K).max(initial=0.0))
        if not largest <= _LARGEST:
            raise KernelOverflowError(
                f"The covariances of the latent values reach {largest:.0e}, and their squares are too large for a "
                "float64. Use Normalized(kernel), or a smaller scale or decay."
            )
        given: Any = self.inference.condition(K, likelihood, self.targets, self.offset, self.near)
        self.near = given.near
        return given
