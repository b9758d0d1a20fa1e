"""``GPOrdinal``: gives structures ordered grades, with probabilities, by a learned kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.gp.latent_classes import LatentClasses
from espalier.gp.latent_learner import scaled
from espalier.gp.likelihoods.ordinal import Ordinal
from espalier.gp.mean import as_mean
from espalier.gp.parameters import Vector
from espalier.gram.labels import LabelCodes, check_classes, check_labels, shown_label
from espalier.gram.targets import label_column
from espalier.kernels.inputs import Inputs
from espalier.storage import State, require
from espalier.structures.numbers import check_choice

Prediction = Literal["mode", "median"]


@dataclass(eq=False, repr=False)
class GPOrdinal(LatentClasses):
    """Give structures ordered grades, such as stars, with probabilities, and learn the kernel by gradients.

    A Gaussian process: one latent function, smooth over the space of the kernel's features, says how good an example
    is. A rater sees it with normal noise, and gives the grade between whose two thresholds it falls. Fitting maximises
    the (approximate) evidence, the probability of the training grades, in the thresholds and in every number of the
    kernel at once.

    Parameters
    ----------
    kernel
        The kernel. Learning starts from its numbers; ``fixed(...)`` keeps one. If it declares no variance, a learned
        one multiplies it: see the notes.
    grades
        All grades, from the lowest one up. If None, they are the different integers among the targets; text has no
        order of its own, and other numbers may be no grades, so these must be listed.
    predicts
        What ``predict`` returns: the ``"mode"``, the most probable grade, which is right most often; or the
        ``"median"``, which is least far from the truth on average if each step from grade to grade counts alike.
    inference
        How the posterior of the latent values is approximated: ``"ep"`` (expectation propagation), ``"laplace"`` or
        ``"variational"``.
    mean
        What is expected far from all data: None for 0, from which the thresholds count; ``"constant"``; or
        ``LinearMean(on="features")``. The last two include a constant, which does the same as moving all thresholds, so
        the lowest threshold is then not learned.
    variance_prior, pilot, restarts, max_iterations, tolerance, learn
        As for :class:`~espalier.GPClassifier`. Thresholds are learned from the pilot, too.
    random_state, n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`.

    Attributes
    ----------
    classes_
        The grades, in order.
    thresholds_
        Where one grade ends and the next begins, in deviations of the noise; one less than there are grades.
    kernel_, learned_, log_marginal_likelihood_, restarts_, n_examples_
        As for :class:`~espalier.GPClassifier`.
    likelihood_
        The :class:`~espalier.gp.Ordinal` with the learned thresholds.
    alpha_
        The dual weights, in one row: ``kernel_(x, X) @ alpha_.T`` is the latent mean.

    Notes
    -----
    The unit of the latent function is the deviation of the noise, so a kernel needs a variance: one that is no
    ``Scaled`` and declares no variance is multiplied by one that is learned, starting at 4.

    Numbers only order the grades: 1, 2, 5 are three grades in a row, and thresholds say how far apart they are. The
    numbers themselves count in ``predict_mean`` alone. Thresholds start where they give each grade its share of the
    rows. A grade in ``grades`` without rows keeps the width that half a row would give it.

    One evaluation takes a few Cholesky factors, O(n^3), and O(n^2) memory, however many grades there are.

    Examples
    --------
    >>> from espalier import Normalized, SubsetTree
    >>> trees = ["(S (A bad))", "(S (A bad) (B very))", "(S (A fair))", "(S (A good))", "(S (A good) (B very))"] * 3
    >>> model = GPOrdinal(Normalized(SubsetTree())).fit(trees, [1, 1, 2, 3, 3] * 3)
    >>> model.predict(["(S (A good) (C so))", "(S (A bad) (C so))"])
    array([3, 1])
    """

    _: KW_ONLY
    grades: Sequence[Any] | None = None
    predicts: Prediction = "mode"
    mean: object = None

    @property
    def thresholds_(self) -> Vector:
        """Where one grade ends and the next begins, in deviations of the noise."""
        link: Ordinal = self.likelihood_
        return link.thresholds

    def predict(self, X: object) -> NDArray[Any]:
        """Return the most probable grade of each example, or with ``predicts="median"`` the middle one."""
        if self.predicts == "mode":
            return super().predict(X)
        below = np.cumsum(self.predict_proba(X), axis=1)[:, :-1]
        labels: NDArray[Any] = self.classes_[(below < 0.5).sum(axis=1)]
        return labels

    def predict_mean(self, X: object) -> Vector:
        """Return the expected grade of each example, which has the least squared error.

        If grades are text, it is the expected place among them, from 0.
        """
        p = self.predict_proba(X)
        is_text = self.classes_.dtype.kind in "OU"
        values = np.arange(len(self.classes_)) if is_text else self.classes_.astype(np.float64)
        return np.asarray(p @ values)

    def _read(self, y: object, n_rows: int, weights: Vector | None) -> tuple[NDArray[Any], LabelCodes]:
        if self.grades is None:
            classes, codes = check_labels(y, n_rows)
            if isinstance(classes.tolist()[0], str | bytes):
                raise InputError(
                    f"Text such as {shown_label(classes[0])} has no order. List all grades from the lowest one up, "
                    "GPOrdinal(kernel, grades=['bad', 'fair', 'good'])."
                )
            if len(classes) > 1:
                check_classes(classes, codes, weights)
        else:
            classes, codes = _listed_grades(self.grades), self._in_list(label_column(y, n_rows))
        used = codes if weights is None else codes[weights > 0]
        if (used == used[0]).all():
            raise InputError(
                f"All rows have the grade {shown_label(classes[used[0]])}, and nothing can be learned from one class. "
                "Add rows of another grade."
            )
        return classes, codes

    def _in_list(self, labels: NDArray[Any]) -> LabelCodes:
        """The place of each label among the listed grades."""
        places = {grade: place for place, grade in enumerate(_listed_grades(self.grades).tolist())}
        for row, label in enumerate(labels.tolist()):
            if label not in places:
                raise InputError(
                    f"Row {row} of y has the grade {label!r}, which is not in grades={list(places)!r}. List it there, "
                    "at its place."
                )
        return np.array([places[label] for label in labels.tolist()], np.intp)

    def _link(self, inputs: Inputs) -> Ordinal:
        counts = np.bincount(self._codes, self._weights, minlength=len(self.classes_))
        kernel = scaled(self._checked_kernel())
        variance = float(kernel.diagonal(inputs, n_threads=self.n_threads, memory=self.memory).mean())
        return Ordinal.of_counts(counts, variance, keeps_first=as_mean(self.mean) is not None)

    def _link_of(self, state: State) -> Ordinal:
        link = state.object("likelihood", Ordinal)
        require(link.n_grades == len(self.classes_), "its thresholds do not fit its grades")
        return link

    def _given_state(self) -> dict[str, object]:
        return super()._given_state() | {"likelihood": self.likelihood_}

    def _declared_state(self) -> dict[str, object]:
        state: Any = super()._declared_state()
        if isinstance(self.grades, np.ndarray):
            state["settings"]["grades"] = self.grades.tolist()
        return dict(state)

    def _targets(self) -> list[Any]:
        return [self._codes]

    def _log_probabilities(self, mean: Vector, variance: Vector) -> Vector:
        link: Ordinal = self.likelihood_
        return link.log_probabilities(mean[:, 0], variance[:, 0])

    def _function_names(self) -> tuple[str, ...]:
        return ("grade",)

    def _check_learner(self) -> None:
        check_choice("predicts", self.predicts, "mode", "median")
        if self.grades is not None:
            _listed_grades(self.grades)
        super()._check_learner()


def _listed_grades(grades: object) -> NDArray[Any]:
    """The grades that a user listed, checked."""
    if isinstance(grades, str) or not isinstance(grades, Sequence | np.ndarray) or len(grades) < 2:
        raise ValueError(f"grades must list two grades or more, from the lowest one up, got {grades!r}.")
    listed = label_column(grades, len(grades))
    if len(set(listed.tolist())) < len(listed):
        twice = next(grade for grade in listed.tolist() if listed.tolist().count(grade) > 1)
        raise ValueError(f"grades lists {twice!r} twice. List each grade once, from the lowest one up.")
    return listed
