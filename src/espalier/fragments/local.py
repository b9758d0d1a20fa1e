"""One tree in the space of a model: the fragments that make its score, and the share of every node in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from espalier.corpus.forest import Forest, concatenate
from espalier.errors import InputError, MemoryBudgetError
from espalier.fragments.dictionary import FragmentDictionary
from espalier.fragments.partial import MAX_SIZE, PartialDictionary, PartialSearch
from espalier.fragments.subset import SubsetSearch
from espalier.fragments.terms import Floats, Term, masses
from espalier.gram.dual import DualForm
from espalier.kernels.inputs import Inputs
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.schedule import Schedule, show_bytes
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.kernels.tree_plan import TreeKernel
from espalier.structures.tree import Tree

_NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class LocalTerm:
    """What one tree kernel adds to the score of one tree.

    Attributes
    ----------
    term
        The tree kernel.
    tree
        The tree, or None where the row has none.
    total
        What it adds to the score.
    fragments, contributions
        The fragments that add most to it, or take most from it.
    shares
        For every node, before its children, its share in the total.
    split
        ``"equal"``: a fragment's contribution is shared by its productions. ``"root"``: it is that of its root.
    """

    term: Term
    tree: Tree | None
    total: float
    fragments: FragmentDictionary | PartialDictionary
    contributions: Floats
    shares: Floats
    split: str


def local_term(
    term: Term,
    dual: DualForm,
    score: int,
    example: Inputs,
    n: int,
    schedule: Schedule,
    *,
    max_size: int | None = None,
) -> LocalTerm:
    """Take the score of one example apart, for one tree kernel; fragments as large as mining looks at."""
    options = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    beta = term.scale * dual.coefficients[score] / term.norm(dual.inputs, **options)
    norm = float(term.norm(example, **options)[0])
    forest = concatenate([term.forest(dual.inputs), term.forest(example)])
    last = len(forest) - 1
    tree = forest[last]
    if tree is None or not np.isfinite(norm):
        n_nodes = 0 if tree is None else tree.size
        empty = FragmentDictionary.from_fragments([])
        return LocalTerm(term, tree, 0.0, empty, np.zeros(0), np.zeros(n_nodes), "equal")
    mass = masses(forest[:last], beta)
    count = masses(forest[[last]], np.array([1 / norm]))
    search = _search_of(term.kernel, forest, tree, max_size)
    fragments: FragmentDictionary | PartialDictionary
    try:
        fragments, contributions = search.local(mass, count, n, _NO_LIMIT, schedule)
    except MemoryError:
        raise MemoryBudgetError(
            f"Explaining with {term.kernel!r} needs more than {show_bytes(schedule.memory)}. Ask for fewer or smaller "
            "fragments with n and max_size, or raise memory."
        ) from None
    if isinstance(search, SubsetSearch) and _is_plain(term.kernel):
        n_inner = sum(1 for node in tree if node.children)
        shares, split = search.shares(mass, int(forest.arrays["root"][last]), n_inner) / norm, "equal"
    else:
        shares, split = _by_root(term, tree, forest[:last], beta) / norm, "root"
    return LocalTerm(term, tree, float(shares.sum()), fragments, contributions, shares, split)


def _search_of(kernel: TreeKernel, forest: Forest, tree: Tree, max_size: int | None) -> SubsetSearch | PartialSearch:
    if isinstance(kernel, PartialTree):
        # No fragment of the tree is larger than the tree.
        return PartialSearch(kernel, forest, min(max_size or MAX_SIZE, tree.size))
    if isinstance(kernel, SubsetTree | Subtree):
        return SubsetSearch(kernel, forest, max_size)
    raise InputError(f"The fragments of {kernel!r} cannot be listed; those of SubsetTree, Subtree and PartialTree can.")


def _is_plain(kernel: TreeKernel) -> bool:
    """Whether the fragments of subset trees are whole productions, of any depth."""
    return not getattr(kernel, "lone_leaves", False) and not getattr(kernel, "max_depth", None)


def _by_root(term: Term, tree: Tree, training: Forest, beta: Floats) -> Floats:
    """What the fragments rooted at each node add: the score of its subtree less those of its children's."""
    nodes = list(tree)
    from espalier.kernels.base import Kernel

    kernel: Kernel = term.kernel
    forest = Forest.from_trees(nodes, vocabulary=training.vocabulary.extended())
    on = term.column
    scores = kernel(training, forest).T @ beta if on is None else kernel({on: training}, {on: forest}).T @ beta
    place = {id(node): k for k, node in enumerate(nodes)}
    own = scores.copy()
    for k, node in enumerate(nodes):
        for child in node.children:
            own[k] -= scores[place[id(child)]]
    return np.asarray(own, np.float64)
