"""What is kept of a fit: enough to choose among models afterwards without looking at test data."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import Kernel
from espalier_experiments import measures

if TYPE_CHECKING:
    from espalier.gp import GPRegressor

Record = dict[str, Any]
Vector = NDArray[np.float64]


def fit_gp(
    kernel: Kernel, X: Any, y: Vector, *, groups: Any = None, tasks: Any = None, **options: Any
) -> tuple[GPRegressor, float]:
    """Fit a Gaussian process; return it with the seconds that took.

    That learning stopped early, or that the matrix needed jitter, is kept in the record and not warned of.
    """
    from sklearn.exceptions import ConvergenceWarning

    from espalier.gp import GPRegressor

    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="The covariance matrix was nearly singular")
        # Pages show how many numbers each model learned, the noise, and the density of new rows.
        warnings.filterwarnings("ignore", message="The model may have memorised its training rows")
        model = GPRegressor(kernel, **options).fit(X, y, noise_groups=groups, tasks=tasks)
    return model, time.perf_counter() - start


def fit_record(model: GPRegressor, y: Vector, seconds: float) -> Record:
    """What a fitted Gaussian process knows of itself: evidence, leave-one-out density, cost and learned values."""
    restarts = model.restarts_
    return {
        "evidence": float(model.log_marginal_likelihood_),
        "leave_one_out": float(np.mean(model.leave_one_out().log_density(y))),
        "fit_seconds": short(seconds),
        "evaluations": sum(restart.n_evaluations for restart in restarts),
        "starts": len(restarts),
        "converged": max(restarts, key=lambda restart: restart.objective).converged,
        "jitter": float(model.jitter_),
        "learned": {path: short(value) for path, value in model.learned_.to_dict().items()},
    }


def regression_scores(model: GPRegressor, X: Any, y: Vector, *, groups: Any = None) -> Record:
    """Errors on new examples in the units of the response: of medians, of means, and of whole distributions."""
    prediction = model.predict_distribution(X, noise_groups=groups)
    return {
        "mae": measures.mae(y, prediction.median),
        "rmse": measures.rmse(y, prediction.mean),
        "rmse_of_medians": measures.rmse(y, prediction.median),
        "pearson": measures.pearson(y, prediction.mean),
        "nlpd": measures.nlpd(prediction.log_density(y)),
    }


def point_scores(predicted: Vector, y: Vector) -> Record:
    """Errors of predictions that are single numbers."""
    return {
        "mae": measures.mae(y, predicted),
        "rmse": measures.rmse(y, predicted),
        "pearson": measures.pearson(y, predicted),
    }


def short(value: float) -> float:
    """The value to five significant digits."""
    return float(f"{value:.5g}")
