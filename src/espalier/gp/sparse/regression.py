"""Sparse regression as an objective: the evidence of numbers under a function that is known through some structures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gp.inference.sparse import Evaluated, SparseCovariances, evaluate
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.objective import kernel_at, kernel_slopes
from espalier.gp.parameters import Vector
from espalier.gp.regression import Examples, Posterior, RegressionObjective
from espalier.kept import kept
from espalier.kernels.base import Plan
from espalier.kernels.inputs import Inputs, take_rows
from espalier.storage import State, require

PullBack = Callable[[Any], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class SparseExamples(Examples):
    """Training data, and the structures among them through which the function is known."""

    chosen: NDArray[np.intp] = field(kw_only=True)  # the rows of these structures
    combine: Vector | None = field(default=None, kw_only=True)  # a row of their weights for each inducing variable
    power: float = field(default=0.0, kw_only=True)

    @staticmethod
    def among(examples: Examples, chosen: NDArray[np.intp], combine: Vector | None, power: float) -> SparseExamples:
        """Choose rows of some examples."""
        own = {part.name: getattr(examples, part.name) for part in fields(Examples)}
        return SparseExamples(**own, chosen=chosen, combine=combine, power=power)

    @kept
    def support(self) -> Inputs:
        """The chosen structures."""
        return support_of(self.inputs, self.chosen)

    def part(self, rows: NDArray[np.intp]) -> Examples:
        raise NotImplementedError("The structures of a sparse process need all rows.")

    def objective(self, plan: Any = None, **options: Any) -> SparseObjective:
        """The approximate evidence of the examples; ``plan`` is that of the chosen structures."""
        return SparseObjective(
            *(self, plan or self.kernel.plan(self.support, **options), options),
            cross=self.kernel.plan(self.support, self.inputs, **options),
            diagonal=self.kernel.diagonal_plan(self.inputs, **options),
        )

    def to_state(self) -> dict[str, object]:
        own: dict[str, object] = {"chosen": np.asarray(self.chosen, np.int64), "power": float(self.power)}
        if self.combine is not None:
            own["combine"] = self.combine
        return super().to_state() | own

    @staticmethod
    def from_state(state: State) -> SparseExamples:
        """Make the examples that a file holds."""
        examples = Examples.from_state(state)
        chosen, power = state.array("chosen", np.int64).astype(np.intp), state.number("power")
        combine = state.array("combine", np.float64, 2) if "combine" in state else None
        n = len(examples.y)
        require(len(chosen) > 0 and chosen.min() >= 0 and chosen.max() < n, "a structure is none of its rows")
        require(0 <= power <= 1, "its power lies between 0 and 1")
        if combine is not None:
            fits = 0 < combine.shape[0] <= combine.shape[1] == len(chosen) and power == 0
            require(fits and np.isfinite(combine).all(), "its combinations do not fit its structures")
        return SparseExamples.among(examples, chosen, combine, power)


@dataclass(frozen=True, eq=False)
class SparseObjective(RegressionObjective):
    """The approximate log evidence of examples, at any hyperparameters; ``plan`` is that of the chosen structures."""

    examples: SparseExamples
    cross: Plan = field(kw_only=True)  # of the structures with the data
    diagonal: Plan = field(kw_only=True)  # of the data

    @blas_threads()
    def posterior(self, values: Mapping[str, float]) -> Posterior:
        """The process at some hyperparameters, by path."""
        kernel = kernel_at(self.examples.kernel, values)
        likelihood, target, observed, jacobian = self.examples.modelled(values)
        at = SparseCovariances(*(plan.matrix(kernel) for plan in self._plans()))
        given = self._evaluated(at, likelihood, observed).posterior
        return Posterior(kernel, likelihood, target, given, given.log_evidence + jacobian)

    @blas_threads()
    def gradient(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        kernel = kernel_at(self.examples.kernel, values)
        likelihood, target, observed, jacobian = self.examples.modelled(values)
        matrices, pull_backs = zip(*(plan.vjp(kernel) for plan in self._plans()), strict=True)
        evaluated = self._evaluated(SparseCovariances(*matrices), likelihood, observed)
        bar = evaluated.cotangent()
        out = likelihood.pull_back(observed, bar.noise) | pulled_back(pull_backs, bar.covariances)
        known_bar = -2 * float(observed.known @ bar.noise)
        out.update(target.pull_back(self.examples.y, observed.values, bar.targets, known_bar))
        return evaluated.posterior.log_evidence + jacobian, out

    def _plans(self) -> tuple[Any, Plan, Plan]:
        return self.plan, self.cross, self.diagonal

    def _evaluated(self, at: SparseCovariances, likelihood: Gaussian, observed: Observed) -> Evaluated:
        examples = self.examples
        power, combine = examples.power, examples.combine
        return evaluate(at, likelihood, observed, examples.basis.columns, power=power, combine=combine)


def pulled_back(pull_backs: Iterable[PullBack], bars: Iterable[Any]) -> dict[str, float]:
    """The gradients of the hyperparameters of a kernel, by path: the sums over several of its matrices."""
    out: dict[str, float] = {}
    for pull_back, bar in zip(pull_backs, bars, strict=True):
        for path, slope in kernel_slopes(pull_back(bar)).items():
            out[path] = out.get(path, 0.0) + slope
    return out


def support_of(inputs: Inputs, rows: NDArray[np.intp]) -> Inputs:
    """Some rows, with the vocabulary of all of them."""
    return Inputs(take_rows(inputs._data, rows), inputs, translates=True)
