"""Sparse learners of classes and of grades: latent functions that are known through a few structures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gp.inference.columns import ColumnsPosterior
from espalier.gp.inference.sites import Sites
from espalier.gp.inference.sparse import SparseCovariances
from espalier.gp.inference.sparse_sites import condition, cotangent, given_sites
from espalier.gp.latent import LatentPosterior
from espalier.gp.latent_examples import UNIT, LatentExamples
from espalier.gp.objective import kernel_at, kernel_parameters
from espalier.gp.parameters import Parameter, Vector
from espalier.gp.sparse.choosing import Moments, moments
from espalier.gp.sparse.inducing import Inducing
from espalier.gp.sparse.learning import structures_of
from espalier.gp.sparse.regression import pulled_back, support_of
from espalier.kept import kept
from espalier.kernels.base import Plan
from espalier.kernels.inputs import Inputs
from espalier.storage import require


@dataclass(frozen=True, eq=False)
class SparseLatentExamples(LatentExamples):
    """Training rows, and the structures among them through which the latent functions are known."""

    chosen: NDArray[np.intp] = field(kw_only=True)  # the rows of these structures

    @staticmethod
    def among(examples: LatentExamples, chosen: NDArray[np.intp]) -> SparseLatentExamples:
        """Choose rows of some examples."""
        own = {part.name: getattr(examples, part.name) for part in fields(LatentExamples)}
        return SparseLatentExamples(**own, chosen=chosen)

    @kept
    def support(self) -> Inputs:
        """The chosen structures."""
        return support_of(self.inputs, self.chosen)

    def part(self, rows: NDArray[np.intp]) -> LatentExamples:
        raise NotImplementedError("The structures of a sparse process need all rows.")

    def objective(self, plan: Plan | None = None, **options: Any) -> Any:
        """The bound of the log evidence of the targets; ``plan`` is that of the structures."""
        plans = (
            self.kernel.plan(self.support, **options) if plan is None else plan,
            self.kernel.plan(self.support, self.inputs, **options),
            self.kernel.diagonal_plan(self.inputs, **options),
        )
        return SparseLatentObjective(self, plans)

    def joined(self, cross: Vector, columns: Vector) -> Vector:
        """The covariances of the structures with others, above the columns of the mean."""
        return np.vstack([cross, columns.T])

    @blas_threads()
    def under(self, sites: list[Sites], evidence: list[float]) -> ColumnsPosterior:
        """The latent functions under some sites, each with its evidence."""
        require(all(own.precision.min() > 0 for own in sites), "a site of a sparse process says nothing")
        at = self.objective().covariances(self.kernel)
        columns = self.basis.columns
        return ColumnsPosterior(
            [given_sites(at, own, columns, height) for own, height in zip(sites, evidence, strict=True)]
        )


@dataclass(eq=False)
class SparseLatentObjective:
    """The variational bound of the log evidence of all columns of targets, at any hyperparameters."""

    examples: SparseLatentExamples
    plans: tuple[Plan, Plan, Plan]  # of the structures, of these with the data, and of the diagonal of the data
    inference: Any = None  # the sites are always those of variational inference
    near: Any = None  # where the last inference ended, from which the next one starts

    @property
    def n_targets(self) -> int:
        return len(self.examples.inputs)

    def parameters(self) -> list[Parameter]:
        examples = self.examples
        own: list[Parameter] = examples.likelihood.parameters()
        return kernel_parameters(examples.kernel, UNIT, examples.variance_prior) + own

    def value(self, values: Mapping[str, float]) -> float:
        return float(self.posterior(values).given.log_evidence)

    @blas_threads()
    def posterior(self, values: Mapping[str, float]) -> LatentPosterior:
        """The latent functions at some hyperparameters, by path."""
        kernel = kernel_at(self.examples.kernel, values)
        likelihood = self.examples.likelihood.with_parameters(values)
        return LatentPosterior(kernel, likelihood, self._condition(self.covariances(kernel), likelihood))

    @blas_threads()
    def gradient(self, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        kernel, examples = kernel_at(self.examples.kernel, values), self.examples
        likelihood = examples.likelihood.with_parameters(values)
        matrices, pull_backs = zip(*(plan.vjp(kernel) for plan in self.plans), strict=True)
        at = SparseCovariances(*matrices)
        given = self._condition(at, likelihood)
        bars = [cotangent(own, at, examples.basis.columns) for own in given.each]
        out = pulled_back(pull_backs, [sum(own) for own in zip(*bars, strict=True)])
        for own, targets in zip(given.each, examples.targets, strict=True):
            for path, slopes in likelihood.expected_slopes(*own.latent, targets).items():
                out[path] = out.get(path, 0.0) + float(slopes.sum())
        return float(given.log_evidence), out

    def covariances(self, kernel: Any) -> SparseCovariances:
        """The prior covariances by a kernel."""
        return SparseCovariances(*(plan.matrix(kernel) for plan in self.plans))

    def _condition(self, at: SparseCovariances, likelihood: Any) -> ColumnsPosterior:
        examples = self.examples
        starts = self.near or [None] * len(examples.targets)
        given = ColumnsPosterior(
            [
                condition(at, likelihood, targets, examples.basis.columns, near)
                for targets, near in zip(examples.targets, starts, strict=True)
            ]
        )
        self.near = given.near
        return given


def with_latent_structures(
    examples: LatentExamples, inducing: Inducing, rng: np.random.Generator, **options: Any
) -> SparseLatentExamples:
    """Choose structures at the declared numbers of some examples.

    The greedy choice reads the normal targets that stand for the labels before anything was learned from them.
    """
    n, columns = len(examples.inputs), examples.basis.columns
    prior = examples.kernel.diagonal(examples.inputs, **options) + (columns**2).sum(axis=1)
    each = [examples.likelihood.expected(np.zeros(n), prior, targets) for targets in examples.targets]
    precision = np.maximum(np.mean([own.curvature for own in each], axis=0), np.finfo(float).tiny)
    pulls = np.stack([own.slope for own in each], axis=1) / precision[:, None]

    def told(cross: Vector) -> Moments:
        return moments(cross, 1 / precision, pulls, columns)

    rows, _ = structures_of(examples.kernel, examples.inputs, inducing, rng, told, options)
    return SparseLatentExamples.among(examples, rows)
