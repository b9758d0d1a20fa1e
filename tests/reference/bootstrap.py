"""The paired bootstrap in loops: draw sentences with replacement, measure both systems on them, count changed signs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

Ratio = tuple[Sequence[int], Sequence[int]]  # by sentence: what is counted, and of how many


def measure(ratio: Ratio, rows: Sequence[int]) -> Fraction:
    """The share over some rows, in per cent, exactly; 0 of nothing."""
    part = whole = 0
    for row in rows:
        part += int(ratio[0][row])
        whole += int(ratio[1][row])
    return Fraction(100 * part, whole) if whole else Fraction(0)


def paired_bootstrap(a: Ratio, b: Ratio, n: int, seed: int) -> tuple[Fraction, list[Fraction], float]:
    """The difference of two measures, that of each resample, and the two-sided p-value."""
    rng = np.random.default_rng(seed)
    n_sentences = len(a[0])
    everything = range(n_sentences)
    difference = measure(a, everything) - measure(b, everything)
    resampled, flips = [], 0
    for _ in range(n):
        rows = rng.integers(0, n_sentences, n_sentences).tolist()
        resampled.append(measure(a, rows) - measure(b, rows))
        if (difference > 0 and resampled[-1] <= 0) or (difference < 0 and resampled[-1] >= 0):
            flips += 1
    p_value = 1.0 if difference == 0 else min(1.0, 2 * (flips + 1) / (n + 1))
    return difference, resampled, p_value
