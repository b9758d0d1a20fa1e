"""What the spaces of tree kernels share: forests, whose distinct subtrees are searched and weighed once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest, concatenate
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.spaces.codes import Codes, Integers
from espalier.spaces.space import Floats, Local, Search, Seen, Space, Wanted
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NO_LIMIT = np.iinfo(np.int64).max


class TreeSearch(Search):
    """A search over the distinct subtrees of a forest, by the compiled core if there is a ``native`` one."""

    native: Any = None
    split = "root"  # how fragments are shared by their nodes; "equal" if there are ``shares``

    def __init__(self, kernel: Kernel, forest: Forest) -> None:
        super().__init__(kernel)
        self.forest = forest

    @abstractmethod
    def local(self, mass: Floats, count: Floats, n: int, schedule: Schedule) -> tuple[Codes[Any], Floats]:
        """The fragments that add most to the score of a tree, or subtract most, and what they add.

        ``count`` is how often the tree contains each subtree, divided by the norm of the tree.
        """

    def shares(self, mass: Floats, root: int, tree: Tree) -> Floats:
        """The share of each node in the score of a tree, if fragments are shared by their productions."""
        raise NotImplementedError

    def seen(self) -> Seen:
        if self.native is None:
            return super().seen()
        return Seen(self.native.n_visited, self.native.n_kept, self.native.threshold)


class TreeSpace(Space[Forest]):
    """The fragments of trees that one kernel counts."""

    def corpus(self, inputs: Inputs) -> Forest:
        return inputs.forest(self.kernel._column())

    def drawn(self, inputs: Inputs, row: int) -> Tree:
        return self.corpus(inputs)[row]

    @abstractmethod
    def search(self, corpus: Forest, max_size: int | None) -> TreeSearch: ...

    def local(self, training: Inputs, coefficients: Floats, examples: Inputs, factors: Floats, wanted: Wanted) -> Local:
        # Features are linear in the counts of subtrees, so the difference of two trees is searched like one tree, with
        # counts of both signs.
        forest = concatenate([self.corpus(training), self.corpus(examples)])
        first = len(forest) - len(factors)
        rows, trees = forest[:first], tuple(forest[row] for row in range(first, len(forest)))
        sizes = [tree.size for tree, factor in zip(trees, factors, strict=True) if tree is not None and factor != 0]
        if not sizes:
            nothing = _shared(trees, factors, lambda row, tree: np.zeros(tree.size))
            return Local(trees, self.listing.from_fragments([]), np.zeros(0), nothing, "equal")
        search = self.search(forest, self._local_size(max(sizes), wanted.max_size))
        mass, count = masses(rows, coefficients), masses(forest[first:], factors)
        fragments, contributions = search.local(mass, count, wanted.n, wanted.schedule)

        def share(row: int, tree: Tree) -> Floats:
            if search.split == "equal":
                return search.shares(mass, int(forest.arrays["root"][first + row]), tree)
            return by_root(tree, rows, lambda nodes: self._scores(rows, coefficients, nodes))

        return Local(trees, fragments, contributions, _shared(trees, factors, share), search.split)

    def local_listed(self, listed: Any, weights: Floats, examples: Inputs, factors: Floats, wanted: Wanted) -> Local:
        forest = self.corpus(examples)
        fragments, contributions = self._listed_contributions(listed, weights, forest, factors, wanted)

        def score(nodes: Forest) -> Floats:
            column, n_threads = weights[:, None], wanted.schedule.n_threads
            found = self.weighed(listed, nodes, "kernel", column, n_threads=n_threads)
            if found is None:
                found = self.features(listed, nodes, "kernel", n_threads=n_threads) @ column
            return np.asarray(found[:, 0], np.float64)

        trees = tuple(forest[row] for row in range(len(forest)))
        shares = _shared(trees, factors, lambda row, tree: by_root(tree, forest, score))
        return Local(trees, fragments, contributions, shares, "root")

    def _local_size(self, largest: int, max_size: int | None) -> int | None:
        """The most nodes or productions of the fragments of trees of at most ``largest`` nodes."""
        return max_size


def _shared(trees: tuple[Tree, ...], factors: Floats, share: Callable[[int, Tree], Floats]) -> tuple[Floats, ...]:
    """What the nodes of each tree add, times its factor; an empty structure has no nodes."""
    out = []
    for row, (tree, factor) in enumerate(zip(trees, factors.tolist(), strict=True)):
        if tree is None or factor == 0:
            out.append(np.zeros(0 if tree is None else tree.size))
        else:
            out.append(factor * share(row, tree))
    return tuple(out)


def by_root(tree: Tree, training: Forest, score: Callable[[Forest], Floats]) -> Floats:
    """What the fragments rooted at each node add: the score of its subtree less the scores of its children's."""
    nodes = list(tree)
    scores = score(Forest.from_trees(nodes, vocabulary=training.vocabulary.extended()))
    place = {id(node): k for k, node in enumerate(nodes)}
    own: Floats = scores.copy()
    for k, node in enumerate(nodes):
        for child in node.children:
            own[k] -= scores[place[id(child)]]
    return own


def masses(forest: Forest, coefficients: Floats) -> Floats:
    """For every distinct subtree, the sum of coefficient times count over the trees that contain it."""
    arrays = forest.arrays
    by_entry = np.repeat(coefficients, np.diff(arrays["tree_start"])) * arrays["tree_count"]
    total = np.bincount(arrays["tree_subtree"], weights=by_entry, minlength=forest.n_subtrees)
    return np.asarray(total, np.float64)


def tree_counts(forest: Forest, start: Integers, fragment: Integers, weight: NDArray[Any], n: int) -> csr_matrix:
    """Fragments by tree, ``n`` in all, from fragments by distinct subtree."""
    from scipy.sparse import csr_matrix

    arrays = forest.arrays
    found = csr_matrix((weight, fragment, start), shape=(forest.n_subtrees, n))
    held = csr_matrix(
        (arrays["tree_count"].astype(float), arrays["tree_subtree"], arrays["tree_start"]),
        shape=(len(forest), forest.n_subtrees),
    )
    out = held @ found
    out.sort_indices()
    return out
