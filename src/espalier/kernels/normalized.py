"""``Normalized``: a kernel divided by the norms of its items, so that their size does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.errors import InputError, warn_user
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.checks import check_rows
from espalier.kernels.composite import Wrapper, WrapperPlan, learns
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Evaluated, Gradients, Matrix, Plan, bound
from espalier.kernels.row_blocks import ByRows, row_blocks
from espalier.kernels.underflow import Mask, check_cancellation, lack, may_cancel, without_fragment


@dataclass(frozen=True, repr=False)
class Normalized(Wrapper):
    r"""The cosine between two items in the space of a kernel's fragments: 1 for an item with itself.

    .. math:: \hat K(x, y) = \frac{K(x, y)}{\sqrt{K(x, x)} \sqrt{K(y, y)}}

    If an item has no fragment, so that :math:`K(x, x) = 0` (a lone leaf under ``SubsetTree``, a vector of zeros under
    ``Linear``), its values are 0, the diagonal included, and one warning counts such items. If it has fragments, but
    they weigh too little for floating-point numbers, an error names the hyperparameters that are too small, or says
    that vectors must be scaled. The same error is raised if a hyperparameter is so small that rounding has left too few
    digits of its gradient.

    Notes
    -----
    The symmetric matrix contains its diagonal; a cross matrix computes the diagonals of both sides. Normalising is done
    in place.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import SubsetTree
    >>> Normalized(SubsetTree(decay=1.0))(["(NP (D the) (N cat))", "(NP (D a) (N cat))"])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        plans = self._plans_inside(a, b, schedule, diagonal=diagonal)
        return NormalizedPlan(plans, [a] if b is None else [a, b], warns=schedule.warns)


class NormalizedPlan(WrapperPlan):
    """A normalised matrix, or a diagonal: ones, and zeros for items without any fragment."""

    def __init__(self, plans: list[Plan], sides: list[Inputs], *, warns: bool) -> None:
        super().__init__(plans)
        self._sides = sides
        self._warns = warns
        self._empty: list[Mask | None] = [None] * len(sides)  # by side: items known to have no fragment

    def _values(self, kernel: Any) -> Matrix:
        values, *diagonals = (plan._values(kernel.kernel) for plan in self._plans)
        self._normalize(values, diagonals, kernel.kernel)
        return values

    def _normalize(self, values: Matrix, diagonals: list[Matrix], inner: Kernel) -> tuple[Matrix, Matrix]:
        """Normalise in place; return the roots of the diagonals of both sides."""
        is_diagonal = self.kind == "diagonal"
        roots = self._roots(inner, diagonals or [values if is_diagonal else values.diagonal()])
        rows, columns = roots[0], roots[-1]
        if is_diagonal:
            values[:] = np.isfinite(rows)
            return rows, columns
        for block in row_blocks(values.shape):  # divided by a product: symmetric to the last bit
            values[block] /= rows[block, None] * columns
        if self.kind == "symmetric":
            np.fill_diagonal(values, np.isfinite(rows))
        return rows, columns

    def _roots(self, inner: Kernel, diagonals: list[Matrix]) -> list[Matrix]:
        """The square roots of each side's diagonal; infinite for items without fragments."""
        roots = [_root(diagonal) for diagonal in diagonals]
        for side, diagonal in enumerate(diagonals):
            self._empty[side] = without_fragment(inner, self._sides[side], diagonal, self._empty[side])
        zeros = [np.isinf(root) for root in roots]
        if self._warns and any(zero.any() for zero in zeros):
            self._warns = False  # a learner computes one plan's matrix hundreds of times
            _warn_of_zeros(inner, self._sides, zeros)
        return roots

    def _evaluate(self, kernel: Any) -> Evaluated:
        if self.kind == "diagonal":
            return super()._evaluate(kernel)
        inside, *sides = [plan._evaluate(kernel.kernel) for plan in self._plans]
        values, diagonals = inside.taken(), [side.taken() for side in sides]
        roots = self._normalize(values, diagonals, kernel.kernel)
        is_symmetric = self.kind == "symmetric"

        def pull_back(cotangent: Matrix | ByRows) -> Gradients:
            cotangent = check_rows(cotangent, self.shape)
            if not learns(kernel.kernel):
                return {}
            named = bound(kernel, self._labels())
            inner, *sums, parts = _pulled(
                cotangent, values, *roots, is_symmetric=is_symmetric, measured=may_cancel(named)
            )
            if is_symmetric:
                np.fill_diagonal(inner, (sums[0] + sums[1]) * (-0.5 / roots[0] ** 2))
            found = [inside.pull_back(inner)]
            found += [
                side.pull_back(own * (-0.5 / root**2)) for side, own, root in zip(sides, sums, roots, strict=False)
            ]
            gradients = self._gradients(kernel, *found)
            check_cancellation(named, gradients, parts)
            return gradients

        return Evaluated(values, pull_back, is_kept=True)


def _root(diagonal: Matrix) -> Matrix:
    """The square roots of a diagonal; infinity in place of 0, so that dividing by it gives 0."""
    if (diagonal < 0).any():
        row = int(np.argmax(diagonal < 0))
        raise InputError(
            f"The kernel value of item {row} with itself is negative, {diagonal[row]:.6g}, so it cannot be "
            "normalised: this kernel is not positive semi-definite."
        )
    root = np.sqrt(diagonal)
    root[root == 0] = np.inf
    return root


def _pulled(
    cotangent: Matrix | ByRows, values: Matrix, rows: Matrix, columns: Matrix, *, is_symmetric: bool, measured: bool
) -> tuple[Matrix, Matrix, Matrix, float]:
    """The gradient weights of the inner matrix, and sums of weights * values, in one pass.

    The sums are those of each row and each column, and, if ``measured``, that of all absolute products. The diagonal of
    a symmetric matrix is constant, so its gradient weights have no effect.
    """
    inner = np.empty_like(values)
    row_sums, column_sums, total = np.empty(len(rows)), np.zeros(len(columns)), 0.0
    for block in row_blocks(values.shape):
        given = cotangent[block]
        products = given * values[block]
        if is_symmetric:
            np.fill_diagonal(products[:, block], 0.0)
        row_sums[block] = products.sum(axis=1)
        column_sums += products.sum(axis=0)
        if measured:
            total += float(np.abs(products).sum())
        np.multiply(rows[block, None], columns, out=products)
        np.divide(given, products, out=inner[block])
    return inner, row_sums, column_sums, total


def _warn_of_zeros(inner: Kernel, sides: list[Inputs], zeros: list[Mask]) -> None:
    """Warn about items without fragments, once for inputs that a learner keeps."""
    about = repr(inner._form())  # all but the hyperparameters, which a learner changes between calls
    found = []
    for which, side, zero in zip(("first", "second"), sides, zeros, strict=False):
        if zero.any() and about not in side.warned:
            side.warned.add(about)
            found.append((which, zero))
    if not found:
        return
    counts = [f"{int(zero.sum()):,} of {len(zero):,}" for _, zero in found]
    (which, zero), *second = found
    counted = f"{counts[0]} items" + ("" if len(zeros) == 1 else f" of the {which} input")
    counted += f" and {counts[1]} of the second" if second else ""
    where = f"item {int(np.argmax(zero))}" + (f" of the {which} input" if second else "")
    warn_user(
        f"{counted} have {lack(inner)} {inner!r}, the first is {where}: k(x, x) = 0. Their normalised values are 0."
    )
