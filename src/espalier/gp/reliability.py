"""Are probabilities right? Of all rows whose label is predicted with a probability of 0.8, 80 % should have it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InputError
from espalier.gp.parameters import Vector
from espalier.gram.targets import label_column
from espalier.structures.numbers import whole_number


@dataclass(frozen=True, eq=False)
class Calibration:
    """How sure a classifier is of its predictions, and how often it is right, by bins of how sure it is.

    Attributes
    ----------
    edges
        The edges of the bins, from 0 to 1: one more than there are bins.
    n_rows
        How many rows each bin has.
    sure
        The mean probability of the predicted label in each bin; nan if it is empty.
    right
        The share of its rows that are predicted rightly; nan if it is empty.
    """

    edges: Vector
    n_rows: NDArray[np.intp]
    sure: Vector
    right: Vector

    @property
    def error(self) -> float:
        """The expected calibration error: the distance between ``sure`` and ``right``, averaged over all rows."""
        kept = self.n_rows > 0
        apart = np.abs(self.sure[kept] - self.right[kept])
        return float(self.n_rows[kept] @ apart / self.n_rows.sum())


def calibration(probabilities: ArrayLike, y: object, classes: object, n_bins: int = 10) -> Calibration:
    """Compare the probability of each most probable label with how often it is right.

    Parameters
    ----------
    probabilities
        One row for each example, one column for each class: what ``predict_proba`` returns.
    y
        The true labels. One that is not among the classes counts as wrong.
    classes
        The label of each column: ``classes_`` of a model.
    n_bins
        How many bins of equal width there are.

    Examples
    --------
    >>> found = calibration([[0.95, 0.05], [0.95, 0.05], [0.2, 0.8]], ["a", "b", "b"], ["a", "b"])
    >>> round(found.error, 3), float(found.right[-1])
    (0.367, 0.5)
    """
    p = np.asarray(probabilities, np.float64)
    names = np.asarray(classes)
    if p.ndim != 2 or p.shape != (len(p), len(names)) or not len(p):
        raise InputError(
            f"probabilities must have a row for each example and a column for each of {len(names)} classes, got shape "
            f"{p.shape}."
        )
    if not np.isfinite(p).all() or p.min() < 0 or not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
        raise InputError("Each row of probabilities must add up to 1, and none may be below 0.")
    edges = np.linspace(0.0, 1.0, whole_number("n_bins", n_bins, 1) + 1)
    sure, is_right = p.max(axis=1), names[p.argmax(axis=1)] == label_column(y, len(p), warns=False)
    place = np.clip(np.searchsorted(edges, sure, side="left") - 1, 0, n_bins - 1)
    n_rows = np.bincount(place, minlength=n_bins)
    with np.errstate(invalid="ignore"):
        mean = [np.bincount(place, values, minlength=n_bins) / n_rows for values in (sure, is_right)]
    return Calibration(edges, n_rows, *mean)
