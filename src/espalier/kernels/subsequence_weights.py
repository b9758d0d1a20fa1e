"""The numbers that make up the features of kernels of words, n-grams and subsequences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SubsequenceWeights:
    """The value of one occurrence of a subsequence in the feature space of a kernel.

    It is a product: ``match`` of each symbol, ``gap`` of each symbol skipped between the first and the last, and
    ``order`` of the length.

    Attributes
    ----------
    match, gap
        One number for each symbol. If all gaps are 0, subsequences are runs: n-grams.
    order
        One number for each length, from 1; longer subsequences do not count.
    binary
        Whether a symbol counts once in a sequence, however often it occurs.
    """

    match: Floats
    gap: Floats
    order: Floats
    binary: bool = False

    @property
    def has_gaps(self) -> bool:
        """Whether subsequences may skip symbols."""
        return bool((self.gap > 0).any())
