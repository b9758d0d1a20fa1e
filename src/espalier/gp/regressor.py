"""``GPRegressor``: numbers predicted from structures, with error bars, by a kernel that is learned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gp.advice import warn_of, warn_of_pilot
from espalier.gp.checks import checked_kernel, problem_of, settings_of
from espalier.gp.evidence import Problem, State
from espalier.gp.learned import LearnedTable
from espalier.gp.learning import learn
from espalier.gp.mean import Basis, ConstantMean, as_mean
from espalier.gp.noise import new_noise, start_of_noise
from espalier.gp.optimize import FitProgress
from espalier.gp.parameters import Parameters, Vector
from espalier.gp.posterior import covariances, left_out, means, variances
from espalier.gp.prediction import Prediction
from espalier.gp.sampling import draw, generator
from espalier.gp.targets import Target
from espalier.gp.transforms import as_transform
from espalier.gram.estimator import KernelEstimator
from espalier.gram.forms import DualForm
from espalier.gram.scores import r_squared
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.memory import parse_memory
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import PerLabel
from espalier.kernels.inputs import Inputs, take_rows


class GPRegressor(RegressorMixin, KernelEstimator):  # type: ignore[misc]
    """Predict a number from structures, say how sure the prediction is, and learn the kernel by gradients.

    An exact Gaussian process: the targets are a smooth function over the space of the kernel's fragments plus noise.
    Fitting maximises the evidence, the probability of the training targets, in every hyperparameter at once: those of
    the kernel (one decay per label, if it says so), the noise, the mean and the transform of the targets.

    Parameters
    ----------
    kernel
        What counts as similar. Its numbers are starts; ``fixed(...)`` keeps one. A learned scale is ``1.0 * kernel``.
    noise
        The variance of the noise in squared units of the modelled target (transformed, standardised): a number,
        ``fixed``, ``Learned``, or ``PerLabel(0.1)`` for one per group of ``noise_groups``.
    mean
        What is predicted far from all data: None for 0 (the mean of the targets, when they are standardised),
        ``"constant"``, ``"linear"``, or ``LinearMean(on="features")``. Its weights have a wide normal prior and are
        integrated out: evidence and error bars know that they are not known.
    target_transform
        A monotone function of the targets: None, ``"log"``, ``"sqrt"``, ``"boxcox"``, ``"warped"``, or an object
        such as ``Log(offset=1)``. The last two are learned. Predictions are in the user's units.
    standardize
        Whether the transformed targets are shifted and scaled to mean 0 and standard deviation 1.
    restarts
        How many random starts follow the declared one: from the priors, else log-uniform between the bounds.
    pilot
        Learn first from this many examples, drawn at random, with all restarts; the best climb goes on with all.
        Much faster for thousands of them, if they are many times as many as learned numbers. Where the declared start
        is better for all examples than what the pilot found, the climb starts there, with a warning; after a pilot of
        fewer than ten examples for each number there is a climb from both. None starts with all.
    max_iterations, tolerance
        When a climb ends: after this many steps, or when the gradient per example is below the tolerance.
    learn
        False keeps all hyperparameters as they are.
    random_state
        A seed for the random starts.
    n_threads, memory
        As for kernels.
    progress
        Called after each evaluation with a ``FitProgress``. What it raises ends learning and reaches the caller.

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
        What had to be added to the diagonal to factorize the covariance matrix; 0 when nothing.
    alpha_
        The dual weights: ``kernel_(x, X) @ alpha_`` is the mean of the function at ``x`` in modelled units (of the
        transformed, standardised target), without what ``mean_`` adds.
    n_examples_
        How many examples it learned from: rows with a ``sample_weight`` of 0 do not count.

    Notes
    -----
    Time O(n^3) and memory O(n^2) for each of some dozens of evaluations, whatever the number of hyperparameters;
    a prediction costs O(n) for its mean and O(n^2) for its deviation.

    Examples
    --------
    >>> trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    >>> from espalier.kernels import SubsetTree
    >>> model = GPRegressor(SubsetTree(decay=0.5), noise=0.01).fit(trees, [2.0, 2.1, 0.9, 1.0])
    >>> model.predict(["(S (A a) (B b))"]).round(1)
    array([2.])
    """

    _problem_of_fit: Problem
    _state: State
    _basis: Basis

    def __init__(
        self,
        kernel: Kernel,
        *,
        noise: Any = 0.1,
        mean: Any = None,
        target_transform: Any = None,
        standardize: bool = True,
        restarts: int = 0,
        pilot: int | None = None,
        max_iterations: int = 200,
        tolerance: float = 1e-5,
        learn: bool = True,
        random_state: Any = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        progress: Callable[[FitProgress], object] | None = None,
    ) -> None:
        self.kernel = kernel
        self.noise = noise
        self.mean = mean
        self.target_transform = target_transform
        self.standardize = standardize
        self.restarts = restarts
        self.pilot = pilot
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.learn = learn
        self.random_state = random_state
        self.n_threads = n_threads
        self.memory = memory
        self.progress = progress

    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, noise_variance: Any = None, noise_groups: Any = None
    ) -> Self:
        """Learn all hyperparameters and condition on the training targets.

        Parameters
        ----------
        X
            Examples: what the kernel takes (trees, a corpus, vectors, a table for kernels that name columns).
        y
            One number for each.
        sample_weight
            How many observations each target stands for: its noise variance is divided by this. Rows with a weight
            of 0 do not take part: they are not counted, checked or left out in turn.
        noise_variance
            Known variances, added to the learned noise; in squared units of the (transformed) target.
        noise_groups
            The group of each example, where ``noise`` is ``PerLabel``.

        Raises
        ------
        KeyboardInterrupt
            Passed on when learning is interrupted, as is any error of ``progress``; the model is then fitted with the
            best values found so far.
        """
        settings = settings_of(self)
        problem = problem_of(self, X, y, sample_weight, noise_variance, noise_groups)
        parameters = Parameters(problem.parameters() if self.learn else [])
        with naming_a_way_out():
            found = learn(problem, parameters, settings, generator(self.random_state))
        best = found.best
        self.restarts_, self.pilot_restarts_ = found.restarts, found.pilot
        self.learned_ = LearnedTable.of(parameters, best.values, best.gradient, best.start, learning=bool(self.learn))
        with blas_threads(self.n_threads):
            self._finish(problem, problem.state(best.values))
        if found.stop is not None:
            raise found.stop
        warn_of(self._state, self.learned_, best, problem.noise.known)
        if found.misled:
            warn_of_pilot(settings.pilot, len(parameters))
        return self

    def predict(
        self,
        X: Any,
        *,
        return_std: bool = False,
        return_cov: bool = False,
        quantiles: Any = None,
        include_noise: bool = True,
        noise_groups: Any = None,
    ) -> Any:
        """Return the mean for each example in the user's units, and what else is asked for.

        Parameters
        ----------
        X
            Examples.
        return_std, return_cov
            Also return standard deviations, or the matrix of covariances (without a transform only).
        quantiles
            Levels between 0 and 1: also return an array with one column for each.
        include_noise
            Whether deviations and quantiles are those of a new observation, or of the function itself.
        noise_groups
            The groups of the new examples, where noise is per group. The mean alone does without them: it does not
            depend on the noise, or, with ``target_transform``, takes the start of ``PerLabel`` and warns.

        Returns
        -------
        The mean, or a tuple: mean, deviations or covariances, quantiles.
        """
        if return_std and return_cov:
            raise ValueError("Ask for return_std or return_cov, not both: the diagonal of the latter gives the former.")
        check_is_fitted(self)
        only_mean = not (return_std or return_cov or quantiles is not None)
        if only_mean and self._state.target.is_linear:
            with naming_a_way_out():
                parts = [means(self._state, self._cross(part), self._basis.at(part)) for part in self._blocks(X)]
            return self._state.target.restored(np.concatenate(parts))
        if return_cov:
            mean, covariance = self._joint(X, include_noise=include_noise, noise_groups=noise_groups)
            if not self._state.target.is_linear:
                raise ValueError(
                    "Covariances of a transformed target have no closed form; sample_posterior draws from them."
                )
            std = np.sqrt(covariance.diagonal())
            prediction = Prediction(mean, std, self._state.target)
            scale = np.float64(self._state.target.scale)
            with np.errstate(over="ignore"):  # covariances of targets near 1e300 are infinite
                out = [prediction.mean, covariance * scale * scale]
        elif only_mean and include_noise and noise_groups is None and isinstance(self.noise_, PerLabel):
            prediction = self._distribution(X, lambda n: start_of_noise(self.noise_, n))
            out = [prediction.mean]
        else:
            prediction = self.predict_distribution(X, include_noise=include_noise, noise_groups=noise_groups)
            out = [prediction.mean, prediction.std] if return_std else [prediction.mean]
        if quantiles is not None:
            out.append(prediction.quantiles(quantiles))
        return out[0] if len(out) == 1 else tuple(out)

    def predict_distribution(self, X: Any, *, include_noise: bool = True, noise_groups: Any = None) -> Prediction:
        """Return a :class:`Prediction`: mean, median, quantiles and density for each example."""
        check_is_fitted(self)
        return self._distribution(X, lambda n: self._noise_of(n, include_noise, noise_groups))

    def _distribution(self, X: Any, noise: Callable[[int], Vector]) -> Prediction:
        mean, variance = [], []
        with naming_a_way_out():
            for part in self._blocks(X):
                cross, columns = self._cross(part), self._basis.at(part)
                prior = self.kernel_.diagonal(part, n_threads=self.n_threads, memory=self.memory)
                mean.append(means(self._state, cross, columns))
                variance.append(variances(self._state, cross, prior, columns))
        total = np.concatenate(variance)
        return Prediction(np.concatenate(mean), np.sqrt(total + noise(len(total))), self._state.target)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, noise_groups: Any = None) -> float:
        """Return the coefficient of determination of the mean, R², as every regressor of scikit-learn.

        The groups matter only where ``target_transform`` makes the mean depend on the noise; as for ``predict``.
        The target of a row with a ``sample_weight`` of 0 may be missing (None, NaN or masked).
        """
        return r_squared(y, self.predict(X, noise_groups=noise_groups), sample_weight)

    def log_predictive_density(self, X: Any, y: Any, *, noise_groups: Any = None) -> Vector:
        """Return the log density of each target under its prediction, in the user's units."""
        return self.predict_distribution(X, noise_groups=noise_groups).log_density(y)

    def leave_one_out(self) -> Prediction:
        """Predict each training target from all the others, in closed form, at the learned hyperparameters.

        Rows with a ``sample_weight`` of 0 took no part in training and are not among them.
        """
        check_is_fitted(self)
        with blas_threads(self.n_threads):
            mean, variance = left_out(self._state)
        return Prediction(mean, np.sqrt(variance), self._state.target)

    def log_marginal_likelihood(self, theta: Mapping[str, float] | None = None, *, gradient: bool = False) -> Any:
        """Return the log evidence of the training targets at some hyperparameters.

        Parameters
        ----------
        theta
            Values by path in natural units, as in ``learned_``; those left out stay as learned.
        gradient
            Also return the derivative in each path, in natural units.
        """
        check_is_fitted(self)
        problem = self._problem_of_fit
        if not hasattr(problem, "plan"):  # this model was pickled
            plan = problem.kernel.plan(problem.inputs, n_threads=self.n_threads, memory=self.memory)
            problem = self._problem_of_fit = replace(problem, plan=plan)
        if theta is not None and not isinstance(theta, Mapping):
            raise TypeError(f"theta must map paths to values, as learned_.to_dict() does, got {type(theta).__name__}.")
        known = {parameter.path: parameter.start for parameter in problem.parameters()}
        for path in theta or {}:
            if path not in known:
                raise KeyError(f"{path!r} is no learned hyperparameter; these are: {', '.join(known)}.")
        values = {**known, **self.learned_.to_dict(), **(theta or {})}
        with blas_threads(self.n_threads):
            if not gradient:
                return problem.state(values).log_likelihood
            state, slopes = problem.gradient(values)
        return state.log_likelihood, {path: slopes.get(path, 0.0) for path in known}

    def sample_prior(
        self,
        X: Any,
        n_samples: int = 1,
        *,
        include_noise: bool = True,
        noise_groups: Any = None,
        random_state: Any = None,
    ) -> Vector:
        """Draw targets for some examples before any were seen: one column for each draw.

        Uses the declared hyperparameters before fitting and the learned ones after; weights of a mean are drawn from
        their prior. Draws are in the modelled units before fitting, when no target says what location and scale to
        give them, and in the user's after.
        """
        fitted = hasattr(self, "_state")
        kernel = self.kernel_ if fitted else checked_kernel(self.kernel)
        inputs = self._like_training(X) if fitted else Inputs.of(X)
        columns = self._basis.at(inputs) if fitted else Basis.of(as_mean(self.mean), inputs).columns
        with blas_threads():
            covariance = kernel(inputs, n_threads=self.n_threads, memory=self.memory) + columns @ columns.T
        noise = np.zeros(len(inputs))
        if include_noise:
            noise = new_noise(self.noise_ if fitted else self.noise, len(inputs), noise_groups, fitted=fitted)
        draws = draw(np.zeros(len(inputs)), covariance, noise, n_samples, random_state)
        if fitted:
            return self._state.target.restored(draws)
        return Target(as_transform(self.target_transform), 0.0, 1.0, False).restored(draws)

    def sample_posterior(
        self,
        X: Any,
        n_samples: int = 1,
        *,
        include_noise: bool = False,
        noise_groups: Any = None,
        random_state: Any = None,
    ) -> Vector:
        """Draw functions (or, with noise, observations) for some examples after training: one column for each."""
        check_is_fitted(self)
        mean, covariance = self._joint(X, include_noise=False, noise_groups=None)
        noise = self._noise_of(len(mean), include_noise, noise_groups)
        return self._state.target.restored(draw(mean, covariance, noise, n_samples, random_state))

    def dual_form(self) -> DualForm:
        """Return the coefficients on the training rows, for the mean of the function.

        They are in the user's units; where the target is transformed, in those of the transformed target. A constant
        mean is part of the intercept; a linear one has no such form.
        """
        check_is_fitted(self)
        target = self._state.target
        if not isinstance(self._basis.mean, ConstantMean | None):
            raise InputError(
                "A model with a linear mean is not a sum over training rows alone: the mean adds a function of its "
                "own. Fit it with mean=None or 'constant'; a kernel such as Linear(on='features') is linear too."
            )
        intercept = target.location + target.scale * self.mean_.get("mean.constant", 0.0)
        coefficients = (self._state.alpha * target.scale)[None, :]
        return DualForm(
            self.kernel_,
            self._inputs,
            coefficients,
            np.array([intercept]),
            ("prediction",),
            solve=self._state.solve,
            unit=target.scale,
            constant_variance=0.0 if self._basis.mean is None else self._basis.mean.spread**2,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    def _finish(self, problem: Problem, state: State) -> None:
        self._problem_of_fit, self._inputs, self._state = problem, problem.inputs, state
        self._basis = problem.basis
        self.kernel_, self.noise_, self.transform_ = state.kernel, state.noise, state.target.transform
        self.mean_ = problem.basis.named(state.weights.mean)
        self.log_marginal_likelihood_ = state.log_likelihood
        self.alpha_ = state.alpha
        self.jitter_ = state.factor.jitter
        self.n_examples_ = len(state.z)
        data = problem.inputs._data
        if (isinstance(data, np.ndarray) and data.ndim == 2) or hasattr(data, "tocsr"):
            self.n_features_in_ = int(data.shape[1])
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_

    def _like_training(self, X: Any) -> Inputs:
        """New examples beside those of training; a forest of another vocabulary is translated."""
        return Inputs.of(X, like=self._inputs, translates=True)

    def _blocks(self, X: Any) -> list[Inputs]:
        """New examples, so many at a time that their covariances with the training examples take no more than a
        quarter of the budget.
        """
        inputs = self._like_training(X)
        n, memory = len(inputs), parse_memory(self.memory)
        step = max(1, memory // (4 * 8 * max(1, self.n_examples_)))
        if n <= step:
            return [inputs]
        starts = range(0, n, step)
        return [self._like_training(take_rows(inputs._data, slice(first, first + step))) for first in starts]

    def _cross(self, X: Any) -> Vector:
        """The covariances of the training examples (rows) with others (columns)."""
        return self.kernel_(self._inputs, X, n_threads=self.n_threads, memory=self.memory)

    def _joint(self, X: Any, *, include_noise: bool, noise_groups: Any) -> tuple[Vector, Vector]:
        inputs = self._like_training(X)
        with naming_a_way_out():
            cross, columns = self._cross(inputs), self._basis.at(inputs)
            prior = self.kernel_(inputs, n_threads=self.n_threads, memory=self.memory)
            covariance = covariances(self._state, cross, prior, columns)
        covariance[np.diag_indices_from(covariance)] += self._noise_of(len(inputs), include_noise, noise_groups)
        return means(self._state, cross, columns), covariance

    def _noise_of(self, n: int, include: bool, groups: Any) -> Vector:
        return new_noise(self.noise_, n, groups, fitted=True) if include else np.zeros(n)
