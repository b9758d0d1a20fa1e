"""Targets that count more or less than others: a log density times a weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from espalier.gp.likelihoods.base import Likelihood, ParameterSlopes, Slopes
from espalier.gp.parameters import Parameter, Vector

T = TypeVar("T")


class WeightedTargets(NamedTuple, Generic[T]):
    """Targets, and how often each of them counts."""

    targets: T
    weight: Vector


@dataclass(frozen=True)
class Weighted(Likelihood[WeightedTargets[Any]]):
    """Another likelihood, whose log densities are multiplied by the weights of their targets.

    A weight of 2 means that a target was observed twice. A density to a power adds up to 1 no more, so predictions use
    the likelihood itself.
    """

    likelihood: Likelihood[Any]

    def log_density(self, latent: Vector, targets: WeightedTargets[Any]) -> Vector:
        return targets.weight * self.likelihood.log_density(latent, targets.targets)

    def slopes(self, latent: Vector, targets: WeightedTargets[Any]) -> Slopes:
        slope, curvature, ratio = self.likelihood.slopes(latent, targets.targets)
        return Slopes(targets.weight * slope, targets.weight * curvature, ratio)

    def parameters(self) -> list[Parameter]:
        return self.likelihood.parameters()

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        return replace(self, likelihood=self.likelihood.with_parameters(values))

    def parameter_slopes(self, latent: Vector, targets: WeightedTargets[Any]) -> dict[str, ParameterSlopes]:
        own = self.likelihood.parameter_slopes(latent, targets.targets)
        return {
            path: ParameterSlopes(
                targets.weight * each.log_density, targets.weight * each.slope, np.asarray(each.log_curvature)
            )
            for path, each in own.items()
        }
