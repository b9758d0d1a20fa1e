r"""Classes by regression: one Gaussian process for each class against the rest, all with one kernel.

The targets of a class are 1 for its rows and 0 for others, less their mean. All classes have the same covariance
:math:`C = K + \text{noise} \, I`, so one factor serves all, and the kernel that is learned maximises the sum of their
log evidences,

.. math:: -\tfrac12 \mathrm{tr}(Y^T C^{-1} Y) - \tfrac{c}{2} \log |C| - \tfrac{cn}{2} \log 2\pi, \qquad
    \frac{\partial}{\partial C} = \tfrac12 (A A^T - c \, C^{-1}), \quad A = C^{-1} Y

for :math:`n` rows and :math:`c` classes. A row is given the class whose process has the largest mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gp.cholesky import factorize
from espalier.gp.noise import Noise
from espalier.gp.optimize import Climb
from espalier.gp.parameters import Parameter, Parameters
from espalier.kernels.base import Kernel, Matrix, Plan

PREFIX = "kernel."
NOISE = 0.05  # where the noise starts
TOLERANCE = 1e-4  # of the gradient for each target, where a climb ends


@dataclass(frozen=True, eq=False)
class Classes:
    """Labels as targets: ``names`` in order, the ``share`` of each, and a centred column for each."""

    names: NDArray[Any]
    share: Matrix
    targets: Matrix

    @staticmethod
    def of(y: NDArray[Any]) -> Classes:
        """The targets of some labels."""
        names, codes = np.unique(y, return_inverse=True)
        indicators = (codes[:, None] == np.arange(len(names))).astype(np.float64)
        share = indicators.mean(axis=0)
        return Classes(names, share, indicators - share)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows and their classes, with all that does not depend on hyperparameters."""

    kernel: Kernel  # bound: one entry for every label of the data
    plan: Plan
    targets: Matrix
    noise: Noise

    @staticmethod
    def of(kernel: Kernel, X: Any, y: NDArray[Any], *, noise: Any = NOISE, n_threads: int | None = None) -> Problem:
        """Prepare the matrix of some rows; ``kernel`` and ``noise`` are starts."""
        plan = kernel.plan(X, n_threads=n_threads)
        return Problem(plan.bind(kernel), plan, Classes.of(y).targets, Noise.of(noise, len(y)))

    def parameters(self) -> Parameters:
        """Every number that is learned."""
        values, bounds, priors = self.kernel.parameters(), self.kernel.bounds(), self.kernel.priors()
        kernel = [Parameter(PREFIX + path, value, *bounds[path], priors[path]) for path, value in values.items()]
        return Parameters(kernel + self.noise.parameters("targets"))

    def evidence(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """The sum of the log evidences of all classes at some hyperparameters, and its gradient by path."""
        noise = self.noise.with_parameters(values)
        matrix, pull_back = self.plan.vjp(self.kernel_at(values))
        factor = factorize(matrix, self.noise.variances(noise, 1.0))
        n, n_classes = self.targets.shape
        alpha = factor.solve(self.targets)
        fit = float((self.targets * alpha).sum())
        value = -0.5 * (fit + n_classes * (factor.log_determinant + n * math.log(2 * math.pi)))
        bar = factor.inverse_in_place()
        bar *= -n_classes
        bar += alpha @ alpha.T
        bar *= 0.5
        gradient = self.noise.pull_back(bar.diagonal().copy())
        gradient |= {PREFIX + path: slope for path, slope in pull_back(bar).items()}
        return value, gradient

    def kernel_at(self, values: Mapping[str, float]) -> Kernel:
        """The kernel at some hyperparameters, those of the noise among them."""
        inside = {path[len(PREFIX) :]: value for path, value in values.items() if path.startswith(PREFIX)}
        return self.kernel.with_parameters(inside)


@dataclass(frozen=True, eq=False)
class Learned:
    """A kernel and a noise variance that were learned, and how."""

    kernel: Kernel
    noise: float
    evidence: float  # of all classes, summed
    n_evaluations: int
    converged: bool


def learn(
    kernel: Kernel,
    X: Any,
    y: NDArray[Any],
    *,
    noise: Any = NOISE,
    max_iterations: int = 100,
    n_threads: int | None = None,
) -> Learned:
    """Climb to the kernel and the noise under which the classes are most probable."""
    problem = Problem.of(kernel, X, y, noise=noise, n_threads=n_threads)
    parameters = problem.parameters()
    climb = Climb(
        problem.evidence,
        parameters,
        problem.targets.size,
        max_iterations=max_iterations,
        tolerance=TOLERANCE,
        tell=None,
    )
    with blas_threads(n_threads):
        climb.run([parameters.start()])
    if climb.stop is not None:
        raise climb.stop
    best = climb.best
    return Learned(
        problem.kernel_at(best.values), best.values["noise"], best.log_likelihood, best.n_evaluations, best.converged
    )


def predict(
    gram: Matrix, cross: Matrix, y: NDArray[Any], noise: float, *, n_threads: int | None = None
) -> NDArray[Any]:
    """The classes of new rows; ``gram`` is that of the training rows and is used up, ``cross`` is new x training."""
    classes = Classes.of(y)
    with blas_threads(n_threads):
        alpha = factorize(gram, noise).solve(classes.targets)
        means = cross @ alpha + classes.share
    labels: NDArray[Any] = classes.names[means.argmax(axis=1)]
    return labels
