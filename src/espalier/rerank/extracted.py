"""The selected features of many groups, held within a budget of memory.

They are extracted once if the budget holds them all. Otherwise each pass over the groups extracts them anew, so many
groups at a time as the budget holds. This takes longer, and every bit of the result is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import MemoryBudgetError
from espalier.jobs.memory import show_bytes
from espalier.jobs.schedule import Schedule
from espalier.rerank.listed import Floats, ListedGroups
from espalier.spaces.selected import SelectedFeatures

Integers = NDArray[np.int64]


class _Part(NamedTuple):
    """Some groups: their features, their numbers and those of their candidates, and where each begins in these."""

    found: _core.RankedFeatures
    groups: Integers
    candidates: Integers
    bounds: Integers


class ExtractedGroups:
    """The features of groups, for learning and scoring.

    Parameters
    ----------
    features
        What to look for; a feature of order r counts ``decay ** (r - 1)``.
    listed
        The groups.
    schedule
        Its memory is the budget.
    """

    def __init__(self, features: SelectedFeatures, listed: ListedGroups, decay: float, schedule: Schedule) -> None:
        self._features, self._listed, self._decay, self._memory = features, listed, decay, schedule.memory
        self._found = features.extracted(listed.inputs, listed.bounds, schedule, decay=decay)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def n_features(self) -> int:
        """How many features all groups have."""
        return self._found.n_features

    @property
    def n_bytes(self) -> int:
        """How much memory is taken: at most the budget."""
        return int(self._found.n_bytes.sum()) if self._found.is_whole else self._memory

    def run_pass(self, learner: _core.RankingLearner, order: Integers, base: Floats, schedule: Schedule) -> int:
        """Let a learner pass over all groups in this order; return in how many another than the right one was best."""
        own = self._listed
        if self._found.is_whole:
            return learner.run_pass(self._found, order, own.bounds, own.right, base, own.cost, schedule.tell)
        n_wrong = 0
        for part, learning in self._parts(order, schedule):
            n_wrong += learner.run_pass(
                part.found,
                np.arange(len(part.groups)),
                part.bounds,
                own.right[part.groups],
                base[part.candidates],
                own.cost[part.candidates],
                learning.tell,
            )
        return n_wrong

    def scores(self, weights: NDArray[np.float32], schedule: Schedule) -> Floats:
        """For each candidate the sum of the weights of its features, up to a constant of its group."""
        if self._found.is_whole:
            return self._found.scores(weights, schedule.n_threads)
        found = [
            part.found.scores(weights, schedule.n_threads) for part, _ in self._parts(np.arange(len(self)), schedule)
        ]
        return np.concatenate(found)

    def _parts(self, order: Integers, schedule: Schedule) -> Iterator[tuple[_Part, Schedule]]:
        """Groups in this order, as many at a time as the memory holds; and the schedule of what is done with them."""
        # Half of the memory is left for the graphs of the groups, and for the group at the end of a part.
        number = np.cumsum(self._found.n_bytes[order]) // max(1, self._memory // 2)
        left = np.split(order, np.flatnonzero(np.diff(number)) + 1)[::-1]
        n_done = 0
        while left:
            groups = left.pop()
            share = schedule.between(n_done / len(order), (n_done + len(groups)) / len(order))
            part = self._part(groups, share.between(0.0, 0.5))
            if part.found.is_whole:
                yield part, share.between(0.5, 1.0)
                n_done += len(groups)
            elif len(groups) > 1:
                left += np.array_split(groups, 2)[::-1]
            else:
                raise self._too_large(int(part.found.n_bytes[0]))

    def _part(self, groups: Integers, schedule: Schedule) -> _Part:
        bounds = self._listed.bounds
        sizes = np.diff(bounds)[groups]
        start = np.concatenate([[0], np.cumsum(sizes)])
        candidates = np.repeat(bounds[groups] - start[:-1], sizes) + np.arange(start[-1])
        inputs = self._listed.inputs.rows(candidates)
        found = self._features.extracted(inputs, start, replace(schedule, memory=self._memory), decay=self._decay)
        return _Part(found, groups, candidates, start)

    def _too_large(self, n_bytes: int) -> MemoryBudgetError:
        needed = 8 * max(n_bytes, self._memory)
        return MemoryBudgetError(
            f"Finding the features of a single group needs {show_bytes(2 * n_bytes)} of memory or more, for the "
            f"features and for the graph of its candidates, but {show_bytes(self._memory)} of the budget, memory, are "
            f"left for it. Pass memory={needed} or more, or select fewer features with a larger C."
        )
