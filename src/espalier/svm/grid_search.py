"""``KernelGridSearch``: try many settings of a kernel machine, and compute each kernel's matrix once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from espalier.errors import InputError
from espalier.gram.estimator import Learner
from espalier.gram.labels import check_weights
from espalier.gram.targets import gaps_without_weight, without_gaps
from espalier.jobs.executor import Executor, run_jobs
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel, Matrix
from espalier.kernels.inputs import Inputs
from espalier.storage import State, require
from espalier.storage.homes import class_of, kind_of
from espalier.structures.columns import refuse_masked
from espalier.svm.estimator import KernelMachine, available_if, kernel_matrix, warn_of_early_stop
from espalier.svm.trials import Fold, Trial, by_kernel, columns_of, make_candidates

Split = tuple[NDArray[np.intp], NDArray[np.intp]]

_HOOKS = ("_check_settings", "_check_targets", "_fit_matrix", "_keep_rows", "predict")

LARGEST_SCORE = 1e100  # squares of larger ones overflow


def _best_has(name: str) -> Callable[[object], None]:
    def check(search: Any) -> None:
        getattr(getattr(search, "best_estimator_", search.estimator), name)

    return check


@dataclass(eq=False, repr=False)
class KernelGridSearch(MetaEstimatorMixin, Learner):  # type: ignore[misc]
    """Find the best kernel and the best settings of a machine by cross-validation, one matrix per kernel.

    scikit-learn's ``GridSearchCV`` gives the same scores, but computes a matrix for every fold of every candidate.
    Here the matrix of each distinct kernel over all rows is computed once, and folds are cut out of it.

    Parameters
    ----------
    estimator
        A ``KernelSVC`` or a ``KernelSVR``, with the settings that the grid does not name.
    param_grid
        A dict of lists, ``{"kernel": [...], "C": [...]}`` or ``{"kernel__decay": [...]}``, of which every combination
        is tried; or a list of them.
    cv
        The number of folds (stratified for a classifier), a splitter of scikit-learn, or pairs of training and test
        rows.
    scoring
        The name of a score of scikit-learn, or a function of estimator, rows and targets; None is the estimator's
        own. A function receives kernel values in place of rows, and can only pass them on to the estimator.
    refit
        Whether to fit the best settings on all rows in the end.
    n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`. Progress is that of the whole search.

    Attributes
    ----------
    best_params_, best_score_, best_index_
        The candidate with the best mean score (the first of equals), its score, and its index in ``cv_results_``.
    best_estimator_
        The best candidate, fitted on all rows, with ``refit=True``.
    cv_results_ : dict of arrays
        For each candidate ``params``, ``param_<name>``, ``split<k>_test_score``, ``mean_test_score``,
        ``std_test_score`` and ``rank_test_score``, in the order of ``GridSearchCV``.
    n_splits_
        How many folds.
    n_matrices_
        How many matrices were computed: one per distinct kernel, and one more for the last fit if the best kernel
        was not the last one, because only one matrix is held at a time.

    Notes
    -----
    Memory is that of one matrix over all rows, 8 bytes for each pair, and of a fold's part of it.

    Examples
    --------
    >>> from espalier import KernelSVC, Normalized, SubsetTree
    >>> from espalier.demo import generate
    >>> table = generate(80, seed=1)
    >>> model = KernelSVC(Normalized(SubsetTree()))
    >>> search = KernelGridSearch(model, {"kernel__decay": [0.2, 0.4, 0.8], "C": [1.0, 10.0]}, cv=4)
    >>> search = search.fit(table["tree"], table["label"])
    >>> len(search.cv_results_["params"]), search.n_splits_, search.n_matrices_ <= 4
    (6, 4, True)
    """

    estimator: Any
    param_grid: object
    _: KW_ONLY
    cv: object = 5
    scoring: object = None
    refit: bool = True

    _unsaved = ("estimator",)  # a file holds its parameters apart, because it is not fitted

    def fit(
        self,
        X: object,
        y: object,
        *,
        groups: object = None,
        sample_weight: object = None,
        executor: Executor | None = None,
    ) -> Self:
        """Score every candidate by cross-validation, fit the best on all rows, and return this search.

        Parameters
        ----------
        X, y, sample_weight
            The training data. Weights also count in the scores that accept weights, as most do. A row with
            weight 0 may miss its target; then it is not tested.
        groups
            The group of each row, for splitters that keep groups together.
        executor
            Fits the machines of the folds elsewhere, such as in :class:`~espalier.jobs.Processes`, which gives the same
            results. The matrices are computed here.

        Raises
        ------
        KeyboardInterrupt
            Passed on if the search is interrupted. ``cv_results_`` and ``best_params_`` then tell of the candidates
            that were done, if there are any, and no estimator is fitted.
        """
        candidates = self._check_settings()
        self.__dict__.pop("best_estimator_", None)  # of an earlier search
        inputs = Inputs.of(X)
        self._trained_on = inputs.description()
        refuse_masked(groups, "groups")
        weights = check_weights(sample_weight, len(inputs))
        gaps = np.empty(0, np.intp)
        if weights is not None:
            y, gaps = without_gaps(y, weights), gaps_without_weight(y, weights)
        candidates[0].model._check_targets(y, len(inputs))
        y = np.asarray(y).ravel()
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = _tested(list(splitter.split(inputs._data, y, groups)), gaps, len(inputs))
        self.scorer_ = _scorer(self.estimator, self.scoring)
        with self._scheduled("grid search") as schedule:
            schedule = replace(schedule, executor=executor)
            n_early = self._search(candidates, inputs, y, weights, splits, schedule)
            schedule.done()
        warn_of_early_stop(n_early)
        return self

    def _search(
        self,
        candidates: list[Trial],
        inputs: Inputs,
        y: NDArray[Any],
        weights: NDArray[np.float64] | None,
        splits: list[Split],
        schedule: Schedule,
    ) -> int:
        """Score all candidates and fit the best; return how many machines stopped early."""
        scores = np.full((len(candidates), len(splits)), np.nan)
        searching = schedule.between(0.0, 0.9 if self.refit else 1.0)
        kernels = by_kernel(candidates)
        listed = [candidate.params for candidate in candidates]
        n_early, self.n_matrices_ = 0, 0
        gram: Matrix | None = None
        try:
            for k, (kernel, numbers) in enumerate(kernels):
                gram = None  # dropped before the next one is made
                part = searching.part(k, len(kernels))
                gram = kernel_matrix(kernel, inputs, None, part.between(0.0, 0.5))
                self.n_matrices_ += 1
                models = tuple(candidates[number].model for number in numbers)
                tell = part.between(0.5, 1.0).tell
                # The folds hold the matrix, so nothing but the loop holds them.
                for fold, (found, early) in enumerate(
                    run_jobs(
                        [Fold(gram, y, weights, train, test, models, self.scorer_) for train, test in splits],
                        schedule.executor,
                        tell,
                    )
                ):
                    scores[numbers, fold] = found
                    n_early += early
        except BaseException:  # an interrupt, or an error of progress
            if not np.isnan(scores).any(axis=1).all():  # some candidates are done
                self._set_results(listed, scores)
            raise
        self._set_results(listed, scores)
        if not self.refit:
            return n_early
        best = candidates[self.best_index_].model
        if gram is None or self.best_index_ not in kernels[-1][1]:
            gram = None
            gram = kernel_matrix(best.kernel, inputs, None, schedule.between(0.9, 1.0))
            self.n_matrices_ += 1
        self.best_estimator_ = best._fit_matrix(gram, y, weights)
        best._keep_rows(inputs)
        return n_early + int(best._n_early)

    def _check_settings(self) -> list[Trial]:
        missing = [name for name in _HOOKS if not hasattr(self.estimator, name)]
        if missing or not isinstance(getattr(self.estimator, "kernel", None), Kernel):
            raise TypeError(
                f"KernelGridSearch needs an estimator that learns from a kernel's matrix, such as KernelSVC or "
                f"KernelSVR, got {self.estimator!r}. Use GridSearchCV of scikit-learn for any other."
            )
        if not isinstance(self.refit, bool | np.bool_):
            raise ValueError(f"refit must be True or False, got {self.refit!r}.")
        return make_candidates(self.estimator, self.param_grid)

    def _set_results(self, listed: list[dict[str, Any]], scores: Matrix) -> None:
        mean = scores.mean(axis=1)
        ranked = rankdata(np.where(np.isnan(mean), np.inf, -mean), method="min").astype(np.int32)
        self.n_splits_ = scores.shape[1]
        self.cv_results_: dict[str, Any] = {"params": listed, **columns_of(listed)}
        self.cv_results_ |= {f"split{k}_test_score": scores[:, k].copy() for k in range(scores.shape[1])}
        self.cv_results_ |= {"mean_test_score": mean, "std_test_score": scores.std(axis=1), "rank_test_score": ranked}
        self.best_index_ = int(ranked.argmin())
        self.best_params_ = listed[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])

    def to_state(self) -> dict[str, object]:
        """Return the settings, the candidates with their scores, and the best estimator if it was fitted.

        A file holds no code, so ``cv`` must be a number, and ``scoring`` a name or None.
        """
        check_is_fitted(self, "cv_results_")
        for name in ("cv", "scoring"):
            if not isinstance(value := getattr(self, name), int | str | None):
                raise InputError(
                    f"A file holds no code, so it cannot hold {name}={value!r:.60}. Save what the search found: "
                    "search.best_estimator_.save(path)."
                )
        splits = [self.cv_results_[f"split{k}_test_score"] for k in range(self.n_splits_)]
        best = {"best": self.best_estimator_} if hasattr(self, "best_estimator_") else {}
        return {
            **self._declared_state(),
            "estimator": {"kind": kind_of(self.estimator), **self.estimator._declared_state()},
            "params": self.cv_results_["params"],
            "scores": np.column_stack(splits),
            "n_matrices": self.n_matrices_,
            **best,
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        kind = state.part("estimator").text("kind")
        require(kind in ("KernelSVC", "KernelSVR"), f"a {kind:.60} is no machine")
        estimator = class_of(kind)._of_declared(state.part("estimator"))
        search: Self = cls._of_declared(state, estimator=estimator)
        search._check_settings()
        listed, scores = state.object("params", tuple), state.array("scores", np.float64, 2)
        whole = all(isinstance(params, dict) for params in listed)
        require(whole and len(listed) == len(scores) > 0 < scores.shape[1], "every candidate needs its scores")
        require(not np.any(np.abs(scores) > LARGEST_SCORE), "a score is too large")
        search._set_results(list(listed), scores)
        search.n_matrices_ = state.whole("n_matrices")
        search.scorer_ = _scorer(estimator, search.scoring)
        if "best" in state:
            search.best_estimator_ = state.object("best", KernelMachine)
        return search

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of the best classifier."""
        classes: NDArray[Any] = self.best_estimator_.classes_
        return classes

    @available_if(_best_has("predict"))
    def predict(self, X: object) -> NDArray[Any]:
        """Predict with the best estimator."""
        return np.asarray(self._best().predict(X))

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: object) -> Matrix:
        """Return the values of the best estimator's machines."""
        return np.asarray(self._best().decision_function(X))

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: object) -> Matrix:
        """Return the probabilities of the best estimator."""
        return np.asarray(self._best().predict_proba(X))

    def score(self, X: object, y: object) -> float:
        """Score the best estimator on other rows, by the score of the search."""
        refuse_masked(y, "y")
        return float(self.scorer_(self._best(), X, y))

    def _best(self) -> Any:
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "best_estimator_"):
            why = "was interrupted" if self.refit else "was made with refit=False"
            advice = "Search again" if self.refit else "Set refit=True"
            raise AttributeError(
                f"The search {why}, so there is no fitted estimator. {advice}, or fit an estimator with best_params_."
            )
        return self.best_estimator_

    @property
    def _estimator_type(self) -> object:  # how scikit-learn before 1.6 tells classifiers from regressors
        return getattr(self.estimator, "_estimator_type", None)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags = inner.input_tags
        return tags


def _scorer(estimator: object, scoring: object) -> Callable[..., float]:
    if scoring is not None and not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(f"scoring must be None, the name of one score or a function, got {scoring!r}.")
    scorer: Callable[..., float] = check_scoring(estimator, scoring=scoring)
    return scorer


def _tested(splits: list[Split], gaps: NDArray[np.intp], n_rows: int) -> list[Split]:
    """Return the splits without test rows whose targets are missing, because not every score accepts weights."""
    if not len(gaps):
        return splits
    out = []
    for fold, (train, test) in enumerate(splits):
        rows = np.arange(n_rows)[test]
        if not len(kept := rows[~np.isin(rows, gaps)]):
            raise InputError(
                f"Fold {fold} of cv has no test row with a target: all its test rows have the weight 0 and a missing "
                "target. Drop these rows, or use other folds."
            )
        out.append((train, kept))
    return out
