"""``Normalized``: a kernel divided by the norms of its items, so that their size does not matter."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.errors import InputError, user_level
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.checks import check_rows
from espalier.kernels.composite import Wrapper, WrapperPlan, learns, no_gradients
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Evaluated, Gradients, Matrix, Plan, bound
from espalier.kernels.rows import ByRows, row_blocks
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
        if diagonal:
            inside = self.kernel._make_plan(a, None, schedule, diagonal=True)
            return NormalizedDiagonalPlan(inside, _Zeros([a], schedule))
        sides = [a] if b is None else [a, b]
        return NormalizedPlan(self._plans_inside(a, b, schedule), _Zeros(sides, schedule))

    def __repr__(self) -> str:
        return f"Normalized({self.kernel!r})"


class NormalizedPlan(WrapperPlan):
    """A normalised matrix, from plans of the matrix and, for two corpora, of the diagonals of both."""

    def __init__(self, plans: list[Plan], zeros: _Zeros) -> None:
        super().__init__(plans)
        self._zeros = zeros

    def _values(self, kernel: Any) -> Matrix:
        values, *diagonals = (plan._values(kernel.kernel) for plan in self._plans)
        self._normalize(values, diagonals, kernel.kernel)
        return values

    def _normalize(self, values: Matrix, diagonals: list[Matrix], inner: Kernel) -> tuple[Matrix, Matrix]:
        """Normalise in place; return the roots of the diagonals of both sides."""
        roots = self._zeros.roots(inner, diagonals or [values.diagonal()])
        rows, columns = roots[0], roots[-1]
        for block in row_blocks(values.shape):  # divided by a product: symmetric to the last bit
            values[block] /= rows[block, None] * columns
        if self.kind == "symmetric":
            np.fill_diagonal(values, np.isfinite(rows))
        return rows, columns

    def _evaluate(self, kernel: Any) -> Evaluated:
        inside, *sides = [plan._evaluate(kernel.kernel) for plan in self._plans]
        values, diagonals = inside.taken(), [side.taken() for side in sides]
        roots = self._normalize(values, diagonals, kernel.kernel)
        is_symmetric = self.kind == "symmetric"

        def pull_back(cotangent: Matrix | ByRows) -> Gradients:
            cotangent = check_rows(cotangent, self.shape)
            if not learns(kernel.kernel):
                return {}
            inner, rows, columns = _pulled(cotangent, values, *roots, constant_diagonal=is_symmetric)
            if is_symmetric:
                np.fill_diagonal(inner, (rows + columns) * (-0.5 / roots[0] ** 2))
            parts = [inside.pull_back(inner)]
            for side, sums, root in zip(sides, (rows, columns), roots, strict=False):
                parts.append(side.pull_back(sums * (-0.5 / root**2)))
            gradients = self._gradients(kernel, *parts)
            named = bound(kernel, self._labels())
            return _checked(named, gradients, cotangent, values, constant_diagonal=is_symmetric)

        return Evaluated(values, pull_back, is_kept=True)


class NormalizedDiagonalPlan(WrapperPlan):
    """Ones, and zeros for items without any fragment."""

    def __init__(self, plan: Plan, zeros: _Zeros) -> None:
        super().__init__([plan])
        self._zeros = zeros

    def _values(self, kernel: Any) -> Matrix:
        (root,) = self._zeros.roots(kernel.kernel, [self._plans[0]._values(kernel.kernel)])
        return np.isfinite(root).astype(np.float64)

    def _pull_back(self, kernel: Any, cotangent: Matrix) -> Gradients:
        return no_gradients(self, kernel)


def _roots(diagonal: Matrix) -> Matrix:
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
    cotangent: Matrix | ByRows, values: Matrix, rows: Matrix, columns: Matrix, *, constant_diagonal: bool = False
) -> tuple[Matrix, Matrix, Matrix]:
    """The gradient weights of the inner matrix, and the sums over rows and columns of weights * values, in one pass.

    If the diagonal is constant, its gradient weights have no effect.
    """
    inner = np.empty_like(values)
    row_sums, column_sums = np.empty(len(rows)), np.zeros(len(columns))
    for block in row_blocks(values.shape):
        given = cotangent[block]
        products = given * values[block]
        if constant_diagonal:
            np.fill_diagonal(products[:, block], 0.0)
        row_sums[block] = products.sum(axis=1)
        column_sums += products.sum(axis=0)
        np.multiply(rows[block, None], columns, out=products)
        np.divide(given, products, out=inner[block])
    return inner, row_sums, column_sums


def _checked(
    kernel: Kernel, gradients: Gradients, cotangent: Matrix | ByRows, values: Matrix, *, constant_diagonal: bool = False
) -> Gradients:
    """The gradients; raise if the parts of the matrix and of the diagonals cancel to rounding errors."""
    if may_cancel(kernel):
        parts = 0.0
        for block in row_blocks(values.shape):
            products = np.abs(cotangent[block] * values[block])
            if constant_diagonal:
                np.fill_diagonal(products[:, block], 0.0)
            parts += float(products.sum())
        check_cancellation(kernel, gradients, parts)
    return gradients


class _Zeros:
    """Warns about items without fragments: once for each plan, and once for inputs that a learner keeps."""

    def __init__(self, sides: list[Inputs], schedule: Schedule) -> None:
        self._sides = sides
        self._said = [inputs.warned for inputs in sides]
        self._warns = schedule.warns
        self._empty: list[Mask | None] = [None] * len(sides)  # by side: items known to have no fragment

    def roots(self, inner: Kernel, diagonals: list[Matrix]) -> list[Matrix]:
        """The square roots of each side's diagonal; infinite for items without fragments."""
        out = [_roots(diagonal) for diagonal in diagonals]
        for side, diagonal in enumerate(diagonals):
            self._empty[side] = without_fragment(inner, self._sides[side], diagonal, self._empty[side])
        self._warn(inner, out)
        return out

    def _warn(self, inner: Kernel, roots: list[Matrix]) -> None:
        """Warn about items without fragments, but only once: a learner computes one plan's matrix hundreds of times."""
        if not self._warns or not any(np.isinf(root).any() for root in roots):
            return
        self._warns = False
        about = repr(inner._form())  # all but the hyperparameters, which a learner changes between calls
        found = []
        for side, (said, root) in enumerate(zip(self._said, roots, strict=True)):
            if np.isinf(root).any() and about not in said:
                said.add(about)
                found.append((("first", "second")[side], root))
        if found:
            _warn_of_zeros(inner, found, one_side=len(roots) == 1)


def _warn_of_zeros(inner: Kernel, found: list[tuple[str, Matrix]], *, one_side: bool) -> None:
    counts = [f"{int(np.isinf(root).sum()):,} of {len(root):,}" for _, root in found]
    (which, root), *second = found
    counted = f"{counts[0]} items" + ("" if one_side else f" of the {which} input")
    counted += f" and {counts[1]} of the second" if second else ""
    where = f"item {int(np.argmax(np.isinf(root)))}" + (f" of the {which} input" if second else "")
    warnings.warn(
        f"{counted} have {lack(inner)} {inner!r}, the first is {where}: k(x, x) = 0. Their normalised values are 0.",
        stacklevel=user_level(),
    )
