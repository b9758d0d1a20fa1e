"""Progress of a job: the value with which every ``progress`` function is called.

Compiled code, and the loops around it, report plain fractions. :class:`Meter` turns them into :class:`Progress`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a job is.

    Attributes
    ----------
    what
        The work that is being done, in a few words.
    fraction
        The share that is done, from 0 to 1; ``float(progress)`` is the same number.
    seconds_left
        An estimate of the time that is left, from the pace so far; None if nothing is done yet.
    detail
        What was done last, and with what, in one line; empty for jobs that say no more than ``what``.
    """

    what: str
    fraction: float
    seconds_left: float | None = None
    detail: str = ""

    def __float__(self) -> float:
        return self.fraction


Report = Callable[[Progress], object]  # what a user passes as ``progress``
Tell = Callable[[float], object]  # what a job calls with the fraction done


class Meter:
    """Turns fractions into Progress and calls the user's function with it.

    A fraction smaller than the last begins a new job, because a plan may be evaluated many times.
    """

    def __init__(self, report: Report, what: str) -> None:
        self._report, self._what = report, what
        self._began, self._first = time.monotonic(), 0.0
        self._last = 0.0
        self._detail = ""

    def say(self, detail: str) -> None:
        """Give the next reports this detail."""
        self._detail = detail

    def __call__(self, fraction: float) -> object:
        now = time.monotonic()
        if fraction < self._last:
            self._began, self._first = now, fraction
        self._last = fraction
        done = fraction - self._first
        left = (now - self._began) * (1.0 - fraction) / done if done > 0 else None
        return self._report(Progress(self._what, fraction, left, self._detail))


def told_of(report: Report | None, what: str) -> Meter | None:
    """Return a function that takes fractions and calls ``report`` with a Progress; None if ``report`` is None."""
    return None if report is None else Meter(report, what)


def part_of(tell: Tell, start: float, end: float) -> Tell:
    """Return the function for a part of the job that goes from ``start`` to ``end`` of the whole."""
    return lambda fraction: tell(start + (end - start) * fraction)


def report_to(tell: Tell | None) -> Report | None:
    """Return ``tell`` as a user's function, for a part of a job that is itself a public call."""
    return None if tell is None else lambda progress: tell(progress.fraction)


def check_progress(progress: object) -> None:
    """Refuse a ``progress`` that cannot be called."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function that takes a Progress, or None, got {progress!r}.")
