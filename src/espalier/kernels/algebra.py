"""Kernels made of kernels by arithmetic: sums, products, multiples, powers, constants.

Their repr is the expression that makes them. ``algebra_plans`` computes their matrices; ``Normalized`` and ``Radial``
have modules of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Self

import numpy as np

from espalier.jobs.schedule import Schedule
from espalier.kernels.algebra_plans import ConstantPlan, PowerPlan, ProductPlan, ScaledPlan, SumPlan
from espalier.kernels.base import Kernel, Plan, Reads
from espalier.kernels.checks import check_one_number
from espalier.kernels.composite import CompositePlan, Wrapper, check_kernels
from espalier.kernels.hyperparameters import VARIANCE, Fixed, Learned, Number, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.structures.numbers import as_float, shown

SCALE_BOUNDS = (1e-5, 1e5)


@dataclass(frozen=True, repr=False)
class Several(Kernel):
    """A kernel made of several others, which one of its fields lists."""

    _listed: ClassVar[str]  # the name of the field
    _plan_type: ClassVar[type[CompositePlan]]

    def __post_init__(self) -> None:
        kind, kernels = type(self), getattr(self, self._listed)
        if isinstance(kernels, Kernel):
            raise TypeError(f"{self._listed} must be a tuple of kernels, got one kernel.")
        check_kernels(kind.__name__, list(kernels))
        if not kernels:
            raise ValueError(f"{kind.__name__} needs at least one kernel.")
        flat: list[Kernel] = []
        for kernel in kernels:
            flat.extend(getattr(kernel, self._listed) if isinstance(kernel, kind) else [kernel])
        object.__setattr__(self, self._listed, tuple(flat))

    def _children(self) -> list[tuple[str, Kernel]]:
        return [(f"{self._listed}[{k}].", kernel) for k, kernel in enumerate(getattr(self, self._listed))]

    def _with_children(self, children: list[Kernel]) -> Self:
        return replace(self, **{self._listed: tuple(children)})

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        children = self._children()
        shares = [schedule.share(k, len(children)) for k in range(len(children))]
        inside = zip(children, shares, strict=True)
        return self._plan_type([a.plan_of(child, b, own, diagonal=diagonal) for (_, child), own in inside])


@dataclass(frozen=True, repr=False)
class Sum(Several):
    """The sum of kernels: items are similar if any of the kernels finds them similar. Written ``a + b``.

    The fragments of all the kernels count side by side. Sums inside a sum are flattened. The paths of the
    hyperparameters inside are ``terms[0].decay``, ``terms[1].lengthscale``.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import SubsetTree, Subtree
    >>> kernel = SubsetTree(decay=1.0) + 2.0 * Subtree(decay=1.0)
    >>> kernel
    SubsetTree(decay=1.0) + 2.0 * Subtree(decay=1.0)
    >>> kernel(["(NP (D the) (N cat))", "(NP (D a) (N cat))"])
    array([[12.,  5.],
           [ 5., 12.]])
    >>> kernel.parameters()
    {'terms[0].decay': 1.0, 'terms[0].frontier': 1.0, 'terms[1].scale': 2.0, 'terms[1].decay': 1.0}
    """

    _listed: ClassVar = "terms"
    _plan_type: ClassVar = SumPlan

    terms: tuple[Kernel, ...]

    def __repr__(self) -> str:
        if len(self.terms) == 1:
            return f"Sum({self.terms!r})"
        return " + ".join(map(repr, self.terms))


@dataclass(frozen=True, repr=False)
class Product(Several):
    """The product of kernels: items are similar if all of the kernels find them similar. Written ``a * b``.

    The fragments are pairs: one fragment of each kernel. Products inside a product are flattened. The paths
    of the hyperparameters inside are ``factors[0].decay``, ``factors[1].lengthscale``.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import SubsetTree, Subtree
    >>> kernel = (SubsetTree(decay=1.0) + Subtree(decay=1.0)) * Subtree(decay=1.0)
    >>> kernel
    (SubsetTree(decay=1.0) + Subtree(decay=1.0)) * Subtree(decay=1.0)
    >>> kernel(["(NP (D the) (N cat))", "(NP (D a) (N cat))"])
    array([[27.,  4.],
           [ 4., 27.]])
    """

    _listed: ClassVar = "factors"
    _plan_type: ClassVar = ProductPlan

    factors: tuple[Kernel, ...]

    def __repr__(self) -> str:
        if len(self.factors) == 1:
            return f"Product({self.factors!r})"
        # A multiple needs no brackets in front: 2.0 * a * b is (2.0 * a) * b.
        first, *rest = self.factors
        shown = [repr(first) if _is_multiple(first) else _operand(first), *map(_operand, rest)]
        return " * ".join(shown)


@dataclass(frozen=True, repr=False)
class Scaled(Wrapper):
    """A kernel times a positive number, which is learned; written ``1.0 * kernel``.

    Examples
    --------
    >>> from espalier.kernels.hyperparameters import Learned
    >>> from espalier.kernels.subset_tree import Subtree
    >>> 2.0 * Subtree(), Learned(2.0, bounds=(1, 3)) * Subtree()
    (2.0 * Subtree(), Scaled(Subtree(), scale=Learned(2.0, bounds=(1.0, 3.0))))
    >>> (2.0 * Subtree()).parameters()
    {'scale': 2.0, 'decay': 0.4}
    """

    scale: Number = hyperparameter(1.0, SCALE_BOUNDS, unit=VARIANCE)

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        return ScaledPlan([a.plan_of(self.kernel, b, schedule, diagonal=diagonal)])

    def __repr__(self) -> str:
        if isinstance(self.scale, Fixed | Learned):
            return f"Scaled({self.kernel!r}, scale={self.scale!r})"
        return f"{self.scale!r} * {_operand(self.kernel)}"


@dataclass(frozen=True, repr=False)
class Power(Wrapper):
    """A kernel raised to a power: its features are combinations of ``exponent`` fragments.

    Parameters
    ----------
    kernel
        The kernel.
    exponent
        A positive number, which is not learned. With an integer the result is a kernel again (positive
        semi-definite). Any other exponent needs values of at least 0, and gives a kernel only for kernels that
        are infinitely divisible, such as ``RBF``; the gradient at a value of 0 counts as 0.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import Subtree
    >>> kernel = Power(Subtree(decay=1.0), 2)
    >>> kernel
    Power(Subtree(decay=1.0), 2)
    >>> kernel(["(NP (D the) (N cat))", "(NP (D a) (N cat))"])
    array([[9., 1.],
           [1., 9.]])
    """

    exponent: float

    def __post_init__(self) -> None:
        super().__post_init__()
        exponent = self.exponent
        if isinstance(exponent, bool) or not isinstance(exponent, Real):
            raise TypeError(f"exponent must be a positive number, got {exponent!r}.")
        if not (math.isfinite(as_float(exponent)) and exponent > 0):
            raise ValueError(f"exponent must be a positive number, got {shown(exponent)}.")
        if isinstance(exponent, np.generic):  # its repr is not a Python literal
            object.__setattr__(self, "exponent", exponent.item())

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        return PowerPlan([a.plan_of(self.kernel, b, schedule, diagonal=diagonal)])

    def __repr__(self) -> str:
        return f"Power({self.kernel!r}, {self.exponent!r})"


@dataclass(frozen=True, repr=False)
class Constant(Kernel):
    """The same similarity for any two items: in a sum, a bias that all items share.

    Parameters
    ----------
    variance
        The value for every pair: the prior variance of the bias.

    Examples
    --------
    >>> Constant(2.0)(["(A a)", "(B b)"])
    array([[2., 2.],
           [2., 2.]])
    """

    variance: Number = hyperparameter(1.0, SCALE_BOUNDS, unit=VARIANCE)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_one_number("variance", self.variance)

    def reads(self) -> Reads:
        return "nothing"

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        return ConstantPlan(len(a), None if b is None else len(b), diagonal=diagonal)


def multiply(left: Kernel, right: object) -> Product | Scaled:
    """The product of two kernels, or a multiple: a number, ``Learned`` or ``Fixed`` times a kernel."""
    if isinstance(right, Kernel):
        return Product((left, right))
    if isinstance(right, Fixed | Learned | Real):
        return Scaled(left, right)  # type: ignore[arg-type]  # a number of any kind, which the kernel checks
    raise TypeError(f"A kernel can only be multiplied by a kernel or a number, got {type(right).__name__}.")


def _is_multiple(kernel: Kernel) -> bool:
    return isinstance(kernel, Scaled) and not isinstance(kernel.scale, Fixed | Learned)


def _operand(kernel: Kernel) -> str:
    """A kernel as printed beside ``*``: in brackets if its repr contains an operator."""
    several = isinstance(kernel, Sum | Product) and len(kernel._children()) > 1
    return f"({kernel!r})" if several or _is_multiple(kernel) else repr(kernel)
