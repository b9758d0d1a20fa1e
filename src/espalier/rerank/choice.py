"""The probability of each choice if utilities are normal: in closed form for two, by an integral for more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import log_ndtr

from espalier.errors import KernelOverflowError, warn_user
from espalier.gp.likelihoods.bernoulli import Bernoulli
from espalier.gram.targets import Floats

N_POINTS = 513  # points of the integral; half as many already give about ten digits
_REACH = 9.0  # standard deviations beyond which a normal variable adds nothing in float64
_LOST = 0.1  # the share of the variance of a difference that may be lost to rounding
_NOISE = 0.5  # the noise variance of one utility: 1 in the difference of two


def pairwise(mean: Floats, covariance: Floats) -> Floats:
    """The probability that the candidate of each row is preferred to that of each column; 1/2 on the diagonal."""
    return Bernoulli().probability(mean[:, None] - mean, _apart(covariance))


def largest(mean: Floats, covariance: Floats) -> Floats:
    r"""The probability that the utility of each candidate is the largest, in the order of the means.

    Utilities are taken as independent, each with its own mean :math:`m_i` and all with one variance :math:`s^2`, half
    of the mean variance of their differences with noise:

    .. math:: p_i = \int \phi(z - m_i / s) \prod_{j \ne i} \Phi(z - m_j / s) \, dz

    For two candidates, or if all differences have the same variance, the joint distribution gives the same. Otherwise a
    candidate would gain by its own variance under the joint distribution: one of which little is known could be the
    most probable choice without being the best one.
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
    """Raise if covariances of the utilities of a group are not finite, and warn if rounding has destroyed some.

    They are differences of numbers of the group's size, its largest prior variance.
    """
    lost = []
    for row, (covariance, size) in enumerate(zip(covariances, sizes, strict=True)):
        if not np.isfinite(covariance).all():
            raise KernelOverflowError(
                f"The covariances of the utilities in group {row} are not finite, because the kernel has values of "
                f"{size:.0e}. Use Normalized(kernel), or a smaller decay."
            )
        rounding = 8.0 * float(np.finfo(np.float64).eps) * size
        if len(covariance) > 1 and rounding > _LOST * _between(covariance):
            lost.append(row)
    if lost:
        warn_user(
            f"In {len(lost)} of {len(sizes)} groups, the first is group {lost[0]}, the kernel has values as large as "
            f"{max(sizes):.0e}, so rounding destroys the covariances of utilities and probabilities mean little "
            "there. Use Normalized(kernel), or a smaller decay."
        )


def _between(covariance: Floats) -> float:
    """The mean variance of the difference of two utilities, noise included."""
    n = len(covariance)
    return 2.0 * _NOISE + float(_apart(covariance).sum()) / (n * (n - 1))
