"""Runs of tags with or without their words, from their definition: list every fragment of both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

from espalier.structures import TaggedSequence

Value = Callable[[str], float]  # of a tag


def fragments(sequence: TaggedSequence) -> Counter[Any]:
    """Every run of tags, with every choice of the words that it keeps."""
    found: Counter[Any] = Counter()
    n = len(sequence)
    for start in range(n):
        for end in range(start + 1, n + 1):
            for kept in product((False, True), repeat=end - start):
                places = zip(range(start, end), kept, strict=True)
                found[tuple((sequence.tags[k], sequence.words[k] if keeps else None) for k, keeps in places)] += 1
    return found


def tagging(s: TaggedSequence, t: TaggedSequence, decay: Value, word_weight: Value) -> float:
    a, b = fragments(s), fragments(t)
    return sum(
        n * b[fragment] * prod(decay(tag) * (1.0 if word is None else word_weight(tag)) for tag, word in fragment)
        for fragment, n in a.items()
    )
