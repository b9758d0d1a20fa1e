"""Counting the candidates of a pass, order by order, and letting features survive.

A pass counts the candidates of all mispredicted examples anew, or changes the counts of the pass before by what is
predicted differently now. Both have the same result.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import MemoryBudgetError
from espalier.jobs.memory import show_bytes
from espalier.jobs.schedule import Schedule
from espalier.selection.counted import Counted, KeptPass, say_counted, say_counting
from espalier.selection.grown_features import Grown, Problem

_LEAST_MEMORY = 1 << 25  # for counting, whatever else is held
_KEPT_SHARE = 4  # one part in so many of the memory is for counts that are kept from pass to pass
_OPEN, _FRESH = 1, 2  # whether a feature may grow, and whether it does for the first time


class Counting:
    """The candidates of a problem, and their counts.

    Parameters
    ----------
    C, filter_memory, folder
        As for :class:`~espalier.selection.mining.Mining`.

    Attributes
    ----------
    kept
        The counts of the last pass; None if each pass counts anew.
    """

    def __init__(self, problem: Problem, grown: Grown, C: float, *, filter_memory: int = 0, folder: str = "") -> None:
        self._problem, self._grown, self._C = problem, grown, C
        self._filter_memory, self._folder = filter_memory, folder
        keeps = not filter_memory and C <= _core.MOST_KEPT_THRESHOLD
        self.kept = KeptPass.empty(len(grown.weight)) if keeps else None

    @property
    def n_bytes(self) -> int:
        """Bytes of the examples, of the features and of counts that are kept."""
        kept = 0 if self.kept is None else self.kept.n_bytes
        return int(self._problem.graphs.n_bytes) + self._grown.n_bytes + kept

    def count(self, predicted: NDArray[np.int32], max_order: int, number: int, schedule: Schedule) -> list[Counted]:
        """Count candidates up to an order in the pass of this number, and let features survive."""
        if self.kept is None:
            return self._count_all(predicted, max_order, number, schedule)
        if self.kept.max_order != max_order:  # of no pass, of one that was interrupted, or up to another order
            self.kept = KeptPass.empty(len(self._grown.weight))
        counted = self._count_changes(self.kept, predicted, max_order, number, schedule)
        if any(own.is_full for own in self.kept.counts):
            self.kept = None  # they take too much memory: the next passes count everything anew
        return counted

    def memory(self, schedule: Schedule) -> int:
        """Bytes for counting."""
        least = _LEAST_MEMORY * schedule.n_threads
        needed = least + self._filter_memory
        if needed > schedule.memory:
            raise MemoryBudgetError(_too_little(needed, self._filter_memory, schedule))
        # What is held does not end the work: it cannot be less, and all else goes to the disk.
        return max(schedule.memory - self.n_bytes - self._filter_memory, least)

    def _count_changes(
        self, kept: KeptPass, predicted: NDArray[np.int32], max_order: int, number: int, schedule: Schedule
    ) -> list[Counted]:
        """Change the counts of the last pass by what is predicted differently now.

        All features that ever survived may grow. What grows from one that does not survive any more is not frequent
        enough either, and only costs the time to count it.
        """
        grown = self._grown
        is_update = kept.max_order > 0
        kept.max_order = 0
        had_weight = grown.weight != 0
        opened = np.full(len(grown.weight), _OPEN, np.uint8)
        survives = np.zeros(len(grown.weight), np.uint8)
        counted: list[Counted] = []
        for order in range(1, max_order + 1):
            began = time.monotonic()
            part = schedule.part(order - 1, max_order)
            say_counting(part, number, order, counted, self.n_bytes)
            found = self._changes(order, kept, opened, predicted, part)
            grown.insert(found["key"], order)
            n_new = len(found["key"])
            opened = np.concatenate([opened, np.full(n_new, _FRESH, np.uint8)])
            kept.add(found)
            own = np.flatnonzero(grown.order == order).astype(np.uint32)
            n_candidates = found["n_kept"] + int(np.count_nonzero(kept.plus[own] | kept.minus[own]))
            had_weight, survives = (np.concatenate([old, np.zeros(n_new, old.dtype)]) for old in (had_weight, survives))
            nodes = own[(np.maximum(kept.plus[own], kept.minus[own]) > self._C) | had_weight[own]]
            survives[nodes] = 1
            grown.survives = survives
            slope = kept.plus[nodes].astype(np.float64) - kept.minus[nodes]
            n_counted, n_spilled, seconds = found["n_occurrences"], found["n_spilled"], time.monotonic() - began
            counted.append(Counted(nodes, slope, is_update, n_counted, n_candidates, n_spilled, seconds))
            say_counted(part, number, counted, self.n_bytes)
        kept.predicted, kept.max_order = predicted, max_order
        return counted

    def _changes(
        self,
        order: int,
        kept: KeptPass,
        opened: NDArray[np.uint8],
        predicted: NDArray[np.int32],
        schedule: Schedule,
    ) -> dict[str, Any]:
        settings = self._settings(order, opened, predicted, schedule)
        if len(kept.counts) < order:
            share = max(0, schedule.memory - self.n_bytes) // _KEPT_SHARE
            kept.counts.append(_core.KeptCounts(share))
        return _core.count_changes(**settings, before=kept.predicted, kept=kept.counts[order - 1])

    def _count_all(
        self, predicted: NDArray[np.int32], max_order: int, number: int, schedule: Schedule
    ) -> list[Counted]:
        """Count all candidates anew."""
        grown = self._grown
        had_weight = grown.weight != 0
        opened = grown.reached(had_weight, schedule.n_threads)
        survives = np.zeros(len(grown.weight), np.uint8)
        counted: list[Counted] = []
        keys = grown.trie.keys()
        for order in range(1, max_order + 1):
            began = time.monotonic()
            part = schedule.part(order - 1, max_order)
            say_counting(part, number, order, counted, self.n_bytes)
            watched = keys[np.flatnonzero(had_weight & (grown.order[: len(had_weight)] == order))]
            found = _core.count_features(
                **self._settings(order, opened, predicted, part),
                watched=watched,
                filter_memory=self._filter_memory if order > 1 else 0,
            )
            nodes = grown.insert(found["key"], order)
            n_new = len(grown.weight) - len(opened)
            opened = np.concatenate([opened, np.zeros(n_new, np.uint8)])
            survives = np.concatenate([survives, np.zeros(n_new, np.uint8)])
            opened[nodes] = survives[nodes] = 1
            grown.survives = survives
            slope = found["plus"].astype(np.float64) - found["minus"]
            n_spilled, seconds = found["n_spilled"], time.monotonic() - began
            counted.append(Counted(nodes, slope, False, found["n_emitted"], found["n_distinct"], n_spilled, seconds))
            say_counted(part, number, counted, self.n_bytes)
        return counted

    def _settings(
        self, order: int, opened: NDArray[np.uint8], predicted: NDArray[np.int32], schedule: Schedule
    ) -> dict[str, Any]:
        """What the core needs to count the candidates of an order, anew or what changed."""
        problem, grown = self._problem, self._grown
        return {
            "graphs": problem.graphs,
            "trie": grown.trie,
            "n_atoms": grown.n_atoms,
            "first": grown.first(opened),
            "open": opened,
            "right": problem.right,
            "predicted": predicted,
            "root_of": problem.root_of,
            "order": order,
            "threshold": self._C,
            "memory": self.memory(schedule),
            "folder": self._folder,
            "n_threads": schedule.n_threads,
            "progress": schedule.tell,
        }


def _too_little(needed: int, filter_memory: int, schedule: Schedule) -> str:
    """Say that counting needs more memory than it may use, and what to do."""
    n_threads = schedule.n_threads
    parts = [f"{show_bytes(_LEAST_MEMORY)} for each of {n_threads} threads" if n_threads > 1 else ""]
    parts += [f"{show_bytes(filter_memory)} for the filter" if filter_memory else ""]
    told = ", ".join(filter(None, parts))
    less = ", or use fewer threads" * (n_threads > 1) + ", or a smaller filter_memory" * bool(filter_memory)
    return (
        f"Counting features needs {show_bytes(needed)} of memory{f' ({told})' if told else ''}, but the budget, "
        f"memory, is {show_bytes(schedule.memory)}. Pass memory={needed} or more{less}."
    )
