"""The space of partial trees: fragments whose nodes may leave out some of their children.

A kernel that counts in this space has the hyperparameters ``decay`` and ``depth_decay`` of ``PartialTree``, and weighs
fragments as it does. The space can compute no other weights; a kernel with others needs a space of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.jobs.progress import Tell
from espalier.jobs.schedule import Schedule
from espalier.kernels.partial_tree import PartialTree
from espalier.spaces.partial_dictionary import PartialDictionary, decays
from espalier.spaces.space import Floats, Found, Values
from espalier.spaces.tree_space import NO_LIMIT, TreeSearch, TreeSpace, masses
from espalier.structures.fragment import Fragment, Position
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_SIZE = 8  # the most nodes of a fragment, by default


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
        self._values = decays(kernel, forest)
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
