"""Tags with or without their words, in runs or with gaps, from the definition: list every fragment of both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, product
from math import prod
from typing import Any

from espalier.structures import TaggedSequence

Value = Callable[[str], float]  # of a tag


def no_gaps(tag: str) -> float:
    return 0.0


def fragments(sequence: TaggedSequence, gap_decay: Value = no_gaps) -> Counter[Any]:
    """Every subsequence of tags, with every choice of the words that it keeps, and what its gaps weigh in all.

    A run has no gaps, so that it weighs 1; with a gap decay of 0 only runs are left.
    """
    found: Counter[Any] = Counter()
    n = len(sequence)
    for size in range(1, n + 1):
        for places in combinations(range(n), size):
            skipped = set(range(places[0], places[-1])) - set(places)
            weight = prod(gap_decay(sequence.tags[k]) for k in skipped)
            if weight == 0:
                continue
            for kept in product((False, True), repeat=size):
                fragment = tuple(
                    (sequence.tags[k], sequence.words[k] if keeps else None)
                    for k, keeps in zip(places, kept, strict=True)
                )
                found[fragment] += weight  # type: ignore[assignment]
    return found


def tagging(
    s: TaggedSequence, t: TaggedSequence, decay: Value, word_weight: Value, gap_decay: Value = no_gaps
) -> float:
    a, b = fragments(s, gap_decay), fragments(t, gap_decay)
    return sum(
        n * b[fragment] * prod(decay(tag) * (1.0 if word is None else word_weight(tag)) for tag, word in fragment)
        for fragment, n in a.items()
    )
