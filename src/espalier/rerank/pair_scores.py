"""The parser's scores of pairs: a given offset of their differences, or one more linear kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.gp.latent import LinearTerm
from espalier.rerank.pairs import Pairs

Floats = NDArray[np.float64]

SCORE = "score.variance"


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

    def in_units(self, scores: Floats) -> Floats:
        """Scores of new candidates."""
        return scores / self.unit

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
