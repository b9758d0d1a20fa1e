"""Expectation propagation from its definition: one site at a time, on whole matrices, with sums for integrals."""

from __future__ import annotations

import math

import numpy as np

from reference.laplace import Array, LogDensity, normal_mean


def ep(
    K: Array, y: Array, log_densities: list[LogDensity], offset: float = 0.0, sweeps: int = 60, n_points: int = 2_001
) -> tuple[Array, Array, float]:
    """The mean and the covariance of the latent values, and the log evidence; for a regular matrix."""
    n = len(K)
    precision, natural, mass = np.zeros(n), np.zeros(n), np.zeros(n)
    for _ in range(sweeps):
        for k in range(n):
            covariance = np.linalg.inv(np.linalg.inv(K) + np.diag(precision))
            mean = covariance @ natural
            variance = 1 / (1 / covariance[k, k] - precision[k])
            centre = variance * (mean[k] / covariance[k, k] - natural[k])

            def part(power: int, k: int = k, centre: float = centre, variance: float = variance) -> float:
                return normal_mean(
                    lambda f: (f - centre) ** power * math.exp(log_densities[k](y[k], f + offset)),
                    *(centre, variance, n_points),
                )

            mass[k] = part(0)
            shift = part(1) / mass[k]
            spread = part(2) / mass[k] - shift**2
            precision[k] = 1 / spread - 1 / variance
            natural[k] = (centre + shift) / spread - centre / variance
    covariance = np.linalg.inv(np.linalg.inv(K) + np.diag(precision))
    mean = covariance @ natural
    # The evidence: the integral of the prior and of all sites, each scaled so that it has the mass of its target.
    log_evidence = (
        -0.5 * np.linalg.slogdet(K @ np.diag(precision) + np.eye(n))[1] + 0.5 * natural @ covariance @ natural
    )
    for k in range(n):
        variance = 1 / (1 / covariance[k, k] - precision[k])
        centre = variance * (mean[k] / covariance[k, k] - natural[k])
        log_evidence += math.log(mass[k]) - _log_site_mass(precision[k], natural[k], centre, variance)
    return mean, covariance, float(log_evidence)


def _log_site_mass(precision: float, natural: float, centre: float, variance: float) -> float:
    """The logarithm of the mean of exp(natural f - precision f**2 / 2) over a normal value."""
    whole = precision + 1 / variance
    return (
        -0.5 * math.log(variance * whole)
        + 0.5 * (natural + centre / variance) ** 2 / whole
        - 0.5 * centre**2 / variance
    )


def bound(
    K: Array, y: Array, log_densities: list[LogDensity], mean: Array, covariance: Array, offset: float = 0.0
) -> float:
    """The lower bound of the evidence of a normal posterior, from its definition."""
    inverse = np.linalg.inv(K)
    divergence = 0.5 * (
        np.trace(inverse @ covariance)
        + mean @ inverse @ mean
        - len(K)
        + np.linalg.slogdet(K)[1]
        - np.linalg.slogdet(covariance)[1]
    )
    fit = sum(
        normal_mean(lambda f, k=k: log_densities[k](y[k], f + offset), mean[k], covariance[k, k], 2_001)  # type: ignore[misc]
        for k in range(len(K))
    )
    return float(fit - divergence)
