"""``HashedFragments``: trees as sparse vectors over all small fragments, without a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import TransformerMixin

from espalier.errors import InputError
from espalier.gram.estimator import KernelEstimator
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.normalized import Normalized
from espalier.kernels.subset_tree import SubsetTree
from espalier.spaces.space import Values
from espalier.spaces.terms import Term, listable_terms
from espalier.spaces.tree_space import tree_counts
from espalier.storage import State

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class ChunkedTransformer(TransformerMixin):  # type: ignore[misc]
    """A transformer that reads an iterator in chunks."""

    chunk_size: int

    def transform(self, X: object) -> csr_matrix:
        """Return one sparse row for each tree; an iterator is read in chunks."""
        from scipy.sparse import vstack

        if not isinstance(X, Iterator):
            return self._transformed(X)
        return vstack(list(self.stream(X)) or [self._transformed([])]).tocsr()

    def stream(self, X: Iterable[object]) -> Iterator[csr_matrix]:
        """Yield the features of any number of trees, a chunk at a time."""
        trees = iter(X)
        while chunk := list(islice(trees, self.chunk_size)):
            yield self._transformed(chunk)

    def _transformed(self, X: object) -> csr_matrix:
        """The rows of a list of trees, a corpus or a table."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class HashedFragments(ChunkedTransformer, KernelEstimator):
    """Turn trees into sparse vectors over all fragments up to a size; a hash gives the column of a fragment.

    Nothing is learned and nothing is kept, so a corpus may be endless, and vectors made on different machines agree.
    Fragments that share a column are added; half of them, which the hash chooses, have a minus sign, so that on average
    the products of rows are those of the kernel.

    Parameters
    ----------
    kernel
        ``SubsetTree`` or ``Subtree``, alone, normalised and with a scale; ``Normalized(SubsetTree(0.4))`` if None.
    max_size
        The most productions in a fragment.
    n_features
        The number of columns.
    values
        ``"kernel"``, ``"count"`` or ``"binary"``, as in :class:`FragmentVectorizer`. The norm is that of the kernel, of
        fragments of any size.
    chunk_size
        How many trees of an iterator are read at once.
    n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`.

    Examples
    --------
    >>> vectors = HashedFragments(SubsetTree(1.0), max_size=1).transform(["(NP (D the) (N cat))", "(NP (D a) (N cat))"])
    >>> (vectors @ vectors.T).toarray()
    array([[3., 2.],
           [2., 3.]])
    """

    kernel: Kernel | None = None
    _: KW_ONLY
    max_size: int = 3
    n_features: int = 2**20
    values: Values = "kernel"
    chunk_size: int = 10_000

    def fit(self, X: object = None, y: object = None) -> Self:
        """Check the settings; there is nothing to learn."""
        self._term()
        return self

    def to_state(self) -> dict[str, object]:
        """Return the settings, which are all there is to save."""
        return self._declared_state()

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the vectorizer that a file holds."""
        made: Self = cls._of_declared(state)
        return made.fit()

    def _transformed(self, X: object) -> csr_matrix:
        term = self._term()
        with self._scheduled("hashing fragments") as schedule:
            rows = self._rows(term, Inputs.of(X))
            schedule.done()
        return rows

    def _rows(self, term: Term, inputs: Inputs) -> csr_matrix:
        from scipy.sparse import csr_matrix

        forest = term.space.corpus(inputs)
        start, hashes, value = term.space.hashed(forest, self.max_size, self.values)
        # The last bits choose the column, and the first the sign.
        sign = np.where(hashes >> np.uint64(63), -1.0, 1.0)
        columns, column = np.unique(hashes % np.uint64(self.n_features), return_inverse=True)
        counts = tree_counts(forest, start, column, sign * value, len(columns))
        counts.eliminate_zeros()
        placed = (counts.data, columns.astype(np.int64)[counts.indices], counts.indptr)
        counts = csr_matrix(placed, shape=(len(forest), self.n_features))
        if self.values == "binary":
            counts.data = np.sign(counts.data)
        if self.values != "kernel":
            return counts
        scale = np.sqrt(term.scale) / term.norm(inputs, n_threads=self.n_threads, memory=self.memory)
        # For a product with a diagonal matrix, scipy would allocate an array with one entry for each column.
        counts.data *= np.repeat(scale, np.diff(counts.indptr))
        return counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _term(self) -> Term:
        kernel = self._checked_kernel(Normalized(SubsetTree()))
        terms, others = listable_terms(kernel)
        if len(terms) + len(others) > 1 or not terms[0].space.can_be_hashed:
            raise InputError(f"Only fragments of one SubsetTree or Subtree can be hashed, not those of {kernel!r}.")
        self._check_choice("values", "kernel", "count", "binary")
        self._check_whole("max_size", "n_features", "chunk_size")
        return terms[0]
