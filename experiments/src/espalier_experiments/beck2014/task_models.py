"""Ways to learn several tasks from rows that name an item and a task: apart, pooled, and together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import EasyAdapt, Kernel, PerLabel, Precomputed
from espalier.structures import Table
from espalier_experiments.beck2014.multitask import coregion, weak_noise, weight
from espalier_experiments.papers import Setup
from espalier_experiments.records import fit_gp, short
from espalier_experiments.selection import Record

Vector = NDArray[np.float64]
START = 0.3  # of a variance


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a long table: which item, and which task by number."""

    row: NDArray[np.intp]
    task: NDArray[np.intp]
    names: tuple[str, ...]

    @staticmethod
    def of(pairs: Sequence[tuple[int, int]], names: Sequence[str]) -> Rows:
        """Rows from pairs of an item and a task."""
        row, task = np.array(pairs, np.intp).reshape(-1, 2).T
        return Rows(row, task, tuple(names))

    @property
    def table(self) -> Table:
        """The rows as kernels read them."""
        return Table(row=self.row, task=[self.names[k] for k in self.task.tolist()])

    def only(self, task: int) -> Rows:
        """The rows of one task."""
        own = self.task == task
        return Rows(self.row[own], self.task[own], self.names)


@dataclass(frozen=True)
class TaskModel:
    """A way to learn several tasks.

    Parameters
    ----------
    kernel
        Makes the kernel of rows from that of items and the number of items.
    apart
        Whether each task has a model of its own.
    standardize
        Whether each task's targets have mean 0 and variance 1 in its training rows; if not, all have together.
    noises
        Whether each task has a noise of its own.
    """

    kernel: Callable[[Kernel, int], Kernel]
    apart: bool = False
    standardize: bool = True
    noises: bool = True


def _items(kernel: Kernel, n_items: int) -> Kernel:
    return weight(START) * kernel


def _with_items(kernel: Kernel, n_items: int) -> Kernel:
    """Beside what the kernel says, tasks share what is peculiar to an item."""
    return coregion(1) * kernel + coregion(1) * Precomputed(np.eye(n_items), on="row")


MODELS: dict[str, TaskModel] = {
    "separate": TaskModel(_items, apart=True),
    "pooled": TaskModel(_items, standardize=False, noises=False),
    "pooled, own means and noise": TaskModel(_items),
    "EasyAdapt": TaskModel(lambda kernel, n: EasyAdapt(on="task") * (weight(START / 2) * kernel)),
    "Coregion, rank 1": TaskModel(lambda kernel, n: coregion(1) * kernel),
    "Coregion, rank 2": TaskModel(lambda kernel, n: coregion(2) * kernel),
    "Coregion, rank 1, and items": TaskModel(_with_items),
}


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of test rows, in units of the targets, and what is kept of the fit."""

    mean: Vector
    log_density: Vector
    record: Record


def predict_tasks(model: TaskModel, kernel: Kernel, train: Rows, test: Rows, values: Vector, setup: Setup) -> Predicted:
    """Learn from training rows and predict test rows; ``values`` has a row for each item, a column for each task."""
    y = values[train.row, train.task]
    by_task = [y[train.task == k] for k in range(len(train.names))]
    if not model.standardize:
        by_task = [y] * len(train.names)
    location, scale = (np.array([measure(own) for own in by_task]) for measure in (np.mean, np.std))
    z = (y - location[train.task]) / scale[train.task]
    options: dict[str, Any] = {"standardize": False, "random_state": setup.seed, "n_threads": setup.n_threads}
    mean, log_density = np.empty(len(test.row)), np.empty(len(test.row))
    z_test = (values[test.row, test.task] - location[test.task]) / scale[test.task]
    evidence = seconds = 0.0
    parts = range(len(train.names)) if model.apart else (None,)
    for k in parts:
        inside, own = (train, test) if k is None else (train.only(k), test.only(k))
        here, there = (..., ...) if k is None else (train.task == k, test.task == k)
        has_groups = model.noises and k is None
        fitted, spent = fit_gp(
            model.kernel(kernel, len(values)),
            inside.table,
            z[here],
            groups=inside.table["task"] if has_groups else None,
            noise=PerLabel(weak_noise()) if has_groups else weak_noise(),
            **options,
        )
        found = fitted.predict_distribution(own.table, noise_groups=own.table["task"] if has_groups else None)
        mean[there], log_density[there] = found.mean, found.log_density(z_test[there])
        evidence += float(fitted.log_marginal_likelihood_)
        seconds += spent
    evidence -= float(np.log(scale[train.task]).sum())
    return Predicted(
        mean * scale[test.task] + location[test.task],
        log_density - np.log(scale[test.task]),
        {"evidence": evidence, "fit_seconds": short(seconds)},
    )
