"""``LinearizedTreeClassifier``: a kernel machine, its fragments, and a linear model over them, in one estimator.

``primal_form`` gives the weights of the features of such a model, also of one in two steps.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.fragments.vectorizer import FragmentVectorizer, MiningLearner
from espalier.gram.class_labels import classes_of, classes_state
from espalier.gram.forms import PrimalForm, PrimalPart
from espalier.gram.scores import accuracy
from espalier.gram.targets import Floats
from espalier.jobs.executor import Executor
from espalier.spaces.terms import Term
from espalier.storage import State, require


@dataclass(eq=False, repr=False)
class LinearizedTreeClassifier(ClassifierMixin, MiningLearner):  # type: ignore[misc]
    """Classify trees by a linear model over the fragments that a kernel machine weighs most.

    It learns kernel machines on parts of the training data, mines their fragments, counts those in every training tree
    and learns a linear model: nearly the accuracy of the kernel machine, at the speed of a linear one.

    Parameters
    ----------
    kernel, learner, n_fragments, n_splits, strategy, max_expansions, max_size, random_state
        As for :class:`FragmentVectorizer`.
    linear
        Any linear classifier of scikit-learn; ``LinearSVC(C=10)`` if None.
    dictionary
        ``"union"`` gives every class all fragments; ``"class"`` gives each class those that were mined for it, and a
        linear model of its own that separates it from the rest.
    n_threads, memory, progress, verbose
        As for :func:`mine_fragments`.

    Attributes
    ----------
    classes_
        The labels, in order.
    vectorizer_
        The fitted :class:`FragmentVectorizer`.
    linear_
        The fitted linear model, or one for each class; a classifier that was loaded has none.

    Examples
    --------
    >>> trees = ["(NP (D the) (N cat))", "(NP (D a) (N dog))", "(VP (V runs))", "(VP (V runs) (R fast))"]
    >>> model = LinearizedTreeClassifier(n_fragments=10).fit(trees, ["noun", "noun", "verb", "verb"])
    >>> model.predict(["(NP (D the) (N dog))", "(VP (V runs) (R slowly))"])
    array(['noun', 'verb'], dtype='<U4')
    """

    _: KW_ONLY
    linear: Any = None
    dictionary: Literal["union", "class"] = "union"

    def fit(self, X: object, y: object, *, executor: Executor | None = None) -> Self:
        """Learn from trees and one label for each; ``executor`` as for :class:`FragmentVectorizer`.

        If learning is interrupted, ``vectorizer_`` has the fragments that were mined so far, from which ``transform``
        makes features for any linear model; the classifier itself has none and cannot predict. It stays as it was if no
        fragment was found yet.
        """
        self._check_choice("dictionary", "union", "class")
        options = self.get_params(deep=False)
        for name in ("linear", "dictionary", "progress", "verbose"):
            options.pop(name)
        with self._scheduled(f"fitting {type(self).__name__}") as schedule:
            vectorizer = FragmentVectorizer(**options, progress=schedule.between(0.0, 0.9).report)
            try:
                vectorizer.fit(X, y, executor=executor)
            finally:
                if hasattr(vectorizer, "terms_"):  # as an interrupted vectorizer has, if it found any fragment
                    self.vectorizer_ = vectorizer.set_params(progress=None)
                    for name in ("classes_", "linear_", "_weights"):  # of an earlier fit
                        self.__dict__.pop(name, None)
            self._fit_linear(X, np.asarray(y))
            schedule.done()
        self._trained_on = self.vectorizer_.trained_on()
        return self

    def _fit_linear(self, X: object, labels: NDArray[Any]) -> None:
        from sklearn.svm import LinearSVC

        features = self.vectorizer_.transform(X)
        self.classes_ = np.unique(labels)
        linear = LinearSVC(C=10.0, random_state=0) if self.linear is None else self.linear
        n_features = features.shape[1]
        with blas_threads():
            if self.dictionary == "union" or len(self.classes_) == 2:
                self.linear_ = clone(linear).fit(features, labels)
                self._weights = _weights(self.linear_, n_features)
                return
            self._columns = [self.vectorizer_.columns_of(str(label)) for label in self.classes_.tolist()]
            own = list(zip(self.classes_, self._columns, strict=True))
            self.linear_ = [clone(linear).fit(features[:, columns], labels == label) for label, columns in own]
            weights, intercepts = np.zeros((n_features, len(own))), np.zeros(len(own))
            for k, (model, columns) in enumerate(zip(self.linear_, self._columns, strict=True)):
                found = _weights(model, len(columns))
                if found is None:
                    self._weights = None
                    return
                weights[columns, k], intercepts[k] = found[0][:, 0], found[1][0]
            self._weights = weights, intercepts

    def decision_function(self, X: object) -> Floats:
        """Return the scores of the classes; one score for each tree if there are two classes."""
        check_is_fitted(self, "_weights")  # set last by ``fit``, and by ``load``
        if self._weights is not None:
            weights, intercepts = self._weights
            scores = self.vectorizer_.weighed(X, weights) + intercepts
            return np.ascontiguousarray(scores[:, 0]) if scores.shape[1] == 1 else scores
        features = self.vectorizer_.transform(X)
        if isinstance(self.linear_, list):
            parts = zip(self.linear_, self._columns, strict=True)
            return np.stack([model.decision_function(features[:, columns]) for model, columns in parts], axis=1)
        return np.asarray(self.linear_.decision_function(features))

    def primal_form(self) -> PrimalForm:
        """Return the weights of all features, which mining and explaining need."""
        return _form(self.vectorizer_, self._sums("explained"), self.classes_)

    def _sums(self, what: str) -> tuple[Floats, Floats]:
        """The weights of all features, and the intercepts; an error if scores are not their sums."""
        check_is_fitted(self, "_weights")
        if self._weights is None:
            raise _not_linear(self.linear_[0] if isinstance(self.linear_, list) else self.linear_, what)
        return self._weights

    def predict(self, X: object) -> NDArray[Any]:
        """Return one label for each tree."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of rows whose label is predicted correctly, as all classifiers of scikit-learn do.

        The target of a row with a ``sample_weight`` of 0 may be missing (None, NaN or masked).
        """
        return accuracy(y, self.predict(X), sample_weight)

    def to_state(self) -> dict[str, object]:
        """Return the settings, the fragments and their weights.

        The classes may be strings, numbers or booleans. The linear model must be one whose scores are sums of weights
        over features, such as ``LinearSVC`` or ``LogisticRegression``.
        """
        weights, intercepts = self._sums("saved")
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise InputError("A classifier whose weights are not finite cannot be saved: the linear model diverged.")
        learned = {"weights": weights, "intercepts": np.broadcast_to(intercepts, weights.shape[1])}
        declared = self._declared_state()
        return {**declared, "vectorizer": self.vectorizer_, "classes": classes_state(self.classes_), **learned}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the classifier that a file holds."""
        made = cls._of_declared(state)
        made.vectorizer_ = state.object("vectorizer", FragmentVectorizer)
        made.classes_ = classes_of(state.part("classes"))
        weights, intercepts = state.array("weights", np.float64, 2), state.array("intercepts", np.float64)
        n_scores, n_classes, n_features = len(intercepts), len(made.classes_), made.vectorizer_.n_features_out_
        fit = n_scores == n_classes or (n_scores == 1 and n_classes == 2)
        require(fit, f"{n_scores} scores do not fit {n_classes} classes")
        require(
            weights.shape == (n_features, n_scores),
            f"'weights' must have one row for each of {n_features:,} features and one column for each score",
        )
        require(np.isfinite(weights).all() and np.isfinite(intercepts).all(), "a weight is not finite")
        made._weights = weights, intercepts
        return made


