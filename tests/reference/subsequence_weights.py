"""The features of words, n-grams and subsequences from their definition: list every index set, weigh, add."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

Features = Callable[[Sequence[str]], dict[tuple[str, ...], float]]
Value = Callable[[str], float]  # of a symbol


def word_features(weight: Value = lambda x: 1.0, idf: Value = lambda x: 1.0, *, binary: bool = False) -> Features:
    """How often a word stands there, or whether, times its inverse document frequency and the root of its weight."""

    def features(words: Sequence[str]) -> dict[tuple[str, ...], float]:
        return {(x,): (1 if binary else n) * idf(x) * math.sqrt(weight(x)) for x, n in Counter(words).items()}

    return features


def ngram_features(order_weights: dict[int, float]) -> Features:
    """How often a run of symbols stands there, times the root of the weight of its length."""

    def features(words: Sequence[str]) -> dict[tuple[str, ...], float]:
        out: Counter[tuple[str, ...]] = Counter()
        for length, weight in order_weights.items():
            for k in range(len(words) - length + 1):
                out[tuple(words[k : k + length])] += math.sqrt(weight)
        return dict(out)

    return features


def subsequence_features(gap_decay: Value, match_decay: Value, order_weights: Sequence[float]) -> Features:
    """The sum over all index sets at which a subsequence stands, of what each weighs."""

    def features(words: Sequence[str]) -> dict[tuple[str, ...], float]:
        out: dict[tuple[str, ...], float] = {}
        for length, weight in enumerate(order_weights, start=1):
            for chosen in combinations(range(len(words)), length):
                inside = [k for k in range(chosen[0], chosen[-1]) if k not in chosen]
                value = math.prod(match_decay(words[k]) for k in chosen)
                value *= math.prod(gap_decay(words[k]) for k in inside) * math.sqrt(weight)
                name = tuple(words[k] for k in chosen)
                out[name] = out.get(name, 0.0) + value
        return {name: value for name, value in out.items() if value}

    return features
