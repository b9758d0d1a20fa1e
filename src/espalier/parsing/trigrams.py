"""How probable a tag is after the two before it: trigrams smoothed by deleted interpolation (Brants 2000)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def count_trigrams(sentences: Iterable[Sequence[int]], n_tags: int) -> Integers:
    """How often each tag follows two others, in a table with a row, a column and a layer for each tag.

    One more of each, the last, stands for the start (two before each sentence) and for the end (one behind it).
    """
    counts = np.zeros((n_tags + 1,) * 3, np.int64)
    for tags in sentences:
        padded = np.array([n_tags, n_tags, *tags, n_tags])
        np.add.at(counts, (padded[:-2], padded[1:-1], padded[2:]), 1)
    return counts


def interpolation_weights(counts: Integers) -> tuple[float, float, float]:
    """Return the weights of unigrams, bigrams and trigrams, by deleted interpolation.

    Each trigram of the training data votes for the longest context in which it would be most probable if it had been
    seen once less; if contexts tie, for the shortest of these. Each context has one vote from the beginning, so that
    nothing is impossible that was never seen: the one step that the paper does not have.
    """
    of_one, of_two, of_three = (table - 1 for table in (counts.sum((0, 1)), counts.sum(0), counts))
    by_none, by_one, by_two = (table - 1 for table in (counts.sum(), counts.sum((0, 2)), counts.sum(2)))
    shape = counts.shape
    shares = [
        np.broadcast_to(_ratio(of_one, by_none), shape),
        np.broadcast_to(_ratio(of_two, by_one[:, None]), shape),
        _ratio(of_three, by_two[:, :, None]),
    ]
    seen = counts > 0
    chosen = np.argmax([share[seen] for share in shares], axis=0)  # the first of equals
    votes = 1.0 + np.bincount(chosen, counts[seen], minlength=3)
    one, two, three = (votes / votes.sum()).tolist()
    return one, two, three


def trigram_weights(counts: Integers) -> NDArray[np.float64]:
    """Return the log probability of each tag after two others.

    Two tags that were never seen together say no more than the second alone: so probabilities add up to one after any
    two, where the paper leaves a gap.
    """
    one, two, three = interpolation_weights(counts)
    of_one = counts.sum((0, 1)) / counts.sum()
    of_two = _ratio(counts.sum(0), counts.sum((0, 2))[:, None])
    before = counts.sum(2)[:, :, None]
    of_three = np.where(before > 0, _ratio(counts, before), of_two)
    weights: NDArray[np.float64] = np.log(one * of_one + two * of_two + three * of_three)
    return weights


def _ratio(part: Integers, whole: Integers | np.int64) -> NDArray[np.float64]:
    """Return ``part / whole``, or 0 if the whole is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)
