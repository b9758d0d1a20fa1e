r"""Classes by regression: one Gaussian process for each class against the rest, all with one kernel.

The targets of a class are 1 for its rows and 0 for others, less their mean. All classes have the same covariance
:math:`C = K + \text{noise} \, I`, so one factor serves all, and the kernel that is learned maximises the sum of their
log evidences,

.. math:: -\tfrac12 \mathrm{tr}(Y^T C^{-1} Y) - \tfrac{c}{2} \log |C| - \tfrac{cn}{2} \log 2\pi, \qquad
    \frac{\partial}{\partial C} = \tfrac12 (A A^T - c \, C^{-1}), \quad A = C^{-1} Y

for :math:`n` rows and :math:`c` classes. A row is given the class whose process has the largest mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.gp import Gaussian, Observed, Parameter, Settings, exact, kernel_at, kernel_parameters, kernel_slopes
from espalier.gp import learn as climb
from espalier.kernels import Kernel

Matrix = NDArray[np.float64]

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


def _unseen(n: int) -> Observed:
    """Rows whose targets are solved for later: all classes share one factor."""
    return Observed(np.zeros(n), np.zeros(n, np.intp), ("",), np.ones(n), np.zeros(n))


@dataclass(frozen=True, eq=False)
class SharedEvidence:
    """The log evidence of all classes under one kernel: an objective for a climb."""

    kernel: Kernel  # bound: one entry for every label of the data
    plan: Any
    targets: Matrix
    likelihood: Gaussian

    @staticmethod
    def of(
        kernel: Kernel, X: Any, y: NDArray[Any], *, noise: Any = NOISE, n_threads: int | None = None
    ) -> SharedEvidence:
        """Prepare the matrix of some rows; ``kernel`` and ``noise`` are starts."""
        plan = kernel.plan(X, n_threads=n_threads)
        return SharedEvidence(plan.bind(kernel), plan, Classes.of(y).targets, Gaussian(noise))

    @property
    def n_targets(self) -> int:
        """How many targets there are, of all classes."""
        return self.targets.size

    def parameters(self) -> list[Parameter]:
        """Every number that is learned."""
        return kernel_parameters(self.kernel, "variance of the function") + self.likelihood.parameters()

    def value(self, values: Mapping[str, float]) -> float:
        """The sum of the log evidences of all classes at some hyperparameters."""
        return self.gradient(values)[0]

    def gradient(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """The sum of the log evidences, and its gradient by path."""
        n, n_classes = self.targets.shape
        matrix, pull_back = self.plan.vjp(kernel_at(self.kernel, values))
        likelihood, rows = self.likelihood.with_parameters(values), _unseen(n)
        given = exact.condition(matrix, likelihood, rows, np.zeros((n, 0)))
        alpha = given.solve(self.targets)
        value = n_classes * given.log_evidence - 0.5 * float((self.targets * alpha).sum())
        bar = exact.cotangent(given)
        bar *= n_classes
        bar += 0.5 * (alpha @ alpha.T)
        gradient = likelihood.pull_back(rows, bar.diagonal().copy())
        return value, gradient | kernel_slopes(pull_back(bar))


@dataclass(frozen=True, eq=False)
class LearnedClasses:
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
) -> LearnedClasses:
    """Climb to the kernel and the noise under which the classes are most probable."""
    objective = SharedEvidence.of(kernel, X, y, noise=noise, n_threads=n_threads)
    settings = Settings(0, max_iterations, TOLERANCE, n_threads=n_threads)
    found = climb(objective, settings, np.random.default_rng(0))
    if found.stop is not None:
        raise found.stop
    best, learned = found.best, kernel_at(objective.kernel, found.best.values)
    return LearnedClasses(learned, best.values["noise"], best.log_likelihood, best.n_evaluations, best.converged)


def predict(gram: Matrix, cross: Matrix, y: NDArray[Any], noise: float) -> NDArray[Any]:
    """The classes of new rows; ``gram`` is that of the training rows and is used up, ``cross`` is new x training."""
    classes, n = Classes.of(y), len(y)
    alpha = exact.condition(gram, Gaussian(noise), _unseen(n), np.zeros((n, 0))).solve(classes.targets)
    means = cross @ alpha + classes.share
    labels: NDArray[Any] = classes.names[means.argmax(axis=1)]
    return labels
