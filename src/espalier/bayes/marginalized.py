"""``Marginalized``: a fitted learner whose predictions are averages over draws of its hyperparameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.bayes.draws import Draws
from espalier.bayes.mixture import Mixture
from espalier.blas import blas_threads
from espalier.gp.parameters import Vector
from espalier.gp.task_prediction import TaskPrediction
from espalier.gram.scores import accuracy, mean_r_squared, r_squared
from espalier.gram.target_matrix import TargetMatrix
from espalier.storage import State, Storable
from espalier.structures.numbers import whole_number

N_MODELS = 100  # draws that predictions use, by default


@dataclass(eq=False)
class Marginalized(Storable):
    """A learner that is averaged over its hyperparameters.

    Each prediction is made once for each of some draws, and the predictions are averaged: densities of numbers, and
    probabilities of classes and of choices.

    Parameters
    ----------
    model
        The fitted learner.
    draws
        What :func:`~espalier.bayes.sample` or :func:`~espalier.bayes.approximate` returns in its attribute ``draws``.
    n_models
        How many draws predictions use, evenly spaced over all chains; None uses all. Draws that follow each other are
        alike, so that a hundred of two thousand lose little. All points of a design are used.

    Notes
    -----
    No matrix is kept. A prediction computes the covariances of the training examples, and their factor, once for each
    draw that it uses.
    """

    model: Any
    draws: Draws
    n_models: int | None = N_MODELS

    def __post_init__(self) -> None:
        check_is_fitted(self.model)
        if self.n_models is not None:
            whole_number("n_models", self.n_models, none=True)

    def predict(self, X: object) -> Any:
        """Return the averaged prediction: the mean of numbers, the most probable class or candidate, or a grade."""
        if hasattr(self.model, "predict_distribution"):
            return self.predict_distribution(X).mean
        probabilities = self.predict_proba(X)
        if isinstance(probabilities, list):
            groups: Any = X
            return [group.candidates[int(own.argmax())] for group, own in zip(groups, probabilities, strict=True)]
        if getattr(self.model, "predicts", "mode") == "median":  # of grades, which are in order
            return self.model.classes_[(probabilities.cumsum(axis=1)[:, :-1] < 0.5).sum(axis=1)]
        return self.model.classes_[probabilities.argmax(axis=1)]

    def predict_distribution(self, X: object, **options: Any) -> Any:
        """Return the averaged distribution of each target, a :class:`Mixture`; the options are those of the learner.

        With several targets it is a :class:`~espalier.gp.TaskPrediction` of mixtures, one for each task.
        """
        if not hasattr(self.model, "predict_distribution"):
            raise TypeError(f"A {type(self.model).__name__} predicts no numbers: use predict_proba.")
        parts, weights = zip(
            *((model.predict_distribution(X, **options), weight) for model, weight in self.models()), strict=True
        )
        if not isinstance(parts[0], TaskPrediction):
            return Mixture(parts, np.array(weights))
        each: Any = zip(*(part.each for part in parts), strict=True)
        return TaskPrediction(parts[0].tasks, tuple(Mixture(own, np.array(weights)) for own in each))  # type: ignore[misc]

    def predict_proba(self, X: object) -> Any:
        """Return averaged probabilities: of each class, or for groups of each candidate, one array for each group."""
        if not hasattr(self.model, "predict_proba"):
            raise TypeError(f"A {type(self.model).__name__} predicts no probabilities: use predict_distribution.")
        total: Any = None
        for model, weight in self.models():
            own = model.predict_proba(X)
            if isinstance(own, list):
                own = [weight * each for each in own]
                total = own if total is None else [a + b for a, b in zip(total, own, strict=True)]
            else:
                total = weight * own if total is None else total + weight * own
        return total

    def log_predictive_density(self, X: object, y: object, **options: Any) -> Vector:
        """Return the log density of each target, or the log probability of each label, averaged over the draws.

        The options are those of the learner.
        """
        name = "log_predictive_density" if hasattr(self.model, "predict_distribution") else "log_density"
        if not hasattr(self.model, name):
            raise TypeError(f"A {type(self.model).__name__} has no density of targets: use predict_proba.")
        log_p = [getattr(model, name)(X, y, **options) + np.log(weight) for model, weight in self.models()]
        with np.errstate(invalid="ignore"):  # missing targets have none
            return np.asarray(np.logaddexp.reduce(log_p, axis=0))

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return R² of the mean for numbers, and the share of right labels for classes."""
        predicted, tasks = self.predict(X), getattr(self.model, "tasks_", None)
        if tasks is not None:
            return mean_r_squared(
                TargetMatrix.of(y, len(predicted), tasks, known=True).values, predicted, sample_weight
            )
        measure = r_squared if hasattr(self.model, "predict_distribution") else accuracy
        return measure(y, predicted, sample_weight)

    def summary(self) -> Any:
        """Return the table of :meth:`Draws.summary`."""
        return self.draws.summary()

    def models(self) -> Iterator[tuple[Any, float]]:
        """Yield the learner at each draw that predictions use, with its weight; one at a time, to save memory."""
        objective = self.model._evidence()
        for values, weight in self.draws.spaced(self.n_models):
            with blas_threads(self.model.n_threads):
                model = self.model._at(objective, values)
            yield model, weight

    def to_state(self) -> dict[str, object]:
        """Return the learner and the draws."""
        return {"model": self.model, "draws": self.draws, "n_models": self.n_models}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the averaged learner that a file holds."""
        n = None if state.json("n_models") is None else state.whole("n_models", 1)
        return cls(state.object("model", Storable), state.object("draws", Draws), n)

    def trained_on(self) -> dict[str, object]:
        return dict(self.model.trained_on())

    def __repr__(self) -> str:
        n = f"{len(self.draws):,} draws" if self.draws.kind == "sampled" else f"{len(self.draws):,} points"
        return f"<Marginalized {type(self.model).__name__}: {n} of {len(self.draws.paths):,} hyperparameters>"
