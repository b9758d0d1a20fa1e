"""Memory errors that name a budget that suffices, and a check for matrices that the process cannot hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from espalier.errors import MemoryBudgetError
from espalier.jobs.memory import show_bytes, usable_memory
from espalier.jobs.schedule import Schedule

_INSTEAD = (
    "Take fewer rows, or a learner without this matrix: for tree kernels, LinearizedTreeClassifier(n_splits=...) "
    "learns from the fragments that weigh most in parts of the rows, and HashedFragments makes features for linear "
    "models."
)


def pair_too_large(pair: str, item: str, needed: int, schedule: Schedule) -> MemoryBudgetError:
    """The error for a pair of items that needs more than the budget; ``needed`` refers to the schedule's share."""
    reason = (
        f"{pair} alone needs {show_bytes(needed)} of memory, but the budget is {show_bytes(schedule.memory)}"
        f"{f', one of {schedule.shares} equal shares' if schedule.shares > 1 else ''}."
    )
    return _told(reason, f"cut the {item}s", needed * schedule.shares)


def enough(error: MemoryBudgetError, needed: Callable[[], int]) -> MemoryBudgetError:
    """The same error with a number that suffices for the whole call, if it named one for a part."""
    if error.told is None:
        return error
    reason, advice, named = error.told
    return _told(reason, advice, max(named, needed()))


def _told(reason: str, advice: str, needed: int) -> MemoryBudgetError:
    error = MemoryBudgetError(f"{reason} Pass memory={needed} or more, or {advice}.")
    error.told = (reason, advice, needed)
    return error


@contextmanager
def naming_a_way_out() -> Iterator[None]:
    """Turn a failed allocation into an error that says what to do instead."""
    try:
        yield
    except MemoryBudgetError:
        raise
    except MemoryError as error:
        reason = str(error).rstrip(".") or "an allocation failed"
        raise MemoryBudgetError(f"This needs more memory than this process may use: {reason}. {_INSTEAD}") from None


def check_matrix(*shape: int) -> None:
    """Refuse a matrix that is larger than the memory that the process may use, before anything is computed."""
    needed, usable = 8 * math.prod(shape), usable_memory()
    if needed > usable:
        raise MemoryBudgetError(
            f"A matrix of {' x '.join(f'{n:,}' for n in shape)} values takes {show_bytes(needed)}, but this process "
            f"may use {show_bytes(usable)}. {_INSTEAD}"
        )
