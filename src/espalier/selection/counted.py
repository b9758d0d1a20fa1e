"""What a pass has counted, order by order, and how reports of progress say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.jobs.memory import show_bytes
from espalier.jobs.schedule import Schedule


@dataclass(frozen=True, eq=False)
class Counted:
    """The survivors of one order in one pass: in how many more right than predicted outputs each is, and figures."""

    nodes: NDArray[np.uint32]
    slope: NDArray[np.float64]
    n_occurrences: int
    n_candidates: int
    n_spilled: int
    seconds: float


def say_counting(schedule: Schedule, number: int, order: int, counted: Sequence[Counted], held: int) -> None:
    """Report which order of which pass is being counted, and what the order below it left."""
    below = f"; {_left(counted)};" if counted else ","
    schedule.say(f"pass {number}, counting order {order}{below} {show_bytes(held)}")
    schedule.done(0.0)


def say_counted(schedule: Schedule, number: int, counted: Sequence[Counted], held: int) -> None:
    """Report that an order of a pass is counted."""
    schedule.say(f"pass {number}, {_left(counted)}, {show_bytes(held)}")
    schedule.done()


def _left(counted: Sequence[Counted]) -> str:
    own = counted[-1]
    return f"order {len(counted)}: {own.n_candidates:,} candidates, {len(own.nodes):,} survivors"
