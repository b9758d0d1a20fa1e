"""Plans of sums, products, multiples, powers and constants.

Each plan computes the matrix as well as the diagonal, because all the arithmetic is entry by entry. A plan owns the
matrices that its inner plans return, and changes them in place. It leaves those that a pull-back needs later as they
are, because the caller owns the values that it gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from espalier.errors import InputError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.checks import check_cotangent, check_finite, check_rows
from espalier.kernels.composite import CompositePlan, WrapperPlan, added, learns, own_gradient, prefixed
from espalier.kernels.plan import SMALLER, Evaluated, Gradients, Matrix, Plan, Pullback
from espalier.kernels.row_blocks import ByRows, inner_product


class SumPlan(CompositePlan):
    """Add the matrices of the terms."""

    def _values(self, kernel: Any) -> Matrix:
        return _joined(self._plans, kernel.terms, np.add)

    def _evaluate(self, kernel: Any) -> Evaluated:
        out: Matrix | None = None
        pullbacks: list[tuple[str, Pullback]] = []
        for plan, (prefix, term) in zip(self._plans, kernel._children(), strict=True):
            part = plan._evaluate(term)
            if out is None:
                out = part.taken()
            else:
                part.add_to(out)
            if learns(term):
                pullbacks.append((prefix, part.pull_back))
            del part  # free its values before the next part is evaluated
        assert out is not None
        check_finite(out, advice=SMALLER)

        def pull_back(cotangent: Matrix) -> Gradients:
            cotangent = check_cotangent(cotangent, self.shape)
            return added(*(prefixed(prefix, pullback(cotangent)) for prefix, pullback in pullbacks))

        return Evaluated(out, pull_back)


class ProductPlan(CompositePlan):
    """Multiply the matrices of the factors."""

    def _values(self, kernel: Any) -> Matrix:
        return _joined(self._plans, kernel.factors, np.multiply)

    def _evaluate(self, kernel: Any) -> Evaluated:
        parts = [plan._evaluate(factor) for plan, factor in zip(self._plans, kernel.factors, strict=True)]
        values = [part.values for part in parts]

        def pull_back(cotangent: Matrix | ByRows) -> Gradients:
            cotangent = check_rows(cotangent, self.shape)
            gradients: list[Gradients] = []
            for k, (prefix, factor) in enumerate(kernel._children()):
                if learns(factor):
                    inner = _multiplied([cotangent, *values[:k], *values[k + 1 :]])
                    gradients.append(prefixed(prefix, parts[k].pull_back(inner)))
            return added(*gradients)

        return Evaluated(_multiplied(values), pull_back)


class ScaledPlan(WrapperPlan):
    """Multiply a matrix by a number."""

    def _values(self, kernel: Any) -> Matrix:
        out, scale = self._plans[0]._values(kernel.kernel), hyper.number_of(kernel.scale)
        if scale != 1.0:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                out *= scale
            check_finite(out, advice=SMALLER)
        return out

    def _evaluate(self, kernel: Any) -> Evaluated:
        inside = self._plans[0]._evaluate(kernel.kernel)
        inner, pullback = inside.values, inside.pull_back
        scale = hyper.number_of(kernel.scale)
        kept = None if hyper.is_fixed(kernel.scale) else inner

        def pull_back(cotangent: Matrix | ByRows) -> Gradients:
            cotangent = check_rows(cotangent, self.shape)
            own = {} if kept is None else own_gradient("scale", kernel.scale, inner_product(cotangent, kept))
            # A pull-back is linear: scaling its result avoids a scaled copy of the gradient weights.
            below = pullback(cotangent) if learns(kernel.kernel) else {}
            return own | self._gradients(kernel, {path: scale * value for path, value in below.items()})

        def read(rows: slice) -> Matrix:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                return scale * inner[rows]

        return Evaluated(ByRows(self.shape, read), pull_back)


class PowerPlan(WrapperPlan):
    """Raise a matrix to a power, entry by entry."""

    def _values(self, kernel: Any) -> Matrix:
        inner = self._plans[0]._values(kernel.kernel)
        return _power(inner, kernel.exponent, out=inner)

    def _evaluate(self, kernel: Any) -> Evaluated:
        inside = self._plans[0]._evaluate(kernel.kernel)
        inner, exponent = inside.taken(), kernel.exponent

        def pull_back(cotangent: Matrix) -> Gradients:
            cotangent = check_cotangent(cotangent, self.shape)
            if not learns(kernel.kernel):
                return {}
            with np.errstate(divide="ignore", over="ignore"):
                slope = np.power(inner, exponent - 1)
            slope[np.isinf(slope)] = 0.0
            slope *= exponent
            slope *= cotangent
            return self._gradients(kernel, inside.pull_back(slope))

        return Evaluated(_power(inner, exponent, out=np.empty_like(inner)), pull_back)


class ConstantPlan(Plan):
    """A matrix or a diagonal of one value."""

    def __init__(self, n_rows: int, n_columns: int | None, *, diagonal: bool) -> None:
        self._describe(n_rows, n_columns, diagonal=diagonal)

    def _values(self, kernel: Any) -> Matrix:
        return np.full(self.shape, hyper.number_of(kernel.variance))

    def _pull_back(self, kernel: Any, cotangent: Matrix) -> Gradients:
        return own_gradient("variance", kernel.variance, float(cotangent.sum()))


def _joined(plans: Sequence[Plan], kernels: Sequence[object], join: np.ufunc) -> Matrix:
    """The matrices of several kernels joined into the first one's."""

    def into(out: Matrix, values: Matrix) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            join(out, values, out=out)
        return out

    out = reduce(into, (plan._values(kernel) for plan, kernel in zip(plans, kernels, strict=True)))
    check_finite(out, advice=SMALLER)
    return out


def _multiplied(parts: Sequence[Matrix | ByRows]) -> ByRows:
    """The product of all entries of several matrices."""

    def read(rows: slice) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return reduce(np.multiply, [part[rows] for part in parts])

    return ByRows(parts[0].shape, read)


def _power(inner: Matrix, exponent: float, *, out: Matrix) -> Matrix:
    if exponent != int(exponent) and inner.size and inner.min() < 0:
        place = ", ".join(str(int(index)) for index in np.unravel_index(int(inner.argmin()), inner.shape))
        raise InputError(
            f"A negative number cannot be raised to {exponent!r}: the kernel inside Power is {inner.min():.6g} at "
            f"({place}). Use an integer exponent."
        )
    with np.errstate(over="ignore", under="ignore"):
        np.power(inner, exponent, out=out)
    check_finite(out, advice=SMALLER)
    return out
