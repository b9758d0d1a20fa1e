"""Running jobs: here, in other processes, or wherever something with a ``submit`` method runs them.

A job is a value that can be pickled: calling it computes its result, and ``cost`` is the amount of work relative to
other jobs. Results come in the order of the jobs, whichever finishes first, so what is computed from them does not
depend on the number of workers, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from espalier.jobs.progress import Tell

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Job(Protocol[Result_co]):
    """Something to compute: it can be pickled, and knows its amount of work."""

    @property
    def cost(self) -> float:
        """The amount of work, in any unit that all jobs of one call share."""

    def __call__(self) -> Result_co:
        """Compute the result."""


class Future(Protocol[Result_co]):
    """A result that may not be available yet."""

    def result(self) -> Result_co:
        """Wait for the result, or raise what the job raised."""

    def cancel(self) -> object:
        """Drop the job if it has not started."""


class Executor(Protocol):
    """Anything that runs jobs: executors of ``concurrent.futures``, ``Processes``, a client of Dask."""

    def submit(self, function: Callable[[Job[Any]], object], job: Job[Any], /) -> Future[Any]:
        """Start the job, or keep it until a worker is free."""


def run_jobs(
    jobs: Sequence[Job[Result]], executor: Executor | None = None, tell: Tell | None = None
) -> Iterator[Result]:
    """Yield the result of each job, in the order of the jobs; ``tell`` is called after each with the fraction done.

    Without an executor they run here, one after the other: the compiled core has threads of its own.
    """
    whole, done = sum(job.cost for job in jobs), 0.0
    futures = [] if executor is None else [executor.submit(_result_of, job) for job in jobs]
    try:
        for k, job in enumerate(jobs):
            yield futures[k].result() if futures else job()
            done += job.cost
            if tell is not None:
                tell(min(done / whole, 1.0) if whole else 1.0)
    finally:
        for future in futures:
            future.cancel()


def _result_of(job: Job[Result]) -> Result:
    return job()
