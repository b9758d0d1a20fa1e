"""The order in which dependency trees are computed, from their heads, for a whole corpus at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


def depths(head: NDArray[Any], start: NDArray[Any]) -> Ids:
    """Return how many heads are above each token; a negative number if heads form a circle.

    A ``head`` is counted from 0 in its tree, and -1 for a root; ``start`` has the first token of each tree.
    """
    above = _global_heads(head, start)
    out = (above >= 0).astype(np.int64)
    jump = above
    # Each round looks twice as far up: after as many as a number has bits, only circles go on.
    for _ in range(len(head).bit_length()):
        going = np.flatnonzero(jump >= 0)
        if not len(going):
            break
        out[going] += out[jump[going]]
        jump = jump.copy()
        jump[going] = jump[jump[going]]
    out[jump >= 0] = -1
    return out


def previous_siblings(head: NDArray[Any], start: NDArray[Any]) -> NDArray[np.int32]:
    """By token the child of the same head before it, counted in its tree, or -1. Roots are siblings."""
    order, is_first = _by_head(head, start)
    out = np.full(len(head), -1, np.int64)
    later = np.flatnonzero(~is_first)
    out[order[later]] = order[later - 1]
    offset = np.repeat(start[:-1], np.diff(start))
    return np.where(out < 0, -1, out - offset).astype(np.int32)


def bottom_up(head: NDArray[Any], start: NDArray[Any]) -> NDArray[np.int32]:
    """All tokens of each tree, children before heads; of the children of one head the left before the right."""
    above, depth = _global_heads(head, start), depths(head, start)
    size = np.ones(len(head), np.int64)  # of the subtree below a token
    by_depth = np.argsort(depth, kind="stable")
    levels = np.split(by_depth, np.searchsorted(depth[by_depth], np.arange(1, depth.max(initial=0) + 1)))
    for tokens in levels[:0:-1]:
        np.add.at(size, above[tokens], size[tokens])
    # What stands before a token's subtree: the subtrees of its left siblings, and what stands before its head's.
    order, is_first = _by_head(head, start)
    before = np.cumsum(size[order]) - size[order]
    before -= np.repeat(before[is_first], np.diff(np.append(np.flatnonzero(is_first), len(order))))
    place = np.empty(len(head), np.int64)
    place[order] = before
    for tokens in levels[1:]:
        place[tokens] += place[above[tokens]]
    offset = np.repeat(start[:-1], np.diff(start))
    out = np.empty(len(head), np.int32)
    out[offset + place + size - 1] = np.arange(len(head)) - offset
    return out


def _global_heads(head: NDArray[Any], start: NDArray[Any]) -> Ids:
    """Heads counted in the corpus; -1 for a root."""
    return np.where(head < 0, -1, head + np.repeat(start[:-1], np.diff(start)))


def _by_head(head: NDArray[Any], start: NDArray[Any]) -> tuple[Ids, NDArray[np.bool_]]:
    """Tokens sorted by tree, head and place, and which of them are the first of their head."""
    tree = np.repeat(np.arange(len(start) - 1), np.diff(start))
    order = np.lexsort((head, tree))
    sorted_head, sorted_tree = head[order], tree[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (sorted_head[1:] != sorted_head[:-1]) | (sorted_tree[1:] != sorted_tree[:-1])
    return order, is_first
