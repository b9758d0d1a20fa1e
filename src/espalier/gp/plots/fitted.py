"""What can be drawn: processes that have learned."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from espalier.gp.regressor import GPRegressor


def check_fitted(model: object) -> None:
    """Refuse another model, and one that has not learned anything yet."""
    if not isinstance(model, GPRegressor):
        raise TypeError(
            f"Only what a fitted GPRegressor learned and predicts can be drawn, got {model!r}. "
            "Of a search or a pipeline, give the model itself: search.best_estimator_, pipeline[-1]."
        )
    check_is_fitted(model)
