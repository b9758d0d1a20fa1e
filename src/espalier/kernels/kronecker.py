"""Kernels of tasks times kernels of items, where every item has every task.

The matrix of such a product is the Kronecker product of a matrix of items and a matrix of tasks, which is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from espalier.kernels.algebra import Product
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback
from espalier.kernels.composite import prefixed
from espalier.kernels.stored import columns_read
from espalier.kernels.task_pairs import COLUMN, TaskPairs, reads_tasks
from espalier.structures.table import Table


class Factors(NamedTuple):
    """What stands for the Kronecker product of two matrices: the two."""

    items: Matrix
    tasks: Matrix


@dataclass(frozen=True)
class Split:
    """A product of kernels, cut into the factors of items and those of tasks."""

    items: Kernel
    tasks: Kernel
    places: tuple[tuple[int, ...], tuple[int, ...]]  # of the factors in the product

    @staticmethod
    def of(kernel: Kernel) -> Split | None:
        """Cut a kernel; None unless it is a product whose factors read either items or tasks alone."""
        if not isinstance(kernel, Product):
            return None
        of_tasks = [reads_tasks(factor) for factor in kernel.factors]
        mixed = [own and not _only_tasks(factor) for own, factor in zip(of_tasks, kernel.factors, strict=True)]
        if any(mixed) or all(of_tasks) or not any(of_tasks):
            return None
        places = tuple(tuple(k for k, own in enumerate(of_tasks) if own is side) for side in (False, True))
        items, tasks = ([kernel.factors[k] for k in side] for side in places)
        return Split(_product(items), _product(tasks), (places[0], places[1]))

    def joined(self) -> Product:
        """The product of all factors in their order."""
        factors: dict[int, Kernel] = {}
        for kernel, side in zip((self.items, self.tasks), self.places, strict=True):
            own = [child for _, child in kernel._children()] if len(side) > 1 else [kernel]
            factors |= dict(zip(side, own, strict=True))
        return Product(tuple(factors[k] for k in range(len(factors))))

    def paths(self, side: int, gradients: dict[str, float]) -> dict[str, float]:
        """Gradients of the factors of one side under the paths of the whole product."""
        places = self.places[side]
        if len(places) == 1:
            return prefixed(f"factors[{places[0]}].", gradients)
        out = {}
        for path, value in gradients.items():
            own, rest = path.removeprefix("factors[").split("]", 1)
            out[f"factors[{places[int(own)]}]{rest}"] = value
        return out


class KroneckerPlan:
    """The plans of both sides of a product over pairs that are complete; used like a :class:`Plan`."""

    def __init__(self, items: Plan, tasks: Plan) -> None:
        self._items, self._tasks = items, tasks

    @staticmethod
    def of(kernel: Kernel, pairs: TaskPairs, **options: Any) -> KroneckerPlan | None:
        """The plan; None if a pair is missing, or the kernel is no such product."""
        split = Split.of(kernel)
        if split is None or not pairs.is_complete:
            return None
        return KroneckerPlan(
            split.items.plan(pairs.distinct, **options), split.tasks.plan(Table({COLUMN: pairs.tasks}), **options)
        )

    def bind(self, kernel: Any) -> Any:
        """Return the kernel with an entry for every label, dimension and task."""
        split = _split(kernel)
        return replace(split, items=self._items.bind(split.items), tasks=self._tasks.bind(split.tasks)).joined()

    def matrix(self, kernel: Kernel) -> Factors:
        """Return the matrix of items and that of tasks; the caller owns both."""
        split = _split(kernel)
        return Factors(self._items.matrix(split.items), self._tasks.matrix(split.tasks))

    def vjp(self, kernel: Kernel) -> tuple[Factors, Pullback]:
        """Return both matrices, and the function that pulls their gradient weights back to the hyperparameters."""
        split = _split(kernel)
        (items, by_items), (tasks, by_tasks) = self._items.vjp(split.items), self._tasks.vjp(split.tasks)

        def pull_back(bar: Factors) -> dict[str, float]:
            return split.paths(0, by_items(bar.items)) | split.paths(1, by_tasks(bar.tasks))

        return Factors(items, tasks), pull_back


def _split(kernel: Kernel) -> Split:
    split = Split.of(kernel)
    assert split is not None  # as when the plan was made
    return split


def _product(factors: list[Kernel]) -> Kernel:
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _only_tasks(kernel: Kernel) -> bool:
    """Whether all that a kernel reads is the column of tasks."""
    bottom = [own for own in kernel._every_kernel() if not own._children() and own.reads() != "nothing"]
    return all(columns_read(own) == {COLUMN} for own in bottom)
