"""The space of subset trees and subtrees: fragments that keep all children of a node or none of them.

A kernel that counts in this space has, in addition to its hyperparameters, ``_label_settings()`` (decay and frontier,
in this order), ``lone_leaves`` and ``max_depth``. One occurrence of a fragment counts for the square root of a product:
the decay of every production in it, times the frontier of the parent of every node whose children it leaves out. Both
may differ by label. The space can compute no other weights; a kernel with others needs a space of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.jobs.progress import Tell
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.subset_tree import SubsetTree
from espalier.spaces.codes import Codes
from espalier.spaces.fragment_dictionary import FragmentDictionary
from espalier.spaces.space import Floats, Found, Values
from espalier.spaces.tree_space import NO_LIMIT, TreeSearch, TreeSpace, masses
from espalier.structures.fragment import Fragment, Position
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class SubsetSpace(TreeSpace):
    """The fragments that ``SubsetTree`` and ``Subtree`` count."""

    name = "subset trees"
    needs = ("_label_settings", "lone_leaves", "max_depth")
    listing = FragmentDictionary
    can_be_hashed = True

    @property
    def can_be_compressed(self) -> bool:
        return isinstance(self.kernel, SubsetTree)

    def search(self, corpus: Forest, max_size: int | None) -> SubsetSearch:
        return SubsetSearch(self.kernel, corpus, max_size)

    def features(
        self, listed: FragmentDictionary, corpus: Forest, values: Values, *, n_threads: int | None
    ) -> csr_matrix:
        from scipy.sparse import csr_matrix, diags_array

        counts = listed.counts(corpus, n_threads=n_threads)
        return csr_matrix(counts @ diags_array(fragment_values(listed, self.kernel))) if values == "kernel" else counts

    def weighed(
        self, listed: FragmentDictionary, corpus: Forest, values: Values, weights: Floats, *, n_threads: int | None
    ) -> Floats | None:
        if values == "binary":
            return None
        own = fragment_values(listed, self.kernel)[:, None] * weights if values == "kernel" else weights
        return listed.weighed(corpus, own, n_threads=n_threads)

    def locate(self, feature: Fragment, tree: Tree | None) -> tuple[Position, ...]:
        return () if tree is None else tuple(feature.occurrences(tree))

    def hashed(self, corpus: Forest, max_size: int, values: Values) -> tuple[object, object, object]:
        labels = list(corpus.vocabulary)
        decay, frontier = by_label(self.kernel, labels)
        if values != "kernel":
            decay, frontier = np.ones_like(decay), (frontier > 0).astype(float)
        hashes = np.array([_hash_of(label) for label in labels], np.uint64)
        limits = (self.kernel.max_depth or 0, max_size)
        return _core.hash_fragments(corpus.arrays, hashes, decay, frontier, *limits)


class SubsetSearch(TreeSearch):
    """The space of a subset tree kernel over a forest."""

    def __init__(self, kernel: Any, forest: Forest, max_size: int | None = None) -> None:
        super().__init__(kernel, forest)
        self.native = _core.SubsetMiner(forest.arrays)
        decay, frontier = by_label(kernel, list(forest.vocabulary))
        self._values = (np.ascontiguousarray(decay[:-1]), np.ascontiguousarray(frontier[:-1]))
        self._leaf = float(np.sqrt(decay[-1])) if kernel.lone_leaves else 0.0
        self._limits = (kernel.max_depth or 0, max_size or 0)
        if not kernel.lone_leaves and not kernel.max_depth:  # every fragment consists of whole productions
            self.split = "equal"

    def exact(self, coefficients: Floats, n: int, max_visits: int, schedule: Schedule, tell: Tell | None) -> Found:
        mass = masses(self.forest, coefficients)
        found = self.native.exact(
            mass, *self._values, *self._limits, n, max_visits, schedule.memory, schedule.n_threads, tell
        )
        return self._result(found, mass, n, found["bound"])

    def greedy(self, coefficients: Floats, n: int, max_expansions: int, tell: Tell | None) -> Found:
        """Heavy fragments, level by level."""
        mass = masses(self.forest, coefficients)
        found = self.native.greedy(mass, *self._values, *self._limits, n, max_expansions, tell)
        return self._result(found, mass, n, np.inf)

    def local(self, mass: Floats, count: Floats, n: int, schedule: Schedule) -> tuple[Codes[Fragment], Floats]:
        found = self.native.local(mass, *self._values, *self._limits, count, n, NO_LIMIT, schedule.memory)
        # A word alone adds its value in the model times its value in the tree.
        fragments, contributions, *_ = self._result(found, self._leaf * mass * count, n, found["bound"])
        return fragments, contributions

    def shares(self, mass: Floats, root: int, tree: Tree) -> Floats:
        n_inner = sum(1 for node in tree if node.children)
        # Enough points to make the integral of polynomials of this degree exact.
        points, weights = np.polynomial.legendre.leggauss(n_inner // 2 + 1)
        shares = self.native.attribute(mass, *self._values, root, ((points + 1) / 2).tolist(), (weights / 2).tolist())
        return np.asarray(shares, np.float64)

    def _result(self, found: dict[str, Any], mass: Floats, n: int, bound: float) -> Found:
        labels = list(self.forest.vocabulary)
        weights = found["weight"]
        part = np.asarray(self.native.production_part, np.int32)
        start = np.asarray(self.native.production_start, np.int64)
        dictionary = FragmentDictionary._of(labels, start, part, found["start"], found["code"])
        if self._leaf > 0:
            dictionary, weights = self._with_words(dictionary, weights, mass)
            dictionary, weights = dictionary[:n], weights[:n]
            bound = max(bound, float(abs(weights[-1]))) if len(weights) == n else bound
        counts = (self.native.n_visited, self.native.n_pruned)
        limit = self._limits[1] or None
        return Found(dictionary.compact(), weights, found["complete"], float(bound), *counts, limit)

    def _with_words(
        self, fragments: FragmentDictionary, weights: Floats, mass: Floats
    ) -> tuple[FragmentDictionary, Floats]:
        """Fragments and words alone, the heaviest first."""
        arrays = self.forest.arrays
        words = np.flatnonzero((arrays["height"] == 0) & (mass != 0))
        first = len(fragments.production_start) - 1
        joined = FragmentDictionary._of(
            fragments.labels,
            np.concatenate([fragments.production_start, fragments.production_start[-1] + 1 + np.arange(len(words))]),
            np.concatenate([fragments.production_part, -1 - arrays["label"][words]]),
            np.concatenate([fragments.start, fragments.start[-1] + 1 + np.arange(len(words))]),
            np.concatenate([fragments.code, first + np.arange(len(words))]),
        )
        weights = np.concatenate([weights, self._leaf * mass[words]])
        order = np.argsort(-np.abs(weights), kind="stable")
        return joined[order], weights[order]


def by_label(kernel: Any, labels: Sequence[str]) -> list[Floats]:
    """The decays and the frontiers of a kernel: one of each per label, and one more for leaves."""
    return [hyper.label_values(setting, labels) for _, setting in kernel._label_settings()]


def fragment_values(fragments: FragmentDictionary, kernel: object) -> Floats:
    """The value of one occurrence of each fragment in the space of a kernel: the square root of its weight.

    Examples
    --------
    >>> dictionary = FragmentDictionary.from_fragments(["(NP (D the) (N))", "(D the)"])
    >>> fragment_values(dictionary, SubsetTree(decay=0.25, frontier=4.0))
    array([0.5, 0.5])
    """
    if not len(fragments):
        return np.zeros(0)
    if kernel not in fragments._values:
        fragments._values.clear()
        fragments._values[kernel] = _fragment_values(fragments, kernel)
    return fragments._values[kernel]


def _fragment_values(fragments: FragmentDictionary, kernel: Any) -> Floats:
    decay, frontier = by_label(kernel, fragments.labels)
    code = fragments.code
    head = fragments.production_part[fragments.production_start[:-1]]
    decay_of = np.where(head < 0, decay[-1], decay[np.maximum(head, 0)])  # by production
    frontier_of = frontier[np.maximum(head, 0)]
    parents = fragments._parents()
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(code >= 0, decay_of[code], frontier_of[code[parents]]))
    out: Floats = np.exp(0.5 * np.add.reduceat(logs, fragments.start[:-1]))
    out.flags.writeable = False
    return out


@lru_cache(maxsize=1 << 18)
def _hash_of(label: str) -> int:
    """A number for a label that is the same on all machines."""
    return int.from_bytes(blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
