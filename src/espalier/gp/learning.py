"""Learning as a whole: perhaps a pilot on some examples with all random starts, then the climb on all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.gp.cholesky import blas_threads
from espalier.gp.evidence import Problem
from espalier.gp.optimize import Climb, FitProgress, Restart
from espalier.gp.parameters import Parameters


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
    """The best values found, all climbs, those of the pilot, and whether the user stopped."""

    best: Restart
    restarts: list[Restart]
    pilot: list[Restart]
    interrupted: bool


def learn(problem: Problem, parameters: Parameters, settings: Settings, rng: np.random.Generator) -> Outcome:
    """Climb from the declared start and from random ones; with a pilot, those climb on a part of the examples only.

    Most of the way to an optimum needs few examples. The best climb of the pilot is where the one on all starts.
    """
    n_random = settings.restarts if len(parameters) else 0
    starts = [parameters.start()] + [parameters.draw(rng) for _ in range(n_random)]
    pilot: list[Restart] = []
    interrupted = False
    n, size = len(problem.y), settings.pilot
    with blas_threads(settings.n_threads):
        if size is not None and size < n and len(parameters):
            rows = np.sort(rng.permutation(n)[:size])
            part = problem.part(rows, n_threads=settings.n_threads, memory=settings.memory)
            first = _climb(part, parameters, settings)
            first.run(starts)
            pilot, interrupted = first.restarts, first.interrupted
            starts = [parameters.theta(first.best.values)] if first.best.values else starts[:1]
        whole = _climb(problem, parameters, settings, stay=interrupted)
        whole.run(starts)
    if math.isinf(whole.best.objective):  # interrupted before the first evaluation was done
        raise KeyboardInterrupt
    return Outcome(whole.best, whole.restarts, pilot, interrupted or whole.interrupted)


def _climb(problem: Problem, parameters: Parameters, settings: Settings, *, stay: bool = False) -> Climb:
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
        tell=settings.progress,
    )
