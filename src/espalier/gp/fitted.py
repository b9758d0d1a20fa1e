"""What a fitted regressor offers: predictions, block by block, draws, evidence, and its dual form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, overload

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gp.learned import LearnedTable
from espalier.gp.likelihoods.gaussian import new_noise, start_of_noise
from espalier.gp.mean import ConstantMean
from espalier.gp.parameters import Vector
from espalier.gp.prediction import Prediction
from espalier.gp.regression import Examples, Posterior
from espalier.gp.sampling import draw
from espalier.gram.estimator import KernelEstimator
from espalier.gram.forms import DualForm
from espalier.gram.scores import r_squared
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.memory import parse_memory
from espalier.kernels.hyperparameters import PerLabel
from espalier.kernels.inputs import Inputs


class FittedRegressor(RegressorMixin, KernelEstimator):  # type: ignore[misc]
    """The methods of a fitted regressor, which need only its examples and its posterior."""

    learned_: LearnedTable
    _takes_matrices = True

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
            Levels between 0 and 1: also return an array with one column for each.
        include_noise
            Whether deviations and quantiles are those of a new observation, or of the function itself.
        noise_groups
            The groups of the new examples, if noise is per group. The mean alone does not need them: it does not depend
            on the noise, or, with ``target_transform``, it uses the start of ``PerLabel`` and warns.

        Returns
        -------
        The mean, or a tuple: mean, deviations or covariances, quantiles.
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
            prediction = Prediction(mean, np.sqrt(covariance.diagonal()), target)
            scale = np.float64(target.scale)
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

    def predict_distribution(self, X: object, *, include_noise: bool = True, noise_groups: object = None) -> Prediction:
        """Return a :class:`Prediction`: mean, median, quantiles and density for each example."""
        return self._distribution(X, lambda n: self._noise_of(n, include_noise, noise_groups))

    def score(self, X: object, y: object, sample_weight: object = None, *, noise_groups: object = None) -> float:
        """Return the coefficient of determination of the mean, R², as all regressors of scikit-learn do.

        The groups matter only if ``target_transform`` makes the mean depend on the noise, as for ``predict``.
        The target of a row with a ``sample_weight`` of 0 may be missing (None, NaN or masked).
        """
        return r_squared(y, self.predict(X, noise_groups=noise_groups), sample_weight)

    def log_predictive_density(self, X: object, y: object, *, noise_groups: object = None) -> Vector:
        """Return the log density of each target under its prediction, in the user's units."""
        return self.predict_distribution(X, noise_groups=noise_groups).log_density(y)

    def leave_one_out(self) -> Prediction:
        """Predict each training target from all the others, in closed form, at the learned hyperparameters.

        Rows with a ``sample_weight`` of 0 were not used in training and are not among them.
        """
        check_is_fitted(self)
        with blas_threads(self.n_threads):
            mean, variance = self._posterior.given.left_out()
        return Prediction(mean, np.sqrt(variance), self._posterior.target)

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
        if theta is not None and not isinstance(theta, Mapping):
            raise TypeError(f"theta must map paths to values, as learned_.to_dict() does, got {type(theta).__name__}.")
        known = {parameter.path: parameter.start for parameter in self._examples.parameters()}
        for path in theta or {}:
            if path not in known:
                raise KeyError(f"{path!r} is not a learned hyperparameter; these are: {', '.join(known)}.")
        values = {**known, **self.learned_.to_dict(), **(theta or {})}
        objective = self._examples.objective(n_threads=self.n_threads, memory=self.memory)
        with blas_threads(self.n_threads):
            if not gradient:
                return objective.value(values)
            value, slopes = objective.gradient(values)
        return value, {path: slopes.get(path, 0.0) for path in known}

    def sample_posterior(
        self,
        X: object,
        n_samples: int = 1,
        *,
        include_noise: bool = False,
        noise_groups: object = None,
        random_state: object = 0,
    ) -> Vector:
        """Draw functions (or, with noise, observations) for some examples after training: one column for each."""
        mean, covariance = self._joint(X)
        noise = self._noise_of(len(mean), include_noise, noise_groups)
        return self._posterior.target.restored(draw(mean, covariance, noise, n_samples, random_state))

    def dual_form(self) -> DualForm:
        """Return the coefficients of the training rows, for the mean of the function.

        They are in the user's units, or, if the target is transformed, in units of the transformed target. A constant
        mean is part of the intercept; a model with a linear mean has no such form.
        """
        check_is_fitted(self)
        target, mean = self._posterior.target, self._examples.basis.mean
        if not isinstance(mean, ConstantMean | None):
            raise InputError(
                "A model with a linear mean is not a sum over training rows alone: the mean adds a function of its "
                "own. Fit it with mean=None or 'constant'; a kernel such as Linear(on='features') is linear too."
            )
        intercept = target.location + target.scale * self.mean_.get("mean.constant", 0.0)
        return DualForm(
            self.kernel_,
            self._examples.inputs,
            (self.alpha_ * target.scale)[None, :],
            np.array([intercept]),
            ("prediction",),
            solve=self._posterior.given.solve,
            unit=target.scale,
            constant_variance=0.0 if mean is None else mean.spread**2,
        )

    def _finish(self, examples: Examples, posterior: Posterior) -> None:
        """Keep what predictions need, and show it in attributes."""
        self._examples, self._posterior, given = examples, posterior, posterior.given
        self.kernel_, self.noise_ = posterior.kernel, posterior.likelihood.noise
        self.transform_, self.mean_ = posterior.target.transform, examples.basis.named(given.weights.mean)
        self.log_marginal_likelihood_ = posterior.log_likelihood
        self.alpha_, self.jitter_ = given.dual, given.factor.jitter
        self.n_examples_ = len(examples.y)
        self._set_width(examples.inputs._data)

    def _like_training(self, X: object) -> Inputs:
        """New examples, read like those of training; a forest of another vocabulary is translated."""
        check_is_fitted(self)
        return Inputs.of(X, like=self._examples.inputs, translates=True)

    def _distribution(self, X: object, noise: Callable[[int], Vector]) -> Prediction:
        """The distribution of new targets; ``noise(n)`` gives the variances of n observations."""
        mean, variance = [], []
        with naming_a_way_out():
            for part in self._blocks(X):
                cross, columns = self._cross(part)
                prior = self.kernel_.diagonal(part, n_threads=self.n_threads, memory=self.memory)
                mean.append(self._posterior.given.mean(cross, columns))
                variance.append(self._posterior.given.variance(cross, prior, columns))
        total = np.concatenate(variance)
        return Prediction(np.concatenate(mean), np.sqrt(total + noise(len(total))), self._posterior.target)

    def _joint(self, X: object) -> tuple[Vector, Vector]:
        """The mean and the covariances of the function at new examples."""
        inputs = self._like_training(X)
        with naming_a_way_out():
            cross, columns = self._cross(inputs)
            prior = self.kernel_(inputs, n_threads=self.n_threads, memory=self.memory)
            covariance = self._posterior.given.covariance(cross, prior, columns)
        return self._posterior.given.mean(cross, columns), covariance

    def _cross(self, inputs: Inputs) -> tuple[Vector, Vector]:
        """The covariances of the training examples (rows) with others (columns), and what the mean reads of these."""
        cross = self.kernel_(self._examples.inputs, inputs, n_threads=self.n_threads, memory=self.memory)
        return cross, self._examples.basis.at(inputs)

    def _blocks(self, X: object) -> list[Inputs]:
        """New examples, some at a time."""
        check_is_fitted(self)
        return Inputs.of(X).blocks(self._examples.inputs, parse_memory(self.memory))

    def _noise_of(self, n: int, include: bool, groups: object) -> Vector:
        return new_noise(self.noise_, n, groups, fitted=True) if include else np.zeros(n)
