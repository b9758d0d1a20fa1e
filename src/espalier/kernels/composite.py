"""What kernels made of other kernels share: the paths of what is inside, and plans made of plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Matrix, Plan
from espalier.kernels.checks import check_cotangent, check_one_number

Gradients = dict[str, float]


@dataclass(frozen=True, repr=False)
class Wrapper(Kernel):
    """A kernel made of one other.

    The paths inside are passed on as they are (``decay``), unless a hyperparameter of the wrapper has the
    same name: then they start with ``kernel.`` (``kernel.scale``).
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


class CompositePlan(Plan):
    """Plans of the kernels inside a kernel, in their order; by default one for each."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = list(plans)

    def bind(self, kernel: Any) -> Any:
        children = [child for _, child in kernel._children()]
        return kernel._with_children([p.bind(child) for p, child in zip(self._plans, children, strict=True)])

    def _memory_needed(self, kernel: Any, *, pulling_back: bool) -> int:
        inside = zip(self._plans, self._served(kernel), strict=True)
        return max(plan._memory_needed(child, pulling_back=pulling_back) for plan, child in inside)

    def _served(self, kernel: Any) -> list[Any]:
        """The kernel that each plan serves."""
        return [child for _, child in kernel._children()]


class WrapperPlan(CompositePlan):
    """Plans that all serve the one kernel inside a wrapper: its matrix, perhaps its diagonals."""

    def bind(self, kernel: Any) -> Any:
        inner = kernel.kernel
        for plan in self._plans:
            inner = plan.bind(inner)
        return kernel._with_children([inner])

    def _served(self, kernel: Any) -> list[Any]:
        return [kernel.kernel] * len(self._plans)

    def _gradients(self, kernel: Wrapper, *parts: Gradients) -> Gradients:
        """The sum of gradients of the kernel inside, under the wrapper's paths."""
        ((prefix, _),) = kernel._children()
        return {prefix + path: value for path, value in added(*parts).items()}


class UnitDiagonalPlan(WrapperPlan):
    """The diagonal of a kernel that is 1 for an item with itself, whatever the hyperparameters."""

    def __init__(self, n: int, plans: Sequence[Plan]) -> None:
        super().__init__(plans)
        self._n = n

    def matrix(self, kernel: Any) -> Matrix:
        return np.ones(self._n)

    def vjp(self, kernel: Any) -> tuple[Matrix, Any]:
        bound = self.bind(kernel)

        def pullback(cotangent: Matrix) -> Gradients:
            check_cotangent(cotangent, (self._n,))
            return dict.fromkeys(bound.parameters(), 0.0)

        return self.matrix(kernel), pullback


def root_names(kernel: Kernel) -> set[str]:
    """The first names of all paths that a kernel has or, with what is fixed, could have."""
    names = {name for name, _ in kernel._settings()}
    for prefix, child in kernel._children():
        names |= {prefix.split("[")[0].split(".")[0]} if prefix else root_names(child)
    return names


def learns(kernel: Kernel) -> bool:
    """True where some hyperparameter is not fixed, so that pulling back is worth its while."""
    return bool(kernel.parameters())


def own_gradient(name: str, setting: Any, value: float) -> Gradients:
    """The gradient of a kernel's own number, where it is learned."""
    return {} if hyper.is_fixed(setting) else {name: float(value)}


def added(*parts: Gradients) -> Gradients:
    """Add gradients by path."""
    total: Gradients = {}
    for part in parts:
        for path, value in part.items():
            total[path] = total.get(path, 0.0) + value
    return total


def check_kernels(name: str, kernels: Sequence[Any]) -> None:
    """Refuse what is no kernel inside a kernel."""
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"{name} is made of kernels, got {kernel!r}.")
