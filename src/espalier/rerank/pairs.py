"""Targets and their rivals as pairs: utilities and matrices of pairs, from those of candidates, and scores of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.gp.latent import LinearTerm

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCORE = "score.variance"


class Pairs:
    """Pairs of the first item of each group, its target, with each of the others, its rivals.

    Parameters
    ----------
    start
        Where each group starts in the items, and where the last one ends. Each has two items or more.

    Attributes
    ----------
    target, rival
        The items of each pair, group after group.
    """

    def __init__(self, start: Integers) -> None:
        self.start = start
        self.target: Integers = np.repeat(start[:-1], np.diff(start) - 1)
        self.rival: Integers = np.delete(np.arange(start[-1]), start[:-1])

    @property
    def n_items(self) -> int:
        """How many items the groups have."""
        return int(self.start[-1])

    def __len__(self) -> int:
        return len(self.rival)

    def differences(self, values: Floats) -> Floats:
        """The target's value minus the rival's, along the last axis."""
        return np.asarray(values[..., self.target] - values[..., self.rival])

    def both(self, matrix: Floats) -> Floats:
        """The covariances of differences from those of items."""
        columns = self.differences(matrix)
        return np.asarray(columns[self.target] - columns[self.rival])

    def back(self, weights: Floats) -> Floats:
        """The transpose of :meth:`differences`: weights of pairs, as weights of items, along the last axis."""
        out = np.zeros((*weights.shape[:-1], self.n_items))
        out[..., self.rival] = -weights
        # Rivals of one group are adjacent, and every group has some.
        first = self.start[:-1] - np.arange(len(self.start) - 1)
        out[..., self.start[:-1]] = np.add.reduceat(weights, first, axis=-1)
        return out

    def both_back(self, matrix: Floats) -> Floats:
        """The transpose of :meth:`both`."""
        return np.ascontiguousarray(self.back(self.back(matrix).T).T)


@dataclass(frozen=True, eq=False)
class PairScores:
    """The parser's scores of pairs.

    Attributes
    ----------
    differences
        The target's score minus the rival's, in ``unit``.
    unit
        The unit in the parser's scale: the root mean square of the differences.
    weight
        The weight of one unit of the parser's scale if it is given; None if it is learned.
    """

    differences: Floats
    unit: float
    weight: float | None

    @staticmethod
    def of(scores: Floats, pairs: Pairs, weight: float | None) -> PairScores:
        """The differences of scores of items; a target without a score has the lowest among its rivals."""
        scores = scores.copy()
        first = pairs.start[:-1]
        unknown = np.isnan(scores[first])
        scores[first[unknown]] = np.inf
        lowest = np.minimum.reduceat(scores, first)
        scores[first[unknown]] = lowest[unknown]
        differences = pairs.differences(scores)
        largest = float(np.abs(differences).max(initial=0.0)) or 1.0
        unit = largest * (float(np.sqrt(np.mean((differences / largest) ** 2))) or 1.0)
        return PairScores(differences / unit, unit, weight)

    def weight_given(self, dual: Floats, variance: float) -> float:
        """The weight of one unit of the parser's scale, given the dual weights of all pairs."""
        return float(variance * (self.differences @ dual) / self.unit)

    @property
    def offset(self) -> Floats:
        """What scores with a given weight add to the differences of utilities."""
        return self.differences * ((self.weight or 0.0) * self.unit)

    @property
    def term(self) -> LinearTerm | None:
        """The linear kernel of the scores, if their weight is learned and can be."""
        if self.weight is not None or not self.differences.any():
            return None
        return LinearTerm(SCORE, self.differences, "variance, of scores in their unit")
