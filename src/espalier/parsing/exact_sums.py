"""Weights whose sums are exact, so that the score of a parse does not depend on the order of its rules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Log probabilities are multiples of this. Sums of up to 131,072 in size, as of some ten thousand words, then need no
# rounding in 53 bits; each weight is rounded by 7.3e-12 at most.
GRID = 2.0**-36


def on_grid(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest multiples of 2 to the power of -36.

    A parser adds the same weights in many orders: in its chart, in its search, with other constituents before them.
    With rounded sums, parses of equal probability would differ in their last digits, and so in rank.

    Examples
    --------
    >>> float(sum(on_grid(np.log([0.1, 0.2, 0.7]))) - sum(on_grid(np.log([0.7, 0.2, 0.1]))))
    0.0
    """
    return np.rint(weights / GRID) * GRID
