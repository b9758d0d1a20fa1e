"""All parses of a sentence under a grammar, listed from the definition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

Listed = tuple[str, float]  # a tree in brackets, and the logarithm of its probability


def all_parses(
    rules: Mapping[tuple[str, tuple[str, ...]], float],
    lexicon: Sequence[Mapping[str, float]],
    words: Sequence[str],
    root: str,
    max_unary: int,
) -> list[Listed]:
    """Every tree of the root over all words, the most probable first.

    ``lexicon`` gives, for each position, the tags of its word with log probabilities. No more than ``max_unary`` rules
    with one child stand one on top of the other.
    """

    def of(symbol: str, i: int, j: int, left: int) -> Iterator[Listed]:
        if j == i + 1 and symbol in lexicon[i]:
            yield f"({symbol} {words[i]})", lexicon[i][symbol]
        for (parent, children), probability in rules.items():
            if parent != symbol or (len(children) == 1 and left == 0):
                continue
            below = of(children[0], i, j, left - 1) if len(children) == 1 else side_by_side(children, i, j)
            for text, weight in below:
                yield f"({symbol} {text})", weight + math.log(probability)

    def side_by_side(symbols: tuple[str, ...], i: int, j: int) -> Iterator[Listed]:
        if len(symbols) == 1:
            yield from of(symbols[0], i, j, max_unary)
            return
        for k in range(i + 1, j - len(symbols) + 2):
            for first, first_weight in of(symbols[0], i, k, max_unary):
                for rest, rest_weight in side_by_side(symbols[1:], k, j):
                    yield f"{first} {rest}", first_weight + rest_weight

    return sorted(of(root, 0, len(words), max_unary), key=lambda found: -found[1])
