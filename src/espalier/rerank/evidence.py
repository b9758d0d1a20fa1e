"""The evidence of preferences: how probable it is, under a kernel, that each target is preferred to its rivals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import KernelOverflowError
from espalier.gp.parameters import Parameter
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.inputs import Inputs
from espalier.rerank.pairs import Pairs
from espalier.rerank.probit import Mode, cotangent, find_mode

Floats = NDArray[np.float64]

SCORE = "score.variance"
_PREFIX = "kernel."
_LARGEST = 1e150  # sums of squares of larger covariances may overflow


@dataclass(frozen=True, eq=False)
class Scores:
    """What the parser says of pairs.

    Attributes
    ----------
    differences
        The target's score minus the rival's, in ``unit``.
    unit
        What 1 is in the parser's units: the root of the mean square of the differences.
    weight
        What one unit of the parser's weighs, where that is given; None where it is learned.
    """

    differences: Floats
    unit: float
    weight: float | None

    @staticmethod
    def of(scores: Floats, pairs: Pairs, weight: float | None) -> Scores:
        """The differences of scores of items; a target without a score has the lowest among its rivals."""
        scores = scores.copy()
        first = pairs.start[:-1]
        unknown = np.isnan(scores[first])
        scores[first[unknown]] = np.inf
        lowest = np.minimum.reduceat(scores, first)
        scores[first[unknown]] = lowest[unknown]
        differences = pairs.differences(scores)
        largest = float(np.abs(differences).max(initial=0.0)) or 1.0
        unit = largest * (float(np.sqrt(np.mean((differences / largest) ** 2))) or 1.0)
        return Scores(differences / unit, unit, weight)

    def in_units(self, scores: Floats) -> Floats:
        """Scores of new candidates."""
        return scores / self.unit

    def weight_given(self, dual: Floats, variance: float) -> float:
        """The weight of one unit of the parser's, given the dual weights of all pairs."""
        return float(variance * (self.differences @ dual) / self.unit)

    @property
    def offset(self) -> Floats:
        """What scores with a given weight add to the differences of utilities."""
        return self.differences * ((self.weight or 0.0) * self.unit)

    @property
    def is_learned(self) -> bool:
        """Whether the weight is, and can be."""
        return self.weight is None and bool(self.differences.any())


@dataclass(frozen=True, eq=False)
class State:
    """A utility at some hyperparameters, given the preferences."""

    kernel: Kernel
    score_variance: float
    mode: Mode


@dataclass(eq=False)
class Problem:
    """Preferences with all that does not depend on hyperparameters."""

    kernel: Kernel  # bound: one entry for every label of the data
    plan: Plan
    pairs: Pairs
    scores: Scores
    near: Floats | None = None  # the dual of the last mode: the next one is not far

    @staticmethod
    def of(kernel: Kernel, inputs: Inputs, pairs: Pairs, scores: Scores, **options: Any) -> Problem:
        """Plan the kernel for the items; options are those of a plan."""
        plan = kernel.plan(inputs, **options)
        return Problem(plan.bind(kernel), plan, pairs, scores)

    def parameters(self) -> list[Parameter]:
        """Every number that is learned by gradients."""
        bounds, priors = self.kernel.bounds(), self.kernel.priors()
        out = [
            Parameter(_PREFIX + path, value, *bounds[path], priors[path], _unit(path))
            for path, value in self.kernel.parameters().items()
        ]
        if self.scores.is_learned:
            out.append(Parameter(SCORE, 1.0, 1e-6, 1e6, None, "variance, of scores in their unit", declared=False))
        return out

    def state(self, values: Mapping[str, float]) -> State:
        """The utility at some hyperparameters, by path."""
        kernel, variance = self._at(values)
        matrix = self._covariances(self.plan.matrix(kernel), variance)
        return State(kernel, variance, self._mode(matrix))

    def gradient(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """The log evidence, and its gradient by path."""
        kernel, variance = self._at(values)
        matrix, pull_back = self.plan.vjp(kernel)
        matrix = self._covariances(matrix, variance)
        mode = self._mode(matrix)
        bar = cotangent(mode, matrix)
        out = {_PREFIX + path: slope for path, slope in pull_back(self.pairs.both_back(bar)).items()}
        if self.scores.is_learned:
            out[SCORE] = float(self.scores.differences @ bar @ self.scores.differences)
        return mode.log_evidence, out

    def _at(self, values: Mapping[str, float]) -> tuple[Kernel, float]:
        inside = {path.removeprefix(_PREFIX): value for path, value in values.items() if path.startswith(_PREFIX)}
        variance = values.get(SCORE, 1.0) if self.scores.is_learned else 0.0
        return self.kernel.with_parameters(inside), variance

    def _covariances(self, matrix: Floats, score_variance: float) -> Floats:
        out = self.pairs.both(matrix)
        if score_variance:
            out += np.outer(score_variance * self.scores.differences, self.scores.differences)
        return out

    def _mode(self, matrix: Floats) -> Mode:
        largest = float(np.abs(matrix).max(initial=0.0))
        if not largest <= _LARGEST:
            raise KernelOverflowError(
                f"The covariances of the differences of utilities reach {largest:.0e}, and their squares are too large "
                "for a float64. Take Normalized(kernel), or a smaller scale or decay."
            )
        mode = find_mode(matrix, self.scores.offset, self.near)
        self.near = mode.dual
        return mode


def _unit(path: str) -> str:
    return "variance of utilities" if path.rsplit(".", 1)[-1] in ("scale", "variance") else "weight"
