"""Plans: what a kernel prepares from its inputs, and what evaluating it gives, values and gradients.

A plan computes the matrix of one input with itself, the matrix of two inputs, or a diagonal. Evaluating it gives an
:class:`Evaluated`. The plan of a kernel that is made of other kernels evaluates their plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np

from espalier.blas import blas_threads
from espalier.errors import MemoryBudgetError, warn_user
from espalier.jobs.budget import enough, naming_a_way_out
from espalier.jobs.executor import run_jobs
from espalier.jobs.schedule import Schedule
from espalier.jobs.tiles import Matrix as Matrix
from espalier.jobs.tiles import Tile
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.checks import check_cotangent, check_finite
from espalier.kernels.inputs import Inputs
from espalier.kernels.row_blocks import ByRows, row_blocks

if TYPE_CHECKING:
    from espalier.kernels.base import Kernel

Gradients = dict[str, float]  # by path
Pullback = Callable[[Any], Gradients]  # of gradient weights with the shape of the values
Kind = Literal["symmetric", "cross", "diagonal"]
AnyKernel = TypeVar("AnyKernel", bound="Kernel")

MOST_NAMED = 5  # labels in a warning
STEP = 1e-5  # of a numerical gradient, relative
SMALLER = "Use smaller hyperparameters, or Normalized(...) around the kernels inside."


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The values of a kernel, and the function that pulls gradient weights of them back to the hyperparameters."""

    values: Matrix | ByRows  # do not change them; they may exist one block of rows at a time
    pull_back: Pullback  # takes gradient weights, which may also come block by block
    is_kept: bool = False  # whether the pull-back needs the values later, so that they must not change

    def taken(self) -> Matrix:
        """Return the values as an array that the caller may change."""
        if isinstance(self.values, ByRows):
            out = np.array(self.values)
            check_finite(out, advice=SMALLER)
            return out
        return self.values.copy() if self.is_kept else self.values

    def add_to(self, out: Matrix) -> None:
        """Add the values to an array, without making another matrix."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for rows in row_blocks(out.shape):
                out[rows] += self.values[rows]


@dataclass(frozen=True)
class Labels:
    """What hyperparameters may belong to: labels and dimensions that the inputs have, and those of kernels inside."""

    names: Sequence[str] = ()
    n_dimensions: int = 0
    inside: tuple[tuple[Labels, ...], ...] = ()  # by kernel inside; several if several plans serve it


def bound(kernel: AnyKernel, labels: Labels) -> AnyKernel:
    """Return the kernel with an entry for every label and dimension, in ``PerLabel`` and ``PerDimension``."""
    changes: dict[str, object] = {}
    for name, setting in kernel._settings():
        if isinstance(setting, hyper.PerLabel):
            changes[name] = kernel._with_labels(name, setting, labels.names)
        elif isinstance(setting, hyper.PerDimension):
            changes[name] = hyper.bind_dimensions(setting, labels.n_dimensions)
    if changes:
        kernel = replace(kernel, **changes)
    if not labels.inside:
        return kernel
    children = []
    for (_, child), found in zip(kernel._children(), labels.inside, strict=True):
        for own in found:
            child = bound(child, own)
        children.append(child)
    return kernel._with_children(children)


class Plan:
    """All that a kernel needs from its inputs, prepared once for any hyperparameters.

    ``matrix``, ``vjp`` and ``bind`` take a kernel of the same form as the one that made the plan: only its
    hyperparameters may differ. A subclass defines ``_values`` and ``_pull_back``, or ``_evaluate`` if both share work.
    """

    kind: Kind  # one input with itself, two inputs, or each item with itself
    shape: tuple[int, ...]  # of the values: a matrix, or a vector for a diagonal
    _made_for: Kernel | None = None  # None in a part of another plan

    def _describe(self, n_rows: int, n_columns: int | None, *, diagonal: bool) -> None:
        """Say what the values are; without a number of columns they are of one input with itself."""
        self.kind = "diagonal" if diagonal else "symmetric" if n_columns is None else "cross"
        self.shape = (n_rows,) if diagonal else (n_rows, n_rows if n_columns is None else n_columns)

    def matrix(self, kernel: Kernel) -> Matrix:
        """Return the kernel's values, a vector for a diagonal; the caller owns the array."""
        with self._serving(kernel, pulling_back=False):
            return self._values(kernel)

    def vjp(self, kernel: Kernel) -> tuple[Matrix, Pullback]:
        """Return the values, and the function that pulls gradient weights back to the hyperparameters."""
        with self._serving(kernel, pulling_back=True):
            found = self._evaluate(kernel)
            values = found.taken()

        def pull_back(cotangent: object) -> Gradients:
            # Pull-backs sum products of whole matrices, for which BLAS would start threads.
            with blas_threads(), self._serving(kernel, pulling_back=True):
                return found.pull_back(cotangent)

        return values, pull_back

    def bind(self, kernel: AnyKernel) -> AnyKernel:
        """Return the kernel with an entry for every label or dimension that the inputs have."""
        with self._serving(kernel, pulling_back=False):
            return bound(kernel, self._labels())

    @contextmanager
    def _serving(self, kernel: Kernel, *, pulling_back: bool) -> Iterator[None]:
        """Refuse a kernel of another form, and make a memory error name what suffices for the whole call."""
        made_for = self._made_for
        # The values of a kernel of another form would be wrong without any error.
        if made_for is not None and (not isinstance(kernel, type(made_for)) or kernel._form() != made_for._form()):
            raise TypeError(
                f"This plan was made for {made_for!r} and cannot evaluate {kernel!r}: only hyperparameters may differ. "
                "Make a new plan with kernel.plan(...)."
            )
        try:
            with naming_a_way_out():
                yield
        except MemoryBudgetError as error:
            if made_for is None:
                raise
            raise enough(error, lambda: self._memory_needed(kernel, pulling_back=pulling_back)) from None

    def _values(self, kernel: Any) -> Matrix:
        """The values alone; the caller owns the array."""
        return self._evaluate(kernel).taken()

    def _evaluate(self, kernel: Any) -> Evaluated:
        """The values with their pull-back."""
        return Evaluated(
            self._values(kernel),
            lambda cotangent: self._pull_back(kernel, check_cotangent(cotangent, self.shape)),
        )

    def _pull_back(self, kernel: Any, cotangent: Matrix) -> Gradients:
        """The gradients of the hyperparameters, from gradient weights of the values."""
        raise NotImplementedError

    def _labels(self) -> Labels:
        """What hyperparameters of the kernel may belong to."""
        return Labels()

    def _memory_needed(self, kernel: Any, *, pulling_back: bool) -> int:
        """The smallest budget of the call with which no pair is too large, or an upper bound of it."""
        return 1


