"""``Radial``: Haussler's radialization, a Gaussian of the distances in a kernel's feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.checks import check_cotangent
from espalier.kernels.composite import Wrapper, WrapperPlan, learns, own_gradient
from espalier.kernels.hyperparameters import Number, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Evaluated, Gradients, Matrix, Plan
from espalier.kernels.row_blocks import row_blocks
from espalier.kernels.underflow import ROUNDING

TOLERANCE = 0.01  # the largest error of half a squared distance, in squared widths
FAR = 745.0  # half a squared distance, in squared widths, beyond which a value is 0


@dataclass(frozen=True, repr=False)
class Radial(Wrapper):
    r"""Items are similar if their fragments are nearly the same, counts included.

    .. math:: R(x, y) = \exp\left(-\frac{K(x, x) + K(y, y) - 2 K(x, y)}{2 w^2}\right)

    with width :math:`w`: the squared distance between the items in the space of the kernel's fragments
    (Haussler 1999). A distance below 0, which only rounding can cause, counts as 0. If kernel values are so large that
    their rounding alone exceeds a hundredth of :math:`w^2`, a distance that is not certainly large cannot be computed,
    and is an error.

    Parameters
    ----------
    kernel
        The kernel whose feature space has the distances. ``Radial(Normalized(kernel))`` compares directions only.
    width
        The distance over which similarity falls.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import SubsetTree
    >>> Radial(SubsetTree(decay=1.0), width=2.0)(["(NP (D the) (N cat))", "(NP (D a) (N cat))"]).round(4)
    array([[1.    , 0.4724],
           [0.4724, 1.    ]])
    """

    width: Number = hyperparameter(1.0, (1e-5, 1e5), zero=False, unit="distance between fragments")

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        return RadialPlan(self._plans_inside(a, b, schedule, diagonal=diagonal))


class RadialPlan(WrapperPlan):
    """A Gaussian of distances; the diagonal is 1."""

    def _values(self, kernel: Any) -> Matrix:
        if self.kind == "diagonal":
            return np.ones(self.shape)
        values, *diagonals = (plan._values(kernel.kernel) for plan in self._plans)
        _halve_distances(kernel, values, *(diagonals or [values.diagonal().copy()]))
        return _fall(values, kernel, out=values)

    def _evaluate(self, kernel: Any) -> Evaluated:
        if self.kind == "diagonal":
            return super()._evaluate(kernel)
        inside, *sides = [plan._evaluate(kernel.kernel) for plan in self._plans]
        half = inside.taken()
        _halve_distances(kernel, half, *([side.taken() for side in sides] or [half.diagonal().copy()]))

        def pull_back(cotangent: Matrix) -> Gradients:
            cotangent = check_cotangent(cotangent, self.shape)
            width = hyper.number_of(kernel.width)
            # The gradient weights of the inner kernel are minus those of half the distances.
            pulled = _fall(half, kernel, out=np.empty_like(half))
            pulled *= cotangent
            own = own_gradient("width", kernel.width, 2.0 * float(np.vdot(pulled, half)) / width**3)
            pulled /= width**2
            if not learns(kernel.kernel):
                return own
            if self.kind == "symmetric":
                # An item is at distance 0 from itself, whatever the hyperparameters.
                np.fill_diagonal(pulled, 0.0)
                diagonal = -0.5 * (pulled.sum(axis=0) + pulled.sum(axis=1))
                np.fill_diagonal(pulled, diagonal)
            parts = [inside.pull_back(pulled)]
            parts += [side.pull_back(-0.5 * pulled.sum(axis=1 - k)) for k, side in enumerate(sides)]
            return own | self._gradients(kernel, *parts)

        return Evaluated(_fall(half, kernel, out=np.empty_like(half)), pull_back)


def _halve_distances(kernel: Radial, values: Matrix, rows: Matrix, columns: Matrix | None = None) -> None:
    """Turn kernel values into half the squared distances, in place (half, because it cannot overflow)."""
    others = rows if columns is None else columns
    width = hyper.number_of(kernel.width)
    largest = max(rows.max(initial=0.0), others.max(initial=0.0))
    is_rough = ROUNDING * largest / width > TOLERANCE * width  # written so that no square overflows
    for block in row_blocks(values.shape):
        part = values[block]
        means = 0.5 * rows[block, None] + 0.5 * others
        np.subtract(means, part, out=part)
        np.maximum(part, 0.0, out=part)
        if is_rough:
            # Half squared distances that are mostly rounding, and may be so small that this matters.
            rounding = ROUNDING * means / width
            with np.errstate(over="ignore"):
                unknown = (rounding > TOLERANCE * width) & (part / width - rounding < FAR * width)
            if columns is None:  # an item is at distance 0 from itself
                np.fill_diagonal(unknown[:, block], False)
            if unknown.any():
                row, column = np.unravel_index(int(unknown.argmax()), unknown.shape)
                raise FloatingPointError(
                    f"Radial cannot compute the distance of items {block.start + row} and {column}: their values with "
                    f"themselves are about {means[row, column]:.2g}, whose rounding is more than a hundredth of "
                    f"width^2, with a width of {width:.3g}. Use Radial(Normalized({kernel.kernel!r})), a larger width, "
                    "or smaller hyperparameters inside."
                )


def _fall(half: Matrix, kernel: Radial, *, out: Matrix) -> Matrix:
    """exp(-half the squared distance / width^2)."""
    width = hyper.number_of(kernel.width)
    with np.errstate(over="ignore", under="ignore"):
        np.divide(half, -width, out=out)
        out /= width
        return np.exp(out, out=out)
