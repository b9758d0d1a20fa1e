"""The units of several targets: each task is transformed and standardised by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.gp.parameters import Vector
from espalier.gp.transforms import Transform
from espalier.gp.units import TargetUnits


@dataclass(frozen=True, eq=False)
class TaskUnits:
    """The units of each task. Flat vectors hold all tasks of the first row, then those of the next.

    Attributes
    ----------
    tasks
        The names of the tasks.
    each
        The units of each.
    task
        The place of the task of each training target.
    """

    tasks: tuple[str, ...]
    each: tuple[TargetUnits, ...]
    task: NDArray[np.intp]

    @staticmethod
    def of(
        transform: Transform, y: Vector, tasks: tuple[str, ...], task: NDArray[np.intp], *, standardize: bool
    ) -> tuple[TaskUnits, Vector, float]:
        """Return the units, the modelled numbers, and the log of the Jacobian of all of them."""
        z, jacobian, each = np.empty(len(y)), 0.0, []
        for k in range(len(tasks)):
            rows = task == k
            if not rows.any():  # a pilot may have no target of some task
                each.append(TargetUnits(transform, 0.0, 1.0, standardize))
                continue
            units, z[rows], own = TargetUnits.of(transform, y[rows], standardize=standardize)
            each.append(units)
            jacobian += own
        return TaskUnits(tasks, tuple(each), task), z, jacobian

    @property
    def transform(self) -> Transform:
        """The transform of every task, which has no learned numbers."""
        return self.each[0].transform

    @property
    def scale(self) -> Vector:
        """The scale of each training target."""
        return np.array([units.scale for units in self.each])[self.task]

    @property
    def constant(self) -> bool:
        """Whether all targets are equal in every task."""
        return all(units.constant for units in self.each)

    @property
    def is_linear(self) -> bool:
        """True if the targets are only shifted and scaled."""
        return self.each[0].is_linear

    @property
    def unit(self) -> str:
        """The unit of the modelled numbers."""
        return f"{self.each[0].unit} of each task" if self.each[0].standardized else self.each[0].unit

    def pull_back(self, y: Vector, z: Vector, z_bar: Vector, known_bar: float = 0.0) -> dict[str, float]:
        """Pull a gradient of ``z`` back to the transform, which has no learned numbers."""
        return {}

    def restored(self, z: Any) -> Vector:
        """The user's numbers from flat modelled ones: one row for each item, one column for each task."""
        parts = self.by_task(np.asarray(z))
        return np.stack([units.restored(parts[:, k]) for k, units in enumerate(self.each)], axis=1)

    def covariances(self, flat: Vector) -> Vector:
        """Covariances in the user's units, by item and task on both sides."""
        p = len(self.tasks)
        scale = np.array([units.scale for units in self.each])
        out = flat.reshape(-1, p, len(flat) // p, p)
        with np.errstate(over="ignore"):
            return np.asarray(out * scale[:, None, None] * scale)

    def by_task(self, flat: Vector) -> Vector:
        """Flat values as one row for each item and one column for each task."""
        return flat.reshape(-1, len(self.tasks), *flat.shape[1:])