class PythonPlan(Plan):
    """A kernel written in Python: values by its own method, gradients by central differences."""

    def __init__(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> None:
        self._inputs = (a, b)
        self._schedule = schedule
        self._describe(len(a), None if b is None else len(b), diagonal=diagonal)

    def _values(self, kernel: Kernel) -> Matrix:
        a, b = self._inputs
        rows = a.items(kernel._column())
        columns = rows if b is None else b.items(kernel._column())
        # Both halves of a symmetric matrix are computed, because nothing is known about the kernel.
        whole = Tile(slice(0, len(rows)), slice(0, len(columns)), only_diagonal=self.kind == "diagonal")
        tiles = [] if self._schedule.executor is None else whole.for_jobs()
        if not tiles:
            return PythonJob(kernel, rows, columns, whole)()
        jobs = [PythonJob(kernel, rows[tile.rows], columns[tile.columns], tile) for tile in tiles]
        out = np.empty(self.shape)
        for job, values in zip(jobs, run_jobs(jobs, self._schedule.executor, self._schedule.tell), strict=True):
            job.tile.put(values, out)
        return out

    def _pull_back(self, kernel: Kernel, cotangent: Matrix) -> Gradients:
        out: Gradients = {}
        for path, value in kernel.parameters().items():
            step = STEP * max(abs(value), STEP)
            above = self._values(kernel.with_parameters({path: value + step}))
            below = self._values(kernel.with_parameters({path: value - step}))
            out[path] = float(np.vdot(cotangent, (above - below) / (2 * step)))
        return out


@dataclass(frozen=True, eq=False)
class PythonJob:
    """One block of a matrix, to be computed anywhere: the kernel, and the items of its rows and columns only."""

    kernel: Kernel
    rows: list[object]
    columns: list[object]
    tile: Tile

    @property
    def cost(self) -> float:
        """The share of the matrix."""
        return self.tile.area

    def __call__(self) -> Matrix:
        if self.tile.only_diagonal:
            return np.array([self.kernel.block([x], [x])[0][0] for x in self.rows], np.float64)
        values = np.array(self.kernel.block(self.rows, self.columns), np.float64)
        if values.shape != self.tile.shape:
            raise ValueError(
                f"{type(self.kernel).__name__}.block must return shape {self.tile.shape}, got {values.shape}."
            )
        return values


class Binds(Protocol):
    """A plan, or what is used like one."""

    def bind(self, kernel: Any) -> Any:
        """Return the kernel with an entry for every label or dimension that the inputs have."""


def bound_to_labels(plan: Binds, kernel: Kernel) -> Kernel:
    """The kernel with a number for each label of a plan's data; warn about numbers of other names, which stay.

    No kernel value depends on those, so they cannot be learned.
    """
    bound: Kernel = plan.bind(kernel)
    used = plan.bind(kernel._with_settings(_without_values)).parameters()
    # If no label has a number of its own even now, the kernel does not show which labels it uses.
    unused = [path for path in bound.parameters() if path not in used and path.split("[")[0] not in used]
    if unused:
        more = f" and {len(unused) - MOST_NAMED:,} more" if len(unused) > MOST_NAMED else ""
        warn_user(
            f"The data have no label for {len(unused):,} of the numbers that values of PerLabel gives: "
            f"{', '.join(unused[:MOST_NAMED])}{more}. No value of the kernel depends on them, so their learned values "
            "mean nothing. If a name is misspelt, write it as the label or the group is written."
        )
    return bound


def _without_values(setting: object) -> object:
    """A setting without the numbers that a caller gave by name."""
    return replace(setting, values=None) if isinstance(setting, hyper.PerLabel) else setting
