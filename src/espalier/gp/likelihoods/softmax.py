r"""Several classes at once: a latent value for each class, and the largest is the most probable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import norm, qmc

from espalier.gp.parameters import Parameter, Vector
from espalier.structures.numbers import whole_number

Codes = NDArray[np.intp]

_DRAWS = 1024  # of latent values, for the mean of probabilities


@dataclass(frozen=True)
class Softmax:
    r"""The probability of each of several classes, from a latent value for each.

    .. math:: p(y = c \mid f) = e^{f_c} \Big/ \sum_d e^{f_d}

    Latent values are arrays with a row for each example and a column for each class; targets are numbers of classes.

    Examples
    --------
    >>> Softmax(3).probabilities(np.array([[0.0, 0.0, 1.0]])).round(2)
    array([[0.21, 0.21, 0.58]])
    """

    n_classes: int = 3

    def __post_init__(self) -> None:
        whole_number("n_classes", self.n_classes, 2)

    def parameters(self) -> list[Parameter]:
        """Return no numbers: there is none to learn."""
        return []

    def with_parameters(self, values: Mapping[str, float]) -> Softmax:
        """Return this likelihood, which has no numbers."""
        return self

    def log_density(self, latent: Vector, targets: Codes) -> Vector:
        """Return the log probability of each target."""
        return np.asarray(log_softmax(latent, axis=1)[np.arange(len(targets)), targets])

    def probabilities(self, latent: Vector) -> Vector:
        """Return the probability of each class."""
        return np.asarray(softmax(latent, axis=1))

    def log_predictive(self, mean: Vector, covariance: Vector) -> Vector:
        """Return the log probability of each class if latent values are normal.

        ``covariance`` has a matrix for each example. The mean is taken over the same draws for all examples, which
        fill the space evenly, so that results have the same bits in every run.
        """
        uniform = qmc.Sobol(mean.shape[1], scramble=True, rng=np.random.default_rng(0)).random(_DRAWS)
        normals = norm.ppf(np.clip(uniform, 1e-9, 1 - 1e-9))
        # A little on the diagonal, for covariances that are singular.
        least = 1e-12 * np.einsum("naa->n", covariance) + np.finfo(np.float64).tiny
        roots = np.linalg.cholesky(covariance + least[:, None, None] * np.eye(mean.shape[1]))
        out = np.empty(mean.shape)
        for row, root in enumerate(roots):
            logs = log_softmax(mean[row] + normals @ root.T, axis=1)
            out[row] = logsumexp(logs, axis=0) - np.log(_DRAWS)
        return out - logsumexp(out, axis=1, keepdims=True)
