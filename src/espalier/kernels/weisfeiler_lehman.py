"""Refined labels of graphs: the kernel of Shervashidze et al. (2011)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.graphs import Graphs, NodeLabels
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Reads
from espalier.kernels.feature_plan import FeatureKernel, Features, counts
from espalier.kernels.hyperparameters import hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.order_weights import MOST_WEIGHTS, order_values, weights_by_length
from espalier.structures.numbers import check_choice, whole_number

Ids = NDArray[np.int64]

_JOINS, _LEAVES, _ENTERS = range(3)  # an edge seen from one of its nodes


@dataclass(frozen=True, repr=False)
class WeisfeilerLehman(FeatureKernel):
    r"""Count the labels two graphs share after each of several rounds that add neighbours' labels to a node's label.

    Before the first round a node has its own label. In each round it gets a new one, made of its old label and the old
    labels of its neighbours in any order, each with the label of the edge between them and its direction, if edges have
    one. After :math:`h` rounds a label describes the graph within :math:`h` edges of a node. With
    :math:`c_h(G, x)` for the number of nodes that have the label :math:`x` after :math:`h` rounds,

    .. math:: K(G, H) = \sum_{h=0}^{n} w_h \sum_x c_h(G, x) \, c_h(H, x)

    Parameters
    ----------
    iterations
        :math:`n`: the number of rounds; with 0 only the labels of nodes count.
    iteration_weights
        :math:`w`: one weight for each round, from 0: a tuple, or one number at which all start. Each is learned,
        unless ``fixed``.
    labels
        What the nodes of dependency trees are labelled with, ``"tags"`` or ``"words"``.
    on
        The column to read if the input is a table.

    Notes
    -----
    Items are graphs, dependency trees (edges from head to token, labelled by relation), or trees (edges from parent to
    child, whose order is ignored). Labels are compared whole, never by hashes, so different ones never collide. A round
    takes time in proportion to nodes and edges, plus a sort; the matrix is a product of sparse rows. If a round refines
    no label, it counts what the round before it does, and so do all that follow: they are computed once, and
    :meth:`features` has their columns once, weighed by the sum of their weights. The paper's graphs have no directions
    and no edge labels, and it weighs all rounds alike.

    Examples
    --------
    >>> from espalier import Graph
    >>> path, edge = Graph(["a", "b", "a"], [(0, 1), (1, 2)]), Graph(["a", "b"], [(0, 1)])
    >>> WeisfeilerLehman(1)([path, edge])
    array([[10.,  5.],
           [ 5.,  4.]])
    """

    _item: ClassVar = "graph"

    iterations: int = 3
    iteration_weights: Any = hyperparameter(1.0)
    labels: NodeLabels = "tags"
    on: str | None = None

    def __post_init__(self) -> None:
        wanted = f"an integer from 0 to {MOST_WEIGHTS - 1:,}"
        iterations = whole_number("iterations", self.iterations, 0, MOST_WEIGHTS - 1, wanted=wanted)
        object.__setattr__(self, "iterations", iterations)
        check_choice("labels", self.labels, "tags", "words")
        weights = weights_by_length(self.iteration_weights, iterations + 1, 0, name="iteration_weights", each="round")
        object.__setattr__(self, "iteration_weights", weights)
        super().__post_init__()

    def reads(self) -> Reads:
        return "graphs"

    def _corpus(self, inputs: Inputs) -> Graphs:
        return inputs.graphs(self.on, self.labels)

    def _features(self, *sides: Graphs) -> Features:
        from scipy.sparse import hstack

        cut = len(sides[0].arrays["label"])
        columns: list[list[Any]] = [[] for _ in sides]
        n_columns: list[int] = []
        for label, n in _rounds(sides, self.iterations):
            for found, side, part in zip(columns, sides, np.split(label, [cut]), strict=False):
                row = np.repeat(np.arange(len(side)), np.diff(side.arrays["start"]))
                found.append(counts(part, row, (len(side), n)))
            n_columns.append(n)
        rows = [hstack(found).tocsr() for found in columns]
        part = np.repeat(np.arange(len(n_columns)), n_columns)
        return Features((rows[0], rows[-1]), part, [str(k) for k in range(len(n_columns))])

    def _part_weights(self, features: Features) -> NDArray[np.float64]:
        weights = order_values(self.iteration_weights, self.iterations + 1)
        last = len(features.labels) - 1  # the round that represents all that follow
        with np.errstate(over="ignore"):  # the values are checked
            return np.append(weights[:last], weights[last:].sum())

    def _part_gradients(self, features: Features, gradient: NDArray[np.float64]) -> dict[str, float]:
        later = np.full(self.iterations + 1 - len(gradient), gradient[-1])
        return hyper.dimension_gradients("iteration_weights", self.iteration_weights, np.append(gradient, later))


def _rounds(sides: tuple[Graphs, ...], n: int) -> Iterator[tuple[Ids, int]]:
    """The labels of all nodes of both sides after 0, 1, ... rounds, as numbers, and how many different there are.

    Rounds end at ``n``, or earlier if the next would distinguish no more nodes: then no later round would either, and
    all of them count what the last one counts.
    """
    used, label = np.unique(np.concatenate([side.arrays["label"] for side in sides]), return_inverse=True)
    label, n_labels = label.reshape(-1), len(used)
    yield label, n_labels
    node, neighbour, kind = _seen_edges(sides)
    degree = np.bincount(node, minlength=len(label))
    # One string of numbers for each node: its label, then its edges and neighbours, in ascending order.
    start = np.concatenate([[0], np.cumsum(degree + 1)])
    numbers = np.empty(int(start[-1]), np.int64)
    is_own = np.zeros(len(numbers), bool)
    is_own[start[:-1]] = True
    bounds = (start * numbers.itemsize).tolist()
    for _ in range(n):
        seen = kind * n_labels + label[neighbour]
        numbers[is_own], numbers[~is_own] = label, seen[np.lexsort((seen, node))]
        text = numbers.tobytes()
        known: dict[bytes, int] = defaultdict(count().__next__)
        label = np.array([known[text[i:j]] for i, j in pairwise(bounds)], np.int64)
        if len(known) == n_labels:
            return
        n_labels = len(known)
        yield label, n_labels


def _seen_edges(sides: tuple[Graphs, ...]) -> tuple[Ids, Ids, Ids]:
    """Every edge as each of its nodes sees it: the node, its neighbour, and a number for edge label and direction.

    An edge from a node to itself is seen once, or, with a direction, once from either end.
    """
    nodes, neighbours, kinds = [], [], []
    first = 0
    for side in sides:
        arrays = side.arrays
        n_edges = np.diff(arrays["edge_start"])
        offset = np.repeat(arrays["start"][:-1], n_edges) + first
        source, target = arrays["source"] + offset, arrays["target"] + offset
        directed = np.repeat(arrays["directed"], n_edges) > 0
        label = (arrays["edge_label"].astype(np.int64) + 1) * 3
        back = directed | (source != target)
        nodes += [source, target[back]]
        neighbours += [target, source[back]]
        kinds += [label + np.where(directed, _LEAVES, _JOINS), (label + np.where(directed, _ENTERS, _JOINS))[back]]
        first += int(arrays["start"][-1])
    return np.concatenate(nodes), np.concatenate(neighbours), np.concatenate(kinds)
