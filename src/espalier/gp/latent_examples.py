"""Training data for a likelihood that is not normal, and the objective of learning from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gp.inference.columns import ColumnsPosterior
from espalier.gp.inference.sites import SitePosterior, Sites, conditioned_on
from espalier.gp.latent import Inference, LatentObjective
from espalier.gp.likelihoods.base import rows_of
from espalier.gp.mean import Basis
from espalier.gp.parameters import Vector
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.hyperparameters import VARIANCE
from espalier.kernels.inputs import Inputs

UNIT = f"{VARIANCE}, in squared units of the likelihood"


@dataclass(frozen=True, eq=False)
class LatentExamples:
    """Training rows, their targets, and what is declared for them; a fitted model keeps these, and no plan."""

    kernel: Kernel  # bound: one entry for every label or dimension of the data
    inputs: Inputs
    basis: Basis
    likelihood: Any
    targets: Any  # what the inference reads: an array, or a list of arrays
    inference: Inference
    variance_prior: Any = None  # of each learned variance of the kernel that has none of its own

    @property
    def support(self) -> Inputs:
        """The rows whose covariances with others tell what is predicted."""
        return self.inputs

    def part(self, rows: NDArray[np.intp]) -> LatentExamples:
        """Some of the examples."""
        return replace(
            self, inputs=self.inputs.rows(rows), basis=self.basis.part(rows), targets=rows_of(self.targets, rows)
        )

    def objective(self, plan: Plan | None = None, **options: Any) -> LatentObjective[Any]:
        """The log evidence of the targets."""
        plan = self.kernel.plan(self.inputs, **options) if plan is None else plan
        return LatentObjective(
            *(self.kernel, plan, self.likelihood, self.targets, len(self.inputs)),
            columns=self.basis.columns,
            variance_unit=UNIT,
            variance_prior=self.variance_prior,
            inference=self.inference,
        )

    def joined(self, cross: Vector, columns: Vector) -> Vector:
        """The prior covariances of latent values with others, from those of the kernel and the columns of the mean."""
        return np.asarray(cross + self.basis.columns @ columns.T)

    def under(self, sites: list[Sites], evidence: list[float]) -> ColumnsPosterior:
        """The latent functions under some sites, each with its evidence."""
        K = self.covariances()
        return ColumnsPosterior([conditioned_on(K, own, height) for own, height in zip(sites, evidence, strict=True)])

    @blas_threads()
    def covariances(self, **options: Any) -> Vector:
        """The prior covariances of the latent values."""
        K = self.kernel.plan(self.inputs, **options).matrix(self.kernel)
        return K + self.basis.columns @ self.basis.columns.T


def finished(K: Vector, given: Any) -> SitePosterior:
    """What predictions need of a result of any inference for one column, in one form that can be saved."""
    if isinstance(given, SitePosterior):
        return given
    sites: Sites = given.sites
    return replace(conditioned_on(K, sites), log_evidence=given.log_evidence)
