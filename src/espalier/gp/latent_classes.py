"""What the learners of classes and of grades share: labels, their probabilities, dual forms, and files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gp.inference.columns import Columns, ColumnsPosterior
from espalier.gp.inference.sites import SitePosterior, Sites
from espalier.gp.inference.sparse_sites import SparseSitePosterior
from espalier.gp.latent_examples import LatentExamples, finished
from espalier.gp.latent_learner import INFERENCES, LatentLearner
from espalier.gp.likelihoods.weighted import Weighted, WeightedTargets
from espalier.gp.mean import ConstantMean
from espalier.gp.parameters import Vector
from espalier.gram.class_labels import classes_of, classes_state
from espalier.gram.forms import DualForm
from espalier.gram.labels import LabelCodes, check_weights
from espalier.gram.scores import accuracy
from espalier.gram.targets import label_column, without_gaps
from espalier.kernels.inputs import Inputs
from espalier.storage import State, require


@dataclass(eq=False, repr=False)
class LatentClasses(ClassifierMixin, LatentLearner):  # type: ignore[misc]
    """A learner whose targets are labels. One latent function or several, each with its own targets, tell of them.

    A subclass says which labels there are (``_read``), which likelihood relates them to latent values (``_link``), what
    the targets of each function are (``_targets``), and what latent values say of labels (``_log_probabilities``).
    """

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
            classes, codes = self._read(labels, len(inputs), weights)
            own = self._row_weights(classes, codes, weights)
            rows = np.arange(len(inputs)) if weights is None else np.flatnonzero(weights)
            self.classes_, self._codes, self._weights = classes, codes[rows], None if own is None else own[rows]
            return *self._declared(self._link(inputs if len(rows) == len(inputs) else inputs.rows(rows))), rows

        return self._fit(X, type(self).__name__, make)

    def predict(self, X: object) -> NDArray[Any]:
        """Return the most probable label of each example."""
        best = self.predict_log_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: object) -> Vector:
        """Return the probability of each label, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: object) -> Vector:
        """Return the logarithm of the probability of each label, exact where it is tiny."""
        return self._log_probabilities(*self._latents(X))

    def predict_latent(self, X: object) -> tuple[Vector, Vector]:
        """Return the means and the variances of the latent functions: of one, or a column for each."""
        mean, variance = self._latents(X)
        if variance.ndim == 3:
            variance = np.ascontiguousarray(np.einsum("naa->na", variance))
        return (mean[:, 0], variance[:, 0]) if mean.shape[1] == 1 else (mean, variance)

    def log_density(self, X: object, y: object) -> Vector:
        """Return the log probability of the label of each example."""
        log_p = self.predict_log_proba(X)
        return log_p[np.arange(len(log_p)), self._places(label_column(y, len(log_p), warns=False))]

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of rows whose label is predicted correctly, like every classifier of scikit-learn."""
        return accuracy(y, self.predict(X), sample_weight)

    def leave_one_out(self) -> Vector:
        """Return the probability of each label for each training example given all others, in closed form.

        Rows with a ``sample_weight`` of 0 were not used in training and are not among them.
        """
        check_is_fitted(self, "learned_")
        with blas_threads(self.n_threads):
            return np.exp(self._log_probabilities(*self._left_out()))

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
        each = self._given.each if isinstance(self._given, ColumnsPosterior) else []
        is_sparse = self._examples.support is not self._examples.inputs
        intercepts = spread * self.alpha_.sum(axis=1)
        if is_sparse:
            intercepts = np.array([basis.columns[0] @ own.weights.mean for own in each])
        return DualForm(
            *(self.kernel_, self._examples.support, self.alpha_, intercepts),
            names=self._function_names(),
            solve=each[0].solve if len(each) == 1 and not (is_sparse and spread) else None,
            constant_variance=spread,
        )

    @property
    def alpha_(self) -> Vector:
        """The dual weights, one row for each latent function."""
        check_is_fitted(self, "learned_")
        return np.ascontiguousarray(self._given.dual.T)

    def to_state(self) -> dict[str, object]:
        """Return settings, examples and sites; ``load`` computes the matrix and its factors again."""
        check_is_fitted(self, "learned_")
        own: dict[str, object] = {"classes": classes_state(self.classes_), "codes": np.asarray(self._codes, np.int64)}
        if self._weights is not None:
            own["weights"] = self._weights
        return self._declared_state() | self._learned_state() | own | self._given_state()

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
        examples = model._examples_of(state, *model._declared(model._link_of(state)), n)
        model._set_learned(state, examples, model._given_of(state, examples))
        return model

    def _declared(self, link: Any) -> tuple[Any, Any, Any]:
        """The likelihood, the targets and the inference, if ``link`` is the likelihood of a target that counts once."""
        targets, weights = self._targets(), self._weights
        if weights is not None:
            link, targets = Weighted(link), [WeightedTargets(own, weights) for own in targets]
        return link, targets, Columns(INFERENCES[self.inference or "ep"])

    def _finish(self, examples: LatentExamples, given: Any) -> None:
        kinds = SitePosterior | SparseSitePosterior
        if isinstance(given, ColumnsPosterior) and not all(isinstance(own, kinds) for own in given.each):
            K = examples.covariances(n_threads=self.n_threads, memory=self.memory)
            given = ColumnsPosterior([finished(K, own) for own in given.each])
        super()._finish(examples, given)
        if isinstance(self.likelihood_, Weighted):  # that of a target that counts once, which predictions need
            self.likelihood_ = self.likelihood_.likelihood

    def _latents(self, X: object) -> tuple[Vector, Vector]:
        """The means of the latent functions at new examples, and what their variances are."""
        check_is_fitted(self, "learned_")
        found = [(self._given.mean(cross), self._spread(cross, prior)) for cross, prior in self._crosses(X)]
        means, spreads = zip(*found, strict=True)
        return np.concatenate(means), np.concatenate(spreads)

    def _spread(self, cross: Vector, prior: Vector) -> Vector:
        spread: Vector = self._given.variances(cross, prior)
        return spread

    def _left_out(self) -> tuple[Vector, Vector]:
        """The means of the latent values of training examples given all others, and what their variances are."""
        found: tuple[Vector, Vector] = self._given.left_out()
        return found

    def _places(self, labels: NDArray[Any]) -> LabelCodes:
        """The places of labels among those that the model knows."""
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.tolist() if label not in places]
        if unknown:
            raise InputError(
                f"The model knows no class {unknown[0]!r}, so it gives it no probability; it knows "
                f"{', '.join(map(repr, places))}."
            )
        return np.array([places[label] for label in labels.tolist()], np.intp)

    def _given_state(self) -> dict[str, object]:
        each = self._given.each
        return {
            "precision": np.stack([given.sites.precision for given in each]),
            "natural": np.stack([given.sites.natural for given in each]),
            "evidence": np.array([given.log_evidence for given in each]),
        }

    def _given_of(self, state: State, examples: LatentExamples) -> Any:
        """What the file says of the latent values."""
        natural, precision = (state.array(name, np.float64, 2) for name in ("natural", "precision"))
        n_functions = len(examples.targets)
        require(natural.shape == precision.shape == (n_functions, len(self._codes)), "its sites do not fit its rows")
        sound = np.isfinite(natural).all() and np.isfinite(precision).all() and precision.min() >= 0
        require(sound, "a site is no number")
        evidence = state.array("evidence", np.float64)
        require(evidence.shape == (n_functions,), "every function needs its evidence")
        sites = [Sites(*own) for own in zip(precision, natural, strict=True)]
        return examples.under(sites, evidence.tolist())

    def _pilot_rows(self, examples: LatentExamples, rng: np.random.Generator) -> Any:
        """A pilot with at least two rows of each label that has them."""
        order = rng.permutation(len(self._codes))
        codes = self._codes[order]
        first = np.concatenate([np.flatnonzero(codes == place)[:2] for place in range(len(self.classes_))])
        rest = np.setdiff1d(np.arange(len(order)), first)
        n = max(self.pilot or 0, len(first))
        return np.sort(order[np.concatenate([first, rest[: n - len(first)]])])

    def _row_weights(self, classes: NDArray[Any], codes: LabelCodes, weights: Vector | None) -> Vector | None:
        """How often each row counts; None if all rows that count do so once."""
        return None if weights is None or (weights[weights > 0] == 1).all() else weights

    def _read(self, y: object, n_rows: int, weights: Vector | None) -> tuple[NDArray[Any], LabelCodes]:
        """The labels in order, and the place of each row's label among them."""
        raise NotImplementedError

    def _link(self, inputs: Inputs) -> Any:
        """The likelihood with which learning starts."""
        raise NotImplementedError

    def _link_of(self, state: State) -> Any:
        """The likelihood with the learned numbers that a file holds."""
        raise NotImplementedError

    def _targets(self) -> list[Any]:
        """The targets of each latent function."""
        raise NotImplementedError

    def _log_probabilities(self, mean: Vector, variance: Vector) -> Vector:
        """The log probability of each label, from the latent values."""
        raise NotImplementedError

    def _function_names(self) -> tuple[str, ...]:
        """What a large value of each latent function indicates."""
        raise NotImplementedError
