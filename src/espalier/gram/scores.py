"""How good predictions are: the scores of scikit-learn, with targets checked as in ``fit``.

The target of a row with a weight of 0 may be missing, as in ``fit``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from espalier.errors import InputError
from espalier.gram.targets import Floats, check_numbers, label_column, real_numbers, row_numbers, without_gaps


def r_squared(y: object, predicted: Any, sample_weight: object = None) -> float:
    """Return the coefficient of determination, R²."""
    y, weights = _weighted(y, sample_weight)
    return float(r2_score(check_numbers(y, len(predicted), warns=False), predicted, sample_weight=weights))


def mean_r_squared(values: Floats, predicted: Floats, sample_weight: object = None) -> float:
    """Return the mean R² of the columns of several targets, in which NaN stands for what is missing."""
    weights = None if sample_weight is None else row_numbers(sample_weight, len(values), "sample_weight")
    scores = []
    for column, own in zip(values.T, predicted.T, strict=True):
        there = np.flatnonzero(~np.isnan(column) & (True if weights is None else weights > 0))
        if len(there) > 1:
            scores.append(
                r2_score(column[there], own[there], sample_weight=None if weights is None else weights[there])
            )
    if not scores:
        raise InputError("No task has two targets, so there is no R² to compute.")
    return float(np.mean(scores))


def accuracy(y: object, predicted: Any, sample_weight: object = None) -> float:
    """Return the share of rows whose label was predicted."""
    y, weights = _weighted(y, sample_weight)
    labels = label_column(y, len(predicted), warns=False)
    return float(accuracy_score(labels, predicted, sample_weight=weights))


def _weighted(y: object, sample_weight: object) -> tuple[object, Floats | None]:
    """The targets without gaps in rows of weight 0, and the weights."""
    if sample_weight is None:
        return y, None
    weights = real_numbers(sample_weight, "sample_weight")
    return without_gaps(y, weights), weights
