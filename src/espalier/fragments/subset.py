"""The space of subset trees and subtrees, searched by the compiled core."""

from __future__ import annotations

from typing import Any

import numpy as np

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.fragments.dictionary import FragmentDictionary
from espalier.fragments.terms import Floats
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.subset_tree import SubsetTree, Subtree


class SubsetSearch:
    """The space of a subset tree kernel over a forest, ready to be searched with any coefficients."""

    def __init__(self, kernel: SubsetTree | Subtree, forest: Forest, max_size: int | None = None) -> None:
        self.forest = forest
        self.native: Any = _core.SubsetMiner(forest.arrays)
        labels = list(forest.vocabulary)
        decay, frontier = (hyper.label_values(setting, labels) for _, setting in kernel._label_settings())
        self._values = (np.ascontiguousarray(decay[:-1]), np.ascontiguousarray(frontier[:-1]))
        self._leaf = float(np.sqrt(decay[-1])) if kernel.lone_leaves else 0.0
        self._limits = (getattr(kernel, "max_depth", None) or 0, max_size or 0)

    def exact(self, mass: Floats, n: int, max_visits: int, schedule: Schedule, tell: Any) -> tuple[Any, ...]:
        """The heaviest fragments, proven."""
        found = self.native.exact(
            mass, *self._values, *self._limits, n, max_visits, schedule.memory, schedule.n_threads, tell
        )
        return self._result(found, mass, n, proven=found["complete"])

    def greedy(self, mass: Floats, n: int, max_expansions: int, tell: Any) -> tuple[Any, ...]:
        """Heavy fragments, level by level."""
        found = self.native.greedy(mass, *self._values, *self._limits, n, max_expansions, tell)
        return self._result(found, mass, n, proven=False, bound=np.inf)

    def local(
        self, mass: Floats, count: Floats, n: int, max_visits: int, schedule: Schedule
    ) -> tuple[FragmentDictionary, Floats]:
        """The fragments that add most to the score of one tree, given by its counts, and what they add."""
        found = self.native.local(mass, *self._values, *self._limits, count, n, max_visits, schedule.memory)
        # A word alone adds its value in the model times its value in the tree.
        fragments, contributions, *_ = self._result(found, self._leaf * mass * count, n, proven=True)
        return fragments, contributions

    def shares(self, mass: Floats, root: int, n_inner: int) -> Floats:
        """What each node of a tree adds to its score, where every fragment is shared equally by its productions."""
        # As many points as make the integral over polynomials of this degree exact.
        points, weights = np.polynomial.legendre.leggauss(n_inner // 2 + 1)
        shares = self.native.attribute(mass, *self._values, root, ((points + 1) / 2).tolist(), (weights / 2).tolist())
        return np.asarray(shares, np.float64)

    def _result(
        self, found: dict[str, Any], mass: Floats, n: int, *, proven: bool, bound: float | None = None
    ) -> tuple[Any, ...]:
        labels = list(self.forest.vocabulary)
        weights = found["weight"]
        part = np.asarray(self.native.production_part, np.int32)
        start = np.asarray(self.native.production_start, np.int64)
        dictionary = FragmentDictionary._of(labels, start, part, found["start"], found["code"])
        bound = found["bound"] if bound is None else bound
        if self._leaf > 0:
            dictionary, weights = self._with_words(dictionary, weights, mass)
            dictionary, weights = dictionary[:n], weights[:n]
            bound = max(bound, float(abs(weights[-1]))) if len(weights) == n else bound
        counts = (self.native.n_visited, self.native.n_pruned)
        return dictionary.compact(), weights, proven, float(bound), *counts, self._limits[1] or None

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
