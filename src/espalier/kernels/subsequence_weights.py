"""What kernels of words, n-grams and subsequences have in common: the numbers that their features are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SubsequenceWeights:
    """What one occurrence of a subsequence counts for in the space of a kernel.

    It is a product: ``match`` of each symbol, ``gap`` of each symbol skipped between the first and the last, and
    ``order`` of the length.

    Attributes
    ----------
    match, gap
        One number for each symbol. Where all gaps count for 0, subsequences are runs: n-grams.
    order
        One number for each length, from 1; longer subsequences do not count.
    binary
        Whether a symbol counts once in a sequence, however often it stands there.
    """

    match: Floats
    gap: Floats
    order: Floats
    binary: bool = False

    @property
    def has_gaps(self) -> bool:
        """Whether subsequences may skip symbols."""
        return bool((self.gap > 0).any())
