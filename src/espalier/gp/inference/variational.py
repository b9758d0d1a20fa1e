r"""Variational inference: the normal posterior with the highest lower bound of the evidence.

.. math:: \log p(y) \ge \sum_i E_q[\log p(y_i \mid f_i)] - \mathrm{KL}(q \,\|\, p)

The best posterior has sites, too (Opper and Archambeau 2009). A step of natural gradients replaces the precision of a
site by the mean of minus the second derivative of its log density, and its slope by that of the first (Khan and Lin
2017). Sweeps of such steps lead to the top if a density is log-concave; otherwise, or if they do not settle, a step
that lowers the bound is halved. Precisions are kept at 0 or more, which matters only where a density is not
log-concave: then the bound is the highest for such sites. At its top the derivative of the bound is that with fixed
sites.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from espalier.gp.inference.settling import CLOSE, moves_of, settle
from espalier.gp.inference.sites import (
    Cotangent,
    SitePosterior,
    Sites,
    conditioned_on,
    cotangent_of,
    starting,
)
from espalier.gp.likelihoods.base import Expected, Likelihood
from espalier.gp.parameters import Vector

T = TypeVar("T")

MAX_SWEEPS, MAX_STEPS = 100, 200
_SHORTEST = 1e-3  # of a step


def condition(
    K: Vector,
    likelihood: Likelihood[T],
    targets: T,
    offset: Vector | float = 0.0,
    near: Sites | None = None,
    close: float = CLOSE,
) -> SitePosterior:
    """Climb to the highest bound; the arguments are those of :func:`espalier.gp.inference.ep.condition`."""

    def match(at: SitePosterior) -> tuple[Sites, Expected]:
        expected = likelihood.expected(at.latent + offset, at.latent_variance, targets)
        precision = np.maximum(expected.curvature, 0.0)
        return Sites(precision, expected.slope + at.latent * precision), expected

    if likelihood.is_log_concave:
        at, expected, is_settled = settle(K, near, match, MAX_SWEEPS, close)
        if is_settled:
            return replace(at, log_evidence=_bound(at, expected))
        near = at.sites
    return _climb(K, match, starting(near, len(K)), close)


def _climb(
    K: Vector, match: Callable[[SitePosterior], tuple[Sites, Expected]], sites: Sites, close: float
) -> SitePosterior:
    """Climb by steps that do not lower the bound."""
    at = conditioned_on(K, sites)
    wanted, expected = match(at)
    bound, step = _bound(at, expected), 1.0
    for _ in range(MAX_STEPS):
        if np.abs(moves_of(at, wanted)).max(initial=0.0) <= close:
            break
        rounding = 1e-13 * (1 + abs(bound))
        while True:
            tried = conditioned_on(K, at.sites.towards(wanted, step))
            next_wanted, expected = match(tried)
            height = _bound(tried, expected)
            if height >= bound - rounding or step <= _SHORTEST:
                break
            step *= 0.5
        if height < bound - rounding:
            break
        at, wanted, bound, step = tried, next_wanted, height, min(1.0, 1.5 * step)
    return replace(at, log_evidence=bound)


def cotangent(
    given: SitePosterior, K: Vector, likelihood: Likelihood[T], targets: T, offset: Vector | float = 0.0
) -> Cotangent:
    """The derivatives of the bound; this overwrites the factor."""
    slopes = likelihood.expected_slopes(given.latent + offset, given.latent_variance, targets)
    return cotangent_of(given, slopes)


def _bound(at: SitePosterior, expected: Expected) -> float:
    """The lower bound: the fit, less half of tr(B^-1) + dual^T K dual - n + log |B|, which is the divergence."""
    told = float(at.kept.sum()) - len(at.kept)
    divergence = 0.5 * (told + float(at.dual @ at.latent) + at.factor.log_determinant)
    return float(expected.value.sum()) - divergence
