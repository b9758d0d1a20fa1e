r"""Expectation propagation: each site is chosen so that the latent value has the moments that its target gives it.

For each target, the process given all *other* sites is normal (mean :math:`m`, variance :math:`v`). Its product with
the target's density has a mean and a variance, which the site must reproduce (Minka 2001; Rasmussen and Williams 2006,
section 3.6). At the end nothing changes any more, and the derivative of the evidence is that with fixed sites.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from espalier.errors import InputError
from espalier.gp.inference.settling import CLOSE, settle
from espalier.gp.inference.sites import Cotangent, SitePosterior, Sites, cotangent_of
from espalier.gp.likelihoods.base import Likelihood, Tilt
from espalier.gp.parameters import Vector

T = TypeVar("T")

MAX_SWEEPS = 200


def condition(
    K: Vector,
    likelihood: Likelihood[T],
    targets: T,
    offset: Vector | float = 0.0,
    near: Sites | None = None,
    close: float = CLOSE,
) -> SitePosterior:
    """Sweep over all sites until none changes.

    ``K`` are the prior covariances of the latent values, to which ``offset`` is added before the likelihood. ``near``
    are sites from which the sweeps start, which changes only the time. They end when no latent mean moves by more than
    ``close``, in its deviations.
    """
    if not likelihood.is_log_concave:
        raise InputError(
            f"Expectation propagation needs a log-concave likelihood, and {likelihood!r} is not. Use variational "
            "inference."
        )

    def match(at: SitePosterior) -> tuple[Sites, tuple[Tilt, Vector, Vector]]:
        mean, variance = at.left_out()
        tilt = likelihood.tilt(mean + offset, variance, targets)
        return _matching(tilt, mean, variance), (tilt, mean, variance)

    at, (tilt, mean, variance), is_settled = settle(
        K, near, match, MAX_SWEEPS, close, looks_ahead=likelihood.has_closed_tilt
    )
    return replace(at, log_evidence=_log_evidence(at, tilt, mean, variance), is_settled=is_settled)


def cotangent(
    given: SitePosterior, K: Vector, likelihood: Likelihood[T], targets: T, offset: Vector | float = 0.0
) -> Cotangent:
    """The derivatives of the log evidence; this overwrites the factor."""
    mean, variance = given.left_out()
    return cotangent_of(given, likelihood.tilt_slopes(mean + offset, variance, targets))


def _matching(tilt: Tilt, mean: Vector, variance: Vector) -> Sites:
    """The sites that give latent values the moments of their tilted densities."""
    # A log-concave target narrows; rounding may say otherwise where it says nothing.
    curvature = np.clip(tilt.curvature, 0.0, None)
    share = 1 - variance * curvature
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = curvature / share
        natural = (tilt.slope + mean * curvature) / share
    sound = (share > 0) & np.isfinite(precision) & np.isfinite(natural)
    return Sites(np.where(sound, precision, 0.0), np.where(sound, natural, 0.0))


def _log_evidence(at: SitePosterior, tilt: Tilt, mean: Vector, variance: Vector) -> float:
    """The evidence of the sites, each with the mass of its target (Rasmussen and Williams 2006, equation 3.65)."""
    tau, nu = at.sites
    narrowing = 0.5 * np.log1p(tau * variance)
    # What the site, as a normal target, says under the process without it, without dividing by its precision.
    fit = mean * (nu - 0.5 * tau * mean) + 0.5 * variance * (nu - tau * mean) ** 2 / (1 + tau * variance)
    whole = 0.5 * float(nu @ at.latent) - 0.5 * at.factor.log_determinant
    return float(tilt.log_mass.sum() + narrowing.sum() - fit.sum()) + whole
