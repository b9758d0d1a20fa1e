"""Targets and their rivals as pairs: from utilities and matrices of candidates to those of pairs, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
