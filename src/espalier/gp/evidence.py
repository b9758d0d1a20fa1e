r"""The evidence: how probable the training targets are under a kernel, in closed form, with its gradient.

.. math:: \log p(y) = -\tfrac12 z^T C^{-1} z - \tfrac12 \log |C| - \tfrac n2 \log 2\pi + \log |dz / dy|

with :math:`C = K + \mathrm{diag}(\text{noise}) + H H^T`, where the columns :math:`H` of a mean, if there is one, are in
units of the prior of their weights. One Cholesky factor (without :math:`H H^T`, see ``weights``), one symmetric inverse
and one pull-back give the gradient in every hyperparameter: :math:`\partial / \partial C = \tfrac12 (\alpha\alpha^T -
C^{-1})`, :math:`\alpha = C^{-1} z`. Everything happens in the one matrix that the kernel filled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gp.cholesky import Factor, factorize
from espalier.gp.mean import Basis
from espalier.gp.noise import Noise
from espalier.gp.parameters import Parameter, Vector
from espalier.gp.targets import Target
from espalier.gp.transforms import Transform
from espalier.gp.weights import Weights, weigh
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.inputs import Inputs


@dataclass(frozen=True, eq=False)
class State:
    """A Gaussian process at some hyperparameters, conditioned on its training targets."""

    kernel: Kernel
    noise: Any
    target: Target
    z: Vector
    factor: Factor  # of the covariance of the targets around their mean
    alpha: Vector
    weights: Weights  # of the mean
    log_likelihood: float

    @blas_threads()
    def solve(self, columns: Vector) -> Vector:
        """Columns multiplied by the inverse covariance of the targets, the mean's weights integrated out."""
        dual = self.weights.dual
        return self.factor.solve(columns) - dual @ (dual.T @ columns)


@dataclass(frozen=True, eq=False)
class Problem:
    """Training data with all that does not depend on hyperparameters."""

    kernel: Kernel  # bound: one entry for every label or dimension of the data
    plan: Plan
    inputs: Inputs
    y: Vector
    transform: Transform
    standardize: bool
    noise: Noise
    basis: Basis

    def __getstate__(self) -> dict[str, Any]:
        # A plan holds compiled state; whoever unpickles makes it again when it is needed.
        return {name: value for name, value in vars(self).items() if name != "plan"}

    def part(self, rows: NDArray[np.intp], **options: Any) -> Problem:
        """The same problem with some of the examples; options are those of a plan."""
        inputs = self.inputs.rows(rows)
        return replace(
            self,
            plan=self.kernel.plan(inputs, **options),
            inputs=inputs,
            y=self.y[rows],
            noise=self.noise.part(rows),
            basis=self.basis.part(rows),
        )

    def parameters(self) -> list[Parameter]:
        """Every number that is learned by gradients."""
        values, bounds, priors = self.kernel.parameters(), self.kernel.bounds(), self.kernel.priors()
        target, _, _ = Target.of(self.transform, self.y, standardize=self.standardize)
        kernel = [
            Parameter(f"kernel.{path}", value, *bounds[path], priors[path], _unit(path, target.unit))
            for path, value in values.items()
        ]
        return kernel + self.noise.parameters(target.unit) + self.transform.parameters()

    @blas_threads()
    def state(self, values: Mapping[str, float]) -> State:
        """The process at some hyperparameters, by path."""
        kernel, noise, transform = self._at(values)
        return self._condition(kernel, noise, transform, self.plan.matrix(kernel))

    @blas_threads()
    def gradient(self, values: Mapping[str, float]) -> tuple[State, dict[str, float]]:
        """The process, and the gradient of its evidence by path; its factor is used up."""
        kernel, noise, transform = self._at(values)
        matrix, pull_back = self.plan.vjp(kernel)
        state = self._condition(kernel, noise, transform, matrix)
        bar = state.factor.inverse_in_place()
        half_outer(bar, state.alpha, state.weights.dual)
        diagonal = bar.diagonal().copy()
        out = {f"kernel.{path}": value for path, value in pull_back(bar).items()}
        out.update(self.noise.pull_back(diagonal))
        scale = state.target.scale
        # In parts: the cube of a huge or tiny scale is no number.
        scale_bar = float(-2 * (self.noise.known / scale / scale @ diagonal) / scale)
        out.update(state.target.pull_back(self.y, state.z, -state.alpha, scale_bar))
        return state, out

    def _at(self, values: Mapping[str, float]) -> tuple[Kernel, Any, Transform]:
        prefix = "kernel."
        inside = {path[len(prefix) :]: value for path, value in values.items() if path.startswith(prefix)}
        kernel = self.kernel.with_parameters(inside)
        return kernel, self.noise.with_parameters(values), self.transform.with_parameters(values)

    def _condition(self, kernel: Kernel, noise: Any, transform: Transform, matrix: Vector) -> State:
        target, z, jacobian = Target.of(transform, self.y, standardize=self.standardize)
        factor = factorize(matrix, self.noise.variances(noise, target.scale))
        weights = weigh(factor, self.basis.columns, z)
        residual = z - self.basis.columns @ weights.mean
        alpha = factor.solve(residual)
        # z^T C^-1 z, without taking large numbers off each other.
        fit = float(residual @ alpha + weights.mean @ weights.mean)
        log_determinant = factor.log_determinant + weights.log_determinant
        log_likelihood = -0.5 * (fit + log_determinant + len(z) * math.log(2 * math.pi)) + jacobian
        return State(kernel, noise, target, z, factor, alpha, weights, log_likelihood)


def half_outer(inverse: Vector, alpha: Vector, dual: Vector, rows: int = 256) -> None:
    """Turn an inverse into ``(alpha alpha^T - inverse + dual dual^T) / 2``, in place."""
    half, half_dual = 0.5 * alpha, 0.5 * dual
    for start in range(0, len(alpha), rows):
        block = inverse[start : start + rows]
        block *= -0.5
        block += half[start : start + rows, None] * alpha
        if dual.shape[1]:
            block += half_dual[start : start + rows] @ dual.T


def _unit(path: str, target: str) -> str:
    name = path.rsplit(".", 1)[-1].split("[", 1)[0]
    units = {
        "scale": f"variance, in squared {target}",
        "variance": f"variance, in squared {target}",
        "lengthscale": "distance between inputs",
        "width": "distance between fragments",
    }
    return units.get(name, "weight")