def primal_form(model: Any) -> PrimalForm | None:
    """Return the weights of the features of a linear model; None if it has no such form.

    The model is a fitted pipeline of scikit-learn that is a :class:`FragmentVectorizer` and a linear model, or anything
    with a method ``primal_form()``.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> vectorizer = FragmentVectorizer(by="frequency", max_size=1)
    >>> form = primal_form(make_pipeline(vectorizer, Ridge()).fit(["(N cat)", "(N dog)"], [1.0, 3.0]))
    >>> form.parts[0].features.names(), form.parts[0].weights.round(2).tolist(), form.names
    (['(N cat)', '(N dog)'], [[-0.5], [0.5]], ('prediction',))
    """
    if hasattr(model, "primal_form"):
        form: PrimalForm = model.primal_form()
        return form
    if not isinstance(model, Pipeline):
        return None
    steps = [step for _, step in model.steps]
    if not any(isinstance(step, FragmentVectorizer) for step in steps):
        return None
    if len(steps) != 2 or not isinstance(steps[0], FragmentVectorizer):
        raise InputError("A pipeline to explain must be a FragmentVectorizer and a linear model, and nothing else.")
    vectorizer, linear = steps
    check_is_fitted(linear)
    weights = _weights(linear, vectorizer.n_features_out_)
    if weights is None:
        raise _not_linear(linear, "explained")
    return _form(vectorizer, weights, getattr(linear, "classes_", None))


def _form(vectorizer: FragmentVectorizer, sums: tuple[Floats, Floats], classes: NDArray[Any] | None) -> PrimalForm:
    if vectorizer.values == "binary":
        raise InputError("Features of values='binary' are not those of a kernel. Use values='kernel' or 'count'.")
    weights, intercepts = sums
    n_scores = weights.shape[1]
    parts, first = [], 0
    for own in vectorizer.terms_:
        rows = slice(first, first := first + len(own.fragments))
        term = own.term if vectorizer.values == "kernel" else Term(own.term.path, own.term.space.counting())
        parts.append(PrimalPart(term, own.fragments, np.sqrt(term.scale) * weights[rows]))
    if classes is not None:
        names = [str(name) for name in classes.tolist()[-n_scores:]]  # one score is that of the second class
    else:
        names = ["prediction"] if n_scores == 1 else [f"prediction {k}" for k in range(n_scores)]
    return PrimalForm(tuple(parts), np.broadcast_to(intercepts, n_scores), tuple(names))


def _weights(model: Any, n_features: int) -> tuple[Floats, Floats] | None:
    """A model's weights by feature and score, and its intercepts; None if its scores are not just their sums."""
    from scipy.sparse import eye

    scorer = "decision_function" if hasattr(model, "classes_") else "predict"
    if not all(hasattr(model, name) for name in ("coef_", "intercept_", scorer)):
        return None
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.asarray(model.coef_)
    weights: Floats = np.ascontiguousarray(np.atleast_2d(coef).T, np.float64)
    intercepts: Floats = np.atleast_1d(np.asarray(model.intercept_, np.float64))
    few = eye(20, n_features, format="csr")
    expected = np.asarray(getattr(model, scorer)(few)).reshape(few.shape[0], -1)
    scores = few @ weights + intercepts
    same = scores.shape == expected.shape and np.allclose(scores, expected, rtol=1e-6, atol=1e-9)
    return (weights, intercepts) if same else None


def _not_linear(linear: object, what: str) -> InputError:
    return InputError(
        f"A model with {linear!r} cannot be {what}: its scores are not plain sums of weights over features. Use a "
        "linear model with coef_ and intercept_, such as LinearSVC, LogisticRegression, RidgeClassifier or "
        "SGDClassifier."
    )
