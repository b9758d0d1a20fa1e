"""The space of partial trees: fragments whose nodes may leave out some of their children.

A kernel that counts in this space has the hyperparameters ``decay`` and ``depth_decay`` of ``PartialTree``, and weighs
fragments as it does. The space can compute no other weights; a kernel with others needs a space of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.forest import Forest, as_forest
from espalier.corpus.soundness import Require
from espalier.jobs.progress import Tell
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.partial_tree import PartialTree
from espalier.spaces.codes import CLOSE, OPEN, UNEXPANDED, FragmentCodes, coded
from espalier.spaces.space import Floats, Found, Values
from espalier.spaces.tree_space import NO_LIMIT, TreeSearch, TreeSpace, masses, tree_counts
from espalier.structures.fragment import Fragment, Position, walk
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_SIZE = 8  # the most nodes of a fragment, by default


class PartialDictionary(FragmentCodes):
    """Fragments of partial trees, numbered: a node of such a fragment may leave out some of its children.

    These kernels compare labels alone, so ``X`` and ``(X)`` are one fragment, printed ``(X)``. A fragment is a list of
    its nodes, each before its children and from left to right: the depth of the node, then its label.

    Examples
    --------
    >>> dictionary = PartialDictionary.from_fragments(["(NP (N cat))", "(NP)", "cat"])
    >>> dictionary.names(), dictionary.n_nodes.tolist()
    (['(NP (N (cat)))', '(NP)', '(cat)'], [3, 1, 1])
    """

    _labels = slice(1, None, 2)

    @staticmethod
    def from_fragments(fragments: Iterable[Fragment | str]) -> PartialDictionary:
        """Number fragments, or their brackets; one that is given twice is numbered twice."""
        labels: dict[str, int] = {}

        def code_of(given: Fragment | str) -> Iterator[int]:
            fragment = Fragment.from_brackets(given) if isinstance(given, str) else given
            for position, node in walk(fragment.tree):
                yield len(position)
                yield labels.setdefault(node.label, len(labels))

        codes = coded(fragments, code_of)
        return PartialDictionary._of(list(labels), *codes)

    @property
    def n_nodes(self) -> NDArray[np.int64]:
        """How many nodes each fragment has."""
        return np.asarray(np.diff(self.start) // 2, np.int64)

    def features(self, trees: Any, kernel: PartialTree, *, n_threads: int | None = None) -> csr_matrix:
        """The value of each fragment in each tree, summed over all the ways in which it occurs there.

        Examples
        --------
        >>> dictionary = PartialDictionary.from_fragments(["(S (A) (A))"])
        >>> dictionary.features(["(S (A a) (A b) (A c))"], PartialTree(decay=0.5, depth_decay=1.0)).toarray()
        array([[0.625]])
        """
        forest = as_forest(trees)
        values = _decays(kernel, forest)
        found = _core.match_partial(
            self.start,
            self.code,
            forest.arrays,
            self._labels_of(forest.vocabulary),
            *values,
            Schedule.of(n_threads).n_threads,
            None,
        )
        return tree_counts(forest, *found, len(self))

    def _walk(self, row: int) -> Iterator[tuple[int, int]]:
        code = self.code[self.start[row] : self.start[row + 1]].tolist()
        depths, n_open = code[::2], 0
        for depth, label, following in zip(depths, code[1::2], [*depths[1:], 0], strict=True):
            yield from [(CLOSE, 0)] * (n_open - depth)
            has_children = following > depth
            yield OPEN if has_children else UNEXPANDED, label
            n_open = depth + has_children
        yield from [(CLOSE, 0)] * n_open

    def _check(self, require: Require) -> None:
        """Check that nodes have listed labels, and that each is at most one deeper than the one before."""
        code, begin = self.code, self.start
        require((begin % 2 == 0).all(), "a fragment is cut off")
        depth, symbol = code[::2].astype(np.int64), code[1::2].astype(np.int64)
        listed = (symbol >= 0) & (symbol < len(self.labels))
        require(listed.all(), "a fragment names a label that is not listed")
        is_root = np.zeros(len(depth), bool)
        is_root[begin[:-1] // 2] = True
        grown = (depth >= 1) & (np.diff(depth, prepend=0) <= 1)
        require(np.where(is_root, depth == 0, grown).all(), "a fragment is not a tree")

    def __repr__(self) -> str:
        return f"<PartialDictionary of {len(self):,} fragments over {len(self.labels):,} labels>"


class PartialSpace(TreeSpace):
    """The fragments that ``PartialTree`` counts."""

    name = "partial trees"
    needs = ("decay", "depth_decay")
    listing = PartialDictionary

    def search(self, corpus: Forest, max_size: int | None) -> PartialSearch:
        return PartialSearch(self.kernel, corpus, max_size)

    def features(
        self, listed: PartialDictionary, corpus: Forest, values: Values, *, n_threads: int | None
    ) -> csr_matrix:
        kernel = self.kernel if values == "kernel" else PartialTree(decay=1.0, depth_decay=1.0)
        return listed.features(corpus, kernel, n_threads=n_threads)

    def locate(self, feature: Fragment, tree: Tree | None) -> tuple[Position, ...]:
        return () if tree is None else feature.partial_roots(tree)

    def _local_size(self, largest: int, max_size: int | None) -> int:
        return min(max_size or MAX_SIZE, largest)  # no fragment of a tree is larger than the tree


class PartialSearch(TreeSearch):
    """The space of a partial tree kernel over a forest."""

    def __init__(self, kernel: PartialTree, forest: Forest, max_size: int | None = None) -> None:
        super().__init__(kernel, forest)
        self.native = _core.PartialMiner(forest.arrays)
        self._values = _decays(kernel, forest)
        self.max_size = max_size or MAX_SIZE
        self._largest = min(self.max_size, _largest(forest))  # no fragment is larger than its tree

    def exact(self, coefficients: Floats, n: int, max_visits: int, schedule: Schedule, tell: Tell | None) -> Found:
        mass = masses(self.forest, coefficients)
        found = self.native.exact(
            mass, *self._values, self._largest, n, max_visits, schedule.memory, schedule.n_threads, tell
        )
        counts = (self.native.n_visited, self.native.n_pruned)
        fragments, weights = self._listed(found)
        return Found(fragments, weights, found["complete"], float(found["bound"]), *counts, self.max_size)

    def local(self, mass: Floats, count: Floats, n: int, schedule: Schedule) -> tuple[PartialDictionary, Floats]:
        found = self.native.local(
            mass, *self._values, self._largest, count, n, NO_LIMIT, schedule.memory, schedule.n_threads
        )
        return self._listed(found)

    def _listed(self, found: dict[str, Any]) -> tuple[PartialDictionary, Floats]:
        labels = list(self.forest.vocabulary)
        return PartialDictionary._of(labels, found["start"], found["code"]).compact(), found["weight"]


def _largest(forest: Forest) -> int:
    """The nodes of the largest tree; a shared subtree counts as often as it occurs."""
    arrays = forest.arrays
    start, total = arrays["tree_start"], np.concatenate([[0], np.cumsum(arrays["tree_count"], dtype=np.int64)])
    return int(np.diff(total[start]).max(initial=1))


def _decays(kernel: PartialTree, forest: Forest) -> tuple[Floats, Floats]:
    """Decay and depth decay of each label; the last entry is for leaves."""
    labels = list(forest.vocabulary)
    return hyper.label_values(kernel.decay, labels), hyper.label_values(kernel.depth_decay, labels)
