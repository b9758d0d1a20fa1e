"""Learning as a whole: perhaps a pilot on some examples with all random starts, then the climb on all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.evidence import Problem
from espalier.gp.optimize import Climb, FitProgress, Restart
from espalier.gp.parameters import Parameters, Vector

ENOUGH = 10  # examples of a pilot for each learned number
LEAD = 0.1  # nats: climbs that end nearer to each other ended in one place


@dataclass(frozen=True)
class Settings:
    """How to learn."""

    restarts: int
    pilot: int | None
    max_iterations: int
    tolerance: float
    n_threads: int | None
    memory: Any
    progress: Callable[[FitProgress], object] | None


@dataclass(frozen=True)
class Outcome:
    """The best values found, all climbs, those of the pilot, and what it was stopped with, if it was."""

    best: Restart
    restarts: list[Restart]
    pilot: list[Restart]
    stop: BaseException | None
    misled: bool = False  # the declared start was better than where the pilot ended, or led higher


def learn(problem: Problem, parameters: Parameters, settings: Settings, rng: np.random.Generator) -> Outcome:
    """Climb from the declared start and from random ones; with a pilot, those climb on a part of the examples only.

    Most of the way to an optimum needs few examples. The best climb of the pilot is where the one on all starts, unless
    the declared start is better: too few examples lead to places from which no climb comes back. After a pilot of fewer
    than ten examples for each number, all examples climb from the declared start too.
    """
    n_random = settings.restarts if len(parameters) else 0
    starts = [parameters.start()] + [parameters.draw(rng) for _ in range(n_random)]
    pilot: list[Restart] = []
    stop: BaseException | None = None
    misled = False
    n, size = len(problem.y), settings.pilot
    with blas_threads(settings.n_threads):
        if size is not None and size < n and len(parameters):
            rows = np.sort(rng.permutation(n)[:size])
            part = problem.part(rows, n_threads=settings.n_threads, memory=settings.memory)
            first = _climb(part, parameters, settings, stage="pilot")
            first.run(starts)
            pilot, stop = first.restarts, first.stop
            declared, starts = starts[:1], [parameters.theta(first.best.values)] if first.best.values else starts[:1]
            if stop is None and size < ENOUGH * len(parameters):
                starts += declared
            elif stop is None:
                try:
                    misled = _height(problem, parameters, starts[0]) < _height(problem, parameters, declared[0])
                except KeyboardInterrupt:
                    stop = KeyboardInterrupt()
                starts = declared if misled else starts
        whole = _climb(problem, parameters, settings, stay=stop is not None)
        try:
            whole.run(starts)
        except Exception as error:
            if not pilot:
                raise
            # What was best for some examples cannot be computed for all.
            whole.best.message = str(error)
            whole.run([parameters.start()])
    best, stop = whole.best, stop or whole.stop
    if len(starts) == 2 and pilot and len(whole.restarts) == 2:
        misled = whole.restarts[1].objective > whole.restarts[0].objective + LEAD
    if math.isinf(best.objective) and stop is not None:  # stopped before the first evaluation was done
        best = max([best, *pilot], key=lambda climb: climb.objective)
        if math.isinf(best.objective):
            raise stop
    return Outcome(best, whole.restarts, pilot, stop, misled)


def _height(problem: Problem, parameters: Parameters, theta: Vector) -> float:
    """The objective of all examples at one place; not a number where it cannot be computed, which the climb reports."""
    values = parameters.values(theta)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            height = problem.state(values).log_likelihood + parameters.log_prior(values)[0]
    except Exception:
        return math.nan
    return height


def _climb(
    problem: Problem, parameters: Parameters, settings: Settings, *, stage: str = "all", stay: bool = False
) -> Climb:
    def evaluate(values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        if not len(parameters):
            return problem.state(values).log_likelihood, {}
        state, gradient = problem.gradient(values)
        return state.log_likelihood, gradient

    return Climb(
        evaluate,
        parameters,
        len(problem.y),
        max_iterations=0 if stay else settings.max_iterations,
        tolerance=settings.tolerance,
        tell=None if stay else settings.progress,
        stage=stage,
    )
