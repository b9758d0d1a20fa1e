"""Dependency trees by listing all of them: which are trees, which have crossing arcs, which score best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product


def is_tree(heads: Sequence[int]) -> bool:
    """Whether every word reaches the root."""
    for word in range(1, len(heads) + 1):
        seen = set()
        while word != 0:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word - 1]
    return True


def has_crossing_arcs(heads: Sequence[int]) -> bool:
    """Whether two arcs cross when drawn above the words, the root to the left of all of them."""
    arcs = [tuple(sorted((head, word))) for word, head in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def all_trees(n_words: int, *, several_roots: bool = False, crossing: bool = False) -> Iterator[tuple[int, ...]]:
    """The heads of every tree over so many words."""
    for heads in product(range(n_words + 1), repeat=n_words):
        if not several_roots and heads.count(0) != 1:
            continue
        if is_tree(heads) and (crossing or not has_crossing_arcs(heads)):
            yield heads


def best_trees(
    n_words: int, score: Callable[[tuple[int, ...]], float], *, several_roots: bool = False
) -> list[tuple[float, tuple[int, ...]]]:
    """All trees without crossing arcs with their scores, the best first."""
    found = [(score(heads), heads) for heads in all_trees(n_words, several_roots=several_roots)]
    return sorted(found, reverse=True)
