"""What kernels made of other kernels share: paths to inner hyperparameters, and plans made of plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from espalier.jobs.schedule import Schedule
from espalier.kept import kept
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel
from espalier.kernels.checks import check_one_number
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Evaluated, Gradients, Labels, Matrix, Plan, bound
from espalier.kernels.stored import written

_MOST_DIAGONALS = 8  # that one side of a call keeps


@dataclass(frozen=True, repr=False)
class Wrapper(Kernel):
    """A kernel made of one other.

    Paths of the inner kernel stay as they are (``decay``). If a hyperparameter of the wrapper has the same name, they
    start with ``kernel.`` (``kernel.scale``).
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        check_kernels(type(self).__name__, [self.kernel])
        super().__post_init__()
        for name, setting in self._settings():
            check_one_number(name, setting)

    def _children(self) -> list[tuple[str, Kernel]]:
        inside = root_names(self.kernel)
        clash = any(name in inside for name, _ in self._settings())
        return [("kernel." if clash else "", self.kernel)]

    def _with_children(self, children: list[Kernel]) -> Self:
        return replace(self, kernel=children[0])

    def __repr__(self) -> str:
        return written(self, repr(self.kernel))

    def _plans_inside(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool) -> list[Plan]:
        """Plans of the kernel inside: of its values and, for the matrix of two inputs, of the diagonals of both."""
        if b is None:
            return [a.plan_of(self.kernel, None, schedule, diagonal=diagonal)]
        parts = [schedule.part(k, 3) for k in range(3)]
        diagonals = [
            RememberedDiagonalPlan(self.kernel, side, part.quietly())
            for side, part in zip((a, b), parts[1:], strict=True)
        ]
        return [a.plan_of(self.kernel, b, parts[0]), *diagonals]


class CompositePlan(Plan):
    """Plans of the kernels inside a kernel: one for each, in order, or several plans of a single kernel.

    The kind and the shape of the values are those of the first plan.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = list(plans)
        self.kind, self.shape = plans[0].kind, plans[0].shape

    def _served(self, kernel: Kernel) -> list[Kernel]:
        """The kernel that each plan serves."""
        children = [child for _, child in kernel._children()]
        return children if len(children) == len(self._plans) else children * len(self._plans)

    def _labels(self) -> Labels:
        found = [plan._labels() for plan in self._plans]
        return Labels(inside=tuple((labels,) for labels in found))

    def _memory_needed(self, kernel: Kernel, *, pulling_back: bool) -> int:
        inside = zip(self._plans, self._served(kernel), strict=True)
        return max(plan._memory_needed(child, pulling_back=pulling_back) for plan, child in inside)


class WrapperPlan(CompositePlan):
    """Plans that all serve the one kernel inside a wrapper: its matrix, perhaps its diagonals."""

    def _labels(self) -> Labels:
        return Labels(inside=(tuple(plan._labels() for plan in self._plans),))

    def _pull_back(self, kernel: Kernel, cotangent: Matrix) -> Gradients:
        """The gradients of a diagonal whose values depend on no hyperparameter."""
        return no_gradients(self, kernel)

    def _gradients(self, kernel: Wrapper, *parts: Gradients) -> Gradients:
        """The sum of gradients of the kernel inside, under the wrapper's paths."""
        ((prefix, _),) = kernel._children()
        return prefixed(prefix, added(*parts))


class RememberedDiagonalPlan(Plan):
    """The diagonal of a kernel over inputs; planned and computed only if it is not kept with the inputs.

    A cross matrix that is normalised needs the diagonals of both sides. One side is often the same training data in
    every call, thousands of trees against one new tree, so its diagonal is kept with it, for the last few kernels.
    """

    kind = "diagonal"

    def __init__(self, kernel: Kernel, inputs: Inputs, schedule: Schedule) -> None:
        self.shape = (len(inputs),)
        self._inputs = inputs
        self._make: Callable[[], Plan] = lambda: inputs.plan_of(kernel, None, schedule, diagonal=True)

    @kept
    def _plan(self) -> Plan:
        return self._make()

    def _values(self, kernel: Kernel) -> Matrix:
        known = self._inputs.diagonals
        if kernel not in known:
            while len(known) >= _MOST_DIAGONALS:
                known.pop(next(iter(known)), None)
            known[kernel] = self._plan._values(kernel)
        values: Matrix = known[kernel]
        return values.copy()

    def _evaluate(self, kernel: Kernel) -> Evaluated:
        return self._plan._evaluate(kernel)

    def _labels(self) -> Labels:
        return self._plan._labels()

    def _memory_needed(self, kernel: Kernel, *, pulling_back: bool) -> int:
        return self._plan._memory_needed(kernel, pulling_back=pulling_back)


class UnitDiagonalPlan(Plan):
    """The diagonal of a kernel that is 1 for an item with itself, whatever the hyperparameters."""

    kind = "diagonal"

    def __init__(self, n: int, labels: Callable[[], Labels]) -> None:
        self.shape = (n,)
        self._find_labels = labels

    def _labels(self) -> Labels:
        return self._find_labels()

    def _values(self, kernel: Kernel) -> Matrix:
        return np.ones(self.shape)

    def _pull_back(self, kernel: Kernel, cotangent: Matrix) -> Gradients:
        return no_gradients(self, kernel)


def no_gradients(plan: Plan, kernel: Kernel) -> Gradients:
    """The gradients of values that depend on no hyperparameter."""
    return dict.fromkeys(bound(kernel, plan._labels()).parameters(), 0.0)


def root_names(kernel: Kernel) -> set[str]:
    """The first names of all paths that a kernel has, or would have if nothing were fixed."""
    names = {name for name, _ in kernel._settings()}
    for prefix, child in kernel._children():
        names |= {prefix.split("[")[0].split(".")[0]} if prefix else root_names(child)
    return names


def learns(kernel: Kernel) -> bool:
    """True if some hyperparameter is not fixed, so that there are gradients to compute."""
    return bool(kernel.parameters())


def own_gradient(name: str, setting: object, value: float) -> Gradients:
    """The gradient of a kernel's own number, if it is learned."""
    return {} if hyper.is_fixed(setting) else {name: float(value)}


def added(*parts: Gradients) -> Gradients:
    """Add gradients by path."""
    total: Gradients = {}
    for part in parts:
        for path, value in part.items():
            total[path] = total.get(path, 0.0) + value
    return total


def prefixed(prefix: str, gradients: Gradients) -> Gradients:
    """The gradients of a kernel inside another, under the paths of the outer kernel."""
    return {prefix + path: value for path, value in gradients.items()}


def check_kernels(name: str, kernels: Sequence[object]) -> None:
    """Raise if something inside a kernel is not a kernel."""
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"{name} must be made of kernels, got {kernel!r}.")
