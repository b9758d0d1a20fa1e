"""How probable each choice is where utilities are normal: of two candidates in closed form, of more by an integral."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from espalier.errors import KernelOverflowError
from espalier.gp.likelihoods.probit import Probit

Floats = NDArray[np.float64]

N_POINTS = 513  # at which the integral is taken; it is right to some ten digits with half as many
_REACH = 9.0  # in standard deviations: beyond it a normal variable has no weight that a float64 could show
_LOST = 0.1  # of the variance of a difference that rounding may take
_NOISE = 0.5  # the variance of one utility as it shows: 1 in the difference of two


def pairwise(mean: Floats, covariance: Floats) -> Floats:
    """The probability that the candidate of each row is preferred to that of each column; 1/2 to itself."""
    return Probit().probability(mean[:, None] - mean, _apart(covariance))


def largest(mean: Floats, covariance: Floats) -> Floats:
    r"""The probability that the utility of each candidate is the largest, in the order of the means.

    Utilities are taken as independent, each with its own mean :math:`m_i` and all with one variance :math:`s^2`, half
    of the mean variance of their differences with noise:

    .. math:: p_i = \int \phi(z - m_i / s) \prod_{j \ne i} \Phi(z - m_j / s) \, dz

    For two candidates, and wherever all differences vary alike, this is what the joint distribution gives. Elsewhere a
    candidate would gain there by its own variance: one of which little is known could be the most probable choice
    without being the best one.
    """
    n = len(mean)
    if n == 1:
        return np.ones(1)
    centred = (mean - mean.max()) / np.sqrt(0.5 * _between(covariance))
    points = np.linspace(-_REACH, _REACH, N_POINTS)
    below = log_ndtr(points - centred[:, None])
    density = -0.5 * (points - centred[:, None]) ** 2 - below
    found = np.exp(density + below.sum(axis=0)).sum(axis=1)
    return np.asarray(found / found.sum())


def _apart(covariance: Floats) -> Floats:
    """The variance of the difference of each two utilities."""
    variance = covariance.diagonal()
    return np.maximum(variance[:, None] + variance - 2 * covariance, 0.0)


def check_covariances(covariances: Sequence[Floats], sizes: Sequence[float]) -> None:
    """Refuse covariances that are not finite, and warn of those that rounding has destroyed.

    Parameters
    ----------
    covariances
        Of the utilities of each group, given what was learned.
    sizes
        The largest variance in each group before anything was learned, of which the former are differences.
    """
    for row, (covariance, size) in enumerate(zip(covariances, sizes, strict=True)):
        if not np.isfinite(covariance).all():
            raise KernelOverflowError(
                f"The covariances of the utilities in group {row} are not finite, because the kernel has values of "
                f"{size:.0e}. Take Normalized(kernel), or a smaller decay."
            )
    pairs = list(zip(covariances, sizes, strict=True))
    lost = [row for row, (own, size) in enumerate(pairs) if len(own) > 1 and _rounding(size) > _LOST * _between(own)]
    if lost:
        warnings.warn(
            f"In {len(lost)} of {len(pairs)} groups, the first is group {lost[0]}, the kernel has values as large as "
            f"{max(sizes):.0e}, so rounding destroys the covariances of utilities and probabilities mean little "
            "there. Take Normalized(kernel), or a smaller decay.",
            stacklevel=5,
        )


def _rounding(size: float) -> float:
    """The largest rounding error of a difference of numbers of this size."""
    return 8.0 * float(np.finfo(np.float64).eps) * size


def _between(covariance: Floats) -> float:
    """The mean variance of the difference of two utilities, noise included."""
    n = len(covariance)
    return 2.0 * _NOISE + float(_apart(covariance).sum()) / (n * (n - 1))
