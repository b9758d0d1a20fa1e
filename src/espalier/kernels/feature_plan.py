"""Kernels with explicit features: a matrix is a product of sparse matrices, and so is its pull-back.

A kernel is a sum over parts, each weighed by a number: ``k(x, y) = sum_part weight[part] f(x)[part] f(y)[part]``, where
a part is a column of the features or many columns together. A kernel defines its features and the part to which each
belongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.checks import check_finite
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Labels, Matrix, Plan

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

ROWS = 256  # how many rows of a matrix are computed at once
ADVICE = "Use smaller weights, or normalise the kernel."


@dataclass(frozen=True, eq=False)
class Features:
    """The features of two sides, or of one with itself."""

    sides: tuple[csr_matrix, csr_matrix]  # a sparse row for each item; with one side, both entries are the same
    part: NDArray[np.int64]  # to which each column belongs
    labels: list[str]  # the names of the parts


@dataclass(frozen=True, repr=False)
class FeatureKernel(Kernel):
    """A kernel over sequences, or a corpus of another kind, with explicit features."""

    _item: ClassVar[str] = "sequence"  # what a row is, in messages

    def features(self, items: Any) -> csr_matrix:
        """Return one sparse row of features for each item; the dot products of rows are the kernel's values.

        Examples
        --------
        >>> from espalier.kernels import BagOfWords
        >>> rows = BagOfWords().features(["a b a", "b c"])
        >>> rows.toarray(), (rows @ rows.T).toarray()
        (array([[2., 1., 0.],
               [0., 1., 1.]]), array([[5., 1.],
               [1., 2.]]))
        """
        from scipy.sparse import csr_matrix, diags_array

        found = self._features(self._corpus(Inputs.of(items)))
        return csr_matrix(found.sides[0] @ diags_array(np.sqrt(self._part_weights(found))[found.part]))

    def _corpus(self, inputs: Inputs) -> object:
        """What the kernel reads from its inputs."""
        return inputs.sequences(self._column(), getattr(self, "of", "words"))

    def _features(self, *sides: Any) -> Features:
        """The features of one corpus, or of two."""
        raise NotImplementedError

    def _part_weights(self, features: Features) -> NDArray[np.float64]:
        """The weight of each part."""
        raise NotImplementedError

    def _part_gradients(self, features: Features, gradient: NDArray[np.float64]) -> dict[str, float]:
        """The gradients of the hyperparameters, from those of the weights of the parts."""
        raise NotImplementedError

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        return FeaturePlan(self, self._corpus(a), None if b is None else self._corpus(b), schedule, diagonal=diagonal)


class FeaturePlan(Plan):
    """The features of both sides, at any weights."""

    def __init__(self, kernel: FeatureKernel, a: Any, b: Any, schedule: Schedule, *, diagonal: bool = False) -> None:
        if b is not None:
            check_same_vocabulary(a.vocabulary, b.vocabulary)
        self._features = kernel._features(*([a] if b is None else [a, b]))
        self._schedule = schedule
        self._describe(len(a), None if b is None else len(b), diagonal=diagonal)

    def _labels(self) -> Labels:
        return Labels(self._features.labels)

    def _values(self, kernel: FeatureKernel) -> Matrix:
        from scipy.sparse import diags_array

        a, b = self._features.sides
        weights = kernel._part_weights(self._features)[self._features.part]
        out = np.empty(self.shape)
        if self.kind == "diagonal":
            out[:] = a.multiply(a) @ weights
        else:
            weighed = (b @ diags_array(weights)).T.tocsr()
            for rows in self._row_blocks():
                out[rows] = (a[rows] @ weighed).toarray()
        self._schedule.done()
        check_finite(out, item=kernel._item, advice=ADVICE)
        return out

    def _pull_back(self, kernel: FeatureKernel, cotangent: Matrix) -> dict[str, float]:
        a, b = self._features.sides
        by_column = np.zeros(a.shape[1])
        if self.kind == "diagonal":
            by_column += a.multiply(a).T @ cotangent
        else:
            for rows in self._row_blocks():
                pulled = (b.T @ cotangent[rows].T).T  # for each row, the weighted sum of the rows of b
                by_column += np.asarray(a[rows].multiply(pulled).sum(axis=0)).ravel()
        self._schedule.done()
        gradient = np.zeros(len(self._features.labels))
        np.add.at(gradient, self._features.part, by_column)
        return kernel._part_gradients(self._features, gradient)

    def _row_blocks(self) -> Iterator[slice]:
        """Some rows at a time; progress is reported after each block."""
        n = self.shape[0]
        for first in range(0, n, ROWS):
            rows = slice(first, min(first + ROWS, n))
            yield rows
            self._schedule.done(rows.stop / n)


def counts(column: NDArray[np.int64], row: NDArray[np.int64], shape: tuple[int, int]) -> csr_matrix:
    """How often each column occurs in each row, as a sparse matrix."""
    from scipy.sparse import csr_matrix

    out = csr_matrix((np.ones(len(row)), (row, column)), shape=shape)
    out.sum_duplicates()
    return out
