"""All parses of a sentence under a grammar, listed from the definition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

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


def ordered_parses(
    rules: Mapping[tuple[str, tuple[str, ...]], int],
    lexicon: Sequence[Mapping[str, int]],
    words: Sequence[str],
    symbols: Sequence[str],
    max_unary: int,
) -> list[tuple[str, int]]:
    """Every tree of the first symbol over all words in the one order that the parser promises.

    Weights are whole numbers, so that their sums are exact. The heavier tree comes first. Of equal ones: that without
    a unary rule on top; the earlier unary rule; the longer last child; the lower number of what stands before the last
    child, a single symbol before several, of which those come first that the rules mention first; the lower number of
    the last child; the better part before the last child; the better last child.
    """
    beginnings: list[tuple[str, ...]] = [(symbol,) for symbol in symbols]
    for _, children in rules:
        beginnings += [children[:end] for end in range(2, len(children)) if children[:end] not in beginnings]

    @cache
    def of(symbol: str, i: int, j: int, left: int) -> list[tuple[str, int]]:
        found = [((0, 0, 0, 0, at), text, own) for at, (text, own) in enumerate(split(symbol, i, j))]
        for number, ((parent, children), weight) in enumerate(rules.items()):
            if parent == symbol and len(children) == 1 and left:
                below = of(children[0], i, j, left - 1)
                found += [
                    ((1, number, 0, 0, at), f"({symbol} {text})", weight + own) for at, (text, own) in enumerate(below)
                ]
        return ranked(found)

    @cache
    def split(symbol: str, i: int, j: int) -> list[tuple[str, int]]:
        if j == i + 1:
            return [(f"({symbol} {words[i]})", lexicon[i][symbol])] if symbol in lexicon[i] else []
        found = []
        for (parent, children), weight in rules.items():
            if parent == symbol and len(children) > 1:
                found += [(key, f"({symbol} {text})", weight + own) for key, text, own in cut(children, i, j)]
        return ranked(found)

    @cache
    def beginning(children: tuple[str, ...], i: int, j: int) -> list[tuple[str, int]]:
        return of(children[0], i, j, max_unary) if len(children) == 1 else ranked(cut(children, i, j))

    def cut(children: tuple[str, ...], i: int, j: int) -> list[tuple[tuple[int, ...], str, int]]:
        first, last = children[:-1], children[-1]
        return [
            ((k, beginnings.index(first), symbols.index(last), a, b), f"{x} {y}", one + two)
            for k in range(i + 1, j)
            for a, (x, one) in enumerate(beginning(first, i, k))
            for b, (y, two) in enumerate(of(last, k, j, max_unary))
        ]

    return of(symbols[0], 0, len(words), max_unary)


def ranked(found: list[tuple[tuple[int, ...], str, int]]) -> list[tuple[str, int]]:
    """By weight, the largest first, and then by key."""
    return [(text, weight) for _, text, weight in sorted(found, key=lambda own: (-own[2], own[0]))]
