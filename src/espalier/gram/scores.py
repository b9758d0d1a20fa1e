"""How good predictions are: the scores of scikit-learn, once the targets are checked as ``fit`` checks them."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import accuracy_score, r2_score

from espalier.structures.columns import refuse_masked


def r_squared(y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return the coefficient of determination, R²."""
    _refuse_masks(y, sample_weight)
    return float(r2_score(y, predicted, sample_weight=sample_weight))


def accuracy(y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return the share of rows whose label was predicted."""
    _refuse_masks(y, sample_weight)
    return float(accuracy_score(y, predicted, sample_weight=sample_weight))


def _refuse_masks(y: Any, sample_weight: Any) -> None:
    refuse_masked(y, "y")
    refuse_masked(sample_weight, "sample_weight")
