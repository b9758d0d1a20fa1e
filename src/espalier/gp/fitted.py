"""What a fitted regressor offers: predictions, block by block, draws, evidence, and its dual form.

If there are several targets, the numbers inside are flat: all tasks of the first example, then those of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gp.inference.exact import ExactPosterior
from espalier.gp.inference.kronecker import KroneckerPosterior
from espalier.gp.learned import LearnedTable
from espalier.gp.likelihoods.gaussian import new_noise, start_of_noise
from espalier.gp.mean import ConstantMean
from espalier.gp.objective import value_and_slopes, values_at
from espalier.gp.parameters import Vector
from espalier.gp.prediction import Prediction
from espalier.gp.regression import Examples, Posterior, RegressionObjective
from espalier.gp.sampling import draw
from espalier.gp.sparse.regression import SparseExamples
from espalier.gp.task_forms import task_dual_form
from espalier.gp.task_prediction import TaskPrediction, joint_log_densities
from espalier.gp.task_units import TaskUnits
from espalier.gp.units import TargetUnits
from espalier.gram.estimator import KernelEstimator
from espalier.gram.forms import DualForm
from espalier.gram.scores import mean_r_squared, r_squared
from espalier.gram.target_matrix import TargetMatrix
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.memory import parse_memory
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import PerLabel
from espalier.kernels.inputs import Inputs
from espalier.kernels.kronecker import Split
from espalier.kernels.task_pairs import TaskPairs

_JOINT = 16  # rows whose joint covariances are computed at once; only those of each row with itself are used


class FittedRegressor(RegressorMixin, KernelEstimator):  # type: ignore[misc]
    """The methods of a fitted regressor, which need only its examples and its posterior."""

    learned_: LearnedTable
    _takes_matrices = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @overload
    def predict(self, X: object, *, include_noise: bool = ..., noise_groups: object = ...) -> Vector: ...

    @overload
    def predict(
        self,
        X: object,
        *,
        return_std: bool = ...,
        return_cov: bool = ...,
        quantiles: object = ...,
        include_noise: bool = ...,
        noise_groups: object = ...,
    ) -> Vector | tuple[Vector, ...]: ...

    def predict(
        self,
        X: object,
        *,
        return_std: bool = False,
        return_cov: bool = False,
        quantiles: object = None,
        include_noise: bool = True,
        noise_groups: object = None,
    ) -> Vector | tuple[Vector, ...]:
        """Return the mean for each example in the user's units, and whatever else the options name.

        Parameters
        ----------
        X
            Examples.
        return_std, return_cov
            Also return standard deviations, or the matrix of covariances (without a transform only).
        quantiles
            Levels between 0 and 1: also return an array with one column for each (the last axis).
        include_noise
            Whether deviations and quantiles are those of a new observation, or of the function itself.
        noise_groups
            The groups of the new examples, if noise is per group. The mean alone does not need them: it does not depend
            on the noise, or, with ``target_transform``, it uses the start of ``PerLabel`` and warns.

        Returns
        -------
        The mean, or a tuple: mean, deviations or covariances, quantiles. With several targets, each has one column for
        each task; covariances are by example and task, twice.
        """
        if return_std and return_cov:
            raise ValueError("Use return_std or return_cov, not both: the diagonal of the latter gives the former.")
        check_is_fitted(self)
        only_mean = not (return_std or return_cov or quantiles is not None)
        target = self._posterior.target
        if only_mean and target.is_linear:
            with naming_a_way_out():
                parts = [self._posterior.given.mean(*self._cross(block)) for block in self._blocks(X)]
            return target.restored(np.concatenate(parts))
        if return_cov:
            mean, covariance = self._joint(X)
            covariance[np.diag_indices_from(covariance)] += self._noise_of(len(mean), include_noise, noise_groups)
            if not target.is_linear:
                raise ValueError(
                    "Covariances of a transformed target have no closed form; sample_posterior draws from them."
                )
            prediction = _predicted(mean, covariance.diagonal(), target)
            out = [prediction.mean, target.covariances(covariance)]
        elif only_mean and include_noise and noise_groups is None and self._has_groups:
            prediction = self._distribution(X, lambda n: start_of_noise(self.noise_, n))
            out = [prediction.mean]
        else:
            prediction = self.predict_distribution(X, include_noise=include_noise, noise_groups=noise_groups)
            out = [prediction.mean, prediction.std] if return_std else [prediction.mean]
        if quantiles is not None:
            out.append(prediction.quantiles(quantiles))
        return out[0] if len(out) == 1 else tuple(out)

    def predict_distribution(self, X: object, *, include_noise: bool = True, noise_groups: object = None) -> Any:
        """Return a :class:`Prediction`: mean, median, quantiles and density for each example.

        With several targets it is a :class:`TaskPrediction`: the same for each example and task.
        """
        return self._distribution(X, lambda n: self._noise_of(n, include_noise, noise_groups))

    def score(self, X: object, y: object, sample_weight: object = None, *, noise_groups: object = None) -> float:
        """Return the coefficient of determination of the mean, R², as all regressors of scikit-learn do.

        The groups matter only if ``target_transform`` makes the mean depend on the noise, as for ``predict``.
        The target of a row with a ``sample_weight`` of 0 may be missing (None, NaN or masked). With several targets,
        the score is the mean of those of the tasks, each over the targets that are not missing; a task with fewer than
        two does not count.
        """
        tasks = self._examples.tasks if hasattr(self, "_examples") else None
        if tasks is not None:
            predicted = self.predict(X, noise_groups=noise_groups)
            known = TargetMatrix.of(y, len(predicted), tasks, known=True)
            return mean_r_squared(known.values, predicted, sample_weight)
        return r_squared(y, self.predict(X, noise_groups=noise_groups), sample_weight)

    def log_predictive_density(
        self, X: object, y: object, *, noise_groups: object = None, joint: bool = False
    ) -> Vector:
        """Return the log density of each target under its prediction, in the user's units.

        With several targets there is one column for each task, and NaN where a target is missing. If ``joint``, the
        observed targets of each row have one density together, in which they are correlated; it is 0 if there are none.
        """
        if not joint:
            density: Vector = self.predict_distribution(X, noise_groups=noise_groups).log_density(y)
            return density
        check_is_fitted(self)
        target = self._posterior.target
        if not isinstance(target, TaskUnits):
            raise ValueError("joint=True is for several targets of each row; this model was fitted to one.")
        values = TargetMatrix.of(y, len(Inputs.of(X)), target.tasks, known=True).values
        out, start = [np.zeros(0)], 0
        for part in self._blocks(X, most=_JOINT):
            mean, covariance = self._joint(part)
            covariance[np.diag_indices_from(covariance)] += self._noise_of(len(mean), True, noise_groups)
            stop = start + len(mean) // len(target.tasks)
            out.append(joint_log_densities(mean, covariance, values[start:stop], target))
            start = stop
        return np.concatenate(out)

    def leave_one_out(self) -> Any:
        """Predict each training target from all the others, in closed form, at the learned hyperparameters.

        Rows with a ``sample_weight`` of 0, and rows without any target, were not used in training and are not among
        them. With several targets, the other targets of the same row are among the others, and predictions of missing
        targets are NaN.
        """
        check_is_fitted(self)
        with blas_threads(self.n_threads):
            mean, variance = self._posterior.given.left_out()
        pairs = self._examples.inputs
        if isinstance(pairs, TaskPairs):
            mean, variance = pairs.filled(mean), pairs.filled(variance)
        return _predicted(mean, variance, self._posterior.target)

    @overload
    def log_marginal_likelihood(
        self, theta: Mapping[str, float] | None = ..., *, gradient: Literal[False] = ...
    ) -> float: ...

    @overload
    def log_marginal_likelihood(
        self, theta: Mapping[str, float] | None = ..., *, gradient: Literal[True]
    ) -> tuple[float, dict[str, float]]: ...

    def log_marginal_likelihood(
        self, theta: Mapping[str, float] | None = None, *, gradient: bool = False
    ) -> float | tuple[float, dict[str, float]]:
        """Return the log evidence of the training targets at some hyperparameters.

        Parameters
        ----------
        theta
            Values by path in natural units, as in ``learned_``; those left out stay as learned.
        gradient
            Also return the derivative with respect to each path, in natural units.
        """
        check_is_fitted(self)
        known = {parameter.path: parameter.start for parameter in self._examples.parameters()}
        values = values_at(known | self.learned_.to_dict(), theta)
        return value_and_slopes(self._evidence(), values, self.n_threads, gradient=gradient)

    def sample_posterior(
        self,
        X: object,
        n_samples: int = 1,
        *,
        include_noise: bool = False,
        noise_groups: object = None,
        random_state: object = 0,
    ) -> Vector:
        """Draw functions (or, with noise, observations) for some examples after training: one column for each.

        With several targets, tasks are drawn together, and the draws are by example, task and draw.
        """
        mean, covariance = self._joint(X)
        noise = self._noise_of(len(mean), include_noise, noise_groups)
        return self._posterior.target.restored(draw(mean, covariance, noise, n_samples, random_state))

    def dual_form(self) -> DualForm:
        """Return the coefficients of the training rows, or of the structures of a sparse process, for the mean.

        They are in the user's units, or, if the target is transformed, in units of the transformed target. A constant
        mean is part of the intercept; a model with a linear mean has no such form. With several targets, each task is a
        score with coefficients of its own for the training items, if the kernel is a product of a kernel of tasks and
        kernels of items.
        """
        check_is_fitted(self)
        target, mean = self._posterior.target, self._examples.basis.mean
        if isinstance(target, TaskUnits):
            return task_dual_form(self._examples.inputs, self.kernel_, self.alpha_, target)
        given = self._posterior.given
        if not isinstance(mean, ConstantMean | None):
            raise InputError(
                "A model with a linear mean is not a sum over training rows alone: the mean adds a function of its "
                "own. Fit it with mean=None or 'constant'; a kernel such as Linear(on='features') is linear too."
            )
        is_sparse = isinstance(self._examples, SparseExamples)
        intercept = target.location + target.scale * self.mean_.get("mean.constant", 0.0)
        return DualForm(
            self.kernel_,
            self._examples.support,
            (self.alpha_ * target.scale)[None, :],
            np.array([intercept]),
            ("prediction",),
            solve=None if is_sparse and mean is not None else given.solve,
            unit=target.scale,
            constant_variance=0.0 if mean is None else mean.spread**2,
        )

    def _evidence(self) -> RegressionObjective:
        """The evidence of the training targets, at any hyperparameters."""
        check_is_fitted(self)
        return self._examples.objective(n_threads=self.n_threads, memory=self.memory)

    def _at(self, evidence: RegressionObjective, values: Mapping[str, float]) -> Self:
        """A copy that is conditioned on the training targets at other hyperparameters."""
        other = copy(self)
        other._finish(self._examples, evidence.posterior(values))
        return other

    def _finish(self, examples: Examples, posterior: Posterior) -> None:
        """Keep what predictions need, and show it in attributes."""
        self._examples, self._posterior, given = examples, posterior, posterior.given
        self.kernel_, self.noise_ = posterior.kernel, posterior.likelihood.noise
        self.transform_, self.mean_ = posterior.target.transform, examples.basis.named(given.weights.mean)
        self.log_marginal_likelihood_ = posterior.log_likelihood
        self.alpha_, self.jitter_ = given.dual, given.jitter
        self.n_examples_, self.tasks_ = len(examples.y), examples.tasks
        if isinstance(examples, SparseExamples):
            self.inducing_rows_, self.inducing_weights_ = examples.chosen, examples.combine
        rows = examples.inputs
        if isinstance(rows, TaskPairs):
            self.alpha_ = rows.filled(given.dual, 0.0).reshape(-1, len(rows.tasks))
        self._set_width(rows.distinct._data if isinstance(rows, TaskPairs) else rows._data)

    def _like_training(self, X: object) -> Inputs:
        """New examples, read like those of training; a forest of another vocabulary is translated."""
        check_is_fitted(self)
        return self._examples.new(X)

    def _distribution(self, X: object, noise: Callable[[int], Vector]) -> Any:
        """The distribution of new targets; ``noise(n)`` gives the variances of n observations."""
        mean, variance = [], []
        with naming_a_way_out():
            for part in self._blocks(X):
                cross, columns = self._cross(part)
                kernel, _, new = self._compared(part)
                prior = kernel.diagonal(new, n_threads=self.n_threads, memory=self.memory)
                mean.append(self._posterior.given.mean(cross, columns))
                variance.append(self._posterior.given.variance(cross, prior, columns))
        total = np.concatenate(variance)
        return _predicted(np.concatenate(mean), total + noise(len(total)), self._posterior.target)

    def _joint(self, X: object) -> tuple[Vector, Vector]:
        """The mean and the covariances of the function at new examples."""
        inputs = self._like_training(X)
        with naming_a_way_out():
            cross, columns = self._cross(inputs)
            kernel, _, new = self._compared(inputs)
            prior = kernel(new, n_threads=self.n_threads, memory=self.memory)
            covariance = self._posterior.given.covariance(cross, prior, columns)
        return self._posterior.given.mean(cross, columns), covariance

    def _cross(self, inputs: Inputs) -> tuple[Vector, Vector]:
        """The covariances of the examples in support (rows) with others (columns), and what the mean reads of these."""
        kernel, training, new = self._compared(inputs)
        cross = kernel(training, new, n_threads=self.n_threads, memory=self.memory)
        return cross, self._examples.basis.at(inputs)

    def _compared(self, inputs: Inputs) -> tuple[Kernel, Inputs, Inputs]:
        """The kernel and the examples of training and new ones that it compares: of items alone, if that suffices."""
        training = self._examples.support
        if isinstance(self._posterior.given, KroneckerPosterior):
            split = Split.of(self.kernel_)
            assert split is not None and isinstance(training, TaskPairs) and isinstance(inputs, TaskPairs)
            return split.items, training.distinct, inputs.distinct
        return self.kernel_, training, inputs

    def _blocks(self, X: object, most: int | None = None) -> list[Inputs]:
        """New examples, some at a time, at most so many."""
        check_is_fitted(self)
        training, memory = self._examples.support, parse_memory(self.memory)
        if not isinstance(training, TaskPairs):
            return Inputs.of(X).blocks(training, memory)
        rows = len(training) if isinstance(self._posterior.given, ExactPosterior) else len(training.distinct)
        step = max(1, memory // (4 * 8 * rows * len(training.tasks)))
        items = Inputs.of(X)
        return [self._examples.new(part) for part in items.parts(step if most is None else min(step, most))]

    @property
    def _has_groups(self) -> bool:
        """Whether the noise of new examples depends on groups that the caller names."""
        return isinstance(self.noise_, PerLabel) and self._examples.tasks is None

    def _noise_of(self, n: int, include: bool, groups: Any) -> Vector:
        tasks = self._examples.tasks
        if tasks is not None:
            if groups is not None:
                raise InputError("With several targets noise belongs to the tasks, so leave noise_groups out.")
            groups = list(tasks) * (n // len(tasks)) if isinstance(self.noise_, PerLabel) else None
        return new_noise(self.noise_, n, groups, fitted=True) if include else np.zeros(n)


def _predicted(mean: Vector, variance: Vector, target: TargetUnits | TaskUnits) -> Any:
    """The distributions with these flat modelled moments."""
    if isinstance(target, TaskUnits):
        return TaskPrediction.of(mean, np.sqrt(variance), target)
    return Prediction(mean, np.sqrt(variance), target)
