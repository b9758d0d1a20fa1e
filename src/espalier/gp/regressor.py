"""``GPRegressor``: predicts numbers from structures, with error bars, by a learned kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gp.advice import warn_of_regression
from espalier.gp.fitted import FittedRegressor
from espalier.gp.learned import LearnedTable
from espalier.gp.learning import learn, settings_of
from espalier.gp.likelihoods.gaussian import new_noise, observed
from espalier.gp.mean import Basis, as_mean
from espalier.gp.optimize import LastReport, Settings
from espalier.gp.parameters import Vector
from espalier.gp.regression import Examples, RegressionObjective, plan_of
from espalier.gp.sampling import draw, generator
from espalier.gp.sparse.inducing import as_inducing
from espalier.gp.sparse.learning import SparseTask, learn_sparsely
from espalier.gp.sparse.regression import SparseExamples
from espalier.gp.transforms import as_transform
from espalier.gp.units import TargetUnits
from espalier.gram.target_matrix import TargetMatrix, has_several_targets
from espalier.gram.targets import check_numbers
from espalier.jobs.bar import reporting
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.executor import Executor
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import PerLabel
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import bound_to_labels
from espalier.kernels.task_names import names_of_columns
from espalier.kernels.task_pairs import TaskPairs, with_tasks
from espalier.storage import State
from espalier.structures.numbers import truth_value

MAX_ITERATIONS, TOLERANCE = 200, 1e-5
START_OF_NOISE = 0.1


@dataclass(eq=False, repr=False)
class GPRegressor(FittedRegressor):
    """Predict a number from structures, with error bars, and learn the kernel by gradients.

    An exact Gaussian process: the targets are a smooth function over the space of the kernel's fragments plus noise.
    Fitting maximises the evidence, the probability of the training targets, in every hyperparameter at once: those of
    the kernel (one decay per label, if so declared), the noise, the mean and the transform of the targets.

    Parameters
    ----------
    kernel
        The kernel. Learning starts from its numbers; ``fixed(...)`` keeps one. A learned scale is ``1.0 * kernel``.
    noise
        The variance of the noise in squared units of the modelled target (transformed, standardised): a number,
        ``fixed``, ``Learned``, or ``PerLabel(0.1)`` for one per group of ``noise_groups``. None stands for 0.1, or,
        with several targets, for ``PerLabel(0.1, prior=None)``, one per task.
    mean
        What is predicted far from all data: None for 0 (the mean of the targets if they are standardised),
        ``"constant"``, ``"linear"``, or ``LinearMean(on="features")``. Its weights have a wide normal prior and are
        integrated out: the evidence and the error bars account for uncertainty in them.
    target_transform
        A monotone function of the targets: None, ``"log"``, ``"sqrt"``, ``"boxcox"``, ``"warped"``, or an object
        such as ``Log(offset=1)``. The last two are learned. Predictions are in the user's units.
    standardize
        Whether the transformed targets are shifted and scaled to mean 0 and standard deviation 1.
    restarts
        How many random starts follow the declared one, drawn from the priors, or log-uniformly between the bounds.
    pilot
        Learn first from this many examples, drawn at random, with all restarts; the best climb continues with all
        examples. This is much faster for thousands of examples, if there are many for each learned number. If the
        declared start is better for all examples than what the pilot found, the climb starts there, with a warning;
        after a pilot of fewer than ten examples for each number there is a climb from both. None learns from all at
        once.
    max_iterations, tolerance
        When a climb ends: after this many steps (200 if None), or when the gradient per example is below the tolerance
        (1e-5 if None).
    learn
        False keeps all hyperparameters as they are.
    inducing
        None: an exact process. For many examples, a number of structures or an :class:`~espalier.gp.Inducing`: a sparse
        process, which knows its function through these (see the guide *Sparse processes*). Its hyperparameters are
        learned exactly on a pilot of 1,000 examples, or as many as ``pilot`` says, and kept.
    random_state, n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`. ``progress`` is called after each
        evaluation with a :class:`FitProgress`.

    Attributes
    ----------
    kernel_, noise_, transform_
        With the learned values.
    mean_
        The weights of the mean by path, each the mean of its distribution: units of the modelled target (transformed,
        standardised) for one unit of the column.
    learned_
        A readable table of all learned hyperparameters.
    log_marginal_likelihood_
        The log evidence of the training targets in the user's units.
    restarts_, pilot_restarts_
        One record for each climb on all examples, and on those of the pilot: start, values, how it ended.
    jitter_
        What had to be added to the diagonal to factorize the covariance matrix; 0 if nothing.
    alpha_
        The dual weights: ``kernel_(x, X) @ alpha_`` is the mean of the function at ``x`` in modelled units (of the
        transformed, standardised target), without the part of ``mean_``. With several targets, one column for each task
        and one row for each training row that has a target, with 0 for targets that are missing.
    tasks_
        The names of the tasks; None if there is one target.
    inducing_rows_, inducing_weights_
        Of a sparse process: the examples that are its structures, in the order in which they were chosen, and the
        weights of their combinations, or None. ``alpha_`` then has one weight for each structure.
    n_examples_
        How many targets it learned from: rows with a ``sample_weight`` of 0 do not count.

    Notes
    -----
    Each of some dozens of evaluations takes time O(n^3) and memory O(n^2), however many hyperparameters there are; a
    prediction costs O(n) for its mean and O(n^2) for its deviation.

    With several targets of each row the kernel reads a column ``task`` beside the columns of ``X``; a kernel that does
    not is multiplied by ``Coregion(on="task")``. Then n is the number of known targets. If no target is missing, the
    kernel is a product of kernels of tasks and of items, and there are neither weights nor known variances, the time is
    O(n^3 + p^3) for n rows and p tasks.

    Examples
    --------
    >>> trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    >>> from espalier.kernels import SubsetTree
    >>> model = GPRegressor(SubsetTree(decay=0.5), noise=0.01).fit(trees, [2.0, 2.1, 0.9, 1.0])
    >>> model.predict(["(S (A a) (B b))"]).round(1)
    array([2.])
    """

    kernel: Kernel
    _: KW_ONLY
    noise: Any = None
    mean: object = None
    target_transform: object = None
    standardize: bool = True
    restarts: int = 0
    pilot: int | None = None
    max_iterations: int | None = None
    tolerance: float | None = None
    learn: bool = True
    inducing: Any = None
    random_state: object = 0

    def fit(
        self,
        X: object,
        y: object,
        *,
        sample_weight: object = None,
        noise_variance: object = None,
        noise_groups: object = None,
        tasks: Sequence[object] | None = None,
        executor: Executor | None = None,
    ) -> Self:
        """Learn all hyperparameters and condition on the training targets.

        Parameters
        ----------
        X
            Examples: what the kernel takes (trees, a corpus, vectors, a table for kernels that name columns).
        y
            One number for each; or several, one for each task: a matrix, or a frame or a table whose columns are the
            tasks. Of several, some may be missing (NaN or None); a row without any is not used.
        sample_weight
            How many observations each target represents: its noise variance is divided by this. Rows with a weight
            of 0 are not used: they are not counted, checked or left out in turn. With several targets, one for each row
            or for each target.
        noise_variance
            Known variances, added to the learned noise; in squared units of the (transformed) target. With several
            targets, one for each row or for each target.
        noise_groups
            The group of each example, if ``noise`` is ``PerLabel``. With several targets, the tasks are the groups.
        tasks
            The names of the tasks, if ``y`` has several columns; if None, the names of its columns, or their numbers.
        executor
            Runs the climbs from several starts, such as :class:`~espalier.jobs.Processes`; one after the other if None.

        Raises
        ------
        KeyboardInterrupt
            If learning is interrupted; any error of ``progress`` is passed on, too. The model is then fitted with the
            best values found so far.
        """
        settings = self._settings()
        with naming_a_way_out(), reporting("fitting GPRegressor", self.progress, self.verbose) as report:
            objective = self._objective(X, y, sample_weight, noise_variance, noise_groups, tasks)
            last = None if report is None else LastReport(report)
            settings, rng = replace(settings, progress=last, executor=executor), generator(self.random_state)
            if isinstance(objective, RegressionObjective):
                found = learn(objective, settings, rng, objective.part)
            else:
                objective, found = learn_sparsely(objective, settings, rng)
            with blas_threads(self.n_threads):
                self._finish(objective.examples, objective.posterior(found.best.values))
            # Last, so that a model that was interrupted while it was conditioned is not taken for a fitted one.
            self.restarts_, self.pilot_restarts_, self.learned_ = found.restarts, found.pilot, found.learned
            self._trained_on = objective.examples.inputs.description()
            if found.stop is not None:
                raise found.stop
            if last is not None:
                last.done()
        warn_of_regression(self._posterior, found, objective.examples.observed.known, settings.pilot)
        return self

    def sample_prior(
        self,
        X: object,
        n_samples: int = 1,
        *,
        include_noise: bool = True,
        noise_groups: object = None,
        random_state: object = 0,
    ) -> Vector:
        """Draw targets for some examples from the prior: one column for each draw.

        Uses the declared hyperparameters before fitting and the learned ones after; weights of a mean are drawn from
        their prior. Before fitting, draws are in modelled units, because no targets define location and scale; after
        fitting they are in the user's units.
        """
        fitted = hasattr(self, "_posterior")
        kernel = self.kernel_ if fitted else self._checked_kernel()
        inputs = self._like_training(X) if fitted else Inputs.of(X)
        columns = self._examples.basis.at(inputs) if fitted else Basis.of(as_mean(self.mean), inputs).columns
        with blas_threads():
            covariance = kernel(inputs, n_threads=self.n_threads, memory=self.memory) + columns @ columns.T
        noise = np.zeros(len(inputs))
        if include_noise:
            noise = (
                self._noise_of(len(inputs), True, noise_groups)
                if fitted
                else new_noise(self._noise, len(inputs), noise_groups, fitted=False)
            )
        draws = draw(np.zeros(len(inputs)), covariance, noise, n_samples, random_state)
        if fitted:
            return self._posterior.target.restored(draws)
        return TargetUnits(as_transform(self.target_transform), 0.0, 1.0, False).restored(draws)

    @property
    def _noise(self) -> Any:
        """The declared noise of one target."""
        return START_OF_NOISE if self.noise is None else self.noise

    def _check_tasks(self, matrix: TargetMatrix, groups: object) -> None:
        """Refuse what has no meaning for several targets."""
        empty = [name for name, column in zip(matrix.tasks, matrix.values.T, strict=True) if np.isnan(column).all()]
        if empty:
            raise InputError(f"No target of {', '.join(map(repr, empty))} is known. Drop the column, or fill some in.")
        if self.inducing is not None:
            raise InputError(
                "inducing is for one target of each row. For several, write rows of an item and a task, with a column "
                "'task' that Coregion(on='task') reads, and one target for each."
            )
        if groups is not None:
            raise InputError("With several targets noise belongs to the tasks, so leave noise_groups out.")
        if self.mean is not None:
            raise ValueError(
                f"mean must be None if there are several targets, got {self.mean!r}. A kernel does the same for each "
                "task: Coregion(on='task') * (kernel + Constant()) for a constant, + Linear() for a linear mean."
            )
        transform = as_transform(self.target_transform)
        if transform.parameters():
            raise ValueError(
                f"target_transform must have no learned numbers if there are several targets, got "
                f"{self.target_transform!r}. Use 'log', 'sqrt' or BoxCox(fixed(0.5)), or transform each task before."
            )

    def _settings(self) -> Settings:
        """How to learn."""
        self._check_whole("pilot", none=True)
        truth_value("standardize", self.standardize)
        as_inducing(self.inducing)
        return replace(settings_of(self, MAX_ITERATIONS, TOLERANCE), pilot=self.pilot)

    def _objective(
        self, X: object, y: object, weight: object, known: object, groups: object, tasks: Sequence[object] | None
    ) -> RegressionObjective | SparseTask:
        """What is maximised: the evidence of the rows whose weight is not 0."""
        kernel, noise, inducing = self._checked_kernel(), self._noise, as_inducing(self.inducing)
        inputs = Inputs.of(X)
        if has_several_targets(y):
            matrix = TargetMatrix.of(y, len(inputs), None if tasks is None else names_of_columns(tasks))
            self._check_tasks(matrix, groups)
            # Each task has many targets, so its noise needs no prior that holds it near that of the others.
            noise = PerLabel(START_OF_NOISE, prior=None) if self.noise is None else noise
            inputs, kernel = TaskPairs.all_of(inputs, matrix.tasks), with_tasks(kernel)
            weight, known = (
                matrix.spread(np.ones(()) if weight is None else weight, "sample_weight"),
                matrix.spread(known, "noise_variance"),
            )
            matrix.check_weighted(weight)
            groups = list(matrix.tasks) * len(matrix.values) if isinstance(noise, PerLabel) else None
            y = matrix.values.ravel()
        elif tasks is not None:
            raise InputError("tasks names the columns of y, but y is one column. Leave tasks out.")
        likelihood, targets, rows = observed(noise, len(inputs), groups, weight, known)
        numbers = check_numbers(y, len(inputs), rows)
        transform = as_transform(self.target_transform).prepared(numbers)
        if len(numbers) < len(inputs):
            inputs = inputs.rows(rows)
        basis = Basis.of(as_mean(self.mean), inputs)
        options: dict[str, Any] = {"n_threads": self.n_threads, "memory": self.memory}
        if inducing is None:
            plan = plan_of(kernel, inputs, targets, **options)
        else:  # a diagonal has the labels of all examples, too, and needs no matrix of them
            plan = kernel.diagonal_plan(inputs, **options)
        bound = bound_to_labels(plan, kernel)
        examples = Examples(bound, inputs, numbers, transform, bool(self.standardize), likelihood, targets, basis)
        return examples.objective(plan, **options) if inducing is None else SparseTask(examples, inducing, options)

    def to_state(self) -> dict[str, object]:
        """Return settings, examples and learned values; ``load`` computes the matrix again."""
        check_is_fitted(self)
        own = {"examples": self._examples.at(self._posterior).to_state(), "learned": self.learned_.rows}
        return self._declared_state() | own

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the fitted process that a file holds; it has no records of restarts."""
        model, own = cls._of_declared(state), state.part("examples")
        examples = SparseExamples.from_state(own) if "chosen" in own else Examples.from_state(own)
        model._settings()
        model.restarts_, model.pilot_restarts_ = [], []
        model.learned_ = LearnedTable.from_rows(state.value("learned"), learning=bool(model.learn))
        model._finish(examples, examples.objective().posterior({}))
        return model
