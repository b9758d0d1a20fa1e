"""Gradient mining (Qian and Liu 2015, algorithm 1): passes over examples that let features survive and move weights.

Two signs of the printed algorithm are corrected, and the step of the penalty is proximal, so that a weight of 0 stays 0
while the gradient is at most C. A feature counts once for an output, however often it occurs in it: only then can a
feature never count more than a part of it. ``tests/reference/gradient_mining.py`` is the definition.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from espalier.jobs.schedule import Schedule
from espalier.selection.counted import Counted
from espalier.selection.counting import Counting
from espalier.selection.grown_features import Grown, Problem, scores_of
from espalier.selection.steps import OrderStep, PassStep

Steps = Literal["square root", "constant"]

_SHARE = 0.25  # of the loss that the first step is to undo: no weights undo all of it


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
        self._step, self._steps = step, steps
        self._included = np.ones(len(problem), bool) if included is None else included
        self.history: list[PassStep] = []
        self.counting = Counting(problem, grown, C, filter_memory=filter_memory, folder=folder)
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
                self.history.append(PassStep(objective, n_wrong, (), time.monotonic() - began, self.counting.n_bytes))
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
            self.history.append(PassStep(objective, n_wrong, orders, time.monotonic() - began, self.counting.n_bytes))

    def count(self, predicted: NDArray[np.int32], max_order: int, schedule: Schedule) -> list[Counted]:
        """Count candidates order by order, and let features survive; no weight moves yet."""
        return self.counting.count(predicted, max_order, len(self.history) + 1, schedule)

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
                    own.is_update,
                    own.n_counted,
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
