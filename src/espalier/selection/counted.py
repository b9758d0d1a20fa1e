"""What passes have counted, order by order, and how reports of progress say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.jobs.memory import show_bytes
from espalier.jobs.schedule import Schedule


@dataclass(frozen=True, eq=False)
class Counted:
    """The survivors of one order in one pass: in how many more right than predicted outputs each is; and figures."""

    nodes: NDArray[np.uint32]
    slope: NDArray[np.float64]
    is_update: bool
    n_counted: int
    n_candidates: int
    n_spilled: int
    seconds: float


@dataclass(eq=False)
class KeptPass:
    """What was counted so far, so that a pass needs to count only what changed.

    Attributes
    ----------
    predicted, max_order
        What the counts are of, and up to which order; empty and 0 before the first pass has ended.
    plus, minus
        By feature of the trie: in how many right and in how many predicted outputs of mispredicted examples it is.
    counts
        By order: the counts of all other candidates.
    """

    predicted: NDArray[np.int32]
    plus: NDArray[np.int32]
    minus: NDArray[np.int32]
    counts: list[_core.KeptCounts] = field(default_factory=list)
    max_order: int = 0

    @staticmethod
    def empty(n_features: int) -> KeptPass:
        """Nothing was counted yet."""
        return KeptPass(np.empty(0, np.int32), np.zeros(n_features, np.int32), np.zeros(n_features, np.int32))

    def add(self, found: dict[str, Any]) -> None:
        """Change the counts of known features, and append those of new ones."""
        self.plus[found["node"]] += found["plus"]
        self.minus[found["node"]] += found["minus"]
        self.plus = np.concatenate([self.plus, found["key_plus"]])
        self.minus = np.concatenate([self.minus, found["key_minus"]])

    @property
    def n_bytes(self) -> int:
        """What the counts hold in memory."""
        return self.plus.nbytes + self.minus.nbytes + sum(own.n_bytes for own in self.counts)


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
