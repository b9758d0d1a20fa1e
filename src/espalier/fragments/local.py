"""One tree in the space of a model: the fragments that make its score, and the share of every node in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier import _core
from espalier.corpus.forest import Forest, concatenate
from espalier.fragments.dictionary import FragmentDictionary
from espalier.fragments.terms import Floats, Term, masses
from espalier.gram.dual import DualForm
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.inputs import Inputs
from espalier.kernels.schedule import Schedule
from espalier.kernels.subset_tree import SubsetTree, Subtree
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
    fragments: FragmentDictionary
    contributions: Floats
    shares: Floats
    split: str


def local_term(term: Term, dual: DualForm, score: int, example: Inputs, n: int, schedule: Schedule) -> LocalTerm:
    """Take the score of one example apart, for one tree kernel."""
    options = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    beta = term.scale * dual.coefficients[score] / term.norm(dual.inputs, **options)
    norm = float(term.norm(example, **options)[0])
    forest = concatenate([term.forest(dual.inputs), term.forest(example)])
    last = len(forest) - 1
    tree = forest[last]
    kernel = term.kernel
    empty = FragmentDictionary.from_fragments([])
    if tree is None or not np.isfinite(norm):
        n_nodes = 0 if tree is None else tree.size
        return LocalTerm(term, tree, 0.0, empty, np.zeros(0), np.zeros(n_nodes), "equal")
    if isinstance(kernel, SubsetTree | Subtree) and not kernel.lone_leaves and not getattr(kernel, "max_depth", None):
        return _subset(term, tree, forest, beta, norm, n, schedule)
    shares = _by_root(term, tree, forest[:last], beta) / norm
    return LocalTerm(term, tree, float(shares.sum()), empty, np.zeros(0), shares, "root")


def _subset(term: Term, tree: Tree, forest: Forest, beta: Floats, norm: float, n: int, schedule: Schedule) -> LocalTerm:
    last = len(forest) - 1
    native = _core.SubsetMiner(forest.arrays)
    labels = list(forest.vocabulary)
    decay, frontier = (hyper.label_values(setting, labels) for _, setting in term.kernel._label_settings())
    mass = masses(forest[:last], beta)
    count = masses(forest[[last]], np.array([1 / norm]))
    found: dict[str, Any] = native.local(mass, decay, frontier, 0, 0, count, n, _NO_LIMIT, schedule.memory)
    start, part = (np.asarray(array) for array in (native.production_start, native.production_part))
    fragments = FragmentDictionary(labels, start, part, found["start"], found["code"]).compact()
    # As many points as make the integral over polynomials of this degree exact.
    n_inner = sum(1 for node in tree if node.children)
    points, weights = np.polynomial.legendre.leggauss(n_inner // 2 + 1)
    root = int(forest.arrays["root"][last])
    shares = native.attribute(mass, decay, frontier, root, ((points + 1) / 2).tolist(), (weights / 2).tolist()) / norm
    return LocalTerm(term, tree, float(shares.sum()), fragments, found["weight"], shares, "equal")


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
