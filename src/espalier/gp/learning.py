"""Learning as a whole: optionally a pilot on some examples with all random starts, then the climb on all examples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gp.learned import LearnedTable
from espalier.gp.objective import Objective
from espalier.gp.optimize import Climb, Restart, Settings
from espalier.gp.parameters import Parameters, Vector
from espalier.structures.numbers import truth_value

ENOUGH = 10  # examples of a pilot for each learned number
LEAD = 0.1  # nats: climbs whose ends differ by less ended in the same place


def settings_of(model: Any, max_iterations: int, tolerance: float) -> Settings:
    """How a model wants to learn: its parameters, checked, and what is meant where these two are None."""
    model._check_whole("restarts", least=0)
    model._check_whole("max_iterations", least=0, none=True)
    model._check_positive("tolerance", none=True)
    return Settings(
        model.restarts,
        max_iterations if model.max_iterations is None else model.max_iterations,
        tolerance if model.tolerance is None else model.tolerance,
        n_threads=model.n_threads,
        learn=truth_value("learn", model.learn),
    )


@dataclass(frozen=True)
class Outcome:
    """The best values found, also as a table, all climbs, those of the pilot, and what interrupted it, if anything."""

    best: Restart
    learned: LearnedTable
    restarts: list[Restart]
    pilot: list[Restart]
    stop: BaseException | None
    misled: bool = False  # the declared start was better than where the pilot ended, or led higher


def learn(
    objective: Objective,
    settings: Settings,
    rng: np.random.Generator,
    part: Callable[[NDArray[np.intp]], Objective] | None = None,
) -> Outcome:
    """Climb from the declared start and from random ones; with a pilot, those climb on a part of the examples only.

    Most of the way to an optimum needs few examples. The climb on all examples starts from the best result of the
    pilot, unless the declared start is better: too few examples may lead to a place that no climb leaves. After a pilot
    of fewer than ten examples for each number, there is also a climb on all examples from the declared start.

    ``part`` gives the objective of some of the examples, for a pilot. An interruption, or an error of
    ``settings.progress``, is not raised: it is part of the outcome, so that the caller can first keep the best values.
    """
    parameters = Parameters(objective.parameters() if settings.learn else [])
    n_random = settings.restarts if len(parameters) else 0
    starts = [parameters.start()] + [parameters.draw(rng) for _ in range(n_random)]
    pilot: list[Restart] = []
    stop: BaseException | None = None
    misled = False
    n, size = objective.n_targets, settings.pilot
    with blas_threads(settings.n_threads):
        if part is not None and size is not None and size < n and len(parameters):
            some = part(np.sort(rng.permutation(n)[:size]))
            first = Climb(some, parameters, settings, stage="pilot", span=(0.0, 0.5))
            first.run(starts)
            pilot, stop = first.restarts, first.stop
            declared, starts = starts[:1], [parameters.theta(first.best.values)] if first.best.values else starts[:1]
            del first, some  # and the plan
            if stop is None and size < ENOUGH * len(parameters):
                starts += declared
            elif stop is None:
                try:
                    misled = _height(objective, parameters, starts[0]) < _height(objective, parameters, declared[0])
                except KeyboardInterrupt:
                    stop = KeyboardInterrupt()
                starts = declared if misled else starts
        own = settings if stop is None else replace(settings, max_iterations=0, progress=None)
        whole = Climb(objective, parameters, own, span=(0.5 if pilot else 0.0, 1.0))
        try:
            whole.run(starts)
        except Exception as error:
            if not pilot:
                raise
            # The best values for some examples cannot be evaluated for all.
            whole.best.message = str(error)
            whole.run([parameters.start()])
    best, stop = whole.best, stop or whole.stop
    if len(starts) == 2 and pilot and len(whole.restarts) == 2:
        misled = whole.restarts[1].objective > whole.restarts[0].objective + LEAD
    if math.isinf(best.objective) and stop is not None:  # stopped before the first evaluation was done
        best = max([best, *pilot], key=lambda climb: climb.objective)
        if math.isinf(best.objective):
            raise stop
    table = LearnedTable.of(parameters, best.values, best.gradient, best.felt, learning=settings.learn)
    return Outcome(best, table, whole.restarts, pilot, stop, misled)


def _height(objective: Objective, parameters: Parameters, theta: Vector) -> float:
    """The objective of all examples at one place; nan if it cannot be computed, which the climb reports."""
    values = parameters.values(theta)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return objective.value(values) + parameters.log_prior(values)[0]
    except Exception:
        return math.nan
