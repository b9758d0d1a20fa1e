"""Rows that are pairs of an item and a task, such as the entries of a matrix of targets that are known.

What a kernel says of items alone is computed once for each pair of items, however many tasks there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.coregion import Coregion
from espalier.kernels.inputs import Inputs, Reading, take_rows
from espalier.kernels.repeated import RepeatedPlan
from espalier.kernels.stored import columns_read
from espalier.storage import State, require
from espalier.structures.table import Table

Places = NDArray[np.intp]

COLUMN = "task"  # the column that kernels of tasks read


class TaskPairs(Inputs):
    """Pairs of an item and a task: the inputs of a kernel that reads the column ``task``.

    Attributes
    ----------
    distinct
        The items, each once, although it may occur with several tasks.
    tasks
        The names of all tasks.
    item, task
        For each pair the place of its item and of its task.
    """

    def __init__(
        self, items: Inputs, tasks: Sequence[str], item: Places, task: Places, like: TaskPairs | None = None
    ) -> None:
        super().__init__(item, like)
        self.distinct, self.tasks, self.item, self.task = items, tuple(tasks), item, task

    @staticmethod
    def all_of(items: Inputs, tasks: Sequence[str], like: TaskPairs | None = None) -> TaskPairs:
        """Every item with every task: all tasks of the first item, then those of the next."""
        if isinstance(items._data, Table) and COLUMN in items._data.columns:
            raise InputError(
                f"X has a column {COLUMN!r}, which a matrix of targets would replace. Rename the column, or pass y as "
                "one column with a number for each row of X."
            )
        n, p = len(items), len(tasks)
        return TaskPairs(items, tasks, np.repeat(np.arange(n), p), np.tile(np.arange(p), n), like)

    @property
    def is_complete(self) -> bool:
        """True if every item occurs with every task, in order."""
        n, p = len(self.distinct), len(self.tasks)
        return len(self) == n * p and bool((self.item * p + self.task == np.arange(n * p)).all())

    def rows(self, rows: Places) -> TaskPairs:
        """Some of the pairs; items without a pair are left out."""
        used, item = np.unique(self.item[rows], return_inverse=True)
        items = self.distinct if len(used) == len(self.distinct) else self.distinct.rows(used)
        return TaskPairs(items, self.tasks, item.astype(np.intp), self.task[rows])

    def filled(self, values: NDArray[np.float64], gap: float = np.nan) -> NDArray[np.float64]:
        """One value for every item with every task, flat, from those of the pairs; ``gap`` where there is no pair."""
        out = np.full(len(self.distinct) * len(self.tasks), gap)
        out[self.item * len(self.tasks) + self.task] = values
        return out

    def column(self, on: str | None) -> Iterable[object]:
        if on == COLUMN:
            return [self.tasks[task] for task in self.task.tolist()]
        column: Any = take_rows(self.distinct.column(on), self.item)
        found: Iterable[object] = column
        return found

    def read_strings(self, columns: Iterable[str | None], reading: Reading) -> Inputs:
        own = [on for on in columns if on != COLUMN]
        self.distinct.read_strings(own, reading)
        return super().read_strings(own, reading)

    def plan_of(self, kernel: Kernel, other: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        if reads_tasks(kernel):
            return kernel._make_plan(self, other, schedule, diagonal=diagonal)
        items, item = (other.distinct, other.item) if isinstance(other, TaskPairs) else (None, None)
        inside: Plan = self.distinct.plan_of(kernel, items, schedule, diagonal=diagonal)
        return RepeatedPlan(inside, self.item, item)

    def to_state(self, columns: Collection[str | None] | None = None) -> dict[str, object]:
        numbers = {"item": np.asarray(self.item, np.int64), "task": np.asarray(self.task, np.int64)}
        return {"items": self.distinct.to_state(columns), "tasks": list(self.tasks), **numbers}

    @staticmethod
    def from_state(state: State) -> TaskPairs:
        items, tasks = Inputs.from_state(state.part("items")), state.texts("tasks")
        item, task = (state.array(name, np.int64).astype(np.intp) for name in ("item", "task"))
        for places, size in ((item, len(items)), (task, len(tasks))):
            require(bool(((places >= 0) & (places < size)).all()), "a pair has no item or no task")
        require(item.shape == task.shape, "its items do not fit its tasks")
        return TaskPairs(items, tasks, item, task)

    def description(self) -> dict[str, object]:
        return self.distinct.description() | {"tasks": list(self.tasks), "targets": len(self)}


def reads_tasks(kernel: Kernel) -> bool:
    """Whether a kernel, or one inside it, reads the column of tasks."""
    return COLUMN in columns_read(kernel)


def with_tasks(kernel: Kernel) -> Kernel:
    """The kernel itself if it reads the column of tasks, else its product with ``Coregion(on="task")``."""
    return kernel if reads_tasks(kernel) else Coregion(on=COLUMN) * kernel
