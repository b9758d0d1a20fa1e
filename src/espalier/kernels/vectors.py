"""Kernels over vectors: what they share, and those of dot products, ``Linear`` and ``Polynomial``.

Stationary kernels are in ``stationary``. Sparse vectors stay sparse; a matrix of kernel values is dense.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Reads
from espalier.kernels.checks import check_finite, check_one_number
from espalier.kernels.composite import own_gradient
from espalier.kernels.hyperparameters import VARIANCE, Number, PerDimension, VectorHyperparameter, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Gradients, Labels, Matrix, Plan
from espalier.kernels.row_blocks import row_blocks
from espalier.kernels.vector_columns import Dense, Vectors
from espalier.structures.numbers import whole_number

Column = str | tuple[str, ...] | None

_SMALLER = "Scale the vectors down, or use a smaller degree."
_CELLS = 1 << 22  # numbers in a dense block of a product with a sparse matrix


class VectorKernel(Kernel):
    """A kernel over vectors; ``on`` names their column, or a tuple of columns put side by side."""

    on: Column

    def __post_init__(self) -> None:
        if isinstance(self.on, list):
            object.__setattr__(self, "on", tuple(self.on))
        super().__post_init__()
        for name, setting in self._settings():
            if isinstance(setting, hyper.PerLabel):
                raise TypeError(f"{name} belongs to dimensions, not labels: use PerDimension, got {setting!r}.")

    def reads(self) -> Reads:
        return "vectors"

    def _sides(self, a: Inputs, b: Inputs | None) -> tuple[Vectors, Vectors | None]:
        return a.vectors(self.on), None if b is None else b.vectors(self.on)


class VectorPlan(Plan):
    """Vectors on one side or two, or each with itself."""

    def __init__(self, a: Vectors, b: Vectors | None, *, diagonal: bool = False) -> None:
        self._a = a
        self._b = a if b is None else b
        self._is_symmetric = b is None
        self._describe(a.shape[0], None if b is None else b.shape[0], diagonal=diagonal)
        self._n_dimensions = max(self._a.shape[1], self._b.shape[1])

    def _labels(self) -> Labels:
        return Labels(n_dimensions=self._n_dimensions)


@dataclass(frozen=True, repr=False)
class Linear(VectorKernel):
    r"""The dot product of two vectors: Bayesian linear regression as a kernel.

    .. math:: K(x, y) = \sum_k v_k x_k y_k

    Parameters
    ----------
    variance
        The prior variance :math:`v` of the coefficients: one number, or ``PerDimension(1.0)`` for one each.
        A bias is written ``Linear() + Constant()``.
    on
        The column, or a tuple of columns, to read if the input is a table.

    Examples
    --------
    >>> Linear()([[1.0, 2.0], [3.0, 0.0]])
    array([[5., 3.],
           [3., 9.]])
    >>> Linear(PerDimension(1.0, values=(1.0, 0.5)))([[1.0, 2.0], [3.0, 0.0]])
    array([[3., 3.],
           [3., 9.]])
    """

    variance: VectorHyperparameter = hyperparameter(1.0, (1e-5, 1e5), unit=VARIANCE)
    on: Column = None

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        return LinearPlan(*self._sides(a, b), diagonal=diagonal)


class LinearPlan(VectorPlan):
    """Dot products, kept if all dimensions have one variance; squared lengths for the diagonal."""

    _dots: Matrix | None = None

    def _values(self, kernel: Linear) -> Matrix:
        variances = dimension_values(kernel.variance, self._n_dimensions)
        if self.kind == "diagonal":
            out = squared_lengths(self._a, variances)
        elif isinstance(variances, float):
            if self._dots is None:
                self._dots = dot_products(self._a, self._b)
            with np.errstate(over="ignore", invalid="ignore"):
                out = self._dots * variances
        else:
            weighed = by_dimension(self._a, np.multiply, np.sqrt(variances))
            other = weighed if self._is_symmetric else by_dimension(self._b, np.multiply, np.sqrt(variances))
            out = dot_products(weighed, other)
        check_finite(out, advice=_SMALLER)
        return out

    def _pull_back(self, kernel: Linear, cotangent: Matrix) -> Gradients:
        if self._dots is not None and not isinstance(kernel.variance, PerDimension):
            return own_gradient("variance", kernel.variance, float(np.vdot(cotangent, self._dots)))
        if self.kind == "diagonal":
            gradient = np.asarray(squared_entries(self._a).T @ cotangent).ravel()
        else:
            gradient = bilinear(self._a, cotangent, self._b)
        return hyper.dimension_gradients("variance", kernel.variance, gradient)


@dataclass(frozen=True, repr=False)
class Polynomial(VectorKernel):
    r"""All products of at most ``degree`` dimensions.

    .. math:: K(x, y) = (s \, x \cdot y + c)^p

    Parameters
    ----------
    degree
        The degree :math:`p`, a positive integer.
    offset
        :math:`c`: the weight of products of fewer dimensions; ``fixed(0)`` leaves them out.
    scale
        :math:`s`: the weight of the dot product.
    on
        The column, or a tuple of columns, to read if the input is a table.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0], [3.0, 0.0]])
    array([[ 36.,  16.],
           [ 16., 100.]])
    """

    degree: int = 2
    offset: Number = hyperparameter(1.0, (1e-5, 1e5))
    scale: Number = hyperparameter(1.0, (1e-5, 1e5), unit=VARIANCE)
    on: Column = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, setting in self._settings():
            check_one_number(name, setting)
        object.__setattr__(self, "degree", whole_number("degree", self.degree))

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        return PolynomialPlan(*self._sides(a, b), diagonal=diagonal)


class PolynomialPlan(VectorPlan):
    """Dot products, or squared lengths for the diagonal."""

    def __init__(self, a: Vectors, b: Vectors | None, *, diagonal: bool = False) -> None:
        super().__init__(a, b, diagonal=diagonal)
        self._dots = squared_lengths(a, 1.0) if diagonal else dot_products(self._a, self._b)

    def _values(self, kernel: Polynomial) -> Matrix:
        out = self._base(kernel)
        with np.errstate(over="ignore", invalid="ignore"):
            np.power(out, kernel.degree, out=out)
        check_finite(out, advice=_SMALLER)
        return out

    def _base(self, kernel: Polynomial) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore"):
            out = self._dots * hyper.number_of(kernel.scale)
            out += hyper.number_of(kernel.offset)
        return out

    def _pull_back(self, kernel: Polynomial, cotangent: Matrix) -> Gradients:
        pulled = self._base(kernel)
        np.power(pulled, kernel.degree - 1, out=pulled)
        pulled *= cotangent
        pulled *= kernel.degree
        offset = own_gradient("offset", kernel.offset, float(pulled.sum()))
        return offset | own_gradient("scale", kernel.scale, float(np.vdot(pulled, self._dots)))


# One value per dimension.


def dimension_values(setting: object, n_dimensions: int) -> float | Dense:
    """The setting as one number, or as an array with one per dimension."""
    if not isinstance(setting, PerDimension):
        return hyper.number_of(setting)
    if setting.values is None:
        return np.full(n_dimensions, hyper.default_of(setting))
    if len(setting.values) != n_dimensions and n_dimensions:
        raise InputError(
            f"The kernel has values for {len(setting.values)} dimensions, but the vectors have {n_dimensions}."
        )
    return np.array(setting.values)


# Arithmetic that is the same for dense and sparse vectors.


def is_sparse(vectors: Vectors) -> bool:
    """True for a scipy sparse matrix."""
    return hasattr(vectors, "tocsr")


@blas_threads()
def dot_products(a: Vectors, b: Vectors) -> Matrix:
    """The dense matrix of dot products; if a is b it is symmetric to the last bit."""
    if 0 in (a.shape[0], b.shape[0]):
        return np.zeros((a.shape[0], b.shape[0]))
    with np.errstate(over="ignore", invalid="ignore"):
        product = a @ b.T
    return np.asarray(product.toarray() if is_sparse(product) else product, np.float64)


def by_dimension(vectors: Vectors, change: Callable[[Dense, Dense], Dense], numbers: Dense) -> Vectors:
    """Combine each entry with the number of its dimension; what a sparse matrix does not store stays 0."""
    if not is_sparse(vectors):
        return change(vectors, numbers) if vectors.size else vectors
    changed = vectors.copy()
    changed.data = change(changed.data, numbers[changed.indices])
    return changed


def squared_entries(vectors: Vectors) -> Vectors:
    """Square each number."""
    with np.errstate(over="ignore"):
        return vectors.multiply(vectors).tocsr() if is_sparse(vectors) else vectors * vectors


@blas_threads()
def squared_lengths(vectors: Vectors, weights: float | Dense) -> Matrix:
    """The weighted squared length of each vector."""
    squares = squared_entries(vectors)
    if vectors.shape[1] == 0:
        return np.zeros(vectors.shape[0])
    full = np.full(vectors.shape[1], weights) if isinstance(weights, float) else weights
    return np.asarray(squares @ full, np.float64).ravel()


@blas_threads()
def bilinear(a: Vectors, weights: Matrix, b: Vectors) -> Dense:
    """For each dimension k the sum of ``weights[i, j] * a[i, k] * b[j, k]``: one matrix product."""
    if 0 in (a.shape[0], b.shape[0]):
        return np.zeros(max(a.shape[1], b.shape[1]))
    if not is_sparse(a) and not is_sparse(b):
        return np.asarray(np.einsum("ik,ik->k", a, weights @ b), np.float64)
    total = np.zeros(a.shape[1])
    for rows in row_blocks(a.shape, _CELLS):
        product = np.asarray(b.T @ weights[rows].T).T  # b stays sparse; the block is dense
        part = a[rows].multiply(product) if is_sparse(a) else a[rows] * product
        total += np.asarray(part.sum(axis=0)).ravel()
    return total
