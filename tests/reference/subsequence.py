"""Gap-weighted subsequences from their definition: list every pair of index sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import prod

Value = Callable[[str], float]  # of a symbol


def subsequence(
    s: Sequence[str], t: Sequence[str], gap_decay: Value, match_decay: Value, order_weights: Sequence[float]
) -> float:
    """The sum over all pairs of equal subsequences, of what each pair weighs."""

    def weight(sequence: Sequence[str], chosen: tuple[int, ...]) -> float:
        inside = [k for k in range(chosen[0], chosen[-1]) if k not in chosen]
        return prod(match_decay(sequence[k]) for k in chosen) * prod(gap_decay(sequence[k]) for k in inside)

    total = 0.0
    for p, order_weight in enumerate(order_weights, start=1):
        for in_s in combinations(range(len(s)), p):
            for in_t in combinations(range(len(t)), p):
                if [s[k] for k in in_s] == [t[k] for k in in_t]:
                    total += order_weight * weight(s, in_s) * weight(t, in_t)
    return total
