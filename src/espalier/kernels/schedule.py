"""How a matrix is computed: threads, memory and progress. What is computed never depends on it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace

from espalier.corpus.memory import n_cores
from espalier.corpus.memory import parse_memory as parse_memory
from espalier.corpus.memory import show_bytes as show_bytes
from espalier.structures.numbers import whole_number

Progress = Callable[[float], object]


@dataclass(frozen=True)
class Schedule:
    """Threads, a memory budget in bytes, whom to tell about progress, and whether to warn."""

    n_threads: int
    memory: int
    progress: Progress | None = None
    warns: bool = True
    shares: int = 1  # into how many equal ones the budget of the call was cut

    @staticmethod
    def of(
        n_threads: int | None = None,
        memory: int | float | str | None = None,
        progress: Progress | None = None,
    ) -> Schedule:
        """Check what a caller asked for and fill in what was left out."""
        if n_threads is None:
            n_threads = n_cores()
        n_threads = whole_number("n_threads", n_threads, none=True)
        return Schedule(n_threads, parse_memory(memory), progress)

    def part(self, k: int, n: int) -> Schedule:
        """The schedule of part ``k`` of ``n``, whose progress is that part of the whole."""
        return self if n == 1 else self.between(k / n, (k + 1) / n)

    def share(self, k: int, n: int) -> Schedule:
        """The schedule of part ``k`` of ``n`` that are held at the same time: an equal share of the memory."""
        return replace(self.part(k, n), memory=max(1, self.memory // n), shares=self.shares * n)

    def between(self, start: float, end: float) -> Schedule:
        """The schedule of a part whose progress takes the whole from ``start`` to ``end``."""
        whole = self.progress
        if whole is None:
            return self
        return replace(self, progress=lambda fraction: whole(start + (end - start) * fraction))

    def done(self) -> None:
        """Say that this part is finished."""
        if self.progress is not None:
            self.progress(1.0)

    def quietly(self) -> Schedule:
        """The schedule of a part whose warnings another part gives: one call warns once."""
        return replace(self, warns=False)


def user_level() -> int:
    """How far up the stack the caller of the kernel or of a learner stands, outside of this library."""
    outermost, level, frame = 1, 1, inspect.currentframe()
    while frame is not None:  # to the end: an optimiser of another library may stand between a learner and a kernel
        if str(frame.f_globals.get("__name__", "")).startswith("espalier."):
            outermost = level
        level, frame = level + 1, frame.f_back
    return outermost
