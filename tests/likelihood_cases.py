"""A case for each likelihood: numbers, targets, and plain formulas of the same densities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, gammaln

import espalier as es
from espalier.gp import (
    Bernoulli,
    Gaussian,
    Likelihood,
    Observed,
    Ordinal,
    Parameter,
    ParameterSlopes,
    Poisson,
    Slopes,
    StudentT,
)
from reference import laplace as slow

N = 8
SIGNS = np.where(np.random.default_rng(5).normal(size=N) > 0, 1.0, -1.0)
COUNTS = np.random.default_rng(6).poisson(2.0, size=N).astype(float)
VALUES = np.random.default_rng(7).normal(size=N)
NUMBERS = Observed(VALUES, np.arange(N) % 2, ("a", "b"), np.linspace(0.5, 2.0, N), np.linspace(0.0, 0.3, N))
BY_GROUP = Gaussian(es.PerLabel(0.2, values={"a": 0.3, "b": 0.8}))


@dataclass(frozen=True)
class Logistic(Likelihood[np.ndarray]):
    """A likelihood as a user would write it: two methods."""

    def log_density(self, latent, targets):
        return -np.logaddexp(0.0, -targets * latent)

    def slopes(self, latent, targets):
        p = expit(latent)
        return Slopes((targets + 1) / 2 - p, p * (1 - p), 2 * p - 1)


@dataclass(frozen=True)
class Counts(Likelihood[np.ndarray]):
    """A likelihood with a number of its own that is learned."""

    rate: float = 1.0

    def log_density(self, latent, targets):
        return targets * (np.log(self.rate) + latent) - self.rate * np.exp(latent) - gammaln(targets + 1)

    def slopes(self, latent, targets):
        mean = self.rate * np.exp(latent)
        return Slopes(targets - mean, mean, np.full(len(latent), -1.0))

    def parameters(self) -> list[Parameter]:
        return [Parameter("rate", self.rate, 1e-3, 1e3)]

    def with_parameters(self, values: Mapping[str, float]) -> Counts:
        return replace(self, rate=values.get("rate", self.rate))

    def parameter_slopes(self, latent, targets):
        growth = np.exp(latent)
        return {"rate": ParameterSlopes(targets / self.rate - growth, -growth, np.full(len(latent), 1 / self.rate))}


GRADES = np.random.default_rng(8).integers(0, 4, size=N)
THREE = Ordinal(-0.7, (0.4, 1.3))
CASES: dict[str, tuple[Likelihood[Any], Any, np.ndarray, list[Any]]] = {
    "probit": (Bernoulli(), SIGNS, SIGNS, [slow.probit] * N),
    "own logistic": (Logistic(), SIGNS, SIGNS, [slow.logistic] * N),
    "own counts": (Counts(1.7), COUNTS, COUNTS, [slow.poisson(1.7)] * N),
    "logit": (Bernoulli("logit"), SIGNS, SIGNS, [slow.logistic] * N),
    "poisson": (Poisson(1.7), COUNTS, COUNTS, [slow.poisson(1.7)] * N),
    "ordinal": (THREE, GRADES, GRADES.astype(float), [slow.ordinal([-0.7, -0.3, 1.0])] * N),
    "gaussian": (BY_GROUP, NUMBERS, VALUES, [slow.normal(own) for own in BY_GROUP.variances(NUMBERS)]),
}
STUDENT = (StudentT(0.4, 3.0), VALUES, VALUES, [slow.student(0.4, 3.0)] * N)  # it is not log-concave


def at_targets(targets, value):
    """The targets of a case with one value for all."""
    if isinstance(targets, Observed):
        return replace(targets, values=np.full(N, value))
    return np.full(N, value, dtype=targets.dtype)


def covariances(size=1.0, n=N, seed=0):
    root = np.random.default_rng(seed).normal(size=(n, n + 2))
    return size * (root @ root.T / n + 0.1 * np.eye(n))
