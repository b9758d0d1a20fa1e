"""How a job is run: threads, memory and progress. To the last bit, no result depends on these, except on memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from espalier.jobs.executor import Executor
from espalier.jobs.memory import n_cores, parse_memory
from espalier.jobs.progress import Report, Tell, check_progress, part_of, report_to, told_of
from espalier.structures.numbers import whole_number


@dataclass(frozen=True)
class Schedule:
    """Threads, a memory budget in bytes, functions for the fraction done and its detail, an executor, warnings."""

    n_threads: int
    memory: int
    tell: Tell | None = None
    executor: Executor | None = None
    warns: bool = True
    shares: int = 1  # the number of equal shares into which the budget of the call was cut
    detail: Callable[[str], object] | None = None

    @staticmethod
    def of(
        n_threads: int | None = None,
        memory: int | float | str | None = None,
        progress: Report | None = None,
        executor: Executor | None = None,
        *,
        what: str = "kernel values",
    ) -> Schedule:
        """Check the caller's options and fill in the defaults; ``what`` names the job in reports of progress."""
        check_progress(progress)
        if executor is not None and not hasattr(executor, "submit"):
            raise TypeError(f"executor must have a method submit, as Processes(4) has, or be None, got {executor!r}.")
        if n_threads is None:  # jobs of an executor run at the same time
            n_threads = n_cores() if executor is None else 1
        n_threads = whole_number("n_threads", n_threads, none=True)
        meter = told_of(progress, what)
        detail = None if meter is None else meter.say
        return Schedule(n_threads, parse_memory(memory), meter, executor, detail=detail)

    def part(self, k: int, n: int) -> Schedule:
        """The schedule of part ``k`` of ``n``, whose progress is that part of the whole."""
        return self if n == 1 else self.between(k / n, (k + 1) / n)

    def share(self, k: int, n: int) -> Schedule:
        """The schedule of part ``k`` of ``n`` that are held at the same time: an equal share of the memory."""
        return replace(self.part(k, n), memory=max(1, self.memory // n), shares=self.shares * n)

    def between(self, start: float, end: float) -> Schedule:
        """The schedule of a part whose progress goes from ``start`` to ``end`` of the whole."""
        return self if self.tell is None else replace(self, tell=part_of(self.tell, start, end))

    @property
    def report(self) -> Report | None:
        """What to pass as ``progress`` to a public function that does this part."""
        return report_to(self.tell)

    @property
    def options(self) -> dict[str, int]:
        """What to pass to a kernel: threads and memory."""
        return {"n_threads": self.n_threads, "memory": self.memory}

    def of_job(self) -> Schedule:
        """The schedule inside a job that runs elsewhere: it reports no progress and starts no other jobs."""
        return replace(self, tell=None, executor=None, detail=None)

    def done(self, fraction: float = 1.0) -> None:
        """Report that this fraction of the part is finished."""
        if self.tell is not None:
            self.tell(fraction)

    def say(self, detail: str) -> None:
        """Give the next reports of progress this detail."""
        if self.detail is not None:
            self.detail(detail)

    def saying(self, first: str) -> Schedule:
        """The schedule of a part whose details begin with these words."""
        told = self.detail
        return self if told is None else replace(self, detail=lambda detail: told(f"{first}, {detail}"))

    def quietly(self) -> Schedule:
        """The schedule of a part that does not warn, because another part does: one call warns once."""
        return replace(self, warns=False)
