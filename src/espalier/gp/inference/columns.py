"""Several latent functions with the same prior and separate targets, such as one for each class against the rest.

They share the covariances and the numbers of the likelihood, so their log evidences add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.gp.inference.sites import Cotangent
from espalier.gp.likelihoods.base import Likelihood
from espalier.gp.parameters import Vector


@dataclass(frozen=True, eq=False)
class ColumnsPosterior:
    """What the inference returned for each column of targets."""

    each: list[Any]

    @property
    def log_evidence(self) -> float:
        """The log density of all targets."""
        return float(sum(own.log_evidence for own in self.each))

    @property
    def dual(self) -> Vector:
        """The dual weights, a column for each function."""
        return np.stack([own.dual for own in self.each], axis=1)

    def mean(self, cross: Vector) -> Vector:
        """The mean of each function at new examples, from their covariances with training examples (rows)."""
        none = np.zeros((cross.shape[1], 0))
        return np.stack([own.mean(cross, none) for own in self.each], axis=1)

    def variances(self, cross: Vector, prior: Vector) -> Vector:
        """The variance of each function at new examples, from their prior variances."""
        none = np.zeros((cross.shape[1], 0))
        return np.stack([own.variance(cross, prior, none) for own in self.each], axis=1)

    def left_out(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each latent value given all targets but its own; a column for each function."""
        means, variances = zip(*(own.left_out() for own in self.each), strict=True)
        return np.stack(means, axis=1), np.stack(variances, axis=1)

    @property
    def near(self) -> list[Any]:
        """From where to begin at other covariances."""
        return [own.near for own in self.each]


@dataclass(frozen=True)
class Columns:
    """Inference for several columns of targets, by an inference for one."""

    inference: Any  # a module, such as ``ep``
    close: float | None = None  # when its sweeps end; its own default if None

    def condition(
        self,
        K: Vector,
        likelihood: Likelihood[Any],
        targets: Sequence[Any],
        offset: Vector | float = 0.0,
        near: list[Any] | None = None,
    ) -> ColumnsPosterior:
        """Condition a function on each column of targets."""
        starts = [None] * len(targets) if near is None else near
        own = {} if self.close is None else {"close": self.close}
        pairs = zip(targets, starts, strict=True)
        return ColumnsPosterior(
            [self.inference.condition(K, likelihood, column, offset, start, **own) for column, start in pairs]
        )

    def cotangent(
        self,
        given: ColumnsPosterior,
        K: Vector,
        likelihood: Likelihood[Any],
        targets: Sequence[Any],
        offset: Vector | float = 0.0,
    ) -> Cotangent:
        """The derivatives of the sum of all log evidences; this overwrites the factors."""
        total: Vector | None = None
        by_path: dict[str, float] = {}
        for own, column in zip(given.each, targets, strict=True):
            bar, slopes = self.inference.cotangent(own, K, likelihood, column, offset)
            total = bar if total is None else np.add(total, bar, out=total)
            by_path = {path: by_path.get(path, 0.0) + slope for path, slope in slopes.items()}
        assert total is not None
        return Cotangent(total, by_path)
