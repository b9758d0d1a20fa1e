"""From the values of a machine to probabilities: Platt's sigmoid, fitted to values of rows that were left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gram.targets import Floats
from espalier.kernels.base import Matrix

_STEPS = 100
_SMALLEST_STEP = 1e-10


@blas_threads()
def fit_sigmoid(scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None) -> tuple[float, float]:
    r"""Return slope and offset of the sigmoid that fits the scores best.

    The probability of the positive class is :math:`1 / (1 + \exp(-(a f + b)))` at score :math:`f`, with slope
    :math:`a` and offset :math:`b`. Targets are moved away from 0 and 1 as in Platt (1999), which keeps the slope
    finite if the scores separate the classes; the search is that of Lin, Lin and Weng (2007).

    Examples
    --------
    >>> slope, offset = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True]))
    >>> round(slope, 3), round(abs(offset), 3)
    (0.674, 0.0)
    """
    weights = np.ones(len(scores)) if weights is None else weights
    n_positive, n_negative = weights[positive].sum(), weights[~positive].sum()
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    # In units of the largest score, so that no step depends on the kernel's scale.
    unit = float(np.abs(scores).max(initial=0.0)) or 1.0
    f = scores / unit
    point = np.array([0.0, np.log((n_positive + 1) / (n_negative + 1))])
    loss = _loss(point, f, targets, weights)
    for _ in range(_STEPS):
        p = sigmoid(f, point[0], point[1])
        error, curvature = weights * (p - targets), weights * p * (1 - p)
        gradient = np.array([error @ f, error.sum()])
        if np.abs(gradient).max() < 1e-9 * len(f):
            break
        cross = curvature @ f
        hessian = np.array([[curvature @ f**2, cross], [cross, curvature.sum()]]) + 1e-12 * np.eye(2)
        direction = -np.linalg.solve(hessian, gradient)
        size, slope = 1.0, float(gradient @ direction)
        while size >= _SMALLEST_STEP:
            new = _loss(point + size * direction, f, targets, weights)
            if new < loss + 1e-4 * size * slope:
                break
            size /= 2
        else:  # no smaller loss along the line: this is the minimum, to the last digits
            break
        point, loss = point + size * direction, new
    return float(point[0] / unit), float(point[1])


def sigmoid(scores: Floats, slope: float, offset: float) -> Floats:
    """Return the probabilities, without overflow."""
    half: Floats = np.tanh((slope * scores + offset) / 2)
    return 0.5 * (1 + half)


def probabilities(scores: Matrix, calibration: Matrix) -> Matrix:
    """Return one probability per class, each row adding up to 1, from the slope and the offset of each score.

    Two classes have one column of scores, that of the second; otherwise there is one column per class.
    """
    columns = [sigmoid(scores[:, k], *calibration[k]) for k in range(len(calibration))]
    if len(columns) == 1:
        return np.column_stack([1 - columns[0], columns[0]])
    out = np.column_stack(columns)
    total = out.sum(axis=1, keepdims=True)
    # Where every machine says no, with certainty, nothing is known.
    return np.where(total > 0, out / np.where(total > 0, total, 1.0), 1.0 / out.shape[1])


def _loss(point: Floats, f: Floats, targets: Floats, weights: Floats) -> float:
    z = point[0] * f + point[1]
    return float(weights @ (np.logaddexp(0, z) - targets * z))
