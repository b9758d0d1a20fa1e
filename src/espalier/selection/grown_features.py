"""Examples to mine, and the features that were met in them so far, as a trie with weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.jobs.schedule import Schedule
from espalier.spaces.grown import GrownSpace

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Nodes = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Problem:
    """Examples to learn from.

    Attributes
    ----------
    graphs
        The examples, as the core holds them.
    start
        Where the outputs of each example begin: its candidates, or the classes.
    right
        Which output of each example is right, counted inside of it.
    base, cost
        By output: what is added to its score, and what is added while learning, 0 for the right one.
    root_of
        Of classes: the root of each in the trie, -1 if it has no features; empty for candidates.
    """

    graphs: _core.ArcUnions | _core.SlotGraphs
    start: Integers
    right: NDArray[np.int32]
    base: Floats
    cost: Floats
    root_of: NDArray[np.int32]

    @property
    def n_roots(self) -> int:
        """How many roots the trie of features has."""
        return int(self.root_of.max()) + 1 if len(self.root_of) else 1

    def __len__(self) -> int:
        return len(self.right)


@dataclass(eq=False)
class Grown:
    """Features that were met, as a trie with a weight for each node; roots are the first nodes."""

    space: GrownSpace
    n_atoms: int
    top: Nodes
    trie: _core.FeatureTrie
    weight: Floats
    order: NDArray[np.uint8]
    intercept: Floats  # by class; all 0 for candidates
    survives: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))

    @staticmethod
    def empty(space: GrownSpace, n_atoms: int, top: Nodes, n_roots: int, n_classes: int) -> Grown:
        """No feature yet."""
        return Grown(
            space,
            n_atoms,
            top,
            _core.FeatureTrie(n_roots),
            np.zeros(n_roots),
            np.zeros(n_roots, np.uint8),
            np.zeros(n_classes),
            np.zeros(n_roots, np.uint8),
        )

    def insert(self, keys: NDArray[np.uint64], order: int) -> Nodes:
        """The nodes of some features of an order, new ones with a weight of 0."""
        nodes = self.trie.insert(keys)
        n_new = len(self.trie) - len(self.weight)
        if n_new:
            self.weight = np.concatenate([self.weight, np.zeros(n_new)])
            self.order = np.concatenate([self.order, np.full(n_new, order, np.uint8)])
            self.survives = np.concatenate([self.survives, np.zeros(n_new, np.uint8)])
        return nodes

    def settle(self, survives: NDArray[np.uint8]) -> None:
        """Keep these survivors, and none of the features that an interrupted pass may have inserted by half."""
        n = len(self.trie)
        for name, own in (("weight", self.weight), ("order", self.order), ("survives", survives)):
            setattr(self, name, np.concatenate([own, np.zeros(n - len(own), own.dtype)]))

    def reached(self, needed: NDArray[Any], n_threads: int) -> NDArray[np.uint8]:
        """Which features must be grown to reach those that are needed."""
        opened, _ = _core.open_parts(self.trie, self.space.kind, self.top, needed.astype(np.uint8), n_threads)
        return opened

    def first(self, opened: NDArray[np.uint8]) -> Nodes:
        """By root and atom the feature of order 1, if it is open."""
        return _core.first_features(self.trie, self.n_atoms, opened)

    @property
    def n_bytes(self) -> int:
        """What the features hold in memory."""
        return int(self.trie.n_bytes + self.weight.nbytes + self.order.nbytes + self.survives.nbytes)


def scores_of(
    grown: Grown, graphs: Any, root_of: NDArray[np.int32], max_order: int, schedule: Schedule, *, presence: bool = True
) -> Floats:
    """The sum of the weights of the features of each output."""
    needed = grown.weight != 0
    opened = grown.reached(needed, schedule.n_threads)
    order = int(grown.order[needed].max(initial=1))
    scores = _core.feature_scores(
        graphs,
        grown.trie,
        grown.n_atoms,
        grown.first(opened),
        opened,
        grown.weight,
        root_of,
        min(order, max_order),
        presence,
        schedule.n_threads,
        schedule.tell,
    )
    return scores + np.tile(grown.intercept, len(scores) // len(grown.intercept)) if len(root_of) else scores
