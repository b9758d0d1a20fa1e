"""Climbing to the most probable hyperparameters, from several starts, never losing the best point seen.

scipy's L-BFGS-B does the climbing. Every evaluation is remembered while it is the best of its start, so that an
interruption, a failure of the line search, a matrix that overflows or an error of a kernel ends one climb and loses
nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from espalier.blas import blas_threads
from espalier.errors import KernelOverflowError
from espalier.gp.objective import Objective
from espalier.gp.parameters import Parameters, Vector
from espalier.jobs.executor import Executor, run_jobs
from espalier.jobs.progress import Progress

FAILURES = (np.linalg.LinAlgError, KernelOverflowError, FloatingPointError)  # from which the line search steps back
MAX_FAILURES = 20  # of one climb, after which it ends at its best point


@dataclass(frozen=True, kw_only=True)
class FitProgress(Progress):
    """How far learning has come, after each evaluation of the evidence.

    Attributes
    ----------
    restart, n_restarts
        The number of this climb, from 0, and how many climbs there are.
    evaluation
        How many evaluations of this climb are done.
    log_likelihood, best
        The log evidence of this evaluation, and the best so far.
    seconds
        Since learning began.
    stage
        The examples that it learns from: ``"pilot"`` or ``"all"``.
    """

    restart: int
    n_restarts: int
    evaluation: int
    log_likelihood: float
    best: float
    seconds: float
    stage: str = "all"


@dataclass
class LastReport:
    """Passes reports on, and repeats the last one as that of the end: a climb may end long before its limit."""

    report: Callable[[FitProgress], object]
    last: FitProgress | None = None

    def __call__(self, progress: FitProgress) -> None:
        self.last = progress
        self.report(progress)

    def done(self) -> None:
        """Report that all is done."""
        if self.last is not None:
            self(replace(self.last, fraction=1.0, seconds_left=0.0))


@dataclass(frozen=True)
class Settings:
    """How to learn."""

    restarts: int
    max_iterations: int
    tolerance: float
    n_threads: int | None = None
    progress: Callable[[FitProgress], object] | None = None
    pilot: int | None = None
    learn: bool = True  # False keeps all hyperparameters as they are
    executor: Executor | None = None  # runs the climbs; they run here, one after the other, if None


@dataclass
class Restart:
    """One climb: where it started, its best point, how it ended."""

    start: dict[str, float]
    values: dict[str, float] = field(default_factory=dict)
    objective: float = -math.inf  # log likelihood plus log prior
    log_likelihood: float = -math.inf
    gradient: dict[str, float] = field(default_factory=dict)  # in the searched space, at the best point
    felt: set[str] = field(default_factory=set)  # paths on which the log likelihood depended somewhere
    n_iterations: int = 0
    n_evaluations: int = 0
    n_failures: int = 0
    converged: bool = False
    message: str = "not run"
    seconds: float = 0.0
    trace: list[float] = field(default_factory=list)  # the log likelihood of each evaluation


@dataclass(eq=False)
class Climb:
    """The best hyperparameters from the declared start and from random ones."""

    objective: Objective
    parameters: Parameters
    settings: Settings
    stage: str = "all"
    span: tuple[float, float] = (0.0, 1.0)  # the part of the whole fit that these climbs are, for progress
    restarts: list[Restart] = field(default_factory=list)
    stop: BaseException | None = None  # the exception with which the user, or ``progress``, stopped it
    began: float = field(default_factory=time.perf_counter)

    @property
    def best(self) -> Restart:
        """The climb that came highest."""
        return max(self.restarts, key=lambda restart: restart.objective)

    def run(self, starts: Sequence[Vector]) -> None:
        """Climb from each start; a failure at the first point of the first, the declared one, is an error.

        With an executor several climbs are its jobs, and ``progress`` is told of each at its end.
        """
        if self.settings.executor is not None and len(starts) > 1:
            self._run_jobs(starts)
            return
        for k, theta in enumerate(starts):
            self.run_one(theta, k, len(starts))
            if self.stop is not None:
                return

    def run_one(self, theta: Vector, k: int, n_starts: int) -> Restart:
        """Climb from start ``k`` of several."""
        restart = Restart(self.parameters.values(theta))
        self.restarts.append(restart)
        began = time.perf_counter()
        try:
            self._climb(restart, theta, k, n_starts)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and self.stop is None:
                self.stop = KeyboardInterrupt()  # a new one, because the old one keeps matrices alive
            elif error is not self.stop:
                raise
            restart.message = "interrupted"
        finally:
            restart.seconds = time.perf_counter() - began
        return restart

    def _run_jobs(self, starts: Sequence[Vector]) -> None:
        silent = replace(self.settings, progress=None, executor=None)  # jobs are pickled, and reports are not
        own = [Climb(self.objective, self.parameters, silent, self.stage) for _ in starts]
        jobs = [ClimbJob(climb, starts[k], k, len(starts)) for k, climb in enumerate(own)]
        try:
            for k, restart in enumerate(run_jobs(jobs, self.settings.executor)):
                self.restarts.append(restart)
                if self.settings.progress is not None and restart.trace:
                    self.settings.progress(self._progress(restart, k, len(starts)))
        except KeyboardInterrupt:
            self.stop = KeyboardInterrupt()
            self.restarts = self.restarts or [Restart(self.parameters.values(starts[0]), message="interrupted")]

    def _climb(self, restart: Restart, theta: Vector, k: int, n_starts: int) -> None:
        n = self.objective.n_targets

        def objective(theta: Vector) -> tuple[float, Vector]:
            # Per example, so that tolerances mean the same for any amount of data.
            value, gradient = self._measure(restart, theta, k, n_starts)
            return -value / n, -gradient / n

        try:
            if len(self.parameters) == 0 or self.settings.max_iterations == 0:
                objective(theta)
                restart.converged, restart.message = True, "nothing to learn"
                return
            # The tolerance on the value is per example, too: 1e-9 for a thousand examples is a millionth of a nat.
            options: Any = {
                "maxiter": self.settings.max_iterations,
                "maxfun": 10 * self.settings.max_iterations,
                "gtol": self.settings.tolerance,
                "ftol": 1e-3 * self.settings.tolerance,
                "maxcor": 20,
            }
            found = minimize(
                objective, theta, jac=True, method="L-BFGS-B", bounds=self.parameters.bounds(), options=options
            )
            restart.n_iterations = int(found.nit)
            restart.converged, restart.message = bool(found.success), _plain(str(found.message))
        except Exception as error:
            if error is self.stop or (k == 0 and restart.n_evaluations <= 1):
                raise
            restart.message = str(error).rstrip(".") or type(error).__name__

    def _measure(self, restart: Restart, theta: Vector, k: int, n_starts: int) -> tuple[float, Vector]:
        restart.n_evaluations += 1
        try:
            values, log_likelihood, objective, gradient = self._at(theta, restart.felt)
        except FAILURES:
            restart.n_failures += 1
            if restart.objective == -math.inf or restart.n_failures > MAX_FAILURES:
                raise
            # Far below the best, and flat: the line search steps back from here.
            return restart.objective - 10.0 * self.objective.n_targets, np.zeros(len(theta))
        restart.trace.append(log_likelihood)
        if objective > restart.objective:
            restart.objective, restart.log_likelihood, restart.values = objective, log_likelihood, values
            restart.gradient = {p.path: slope for p, slope in zip(self.parameters, gradient.tolist(), strict=True)}
        if self.settings.progress is not None:
            try:
                self.settings.progress(self._progress(restart, k, n_starts))
            except BaseException as error:
                self.stop = error
                raise
        return objective, gradient

    def _progress(self, restart: Restart, k: int, n_starts: int) -> FitProgress:
        seconds = time.perf_counter() - self.began
        part = (k + min(restart.n_evaluations / (self.settings.max_iterations + 1), 1.0)) / n_starts
        start, end = self.span
        return FitProgress(
            f"learning, climb {k + 1} of {n_starts}",
            start + (end - start) * part,
            None if self.stage == "pilot" else seconds * (1.0 - part) / part,
            restart=k,
            n_restarts=n_starts,
            evaluation=restart.n_evaluations,
            log_likelihood=restart.trace[-1],
            best=max(restart.log_likelihood for restart in self.restarts),
            seconds=seconds,
            stage=self.stage,
        )

    def _at(self, theta: Vector, felt: set[str]) -> tuple[dict[str, float], float, float, Vector]:
        """The values by path at one place, the log likelihood, the objective, and its gradient.

        The paths on which the log likelihood depends are added to ``felt``: a prior moves all others, too.
        """
        values = self.parameters.values(theta)
        if not all(map(math.isfinite, values.values())):  # if bounds are infinite, a line search may go anywhere
            raise FloatingPointError("The search went beyond floating-point numbers: declare finite bounds.")
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found below
            if len(self.parameters):
                log_likelihood, natural = self.objective.gradient(values)
            else:
                log_likelihood, natural = self.objective.value(values), {}
        felt.update(path for path, slope in natural.items() if slope != 0)
        log_prior, slopes = self.parameters.log_prior(values)
        for path, slope in slopes.items():
            natural[path] = natural.get(path, 0.0) + slope
        gradient = self.parameters.gradient(values, natural)
        objective = log_likelihood + log_prior
        if not (math.isfinite(objective) and np.isfinite(gradient).all()):
            raise FloatingPointError(
                "The evidence or its gradient is not finite: targets or kernel values are too large. Standardise "
                "the targets (standardize=True), or normalise the kernel."
            )
        return values, log_likelihood, objective, gradient


@dataclass(frozen=True, eq=False)
class ClimbJob:
    """A job: one climb. A pickled objective leaves its plan behind and makes it again."""

    climb: Climb
    theta: Vector
    k: int
    n_starts: int
    cost: float = 1.0  # climbs cost alike, as far as anybody knows beforehand

    def __call__(self) -> Restart:
        with blas_threads(self.climb.settings.n_threads):
            return self.climb.run_one(self.theta, self.k, self.n_starts)


def _plain(message: str) -> str:
    """Scipy's message about the end of a climb, in plain words."""
    if message.startswith("ABNORMAL"):
        return "the line search found no better point nearby"
    return message.rstrip(".").lower()
