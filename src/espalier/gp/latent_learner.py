"""What the learners of classes and of grades share: learning, latent values, evidence, and files."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.gp.advice import warn_of_learning, warn_of_sweeps
from espalier.gp.inference import ep, laplace, variational
from espalier.gp.inference.columns import Columns
from espalier.gp.latent import LatentObjective, Method
from espalier.gp.latent_examples import LatentExamples
from espalier.gp.learned import LearnedTable
from espalier.gp.learning import learn, settings_of
from espalier.gp.mean import Basis, as_mean
from espalier.gp.objective import kernel_at
from espalier.gp.optimize import LastReport
from espalier.gp.priors import LogNormal, Prior
from espalier.gp.sampling import generator
from espalier.gp.sparse.inducing import as_inducing
from espalier.gp.sparse.latent import SparseLatentExamples, with_latent_structures
from espalier.gram.estimator import KernelEstimator
from espalier.jobs.bar import reporting
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.memory import parse_memory
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import VARIANCE
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import bound_to_labels
from espalier.kernels.stored import columns_read
from espalier.storage import State, require
from espalier.structures.numbers import check_choice

InferenceName = Literal["ep", "laplace", "variational"]

INFERENCES = {
    name: Method(module.condition, module.cotangent)
    for name, module in {"ep": ep, "laplace": laplace, "variational": variational}.items()
}
MAX_ITERATIONS, TOLERANCE = 100, 1e-4
SCALE = 4.0  # where the variance of a kernel that declares none starts
PRIOR = LogNormal(10.0, 1.5)
PILOT = 1_000
ROUGH = 1e-4


@dataclass(eq=False, repr=False)
class LatentLearner(KernelEstimator):
    """An estimator of latent functions, which targets depend on by a likelihood.

    Parameters
    ----------
    kernel
        The kernel. Learning starts from its numbers; ``fixed(...)`` keeps one. If it declares no variance, a learned
        one multiplies it: see the notes.
    inference
        How the posterior of the latent values is approximated: ``"ep"`` (expectation propagation), ``"laplace"``
        (around its mode) or ``"variational"`` (the normal posterior with the highest lower bound of the evidence).
    mean
        What is expected far from all data: ``"constant"``, a learned number for each latent function; None for 0; or
        ``LinearMean(on="features")``. Its weights have a wide normal prior.
    variance_prior
        The prior of each learned variance of the kernel that has no prior of its own: targets that a kernel can
        separate would otherwise make it grow without end. ``"weak"`` is ``LogNormal(10.0, 1.5)``; None is none.
    pilot
        Numbers of the kernel are learned from at most this many examples, drawn at random, and kept. All examples then
        tell what is predicted. None learns from all.
    inducing
        None, or for many examples a number of structures or an :class:`~espalier.gp.Inducing`: a sparse process, which
        knows its functions through these. Numbers are learned exactly on the pilot; all examples are then conditioned
        on by variational inference, in batches.
    restarts, max_iterations, tolerance, learn
        As for :class:`~espalier.GPRegressor`; by default a climb ends after 100 steps, or when the gradient per example
        is below 1e-4.
    random_state, n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`.
    """

    _takes_matrices = True

    kernel: Kernel
    _: KW_ONLY
    inference: InferenceName = "ep"
    mean: object = "constant"
    variance_prior: Any = "weak"
    pilot: int | None = PILOT
    restarts: int = 0
    max_iterations: int | None = None
    tolerance: float | None = None
    learn: bool = True
    inducing: Any = None
    random_state: object = 0

    @property
    def log_marginal_likelihood_(self) -> float:
        """The approximate log evidence of all training targets, at the learned numbers."""
        check_is_fitted(self, "learned_")
        return float(self._given.log_evidence)

    def log_marginal_likelihood(
        self, theta: Mapping[str, float] | None = None, *, gradient: bool = False
    ) -> float | tuple[float, dict[str, float]]:
        """Return the approximate log evidence of the training targets at some hyperparameters.

        The arguments are those of :meth:`~espalier.GPRegressor.log_marginal_likelihood`.
        """
        objective = self._evidence()
        known = {parameter.path: parameter.start for parameter in objective.parameters()}
        for path in theta or {}:
            if path not in known:
                raise KeyError(f"{path!r} is not a learned hyperparameter; these are: {', '.join(known)}.")
        values = {**known, **(theta or {})}
        with blas_threads(self.n_threads):
            if not gradient:
                return objective.value(values)
            value, slopes = objective.gradient(values)
        return value, {path: slopes.get(path, 0.0) for path in known}

    def _fit(self, X: object, name: str, make: Any) -> Self:
        """Learn; ``make(inputs)`` returns the likelihood, the targets, the inference and the rows to use."""
        self._check_learner()
        settings = settings_of(self, MAX_ITERATIONS, TOLERANCE)
        with naming_a_way_out(), reporting(f"fitting {name}", self.progress, self.verbose) as report:
            inputs = Inputs.of(X)
            likelihood, targets, inference, rows = make(inputs)
            self.__dict__.pop("learned_", None)  # not fitted until the end: the labels are now those of this fit
            kernel = scaled(self._checked_kernel())
            if len(rows) < len(inputs):
                inputs = inputs.rows(rows)
            options: dict[str, Any] = {"n_threads": self.n_threads, "memory": self.memory}
            inducing = as_inducing(self.inducing)
            # A diagonal has the labels of all examples, too, and needs no matrix of them.
            plan = kernel.plan(inputs, **options) if inducing is None else kernel.diagonal_plan(inputs, **options)
            bound = bound_to_labels(plan, kernel)
            basis = Basis.of(as_mean(self.mean), inputs)
            examples = LatentExamples(bound, inputs, basis, likelihood, targets, inference, self._prior())
            last = None if report is None else LastReport(report)
            rng = generator(self.random_state)
            objective = self._to_learn_from(examples, plan, rng, options)
            objective.inference = roughly(inference)
            found = learn(objective, replace(settings, progress=last), rng)
            restarts = found.restarts
            with blas_threads(self.n_threads):
                if inducing is not None:
                    values = found.best.values
                    kernel, likelihood = kernel_at(bound, values), likelihood.with_parameters(values)
                    examples = replace(examples, kernel=kernel, likelihood=likelihood)
                    examples = with_latent_structures(examples, inducing, rng, **options)
                    objective = examples.objective(**options)
                    if inducing.learn == "bound" and self.learn and found.stop is None:
                        found = learn(objective, replace(settings, progress=last, restarts=0), rng)
                        restarts = [*restarts, *found.restarts]
                elif objective.n_targets < len(inputs):
                    objective = examples.objective(plan, **options)
                objective.inference = inference
                posterior = objective.posterior(found.best.values)
                self._finish(
                    replace(examples, kernel=posterior.kernel, likelihood=posterior.likelihood), posterior.given
                )
            # Last, so that a model that was interrupted while it was conditioned is not taken for a fitted one.
            self._trained_on, self.restarts_, self.learned_ = inputs.description(), restarts, found.learned
            if found.stop is not None:
                raise found.stop
            if last is not None:
                last.done()
        warn_of_learning(found)
        warn_of_sweeps(self._given)
        return self

    def _to_learn_from(
        self, examples: LatentExamples, plan: Any, rng: np.random.Generator, options: dict[str, Any]
    ) -> LatentObjective[Any]:
        n = len(examples.inputs)
        if self.inducing is not None:
            is_part = self.pilot is not None and self.pilot < n
            rows = self._pilot_rows(examples, rng) if is_part else np.arange(n)
            return examples.part(rows).objective(**options)
        if not self.learn or self.pilot is None or self.pilot >= n:
            return examples.objective(plan, **options)
        return examples.part(self._pilot_rows(examples, rng)).objective(**options)

    def _pilot_rows(self, examples: LatentExamples, rng: np.random.Generator) -> Any:
        raise NotImplementedError

    def _evidence(self) -> LatentObjective[Any]:
        """The approximate evidence of all training targets, at any hyperparameters."""
        check_is_fitted(self, "learned_")
        return self._examples.objective(n_threads=self.n_threads, memory=self.memory)

    def _at(self, evidence: LatentObjective[Any], values: Mapping[str, float]) -> Self:
        """A copy that is conditioned on the training targets at other hyperparameters."""
        other, found = copy(self), evidence.posterior(values)
        other._finish(replace(self._examples, kernel=found.kernel, likelihood=found.likelihood), found.given)
        return other

    def _finish(self, examples: LatentExamples, given: Any) -> None:
        """Keep what predictions need, and show it in attributes."""
        self._examples, self._given = examples, given
        self.kernel_, self.likelihood_ = examples.kernel, examples.likelihood
        self.n_examples_ = len(examples.inputs)
        if isinstance(examples, SparseLatentExamples):
            self.inducing_rows_ = examples.chosen
        self._set_width(examples.inputs._data)

    def _learned_state(self) -> dict[str, object]:
        """The kernel and the rows that it was learned from, for a file."""
        columns = columns_read(self.kernel_) | columns_read(self._examples.basis.mean)
        examples = self._examples
        own = {"chosen": np.asarray(examples.chosen, np.int64)} if isinstance(examples, SparseLatentExamples) else {}
        return own | {
            "kernel": self.kernel_,
            "inputs": examples.inputs.to_state(columns),
            "learned": self.learned_.rows,
        }

    def _examples_of(self, state: State, likelihood: Any, targets: Any, inference: Any, n: int) -> LatentExamples:
        """The training rows that a file holds."""
        inputs, kernel = Inputs.from_state(state.part("inputs")), state.object("kernel", Kernel)
        require(len(inputs) == n, "its targets do not fit its rows")
        basis = Basis.of(as_mean(self.mean), inputs)
        examples = LatentExamples(kernel, inputs, basis, likelihood, targets, inference, self._prior())
        if "chosen" not in state:
            return examples
        chosen = state.array("chosen", np.int64).astype(np.intp)
        require(len(chosen) > 0 and chosen.min() >= 0 and chosen.max() < n, "a structure is none of its rows")
        return SparseLatentExamples.among(examples, chosen)

    def _set_learned(self, state: State, examples: LatentExamples, given: Any) -> None:
        """Be fitted, as a file says."""
        self.restarts_ = []
        self.learned_ = LearnedTable.from_rows(state.value("learned"), learning=bool(self.learn))
        self._finish(examples, given)

    def _crosses(self, X: object) -> Any:
        """By block of new examples: their covariances with training examples (rows), and their prior variances."""
        check_is_fitted(self, "learned_")
        options: dict[str, Any] = {"n_threads": self.n_threads, "memory": self.memory}
        basis = self._examples.basis
        with naming_a_way_out():
            support = self._examples.support
            for block in Inputs.of(X).blocks(support, parse_memory(self.memory)):
                columns = basis.at(block)
                cross = self._examples.joined(self.kernel_(support, block, **options), columns)
                yield cross, self.kernel_.diagonal(block, **options) + (columns**2).sum(axis=1)

    def _prior(self) -> Prior | None:
        prior = self.variance_prior
        if isinstance(prior, str) and prior == "weak":
            return PRIOR
        if prior is None or (isinstance(prior, Prior) and not isinstance(prior, type)):
            return prior
        raise TypeError(
            f"variance_prior must be 'weak', a prior such as espalier.gp.LogNormal(10.0, 1.5), or None, got {prior!r}."
        )

    def _check_learner(self) -> None:
        if self.inference is not None:
            check_choice("inference", self.inference, *INFERENCES)
        as_mean(self.mean)
        self._check_whole("pilot", none=True)
        self._prior()
        inducing = as_inducing(self.inducing)
        if inducing is not None and (inducing.combine is not None or inducing.power != 0):
            raise ValueError(f"With labels as targets, inducing needs combine=None and power=0.0, got {inducing!r}.")


def roughly(inference: Any) -> Any:
    """Inference that is exact enough for a climb, whose tolerance is 1e-4 for each example."""
    swept = isinstance(inference, Columns) and inference.inference is not INFERENCES["laplace"]
    return replace(inference, close=ROUGH) if swept else inference


def scaled(kernel: Kernel) -> Kernel:
    """The kernel, times a learned variance if it declares none."""
    has_scale = type(kernel).__name__ == "Scaled" or any(
        unit == VARIANCE for _, _, _, unit in kernel._declared().values()
    )
    return kernel if has_scale else SCALE * kernel
