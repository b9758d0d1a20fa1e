"""Gradient mining (Qian and Liu 2015, algorithm 1): passes over examples that let features survive and move weights.

Two signs of the printed algorithm are corrected, and the step of the penalty is proximal, so that a weight of 0 stays 0
while the gradient is at most C. A feature counts once for an output, however often it occurs in it: only then can a
feature never count more than a part of it. ``tests/reference/gradient_mining.py`` is the definition.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import MemoryBudgetError
from espalier.jobs.schedule import Schedule
from espalier.selection.counted import Counted, KeptPass, say_counted, say_counting
from espalier.selection.grown_features import Grown, Problem, scores_of

Steps = Literal["square root", "constant"]

_LEAST_MEMORY = 1 << 25  # for counting, whatever else is held
_KEPT_SHARE = 4  # one part in so many of the memory is for counts that are kept from pass to pass
_OPEN, _FRESH = 1, 2  # whether a feature may grow, and whether it does for the first time
_SHARE = 0.25  # of the loss that the first step is to undo: no weights undo all of it


@dataclass(frozen=True)
class OrderStep:
    """What one pass did at one order.

    Attributes
    ----------
    order
        How many atoms these features have.
    n_occurrences
        How often candidates were met: in mispredicted examples, or in what changed since counts were kept.
    n_candidates
        How many different candidates mispredicted examples have. While counts are kept, what grows from a survivor of
        an earlier pass is one, too.
    n_survivors
        How many stay: those that more than C right or more than C predicted outputs have, or whose weight was not 0.
    n_weights
        How many weights are not 0 after the step.
    seconds, n_spilled
        The time it took, and how many bytes went to a temporary file.
    """

    order: int
    n_occurrences: int
    n_candidates: int
    n_survivors: int
    n_weights: int
    seconds: float
    n_spilled: int


@dataclass(frozen=True)
class PassStep:
    """What one pass met before it moved weights, and what it did at each order; no order if it was the last."""

    objective: float
    n_mispredicted: int
    orders: tuple[OrderStep, ...]
    seconds: float
    memory: int  # bytes of the features, of the examples and for counting


class Mining:
    """Passes of the algorithm over a problem.

    Parameters
    ----------
    C
        A feature must be present in more than C right or more than C predicted outputs of mispredicted examples.
    step, steps
        The size of a step, constant or divided by the square root of the number of the pass. None chooses it in the
        first pass of a run: a quarter of the objective, divided by the squared length of the gradient.
    filter_memory
        Bytes of the filter that candidates must pass before they are counted; 0 for none.
    folder
        Where to keep counts that exceed the memory.
    included
        Which examples to learn from; all if None.
    """

    def __init__(
        self,
        problem: Problem,
        grown: Grown,
        *,
        C: float,
        step: float | None = 1.0,
        steps: Steps = "square root",
        filter_memory: int = 0,
        folder: str = "",
        included: NDArray[np.bool_] | None = None,
    ) -> None:
        self.problem, self.grown, self._C = problem, grown, C
        self._step, self._steps, self._filter_memory, self._folder = step, steps, filter_memory, folder
        self._included = np.ones(len(problem), bool) if included is None else included
        self.history: list[PassStep] = []
        self._kept = None if filter_memory or C > _core.MOST_KEPT_THRESHOLD else KeptPass.empty(len(grown.weight))
        self._first = problem.start[:-1]
        self._n_outputs = np.diff(problem.start)

    def predict(self, max_order: int, schedule: Schedule) -> tuple[NDArray[np.int32], float, int]:
        """What each example is predicted to be while learning, the objective, and how many are mispredicted."""
        problem, grown = self.problem, self.grown
        totals = problem.base + problem.cost
        if grown.weight.any() or grown.intercept.any():
            totals = totals + scores_of(grown, problem.graphs, problem.root_of, max_order, schedule)
        best = np.maximum.reduceat(totals, self._first)
        right = totals[self._first + problem.right]
        # Among equals the right one, otherwise the first.
        is_best = np.flatnonzero(totals == np.repeat(best, self._n_outputs))
        example = np.repeat(np.arange(len(problem)), self._n_outputs)[is_best]
        _, earliest = np.unique(example, return_index=True)
        predicted = (is_best[earliest] - self._first).astype(np.int32)
        predicted = np.where((right == best) | ~self._included, problem.right, predicted).astype(np.int32)
        losses = (best - right)[self._included]
        objective = self._C * float(np.abs(grown.weight).sum()) + float(losses.sum())
        return predicted, objective, int((predicted != problem.right).sum())

    def run(self, max_order: int, max_passes: int, tolerance: float, schedule: Schedule) -> None:
        """Pass over the examples until the objective hardly changes; adds to the history."""
        last: float | None = None
        step = self._step
        for t in range(1, max_passes + 1):
            began = time.monotonic()
            part = schedule.part(t - 1, max_passes)
            predicted, objective, n_wrong = self.predict(max_order, part.between(0.0, 0.2))
            if last is not None and abs(objective - last) < tolerance * max(1.0, abs(last)):
                self.history.append(PassStep(objective, n_wrong, (), time.monotonic() - began, self._held()))
                return
            last = objective
            whole = self.grown.survives
            try:
                counted = self.count(predicted, max_order, part.between(0.2, 1.0))
            except BaseException:
                self.grown.settle(whole if t > 1 else self.grown.survives)
                raise
            if step is None:
                step = self._polyak(counted, objective)
            rate = step if self._steps == "constant" else step / np.sqrt(t)
            orders = self.move(counted, predicted, rate)
            self.history.append(PassStep(objective, n_wrong, orders, time.monotonic() - began, self._held()))

    def count(self, predicted: NDArray[np.int32], max_order: int, schedule: Schedule) -> list[Counted]:
        """Count candidates order by order, and let features survive; no weight moves yet."""
        if self._kept is None:
            return self._count_all(predicted, max_order, schedule)
        if self._kept.max_order != max_order:  # of no pass, of one that was interrupted, or up to another order
            self._kept = KeptPass.empty(len(self.grown.weight))
        counted = self._count_changes(self._kept, predicted, max_order, schedule)
        if any(own.is_full for own in self._kept.counts):
            self._kept = None  # they take too much memory: the next passes count everything anew
        return counted

    def _count_changes(
        self, kept: KeptPass, predicted: NDArray[np.int32], max_order: int, schedule: Schedule
    ) -> list[Counted]:
        """Change the counts of the last pass by what is predicted differently now.

        All features that ever survived may grow. What grows from one that does not survive any more is not frequent
        enough either, and only costs the time to count it.
        """
        grown = self.grown
        kept.max_order = 0
        had_weight = grown.weight != 0
        opened = np.full(len(grown.weight), _OPEN, np.uint8)
        survives = np.zeros(len(grown.weight), np.uint8)
        counted: list[Counted] = []
        for order in range(1, max_order + 1):
            began = time.monotonic()
            say_counting(schedule.part(order - 1, max_order), len(self.history) + 1, order, counted, self._held())
            found = self._changes(order, kept, opened, predicted, schedule.part(order - 1, max_order))
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
            seconds = time.monotonic() - began
            counted.append(Counted(nodes, slope, found["n_occurrences"], n_candidates, found["n_spilled"], seconds))
            say_counted(schedule.part(order - 1, max_order), len(self.history) + 1, counted, self._held())
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
        problem, grown = self.problem, self.grown
        memory = self._memory(schedule)
        if len(kept.counts) < order:
            share = max(0, schedule.memory - self._held()) // _KEPT_SHARE
            kept.counts.append(_core.KeptCounts(share))
        found: dict[str, Any] = _core.count_changes(
            problem.graphs,
            grown.trie,
            grown.n_atoms,
            grown.first(opened),
            opened,
            problem.right,
            predicted,
            kept.predicted,
            problem.root_of,
            kept.counts[order - 1],
            order,
            self._C,
            memory,
            self._folder,
            schedule.n_threads,
            schedule.tell,
        )
        return found

    def _count_all(self, predicted: NDArray[np.int32], max_order: int, schedule: Schedule) -> list[Counted]:
        """Count all candidates anew."""
        grown = self.grown
        had_weight = grown.weight != 0
        opened = grown.reached(had_weight, schedule.n_threads)
        survives = np.zeros(len(grown.weight), np.uint8)
        counted: list[Counted] = []
        keys = grown.trie.keys()
        for order in range(1, max_order + 1):
            began = time.monotonic()
            say_counting(schedule.part(order - 1, max_order), len(self.history) + 1, order, counted, self._held())
            watched = keys[np.flatnonzero(had_weight & (grown.order[: len(had_weight)] == order))]
            found = self._count(order, watched, opened, predicted, schedule.part(order - 1, max_order))
            nodes = grown.insert(found["key"], order)
            n_new = len(grown.weight) - len(opened)
            opened = np.concatenate([opened, np.zeros(n_new, np.uint8)])
            survives = np.concatenate([survives, np.zeros(n_new, np.uint8)])
            opened[nodes] = survives[nodes] = 1
            grown.survives = survives
            slope = found["plus"].astype(np.float64) - found["minus"]
            counted.append(
                Counted(
                    nodes,
                    slope,
                    found["n_emitted"],
                    found["n_distinct"],
                    found["n_spilled"],
                    time.monotonic() - began,
                )
            )
            say_counted(schedule.part(order - 1, max_order), len(self.history) + 1, counted, self._held())
        return counted

    def move(self, counted: Sequence[Counted], predicted: NDArray[np.int32], rate: float) -> tuple[OrderStep, ...]:
        """Move the weights of what was counted, and the intercepts of classes."""
        problem, grown = self.problem, self.grown
        if len(problem.root_of):
            wrong = predicted != problem.right
            n_right, n_predicted = (
                np.bincount(labels[wrong], minlength=len(problem.root_of)) for labels in (problem.right, predicted)
            )
            grown.intercept += rate * (n_right - n_predicted) * (problem.root_of >= 0)
        done = []
        for order, own in enumerate(counted, 1):
            moved = grown.weight[own.nodes] + rate * own.slope
            grown.weight[own.nodes] = np.copysign(np.maximum(np.abs(moved) - rate * self._C, 0.0), moved)
            n_weights = int(np.count_nonzero(grown.weight[own.nodes]))
            done.append(
                OrderStep(
                    order,
                    own.n_occurrences,
                    own.n_candidates,
                    len(own.nodes),
                    n_weights,
                    own.seconds,
                    own.n_spilled,
                )
            )
        return tuple(done)

    def _polyak(self, counted: Sequence[Counted], objective: float) -> float:
        """The step that would undo a quarter of the objective if it were linear; 1 if there is no gradient."""
        squares = 0.0
        for own in counted:
            weight = self.grown.weight[own.nodes]
            at_zero = np.maximum(np.abs(own.slope) - self._C, 0.0)
            elsewhere = own.slope - self._C * np.sign(weight)
            squares += float(np.sum(np.where(weight == 0, at_zero, elsewhere) ** 2))
        return _SHARE * objective / squares if squares > 0 and objective > 0 else 1.0

    def _count(
        self,
        order: int,
        watched: NDArray[np.uint64],
        opened: NDArray[np.uint8],
        predicted: NDArray[np.int32],
        schedule: Schedule,
    ) -> dict[str, Any]:
        problem, grown = self.problem, self.grown
        found: dict[str, Any] = _core.count_features(
            problem.graphs,
            grown.trie,
            grown.n_atoms,
            grown.first(opened),
            opened,
            problem.right,
            predicted,
            problem.root_of,
            watched,
            order,
            self._C,
            self._memory(schedule),
            self._folder,
            self._filter_memory if order > 1 else 0,
            schedule.n_threads,
            schedule.tell,
        )
        return found

    def _memory(self, schedule: Schedule) -> int:
        """Bytes for counting."""
        least = _LEAST_MEMORY * schedule.n_threads
        needed = least + self._filter_memory
        if needed > schedule.memory:
            held = f" and {self._filter_memory:,} for the filter" if self._filter_memory else ""
            less = ", or fewer threads" * (schedule.n_threads > 1) + ", or a smaller filter_memory" * bool(held)
            raise MemoryBudgetError(
                f"Counting features needs at least {needed:,} bytes, {_LEAST_MEMORY:,} for each thread{held}, but the "
                f"budget is {schedule.memory:,} bytes. Pass memory={needed} or more{less}."
            )
        # What is held does not end the work: it cannot be less, and all else goes to the disk.
        return max(schedule.memory - self._held() - self._filter_memory, least)

    def _held(self) -> int:
        """Bytes of the examples, of the features and of counts that are kept."""
        kept = 0 if self._kept is None else self._kept.n_bytes
        return int(self.problem.graphs.n_bytes) + self.grown.n_bytes + kept
