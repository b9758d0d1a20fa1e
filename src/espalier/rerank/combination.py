"""Functions that learners build item by item: compressed if the kernel allows it, else over a list of items.

A learner visits groups in blocks: it opens a block of rows, reads the values of these rows and adds to them. At the end
it keeps coefficients, from which :class:`Combination` computes the values of new candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from espalier.blas import blas_threads
from espalier.corpus.forest import Forest
from espalier.gram.targets import Floats
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.rerank.compressed import CompressedModel, compressible_term

BLOCK = 2048  # items whose matrix is held at once, if they are visited once or twice


class GrowingSum:
    """A sum of kernels of training items that changes while it is evaluated; it holds the matrix of the open rows."""

    def __init__(self, kernel: Kernel, items: Sequence[object], block: int | None = None, **options: object) -> None:
        self.block: int | None = BLOCK if block is None else block  # rows that may be open at once; None for all
        self._kernel, self._options = kernel, options
        self._items: Any = items
        self._coefficients = np.zeros(len(items))
        self._rows = (0, 0)

    def open(self, first: int, last: int) -> None:
        """Prepare the rows from ``first`` to before ``last``, which are read and added next."""
        if self._rows == (first, last):
            return
        self._rows = (first, last)
        rows = Inputs.of(list(self._items[first:last]))
        self._matrix = self._kernel(rows, **self._options)
        self._values = np.zeros(last - first)
        if (kept := np.flatnonzero(self._coefficients)).size:
            support = [self._items[row] for row in kept.tolist()]
            with blas_threads():
                self._values = self._kernel(rows, support, **self._options) @ self._coefficients[kept]

    def add(self, row: int, coefficient: float) -> None:
        """Add ``coefficient`` times an item."""
        self._coefficients[row] += coefficient
        self._values += coefficient * self._matrix[:, row - self._rows[0]]

    def __call__(self, first: int, last: int) -> Floats:
        """The values at some of the open rows."""
        return self._values[first - self._rows[0] : last - self._rows[0]].copy()

    def matrix(self, first: int, last: int) -> Floats:
        """The kernel of some rows with each other, open or not."""
        return self._kernel(self._items[first:last], n_threads=1)


class CompressedSum(GrowingSum):
    """A sum of trees, compressed to one forest of weighted subtrees; all rows are open."""

    def __init__(self, kernel: Kernel, trees: Sequence[object]) -> None:
        self.block = None
        self._kernel, self._items = kernel, Forest.from_trees(trees)
        self._model = CompressedModel(kernel, self._items)

    def open(self, first: int, last: int) -> None:
        pass

    def add(self, row: int, coefficient: float) -> None:
        self._model.add(self._items, row, coefficient)

    def __call__(self, first: int, last: int) -> Floats:
        return self._model(self._items, first, last)


def is_compressible(kernel: Kernel) -> bool:
    """Whether sums of this kernel are kept as one forest."""
    return compressible_term(kernel) is not None


def growing_sum(kernel: Kernel, items: Sequence[object], *, block: int | None = None, **options: object) -> GrowingSum:
    """An empty sum over training items; if it is not compressed, it holds the matrix of ``block`` of them.

    Options are those of :meth:`Kernel.plan <espalier.kernels.Kernel.plan>`.
    """
    if is_compressible(kernel):
        return CompressedSum(kernel, items)
    return GrowingSum(kernel, items, block, **options)


class Combination:
    r"""The function :math:`f(x) = \sum_i c_i k(x_i, x)` of given items :math:`x_i` with coefficients :math:`c_i`."""

    def __init__(self, kernel: Kernel, items: Sequence[object], coefficients: Floats) -> None:
        self.kernel, self.coefficients = kernel, coefficients
        self._items = items
        self.inputs = Inputs.of(list(items))
        self._compressed: CompressedModel | None = None
        if is_compressible(kernel):
            forest = self.inputs.forest(None)
            self._compressed = CompressedModel(kernel, forest)
            for row, coefficient in enumerate(coefficients.tolist()):
                self._compressed.add(forest, row, coefficient)

    def __call__(self, items: Sequence[object], **options: object) -> Floats:
        """The values of new items. Options are those of :meth:`Kernel.plan <espalier.kernels.Kernel.plan>`."""
        if not len(self.coefficients) or not items:
            return np.zeros(len(items))
        inputs = Inputs.of(list(items), like=self.inputs, translates=True)
        if self._compressed is not None:
            return self._compressed(inputs.forest(None))
        with blas_threads():
            values: Floats = self.kernel(inputs, self.inputs, **options) @ self.coefficients
        return values

    def __reduce__(self) -> tuple[object, ...]:
        # The compressed form is an object of the core, so it is made again.
        return Combination, (self.kernel, self._items, self.coefficients)
