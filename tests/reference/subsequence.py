"""Gap-weighted subsequences from their definition: list every pair of index sets, matched softly or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import prod

Value = Callable[[str], float]  # of a symbol


def subsequence(
    s: Sequence[str],
    t: Sequence[str],
    gap_decay: Value,
    match_decay: Value,
    order_weights: Sequence[float],
    similar: Callable[[str, str], float] = lambda x, y: float(x == y),
) -> float:
    """The sum over all pairs of subsequences of one length, of what each pair weighs."""

    def weight(sequence: Sequence[str], chosen: tuple[int, ...]) -> float:
        inside = [k for k in range(chosen[0], chosen[-1]) if k not in chosen]
        return prod(match_decay(sequence[k]) for k in chosen) * prod(gap_decay(sequence[k]) for k in inside)

    total = 0.0
    for p, order_weight in enumerate(order_weights, start=1):
        for in_s in combinations(range(len(s)), p):
            for in_t in combinations(range(len(t)), p):
                matched = prod(similar(s[i], t[j]) for i, j in zip(in_s, in_t, strict=True))
                if matched:
                    total += order_weight * matched * weight(s, in_s) * weight(t, in_t)
    return total
