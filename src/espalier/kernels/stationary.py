"""Kernels of the distance between two vectors: ``RBF`` and ``Matern``.

Both are a profile of the scaled squared distance ``s``; a subclass gives the profile and its slope. With one
lengthscale the squared distances are computed once; with one per dimension they depend on the lengthscales,
and gradients come from matrix products, never from an array of all pairs by all dimensions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.composite import UnitDiagonalPlan, own_gradient
from espalier.kernels.distances import FAR, are_small, nearer_to_zero, squared_differences, squared_distances
from espalier.kernels.hyperparameters import PerDimension, VectorHyperparameter, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Gradients, Labels, Matrix, Plan
from espalier.kernels.row_blocks import row_blocks
from espalier.kernels.underflow import Mask
from espalier.kernels.vector_columns import Dense, Vectors
from espalier.kernels.vectors import (
    Column,
    VectorKernel,
    VectorPlan,
    bilinear,
    by_dimension,
    dimension_values,
    is_sparse,
    squared_entries,
    squared_lengths,
)
from espalier.structures.numbers import check_choice

_FAR_ENTRY = 1e140
_NEAR = 1e-12  # squared distances below it are differentiated pair by pair, because the slope may be steep


@dataclass(frozen=True, repr=False)
class Stationary(VectorKernel):
    """A kernel that is a function of the distance alone, 1 at distance 0."""

    lengthscale: VectorHyperparameter = hyperparameter(1.0, (1e-5, 1e5), zero=False, unit="distance between inputs")

    def _profile(self, squared: Matrix) -> Matrix:
        """The value at scaled squared distances; may overwrite them."""
        raise NotImplementedError

    def _slope(self, squared: Matrix) -> Matrix:
        """-2 times the derivative of the profile by the squared distance; at distance 0 any finite number."""
        raise NotImplementedError

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        if diagonal:
            return UnitDiagonalPlan(len(a), lambda: Labels(n_dimensions=a.vectors(self.on).shape[1]))
        return StationaryPlan(*self._sides(a, b))


@dataclass(frozen=True, repr=False)
class RBF(Stationary):
    r"""The Gaussian, or squared exponential, kernel: vectors are similar if they are near each other.

    .. math:: K(x, y) = \exp\left(-\tfrac12 \sum_k (x_k - y_k)^2 / \ell_k^2\right)

    Parameters
    ----------
    lengthscale
        The distance over which similarity falls: one number, or ``PerDimension(1.0)`` for one per dimension
        (automatic relevance determination; paths ``lengthscale[0]`` once data is seen).
    on
        The column, or a tuple of columns, to read if the input is a table.

    Notes
    -----
    Equal vectors are exactly at distance 0. Distances of dense vectors come from differences. Those of sparse vectors
    come from dot products, without making them dense; only if the distance of a pair is less than about a thousandth of
    their lengths are the vectors subtracted, which takes longer.

    Examples
    --------
    >>> RBF()([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    on: Column = None

    def _profile(self, squared: Matrix) -> Matrix:
        squared *= -0.5
        return np.exp(squared, out=squared)

    def _slope(self, squared: Matrix) -> Matrix:
        return np.exp(-0.5 * squared)


@dataclass(frozen=True, repr=False)
class Matern(Stationary):
    r"""Vectors are similar if they are near each other; ``smoothness`` sets how rough functions are.

    With :math:`r^2 = \sum_k (x_k - y_k)^2 / \ell_k^2` the value is :math:`e^{-r}`,
    :math:`(1 + \sqrt3 r) e^{-\sqrt3 r}` or :math:`(1 + \sqrt5 r + \tfrac53 r^2) e^{-\sqrt5 r}` for a
    smoothness of 0.5, 1.5 and 2.5: functions that are continuous, once and twice differentiable.

    Parameters
    ----------
    smoothness
        0.5, 1.5 or 2.5.
    lengthscale, on
        As for :class:`RBF`.

    Examples
    --------
    >>> Matern(smoothness=0.5)([0.0, 1.0]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    smoothness: float = 1.5
    on: Column = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("smoothness", self.smoothness, 0.5, 1.5, 2.5)

    def _profile(self, squared: Matrix) -> Matrix:
        r = np.sqrt(squared, out=squared)
        r *= math.sqrt(2 * self.smoothness)
        fall = np.exp(-r)
        if self.smoothness == 0.5:
            return fall
        if self.smoothness == 1.5:
            r += 1.0
        else:
            r += r**2 / 3 + 1.0
        r *= fall
        return r

    def _slope(self, squared: Matrix) -> Matrix:
        root = math.sqrt(2 * self.smoothness)
        r = np.sqrt(squared)
        fall = np.exp(-root * r)
        if self.smoothness == 0.5:
            return np.divide(fall, r, out=np.zeros_like(r), where=r > 0)
        if self.smoothness == 1.5:
            return 3.0 * fall
        return (5 / 3) * (1.0 + root * r) * fall


class StationaryPlan(VectorPlan):
    """Squared distances; they are kept if all dimensions have one lengthscale."""

    _distances: Matrix | None = None

    def __init__(self, a: Vectors, b: Vectors | None) -> None:
        super().__init__(a, b)
        self._a, self._b = nearer_to_zero(self._a, self._b)

    def _values(self, kernel: Stationary) -> Matrix:
        out = self._scaled_squares(kernel)
        for rows in row_blocks(self.shape):
            out[rows] = kernel._profile(out[rows])
        return out

    def _scaled_squares(self, kernel: Stationary, rows: slice = slice(None)) -> Matrix:
        scales = dimension_values(kernel.lengthscale, self._n_dimensions)
        if isinstance(scales, float):
            if self._distances is None:
                self._distances = squared_distances(self._a, self._b, same=self._is_symmetric)
            with np.errstate(over="ignore", under="ignore"):
                out = self._distances[rows] / scales
                out /= scales
        else:
            a = by_dimension(self._a, np.multiply, 1 / scales)
            b = a if self._is_symmetric else by_dimension(self._b, np.multiply, 1 / scales)
            out = squared_distances(a, b, same=self._is_symmetric)
        return np.minimum(out, FAR, out=out)

    def _pull_back(self, kernel: Stationary, cotangent: Matrix) -> Gradients:
        if hyper.is_fixed(kernel.lengthscale):
            return {}
        if isinstance(kernel.lengthscale, PerDimension):
            gradient = self._pull_dimensions(kernel, self._scaled_squares(kernel), cotangent)
            return hyper.dimension_gradients("lengthscale", kernel.lengthscale, gradient)
        total = 0.0
        for rows in row_blocks(self.shape):
            squared = self._scaled_squares(kernel, rows)
            total += float(np.einsum("ij,ij->", cotangent[rows], kernel._slope(squared) * squared))
        return own_gradient("lengthscale", kernel.lengthscale, total / hyper.number_of(kernel.lengthscale))

    def _pull_dimensions(self, kernel: Stationary, squares: Matrix, cotangent: Matrix) -> Dense:
        """The sum over pairs of ``weight * (x_k - y_k)^2 / scale_k^3``, by expanding the square."""
        if squares.size == 0:
            return np.zeros(self._n_dimensions)
        scales = np.asarray(dimension_values(kernel.lengthscale, self._n_dimensions))
        a, b = by_dimension(self._a, np.multiply, 1 / scales), by_dimension(self._b, np.multiply, 1 / scales)
        if not is_sparse(a) and not is_sparse(b):
            middle = a.mean(axis=0)  # subtracting it leaves distances as they are and loses fewer digits
            a, b = a - middle, b - middle
        a, b = _within_reach(a), _within_reach(b)
        lengths, others = squared_lengths(a, 1.0), squared_lengths(b, 1.0)
        weights = squares  # overwritten from here on by the weight of each pair
        by_pair = np.zeros(self._n_dimensions)
        for rows in row_blocks(self.shape):
            slope = kernel._slope(squares[rows])
            slope[squares[rows] == 0] = 0.0  # equal vectors contribute nothing, not even rounding
            slope *= cotangent[rows]
            near = (squares[rows] < _NEAR) | are_small(squares[rows], lengths[rows], others)
            weights[rows] = slope
            by_pair += _pairwise(a[rows], b, weights[rows], near & (slope != 0))
        gradient = -2.0 * bilinear(a, weights, b)
        gradient += np.asarray(squared_entries(a).T @ weights.sum(axis=1)).ravel()
        gradient += np.asarray(squared_entries(b).T @ weights.sum(axis=0)).ravel()
        return np.asarray((gradient + by_pair) / scales, np.float64)


def _within_reach(vectors: Vectors) -> Vectors:
    """The vectors, clipped so that squares are finite; this changes only vectors that are far from all others."""
    if is_sparse(vectors):
        np.clip(vectors.data, -_FAR_ENTRY, _FAR_ENTRY, out=vectors.data)
        return vectors
    return np.clip(vectors, -_FAR_ENTRY, _FAR_ENTRY)


def _pairwise(a: Vectors, b: Vectors, weights: Matrix, pairs: Mask) -> Dense:
    """The part of near pairs, from differences, which lose no digits; the weights of these pairs become 0."""
    total = np.zeros(a.shape[1])
    for rows, columns, squares in squared_differences(a, b, pairs):
        total += np.asarray(squares.T @ weights[rows, columns]).ravel()
        weights[rows, columns] = 0.0
    return total
