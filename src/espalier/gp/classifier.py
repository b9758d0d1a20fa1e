"""``GPClassifier``: assigns structures to classes, with probabilities, by a learned kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gp.inference import softmax
from espalier.gp.inference.columns import Columns, ColumnsPosterior
from espalier.gp.inference.sites import SitePosterior, Sites, conditioned_on
from espalier.gp.latent import Method
from espalier.gp.latent_examples import LatentExamples, finished
from espalier.gp.latent_learner import INFERENCES, LatentLearner
from espalier.gp.likelihoods.bernoulli import Bernoulli
from espalier.gp.likelihoods.softmax import Softmax
from espalier.gp.likelihoods.weighted import Weighted, WeightedTargets
from espalier.gp.mean import ConstantMean
from espalier.gp.parameters import Vector
from espalier.gram.class_labels import classes_of, classes_state
from espalier.gram.forms import DualForm
from espalier.gram.labels import LabelCodes, check_class_weight, check_classes, check_labels, check_weights
from espalier.gram.scores import accuracy
from espalier.gram.targets import label_column, without_gaps
from espalier.kernels.inputs import Inputs
from espalier.storage import State, require
from espalier.structures.numbers import check_choice

LikelihoodName = Literal["probit", "logit", "softmax"]


@dataclass(eq=False, repr=False)
class GPClassifier(ClassifierMixin, LatentLearner):  # type: ignore[misc]
    """Assign structures to classes, with probabilities, and learn the kernel by gradients.

    A Gaussian process: a class is more probable the larger a latent function is, which is smooth over the space of the
    kernel's features. Fitting maximises the (approximate) evidence, the probability of the training labels, in every
    number of the kernel at once.

    Parameters
    ----------
    kernel
        The kernel. Learning starts from its numbers; ``fixed(...)`` keeps one. If it declares no variance, a learned
        one multiplies it: see the notes.
    likelihood
        ``"probit"`` or ``"logit"``: two classes, and for more one function for each class against the rest (see the
        notes). ``"softmax"``: one function for each class at once; it needs
        ``inference="laplace"`` or None.
    inference
        How the posterior of the latent values is approximated: ``"ep"`` (expectation propagation, also if None),
        ``"laplace"`` (also for ``"softmax"`` if None) or ``"variational"``.
    mean
        What is expected far from all data: ``"constant"``, a learned number for each latent function; None for 0; or
        ``LinearMean(on="features")``. Its weights have a wide normal prior.
    variance_prior
        The prior of each learned variance of the kernel that has no prior of its own: classes that a kernel can
        separate would otherwise make it grow without end. ``"weak"`` is ``LogNormal(10.0, 1.5)``; None is none.
    pilot
        Numbers of the kernel are learned from at most this many examples, drawn at random, and kept. All examples then
        tell what is predicted. None learns from all.
    class_weight
        How often the rows of a class count: a dict by class (1 for classes not named), or ``"balanced"``, weights
        inverse to the number of rows. Probabilities are then those of classes in these proportions.
    restarts, max_iterations, tolerance, learn
        As for :class:`~espalier.GPRegressor`; by default a climb ends after 100 steps, or when the gradient per example
        is below 1e-4.
    random_state, n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`.

    Attributes
    ----------
    classes_
        The labels, in order.
    kernel_
        The kernel with the learned values.
    learned_
        A readable table of all learned numbers.
    log_marginal_likelihood_
        The approximate log evidence of all training labels; for one function for each class, the sum over these.
    restarts_
        One record for each climb.
    alpha_
        The dual weights, one row for each latent function: ``kernel_(x, X) @ alpha_.T`` plus the mean are latent means.
    n_examples_
        How many examples it was trained on: rows with a ``sample_weight`` of 0 do not count.

    Notes
    -----
    A latent value of 1 is one standard deviation of the noise of a probit, so a kernel needs a variance: for values
    between 0 and 1, such as those of ``Normalized``, classes would never become certain. A kernel that is no
    ``Scaled`` and declares no variance is multiplied by one that is learned, starting at 4; write ``fixed(1.0) *
    kernel`` to avoid it.

    With one function for each class against the rest, the probability of a class is that its function says yes and all
    others no, given that this is so for one class: probabilities are in proportion to odds. Dividing the probabilities
    of yes by their sum instead would be far too cautious.

    One evaluation takes a few Cholesky factors for each latent function, O(n^3) each, and O(n^2) memory for each.

    Examples
    --------
    >>> from espalier import Normalized, SubsetTree
    >>> trees = ["(NP (D the) (N cat))", "(NP (D a) (N dog))", "(VP (V runs))", "(VP (V runs) (R fast))"] * 3
    >>> model = GPClassifier(Normalized(SubsetTree())).fit(trees, ["noun", "noun", "verb", "verb"] * 3)
    >>> model.predict(["(NP (D the) (N dog))", "(VP (V sleeps) (R fast))"])
    array(['noun', 'verb'], dtype='<U4')
    """

    _: KW_ONLY
    likelihood: LikelihoodName = "probit"
    inference: Any = None
    class_weight: Any = None

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn the kernel's numbers, and condition on the training labels.

        Parameters
        ----------
        X
            Examples: what the kernel takes (trees, a corpus, vectors, a table for kernels that name columns).
        y
            One label for each.
        sample_weight
            How often each row counts. Rows with a weight of 0 are not used, and their label may be missing.

        Raises
        ------
        KeyboardInterrupt
            If learning is interrupted; any error of ``progress`` is passed on, too. The model is then fitted with the
            best values found so far.
        """

        def make(inputs: Inputs) -> tuple[Any, Any, Any, LabelCodes]:
            weights = check_weights(sample_weight, len(inputs))
            labels = y if weights is None else without_gaps(y, weights)
            classes, codes = check_labels(labels, len(inputs))
            check_classes(classes, codes, weights)
            own = _row_weights(self.class_weight, classes, codes, weights)
            rows = np.arange(len(inputs)) if weights is None else np.flatnonzero(weights)
            self.classes_, self._codes, self._weights = classes, codes[rows], None if own is None else own[rows]
            return *self._declared(), rows

        return self._fit(X, "GPClassifier", make)

    def predict(self, X: object) -> NDArray[Any]:
        """Return the most probable label of each example."""
        best = self.predict_log_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: object) -> Vector:
        """Return the probability of each class, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: object) -> Vector:
        """Return the logarithm of the probability of each class, exact where it is tiny."""
        return self._log_probabilities(*self._latents(X))

    def predict_latent(self, X: object) -> tuple[Vector, Vector]:
        """Return the means and the variances of the latent functions: for two classes of one, else a column each."""
        mean, variance = self._latents(X)
        if variance.ndim == 3:
            variance = np.ascontiguousarray(np.einsum("naa->na", variance))
        return (mean[:, 0], variance[:, 0]) if mean.shape[1] == 1 else (mean, variance)

    def decision_function(self, X: object) -> Vector:
        """Return how much speaks for each class: for two classes the log odds of the second, else log probabilities."""
        log_p = self.predict_log_proba(X)
        return log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p

    def log_density(self, X: object, y: object) -> Vector:
        """Return the log probability of the label of each example."""
        log_p = self.predict_log_proba(X)
        labels = label_column(y, len(log_p), warns=False)
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.tolist() if label not in places]
        if unknown:
            raise InputError(
                f"The model knows no class {unknown[0]!r}, so it gives it no probability; it knows "
                f"{', '.join(map(repr, places))}."
            )
        return log_p[np.arange(len(log_p)), [places[label] for label in labels.tolist()]]

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of rows whose label is predicted correctly, like every classifier of scikit-learn."""
        return accuracy(y, self.predict(X), sample_weight)

    def leave_one_out(self) -> Vector:
        """Return the probability of each class for each training example given all others, in closed form.

        Rows with a ``sample_weight`` of 0 were not used in training and are not among them.
        """
        check_is_fitted(self, "learned_")
        with blas_threads(self.n_threads):
            if self.likelihood == "softmax":
                K = self._examples.covariances(n_threads=self.n_threads, memory=self.memory)
                mean, variance = self._given.left_out(K)
            else:
                own = [each.left_out() for each in self._given.each]
                mean, variance = (np.stack(parts, axis=1) for parts in zip(*own, strict=True))
        return np.exp(self._log_probabilities(mean, variance))

    def dual_form(self) -> DualForm:
        """Return the coefficients of the training rows, for the mean of each latent function."""
        check_is_fitted(self, "learned_")
        basis = self._examples.basis
        if not isinstance(basis.mean, ConstantMean | None):
            raise InputError(
                "A model with a linear mean is not a sum over training rows alone: the mean adds a function of its "
                "own. Fit it with mean=None or 'constant'; a kernel such as Linear(on='features') is linear too."
            )
        spread = 0.0 if basis.mean is None else basis.mean.spread**2
        names = tuple(str(label) for label in self.classes_.tolist())
        is_one = len(self.alpha_) == 1
        return DualForm(
            *(self.kernel_, self._examples.inputs, self.alpha_, spread * self.alpha_.sum(axis=1)),
            names=names[1:] if is_one else names,
            solve=self._given.each[0].solve if is_one and self.likelihood != "softmax" else None,
            constant_variance=spread,
        )

    @property
    def alpha_(self) -> Vector:
        """The dual weights, one row for each latent function."""
        check_is_fitted(self, "learned_")
        if self.likelihood == "softmax":
            return np.ascontiguousarray(self._given.dual.T)
        return np.stack([own.dual for own in self._given.each])

    def to_state(self) -> dict[str, object]:
        """Return settings, examples and sites; ``load`` computes the matrix and its factors again."""
        check_is_fitted(self, "learned_")
        own: dict[str, object] = {"classes": classes_state(self.classes_), "codes": np.asarray(self._codes, np.int64)}
        if self._weights is not None:
            own["weights"] = self._weights
        if self.likelihood == "softmax":
            own |= {"dual": self._given.dual, "latent": self._given.latent, "evidence": self._given.log_evidence}
        else:
            each = self._given.each
            own["precision"] = np.stack([given.sites.precision for given in each])
            own["natural"] = np.stack([given.sites.natural for given in each])
            own["evidence"] = np.array([given.log_evidence for given in each])
        return self._declared_state() | self._learned_state() | own

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the fitted process that a file holds; it has no records of restarts."""
        model = cls._of_declared(state)
        model._check_learner()
        model.classes_, model._codes = classes_of(state.part("classes")), state.array("codes", np.int64).astype(np.intp)
        model._weights = state.array("weights", np.float64) if "weights" in state else None
        n, n_classes = len(model._codes), len(model.classes_)
        require(n > 0 and model._codes.min() >= 0 and model._codes.max() < n_classes, "a label is of no class")
        if model._weights is not None:
            sound = model._weights.shape == (n,) and np.isfinite(model._weights).all() and model._weights.min() > 0
            require(sound, "its rows have other weights")
        examples = model._examples_of(state, *model._declared(), n)
        K = examples.covariances()
        if model.likelihood == "softmax":
            dual, latent = (state.array(name, np.float64, 2) for name in ("dual", "latent"))
            require(dual.shape == latent.shape == (n, n_classes), "its latent values do not fit its rows")
            require(np.isfinite(dual).all() and np.isfinite(latent).all(), "a latent value is not finite")
            given: Any = softmax.around(K, dual, latent, examples.targets, state.number("evidence"))
        else:
            natural, precision = (state.array(name, np.float64, 2) for name in ("natural", "precision"))
            n_functions = 1 if n_classes == 2 else n_classes
            require(natural.shape == precision.shape == (n_functions, n), "its sites do not fit its rows")
            sound = np.isfinite(natural).all() and np.isfinite(precision).all() and precision.min() >= 0
            require(sound, "a site is no number")
            evidence = state.array("evidence", np.float64)
            require(evidence.shape == (n_functions,), "every function needs its evidence")
            given = ColumnsPosterior(
                [
                    conditioned_on(K, Sites(own, mean), float(height))
                    for own, mean, height in zip(precision, natural, evidence, strict=True)
                ]
            )
        model._set_learned(state, examples, given)
        return model

    def _declared(self) -> tuple[Any, Any, Any]:
        """The likelihood, the targets and the inference for the training labels."""
        codes, weights = self._codes, self._weights
        if self.likelihood == "softmax":
            own = codes if weights is None else WeightedTargets(codes, weights)
            return Softmax(len(self.classes_)), own, Method(softmax.condition, softmax.cotangent)
        likelihood: Any = Bernoulli(self.likelihood)
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        signs: list[Any] = [np.where(codes == place, 1.0, -1.0) for place in positive]
        if weights is not None:
            likelihood, signs = Weighted(likelihood), [WeightedTargets(own, weights) for own in signs]
        return likelihood, signs, Columns(INFERENCES[self.inference or "ep"])

    def _finish(self, examples: LatentExamples, given: Any) -> None:
        if self.likelihood != "softmax" and not all(isinstance(own, SitePosterior) for own in given.each):
            K = examples.covariances(n_threads=self.n_threads, memory=self.memory)
            given = type(given)([finished(K, own) for own in given.each])
        super()._finish(examples, given)

    def _latents(self, X: object) -> tuple[Vector, Vector]:
        """The means of the latent functions, and their variances, or for softmax their covariances."""
        check_is_fitted(self, "learned_")
        means, variances = [], []
        for cross, prior in self._crosses(X):
            if self.likelihood == "softmax":
                means.append(self._given.mean(cross))
                variances.append(self._given.covariances(cross, prior))
            else:
                none = np.zeros((cross.shape[1], 0))
                means.append(np.stack([own.mean(cross, none) for own in self._given.each], axis=1))
                variances.append(np.stack([own.variance(cross, prior, none) for own in self._given.each], axis=1))
        return np.concatenate(means), np.concatenate(variances)

    def _log_probabilities(self, mean: Vector, variance: Vector) -> Vector:
        if self.likelihood == "softmax":
            return Softmax(len(self.classes_)).log_predictive(mean, variance)
        link, shape = Bernoulli(self.likelihood), mean.shape
        no, yes = (
            link.log_predictive_density(mean.ravel(), variance.ravel(), np.full(mean.size, sign)).reshape(shape)
            for sign in (-1.0, 1.0)
        )
        if len(self.classes_) == 2:
            return np.concatenate([no, yes], axis=1)
        # One function says yes and all others no, given that this is so for some class.
        odds = yes - no
        return np.asarray(odds - logsumexp(odds, axis=1, keepdims=True))

    def _pilot_rows(self, examples: LatentExamples, rng: np.random.Generator) -> Any:
        """A pilot with at least two rows of each class that has them."""
        order = rng.permutation(len(self._codes))
        codes = self._codes[order]
        first = np.concatenate([np.flatnonzero(codes == place)[:2] for place in range(len(self.classes_))])
        rest = np.setdiff1d(np.arange(len(order)), first)
        n = max(self.pilot or 0, len(first))
        return np.sort(order[np.concatenate([first, rest[: n - len(first)]])])

    def _check_learner(self) -> None:
        check_choice("likelihood", self.likelihood, "probit", "logit", "softmax")
        if self.inference is not None:
            check_choice("inference", self.inference, *INFERENCES)
        if self.likelihood == "softmax" and self.inference not in (None, "laplace"):
            raise ValueError(
                f"likelihood='softmax' needs inference='laplace', got {self.inference!r}. For "
                f"inference={self.inference!r} use likelihood='probit', one function for each class."
            )
        super()._check_learner()


def _row_weights(
    class_weight: object, classes: NDArray[Any], codes: LabelCodes, weights: Vector | None
) -> Vector | None:
    """How often each row counts; None if all count once."""
    by_class = check_class_weight(class_weight, classes)
    if by_class is None:
        return None if weights is None or (weights[weights > 0] == 1).all() else weights
    if isinstance(by_class, str):
        rows = codes if weights is None else codes[weights > 0]
        by_class = compute_class_weight("balanced", classes=np.arange(len(classes)), y=rows)
    own = np.asarray(by_class, np.float64)[codes]
    return own if weights is None else own * weights
