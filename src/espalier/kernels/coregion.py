"""Kernels of a column of task names: ``Coregion`` learns how much tasks share; for ``EasyAdapt`` you say how much.

A product with a kernel of the items makes a model of several tasks: ``Coregion(on="task") * SubsetTree(on="tree")``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.checks import check_finite, check_one_number, check_rows
from espalier.kernels.composite import own_gradient
from espalier.kernels.hyperparameters import VARIANCE, Fixed, Hyperparameter, Number, PerLabel, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Evaluated, Gradients, Labels, Matrix
from espalier.kernels.repeated import Repeats
from espalier.kernels.task_names import task_names
from espalier.structures.numbers import whole_number

Floats = NDArray[np.float64]

WEIGHT_BOUNDS, VARIANCE_BOUNDS = (-100.0, 100.0), (1e-6, 1e5)


@dataclass(frozen=True, repr=False)
class TaskKernel(Kernel):
    """A kernel whose items are names of tasks, and whose values are entries of one matrix ``B``."""

    on: str | None = None

    def covariances(self, tasks: Sequence[str]) -> Floats:
        """Return ``B`` for some tasks."""
        return self._covariances(task_names(tasks, None))

    def _covariances(self, tasks: Sequence[str]) -> Floats:
        """The matrix of some tasks."""
        raise NotImplementedError

    def _gradients(self, tasks: Sequence[str], bar: Floats) -> Gradients:
        """The gradients of the hyperparameters, from gradient weights of the matrix of some tasks."""
        raise NotImplementedError

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        rows = task_names(a.column(self.on), self.on)
        columns = None if b is None else task_names(b.column(self.on), self.on)
        return TaskPlan(rows, columns, schedule, diagonal=diagonal)


@dataclass(frozen=True, repr=False)
class Coregion(TaskKernel):
    r"""Two tasks are as similar as was learned: entries of a covariance matrix of tasks.

    .. math:: K(s, t) = B_{st}, \qquad B = W W^T + \mathrm{diag}(\kappa)

    Each task has a row of ``rank`` signed numbers in :math:`W`, which it shares with the tasks whose rows are alike,
    and a variance :math:`\kappa` of its own. Times a kernel of items this is the intrinsic coregionalization model,
    ``Coregion(on="task", rank=2) * SubsetTree(on="tree")`` (Bonilla et al. 2008; Alvarez et al. 2012); a sum of such
    products is the linear model of coregionalization.

    Parameters
    ----------
    on
        The column of task names to read if the input is a table. Names may be texts, numbers or truth values. A
        number and the text that shows it are one task: 1, 1.0 and ``"1"``.
    rank
        How many numbers of :math:`W` each task has. Few suffice: a rank of 1 or 2 for half a dozen tasks.
    weights
        :math:`W`, as ``PerLabel``: one signed number for each task and each rank, with paths such as
        ``weights[fear,0]`` once data is seen. The number is the size of the start (see the notes).
    kappa
        :math:`\kappa`: ``PerLabel`` for one for each task, with paths such as ``kappa[fear]``; or one number for all.

    Notes
    -----
    Learning starts where all tasks share one half of their variance: weights of rank 0 start at 0.7, and each
    ``kappa`` at 0.5. At 0 all gradients of :math:`W` would be 0. Weights of further ranks start at numbers between
    0.35 and 0.7 of either sign, which follow from the name of the task and the rank alone: otherwise all ranks would
    stay alike. Weights are searched between -100 and 100 and have no prior: a turn of :math:`W` leaves :math:`B` as it
    is, so compare matrices, ``Coregion.covariances``, rather than weights. With little data learn fewer numbers: a
    smaller rank, or ``kappa=0.5`` for one number that all tasks share.

    :math:`B` holds the variance, so a factor ``1.0 *`` in front of a product would be learned twice. A kernel that has
    numbers for some tasks refuses a task without: nothing is known about it. A kernel without any number gives every
    task the numbers at which learning starts.

    A matrix of n x m items takes time and memory O(n m).

    Examples
    --------
    >>> kernel = Coregion(weights=PerLabel(1.0, values={"fear,0": 2.0, "joy,0": -1.0}), kappa=0.5)
    >>> kernel(["fear", "joy", "fear"])
    array([[ 4.5, -2. ,  4.5],
           [-2. ,  1.5, -2. ],
           [ 4.5, -2. ,  4.5]])
    """

    rank: int = 1
    weights: Any = hyperparameter(PerLabel(0.7), WEIGHT_BOUNDS)
    kappa: Hyperparameter = hyperparameter(PerLabel(0.5), VARIANCE_BOUNDS, unit=VARIANCE)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rank", whole_number("rank", self.rank))
        super().__post_init__()
        if not isinstance(self.weights, PerLabel) or self.weights.groups:
            raise TypeError(
                f"weights must be PerLabel(...) without groups, one number for each task and rank, got "
                f"{self.weights!r}. Tasks that are to share all numbers need one name."
            )
        if hyper.default_of(self.weights) == 0 and not hyper.is_fixed(self.weights):
            raise ValueError("weights must not start at 0, where all their gradients are 0. Write PerLabel(0.7).")

    def covariances(self, tasks: Sequence[str] | None = None) -> Floats:
        """Return ``B`` for some tasks, by default for those that have numbers, in the order of :meth:`tasks`."""
        return super().covariances(self.tasks() if tasks is None else tasks)

    def tasks(self) -> list[str]:
        """Return the tasks that have numbers, in the order of their names."""
        return list(dict.fromkeys(name.rpartition(",")[0] for name, _ in self.weights.values))

    def _weights_of(self, tasks: Sequence[str]) -> Floats:
        """The rows of W for some tasks."""
        known = dict(self.weights.values)
        size = hyper.default_of(self.weights)
        names = self._weight_names(tasks)
        if known:
            for place, name in enumerate(names):
                if name not in known:
                    raise self._unknown(tasks[place // self.rank])
        values = [known.get(name, size * _start(name)) for name in names]
        return np.array(values, np.float64).reshape(len(tasks), self.rank)

    def _unknown(self, task: str) -> InputError:
        listed = self.tasks()
        shown = ", ".join(map(repr, listed[:6])) + (f" and {len(listed) - 6:,} more" if len(listed) > 6 else "")
        return InputError(
            f"Coregion has no numbers for the task {task!r}, so its covariance with others is unknown; it knows "
            f"{shown}. Learn from at least one row of each task, or use EasyAdapt, by which a new task shares what all "
            "share."
        )

    def _weight_names(self, tasks: Sequence[str]) -> list[str]:
        return [f"{task},{k}" for task in tasks for k in range(self.rank)]

    def _with_labels(self, name: str, setting: PerLabel, labels: Sequence[str]) -> object:
        if name != "weights" or hyper.is_fixed(setting):
            return super()._with_labels(name, setting, labels)
        size = hyper.default_of(setting)
        starts = {own: size * _start(own) for own in self._weight_names(labels)}
        return replace(setting, values=starts | dict(setting.values))

    def _covariances(self, tasks: Sequence[str]) -> Floats:
        weights = self._weights_of(tasks)
        # einsum and not BLAS: no bit may depend on its threads.
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            out: Floats = np.einsum("sk,tk->st", weights, weights)
        out += np.diag(hyper.label_values(self.kappa, tasks)[:-1])
        return out

    def _gradients(self, tasks: Sequence[str], bar: Floats) -> Gradients:
        by_weight = np.einsum("st,tk->sk", bar + bar.T, self._weights_of(tasks)).ravel()
        names = self._weight_names(tasks)
        out = hyper.label_gradients("weights", self.weights, names, by_weight, leaves=False)
        return out | hyper.label_gradients("kappa", self.kappa, tasks, bar.diagonal(), leaves=False)


@dataclass(frozen=True, repr=False)
class EasyAdapt(TaskKernel):
    r"""Two tasks share a stated part, and each has a part of its own: the feature augmentation of Daume (2007).

    .. math:: K(s, t) = \mathrm{shared} + \mathrm{own} \, [s = t]

    With both numbers at 1, the product with a kernel of items has the features of ``EasyAdapt``: one copy that all
    tasks share, and one copy for each task.

    Parameters
    ----------
    on
        The column of task names to read if the input is a table, as for :class:`Coregion`.
    shared, own
        The weights of the two parts. They are fixed at 1; plain numbers are learned.

    Notes
    -----
    A task that is new at prediction has the shared part in common with all others, and an own part that nothing is
    known about.

    Examples
    --------
    >>> EasyAdapt()(["books", "dvd", "books"])
    array([[2., 1., 2.],
           [1., 2., 1.],
           [2., 1., 2.]])
    """

    shared: Number = hyperparameter(Fixed(1.0), VARIANCE_BOUNDS, unit=VARIANCE)
    own: Number = hyperparameter(Fixed(1.0), VARIANCE_BOUNDS, unit=VARIANCE)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_one_number("shared", self.shared)
        check_one_number("own", self.own)

    def _covariances(self, tasks: Sequence[str]) -> Floats:
        out = np.full((len(tasks),) * 2, hyper.number_of(self.shared))
        out[np.diag_indices_from(out)] += hyper.number_of(self.own)
        return out

    def _gradients(self, tasks: Sequence[str], bar: Floats) -> Gradients:
        shared = own_gradient("shared", self.shared, float(bar.sum()))
        return shared | own_gradient("own", self.own, float(bar.trace()))


class TaskPlan(Plan):
    """The task of each row and column; a matrix repeats the entries of the one matrix of all tasks."""

    def __init__(self, rows: list[str], columns: list[str] | None, schedule: Schedule, *, diagonal: bool) -> None:
        place = {name: k for k, name in enumerate(dict.fromkeys([*rows, *(columns or [])]))}
        self._tasks = list(place)
        across = None if diagonal else [place[name] for name in (rows if columns is None else columns)]
        self._repeats = Repeats(
            np.array([place[name] for name in rows], np.intp),
            None if across is None else np.array(across, np.intp),
            (len(place),) if diagonal else (len(place),) * 2,
        )
        self._schedule = schedule
        self._describe(len(rows), None if columns is None else len(columns), diagonal=diagonal)

    def _labels(self) -> Labels:
        return Labels(self._tasks)

    def _values(self, kernel: TaskKernel) -> Matrix:
        return np.array(self._evaluate(kernel).values)

    def _evaluate(self, kernel: TaskKernel) -> Evaluated:
        table = kernel._covariances(self._tasks)
        check_finite(table, item="task")
        self._schedule.done()
        small = table.diagonal() if self.kind == "diagonal" else table

        def pull_back(cotangent: object) -> Gradients:
            bar = self._repeats.summed(check_rows(cotangent, self.shape))
            return kernel._gradients(self._tasks, np.diag(bar) if self.kind == "diagonal" else bar)

        return Evaluated(self._repeats.spread(small), pull_back)


def _start(name: str) -> float:
    """Where a weight starts, as a share of the declared size: 1 at rank 0, then between 0.5 and 1 of either sign."""
    if name.endswith(",0"):
        return 1.0
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    place = int.from_bytes(digest, "big") / 2**64  # between 0 and 1
    return 0.5 + place if place < 0.5 else -place
