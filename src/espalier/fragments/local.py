"""One tree in the space of a model, or two: the fragments that make the score, and the share of every node in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from espalier.blas import blas_threads
from espalier.corpus.forest import Forest, concatenate
from espalier.errors import InputError, MemoryBudgetError
from espalier.fragments.dictionary import FragmentDictionary
from espalier.fragments.partial import MAX_SIZE, PartialDictionary, PartialSearch
from espalier.fragments.subset import SubsetSearch
from espalier.fragments.terms import Floats, Term, masses
from espalier.gram.dual import DualForm
from espalier.jobs.memory import show_bytes
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.kernels.tree_plan import TreeKernel
from espalier.structures.tree import Tree

_NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class LocalTerm:
    """What one tree kernel adds to the score of one tree, or to the difference of the scores of two.

    Attributes
    ----------
    term
        The tree kernel.
    trees
        The trees; None for a row that has none.
    fragments, contributions
        The fragments that add most, or take most away.
    shares
        For every tree and every node in it, before its children, the node's share in what is added.
    split
        ``"equal"``: a fragment's contribution is shared by its productions. ``"root"``: it is that of its root.
    """

    term: Term
    trees: tuple[Tree | None, ...]
    fragments: FragmentDictionary | PartialDictionary
    contributions: Floats
    shares: tuple[Floats, ...]
    split: str

    @property
    def total(self) -> float:
        """What is added to the score, or to the difference of two."""
        return float(sum(own.sum() for own in self.shares))


def local_term(
    term: Term,
    dual: DualForm,
    score: int,
    examples: Inputs,
    n: int,
    schedule: Schedule,
    *,
    signs: Sequence[float] = (1.0,),
    max_size: int | None = None,
) -> LocalTerm:
    """Take the score of one example apart, for one tree kernel; fragments as large as mining looks at.

    With several examples it is the sum of their scores, each times its sign. What a fragment adds to the difference of
    two scores is its weight times the difference of its features, and these are linear in how often a tree holds each
    subtree: the difference of two trees is searched like one tree, with counts of both signs.
    """
    options = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    beta = term.scale * dual.coefficients[score] / term.norm(dual.inputs, **options)
    factors = np.asarray(signs) / term.norm(examples, **options)  # 0 for a tree without fragments
    forest = concatenate([term.forest(dual.inputs), term.forest(examples)])
    first = len(forest) - len(factors)
    training, trees = forest[:first], tuple(forest[row] for row in range(first, len(forest)))
    sizes = [tree.size for tree, factor in zip(trees, factors, strict=True) if tree is not None and factor != 0]
    if not sizes:
        shares = tuple(np.zeros(0 if tree is None else tree.size) for tree in trees)
        return LocalTerm(term, trees, FragmentDictionary.from_fragments([]), np.zeros(0), shares, "equal")
    mass, count = masses(training, beta), masses(forest[first:], factors)
    search = _search_of(term.kernel, forest, max(sizes), max_size)
    fragments: FragmentDictionary | PartialDictionary
    try:
        fragments, contributions = search.local(mass, count, n, _NO_LIMIT, schedule)
    except MemoryError:
        raise MemoryBudgetError(
            f"Explaining with {term.kernel!r} needs more than {show_bytes(schedule.memory)}. Ask for fewer or smaller "
            "fragments with n and max_size, or raise memory."
        ) from None
    split = "equal" if isinstance(search, SubsetSearch) and _is_plain(term.kernel) else "root"
    found: list[Floats] = []
    for row, (tree, factor) in enumerate(zip(trees, factors.tolist(), strict=True), start=first):
        if tree is None or factor == 0:
            found.append(np.zeros(0 if tree is None else tree.size))
        elif isinstance(search, SubsetSearch) and split == "equal":
            n_inner = sum(1 for node in tree if node.children)
            found.append(factor * search.shares(mass, int(forest.arrays["root"][row]), n_inner))
        else:
            found.append(factor * _by_root(term, tree, training, beta))
    return LocalTerm(term, trees, fragments, contributions, tuple(found), split)


def _search_of(kernel: TreeKernel, forest: Forest, size: int, max_size: int | None) -> SubsetSearch | PartialSearch:
    if isinstance(kernel, PartialTree):
        # No fragment of a tree is larger than the tree.
        return PartialSearch(kernel, forest, min(max_size or MAX_SIZE, size))
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
    with blas_threads():
        scores = kernel(training, forest).T @ beta if on is None else kernel({on: training}, {on: forest}).T @ beta
    place = {id(node): k for k, node in enumerate(nodes)}
    own = scores.copy()
    for k, node in enumerate(nodes):
        for child in node.children:
            own[k] -= scores[place[id(child)]]
    return np.asarray(own, np.float64)
