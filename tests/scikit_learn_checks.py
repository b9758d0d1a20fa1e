"""Checks of scikit-learn that demand what rows of structures cannot give, or words that the kernel chooses itself."""

from __future__ import annotations

_NOT_AN_ARRAY = "rows are a sequence, an array, a matrix or a table, not any object with __array__"
_WORDS = "the kernel refuses such vectors with a message of its own"


def expected_failures(of_weights: str) -> dict[str, str]:
    """Why each check fails; ``of_weights`` says why a row of weight 2 is not two rows."""
    return {
        "check_sample_weights_pandas_series": "a frame is a table, and a kernel over a table names its columns",
        "check_sample_weights_not_an_array": _NOT_AN_ARRAY,
        "check_classifier_data_not_an_array": _NOT_AN_ARRAY,
        "check_regressor_data_not_an_array": _NOT_AN_ARRAY,
        "check_n_features_in_after_fitting": _WORDS,
        "check_estimators_nan_inf": _WORDS,
        "check_fit2d_predict1d": _WORDS,
        "check_estimators_empty_data_messages": "vectors without dimensions are all equal, which a kernel may say",
        "check_fit1d": "a list of numbers is a list of rows, each a vector of one dimension",
        "check_sample_weight_equivalence_on_dense_data": of_weights,
        "check_sample_weight_equivalence_on_sparse_data": of_weights,
    }
