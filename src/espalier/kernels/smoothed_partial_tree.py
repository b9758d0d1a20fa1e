"""Smoothed partial trees: the kernel of Croce, Moschitti and Basili (2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.errors import warn_user
from espalier.jobs.schedule import Schedule
from espalier.kept import kept
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Plan
from espalier.kernels.block_plan import DECAY_BOUNDS
from espalier.kernels.hyperparameters import Fixed, Hyperparameter, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.similarity import Floats, Similarity, Thresholded, check_similarity
from espalier.kernels.tree_plan import TreeKernel, node_labels
from espalier.kernels.wide_nodes import check_widths
from espalier.structures.numbers import check_choice, shown

Soft = Literal["leaves", "all"]

_DIAGONAL_TABLE = 1 << 22  # bytes
MAX_SHARED = 64  # the most labels of both leaves and inner nodes whose similar words are searched


@dataclass(frozen=True, repr=False)
class SmoothedPartialTree(TreeKernel):
    r"""Count the fragments two trees share when a production may be cut and words need only be similar (SPTK).

    Fragments are those of :class:`PartialTree`. Two of them match if they have the same form and their nodes match one
    by one; their weight is then multiplied by the similarities of the nodes. With decay :math:`\lambda`, depth decay
    :math:`\mu` and the match :math:`\sigma(x, y)` of the labels :math:`x` of :math:`u` and :math:`y` of :math:`v`,

    .. math:: \Delta(u, v) = \sigma(x, y) \, \mu_{xy} \Bigl(\lambda_{xy}^2 + \sum_{I, J} \lambda_{xy}^{g(I) + g(J)}
        \prod_k \Delta(u_{I_k}, v_{J_k})\Bigr)

    over subsequences :math:`I` and :math:`J` of one length of the children of :math:`u` and :math:`v`, where :math:`g`
    counts skipped children. Only labels are compared: a leaf and an inner node match as their labels do, and the sum is
    then empty. For two different labels, or a leaf and an inner node,
    :math:`\lambda_{xy} = \sqrt{\lambda_x \lambda_y}`, and :math:`\mu` likewise.

    Parameters
    ----------
    similarity
        How similar unequal labels are: an :class:`Embedding`, :class:`LatentSemantic`, :class:`WordNet` or
        :class:`SimilarityTable`. ``Exact()`` gives :class:`PartialTree`.
    threshold
        Similarities below it count as 0. With 0 all count as they are, even negative ones.
    decay, depth_decay, on
        As for :class:`PartialTree`.
    mix
        The share of exact matching, as for :class:`Subsequence`.
    soft
        What matches softly: ``"all"`` labels, or those of ``"leaves"`` among themselves; the labels of two inner
        nodes, or of a leaf and an inner node, must then be equal.

    Notes
    -----
    With soft leaves there are as many pairs of nodes as for :class:`PartialTree`, and as many bytes for them; the table
    of similar words takes 8 bytes for each pair of words, within the memory budget. With ``soft="all"`` every pair of
    inner nodes with similar labels counts, which may be all of them; a similarity with many zeros has fewer. A
    similarity that has a negative eigenvalue, after the threshold, is not a kernel and is refused.
    With ``soft="leaves"``, a label that occurs at leaves and at inner nodes is a problem if it is similar to other
    words: the leaf is similar to these words, but the inner node with the same label is not, so the result may not be a
    kernel. A warning says so.
    Croce et al. weigh two leaves :math:`\mu \lambda \sigma` and a gap by its span; here two leaves weigh
    :math:`\mu \lambda^2 \sigma` and a gap counts its skipped children, as in :class:`PartialTree`. They have no mix.

    Examples
    --------
    >>> from espalier.kernels.similarity import SimilarityTable
    >>> animals = SimilarityTable(["cat", "dog"], [[1.0, 0.5], [0.5, 1.0]])
    >>> kernel = SmoothedPartialTree(animals, decay=1.0, depth_decay=1.0)
    >>> kernel(["(NP (D the) (N cat))", "(NP (D the) (N dog))"])
    array([[15. , 12.5],
           [12.5, 15. ]])
    """

    _when_too_large: ClassVar = "Use a smaller decay or depth_decay."
    _unlabelled: ClassVar = ("mix",)

    similarity: Similarity
    threshold: float = 0.0
    decay: Hyperparameter = hyperparameter(0.4, DECAY_BOUNDS, zero=False)
    depth_decay: Hyperparameter = hyperparameter(0.4, DECAY_BOUNDS, zero=False)
    mix: Hyperparameter = hyperparameter(Fixed(0.0), (1e-6, 1.0))
    soft: Soft = "leaves"
    on: str | None = None

    def __post_init__(self) -> None:
        if self.similarity is None:
            raise TypeError("similarity must be a Similarity, got None. Exact() matches equal labels only.")
        check_similarity(self.similarity, self.mix)
        threshold = self.threshold
        if not hyper.is_number(threshold):
            raise TypeError(f"threshold must be a number, got {threshold!r}.")
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must lie between 0 and 1, got {shown(threshold)}.")
        check_choice("soft", self.soft, "leaves", "all")
        super().__post_init__()

    def _thresholded(self) -> Similarity:
        return Thresholded(self.similarity, self.threshold) if self.threshold > 0 else self.similarity

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        forests = [side.forest(self.on) for side in (a, b) if side is not None]
        self._check_labels(forests)
        about = f"shared labels of {self._form()!r}"
        if self.soft == "leaves" and schedule.warns and not diagonal and about not in a.warned:
            a.warned.add(about)
            self._warn_of_shared_labels(forests)
        return super()._make_plan(a, b, schedule, diagonal=diagonal)

    def _check_labels(self, forests: list[Forest]) -> None:
        """Refuse a similarity that is not a kernel on the labels that match softly."""
        similarity = self._thresholded()
        if similarity.is_positive:
            return
        found = _all_labels(forests, leaves=True)
        if self.soft == "all":
            found |= _all_labels(forests, leaves=False)
        similarity.check(list(found))

    def _warn_of_shared_labels(self, forests: list[Forest]) -> None:
        """Warn if a leaf is similar to other words but the inner node with the same label is not."""
        words = _all_labels(forests, leaves=True)
        shared = [label for label in _all_labels(forests, leaves=False) if label in words]
        if not shared or hyper.number_of(self.mix) == 1.0:
            return
        values = self._thresholded()(shared[:MAX_SHARED], list(words))
        similar = np.flatnonzero((values != 0).sum(axis=1) > 1)
        if len(similar):
            warn_user(
                f"{len(shared):,} labels occur at leaves and at inner nodes. {shared[similar[0]]!r} is one of them and "
                "similar to other words, but with soft='leaves' the inner node is not: the matrix may have negative "
                "eigenvalues. Use soft='all', give leaves labels of their own, or leave these labels out of the "
                "similarity."
            )

    def _native_plan(self, a: Forest, b: Forest | None, *, per_tree: bool) -> Any:
        check_widths("SmoothedPartialTree", a, b, any_labels=self.soft == "all")
        return _SimilarForests(a, b, self._thresholded(), per_tree=per_tree, soft_labels=self.soft == "all")

    def _native_arguments(self, native: Any) -> tuple[object, ...]:
        return (hyper.number_of(self.mix), *native.tables)

    def _bytes_needed(self, native: Any, memory: int, *, pulling_back: bool) -> int:
        if native.table_bytes > memory:  # the table alone is too large, so do not make it
            return int(native.table_bytes)
        if native.per_tree and native.shape[0] > 1 and native.table_bytes > _DIAGONAL_TABLE:
            return 2 * memory  # only words of one tree are compared: small tables of few trees take less time
        native.find_pairs()
        return int(native.pull_back_bytes() if pulling_back else native.matrix_bytes())

    def _others(self) -> list[tuple[str, Floats]]:
        return [("mix", np.array([hyper.number_of(self.mix)]))]

    def _has_leaf_value(self) -> bool:
        return True


class _SimilarForests(_core.SmoothedTreePlan):
    """The compiled plan of two forests with the tables of their similar labels."""

    def __init__(
        self, a: Forest, b: Forest | None, similarity: Similarity, *, per_tree: bool, soft_labels: bool
    ) -> None:
        super().__init__(a.arrays, None if b is None else b.arrays, per_tree, soft_labels)
        self._vocabulary = a.vocabulary if b is None else check_same_vocabulary(a.vocabulary, b.vocabulary)
        self._similarity = similarity
        self.per_tree = per_tree
        self._soft_labels = soft_labels

    def find_pairs(self) -> None:
        """Find the pairs of nodes that match; if labels match softly, this needs their similarities."""
        if self._soft_labels:
            self.link(*self.tables[1:])

    @kept
    def tables(self) -> tuple[Floats, ...]:
        """The similarities of words; if labels match softly, also of labels, words with labels, and the reverse."""
        words, none = self._table(self.row_words, self.column_words), np.zeros((0, 0))
        if not self._soft_labels:
            return words, none, none, none
        mixed = self._table(self.row_words, self.column_labels)
        back = mixed.T if self.is_symmetric else self._table(self.row_labels, self.column_words)
        return words, self._table(self.row_labels, self.column_labels), mixed, np.ascontiguousarray(back)

    def _table(self, rows: list[int], columns: list[int]) -> Floats:
        names = [[self._vocabulary[number] for number in numbers] for numbers in (rows, columns)]
        return np.ascontiguousarray(self._similarity(names[0], None if names[0] == names[1] else names[1]))


def _all_labels(forests: list[Forest], *, leaves: bool) -> dict[str, None]:
    """The labels of the leaves, or of the other nodes, that occur in some tree."""
    numbers = [(forest, np.unique(node_labels(forest, leaves=leaves)).tolist()) for forest in forests]
    return {forest.vocabulary[number]: None for forest, own in numbers for number in own}
