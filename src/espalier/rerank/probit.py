r"""Laplace's approximation where every difference was seen to be positive: its mode, its evidence, its gradient.

Differences :math:`z` of utilities have a normal prior with covariance :math:`K`; each is positive, up to noise, with
probability :math:`\Phi(z_k + o_k)` for a given offset :math:`o`. The posterior is concave in its logarithm. Around its
mode it is taken as normal (Rasmussen and Williams 2006, algorithms 3.1 and 5.1), with one symmetric matrix

.. math:: B = I + W^{1/2} K W^{1/2}, \qquad W = -\partial^2 \log \Phi,

whose eigenvalues are 1 or more, so that K may be singular. Matrices in, matrices out: kernels are not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr

from espalier.gp.cholesky import Factor, factorize

Floats = NDArray[np.float64]

MAX_STEPS = 100  # of Newton's method, which takes some six
_CLOSE = 1e-12  # to the mode, beside the largest difference
_FAR = -1e3  # below this, series replace differences of nearly equal numbers


@dataclass(frozen=True, eq=False)
class Mode:
    """The most probable differences, and the normal approximation around them.

    Attributes
    ----------
    differences
        The mode.
    dual
        ``K @ dual`` is the mode; these are also the slopes of the log likelihood there.
    root
        Of the curvatures :math:`W`.
    factor
        Of :math:`B`.
    log_evidence
        Of the data, approximately.
    """

    differences: Floats
    dual: Floats
    root: Floats
    ratio: Floats  # the third derivative of the log likelihood by the curvature
    factor: Factor
    log_evidence: float

    def explained(self, cross: Floats) -> Floats:
        """``E`` such that ``E^T E`` is what the data take off a prior covariance; ``cross`` is pairs x new."""
        return self.factor.half_solve(self.root[:, None] * cross)


def slopes(z: Floats) -> tuple[Floats, Floats, Floats]:
    r"""The slope of :math:`\log \Phi(z)`, its curvature with the sign turned, and its third derivative by that."""
    with np.errstate(over="ignore"):  # far above 0 the slope is 0
        slope = np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))
    far = z < _FAR
    away = np.where(far, 1.0, slope + z)
    curvature, ratio = slope * away, 2 * slope + z - 1 / away
    if far.any():
        curvature[far], ratio[far] = 1 - z[far] ** -2, -2 * z[far] ** -3
    return slope, curvature, ratio


def find_mode(K: Floats, offset: Floats | float = 0.0, dual: Floats | None = None) -> Mode:
    """Climb to the mode by Newton's method with halved steps where whole ones go too far.

    Parameters
    ----------
    K
        The prior covariances of the differences.
    offset
        What is added to each difference beside.
    dual
        Where to start, such as the dual of a mode nearby; it changes the time and nothing else.
    """
    dual = _start(K, offset, dual)
    z = K @ dual
    height, gain = _height(dual, z, offset), np.inf
    for _ in range(MAX_STEPS):
        slope, curvature, ratio = slopes(z + offset)
        root = np.sqrt(curvature)
        factor = factorize(root[:, None] * K * root, 1.0)
        wanted = curvature * z + slope
        step = wanted - root * factor.solve(root * (K @ wanted)) - dual
        move, length = K @ step, 1.0
        rounding = 1e-14 * (1 + abs(height))
        # The second is for huge K, whose rounding is more than the first allows: a step without gain was the last.
        if np.abs(move).max() <= _CLOSE * (1 + np.abs(z).max()) or gain <= rounding:
            break
        while (found := _height(dual + length * step, z + length * move, offset)) < height - rounding and length > 1e-8:
            length *= 0.5
        dual, z, gain = dual + length * step, z + length * move, found - height
        height = max(found, height)
    return Mode(z, dual, root, ratio, factor, height - 0.5 * factor.log_determinant)


def cotangent(mode: Mode, K: Floats) -> Floats:
    """The derivative of the log evidence in the covariances K; the factor of the mode is used up.

    It has three parts: the mode's fit, the volume around it, and what moves that volume as K moves the mode.
    """
    out = mode.factor.inverse_in_place()
    moves = 0.5 * (1 - out.diagonal()) * mode.ratio  # the log evidence by the mode, K apart
    out *= mode.root[:, None]
    out *= mode.root
    moves -= out @ (K @ moves)
    out *= -0.5
    half = 0.5 * (0.5 * mode.dual + moves)
    out += np.outer(mode.dual, half)
    out += np.outer(half, mode.dual)
    return out


def _start(K: Floats, offset: Floats | float, dual: Floats | None) -> Floats:
    """The dual to start from: 0, unless another is better."""
    zero = np.zeros(len(K))
    if dual is None:
        return zero
    return dual if _height(dual, K @ dual, offset) > _height(zero, zero, offset) else zero


def _height(dual: Floats, z: Floats, offset: Floats | float) -> float:
    """The log posterior, up to a constant."""
    return float(log_ndtr(z + offset).sum() - 0.5 * dual @ z)
