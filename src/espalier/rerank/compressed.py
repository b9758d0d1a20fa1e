"""A linear combination of trees, compressed: one forest of weighted subtrees (Collins and Duffy 2001, section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.errors import KernelOverflowError
from espalier.gram.targets import Floats
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.underflow import without_fragment
from espalier.spaces.terms import Term, parts_of


class CompressedModel:
    r"""The function :math:`f(t) = \sum_i c_i K(t_i, t)` of trees :math:`t_i` that are added one by one.

    Every distinct subtree is kept once, with the sum of the contributions of all trees that contain it; adding a tree
    updates these sums. The value of a tree needs only the subtrees whose productions it has.

    Parameters
    ----------
    kernel
        ``SubsetTree(...)`` or ``Normalized(SubsetTree(...))``, also with a scale.
    forest
        A corpus over the vocabulary that all trees share.

    Examples
    --------
    >>> from espalier.kernels import SubsetTree
    >>> forest = Forest.from_trees(["(S (A a) (B b))", "(S (A a) (B c))"])
    >>> model = CompressedModel(SubsetTree(decay=1.0), forest)
    >>> model.add(forest, 0, 2.0)
    >>> model(forest)
    array([12.,  6.])
    """

    def __init__(self, kernel: Kernel, forest: Forest) -> None:
        term = compressible_term(kernel)
        if term is None:
            raise TypeError(f"A compressed model needs a SubsetTree, normalized or not, got {kernel!r}.")
        self.kernel, self._vocabulary = kernel, forest.vocabulary
        inner: Any = term.kernel
        self._inner, self._is_normalized, self._factor = inner, bool(term.norms), term.scale
        self._scaled: tuple[Forest | None, Floats] = (None, np.empty(0))
        decay, frontier = self._by_label()
        leaf = float(decay[-1]) if inner.lone_leaves else 0.0
        self._native = _core.CompressedTrees(decay[:-1], frontier[:-1], leaf, inner.max_depth or 0)

    def add(self, forest: Forest, row: int, coefficient: float) -> None:
        """Add ``coefficient`` times a tree."""
        if not 0 <= row < len(forest):
            raise IndexError(f"There is no tree {row}: the forest has {len(forest):,} trees.")
        vocabulary = check_same_vocabulary(self._vocabulary, forest.vocabulary)
        if len(forest.vocabulary) > self._n_labels:
            self._vocabulary = vocabulary
            self._native.set_labels(*(values[:-1] for values in self._by_label()))
        if self._is_normalized:
            coefficient *= float(self._scale(forest)[row])
        self._native.add(forest.arrays, row, self._factor * coefficient)

    def __call__(self, forest: Forest, first: int = 0, last: int | None = None) -> Floats:
        """The values at all trees of a corpus, or at those from ``first`` to before ``last``."""
        last = len(forest) if last is None else last
        if not 0 <= first <= last <= len(forest):
            raise IndexError(f"There are no trees from {first} to {last}: the forest has {len(forest):,} trees.")
        out = np.empty(last - first)
        check_same_vocabulary(self._vocabulary, forest.vocabulary)
        self._native.scores(forest.arrays, first, last, out)
        if not np.isfinite(out).all():
            raise KernelOverflowError(
                f"The value of the combination at tree {first + int(np.argmin(np.isfinite(out)))} is too large for a "
                "float64. Use a smaller decay, or limit max_depth."
            )
        return out * self._scale(forest)[first:last] if self._is_normalized else out

    @property
    def n_subtrees(self) -> int:
        """How many distinct subtrees are kept."""
        return int(self._native.n_subtrees)

    @property
    def n_bytes(self) -> int:
        """The bytes of the subtrees, without the tables that find them."""
        return int(self._native.n_bytes)

    @property
    def n_bytes_in_all(self) -> int:
        """The bytes of the subtrees with these tables, and with the space reserved for more."""
        return int(self._native.n_bytes_in_all)

    def _by_label(self) -> tuple[Floats, Floats]:
        """Decay and frontier of every label, and of leaves."""
        labels = list(self._vocabulary)
        self._n_labels = len(labels)
        return hyper.label_values(self._inner.decay, labels), hyper.label_values(self._inner.frontier, labels)

    def _scale(self, forest: Forest) -> Floats:
        """The factor that normalises each tree; kept for the last corpus, since learners need its trees one by one."""
        if self._scaled[0] is not forest:
            own = self._inner.diagonal(forest, n_threads=1)
            without_fragment(self._inner, Inputs.of(forest), own)
            own = np.sqrt(own)
            self._scaled = forest, np.divide(1.0, own, out=np.zeros_like(own), where=own > 0.0)
        return self._scaled[1]


def compressible_term(kernel: Kernel) -> Term | None:
    """The subset trees inside a kernel, alone or normalised, and with a scale; None for other kernels."""
    terms, others = parts_of(kernel)
    if others or len(terms) != 1:
        return None
    (term,) = terms
    plain = term.path == "" and term.column is None and term.norms in ((), (term.kernel,))
    return term if plain and term.space.can_be_compressed else None
