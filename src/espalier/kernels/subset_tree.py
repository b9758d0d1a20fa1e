"""Subset trees and subtrees: the kernels of Collins and Duffy (2001) and of Vishwanathan and Smola (2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Matrix
from espalier.kernels.block_plan import DECAY_BOUNDS, Corpora
from espalier.kernels.hyperparameters import Fixed, Hyperparameter, hyperparameter
from espalier.kernels.tree_plan import TreeKernel, node_labels
from espalier.structures.numbers import truth_value, whole_number

FRONTIER_BOUNDS = (1e-6, 2.0)


class ProductionKernel(TreeKernel):
    """A kernel whose fragments never cut a production in half."""

    max_depth: int | None
    lone_leaves: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lone_leaves", truth_value("lone_leaves", self.lone_leaves))

    @property
    def _only_identical(self) -> bool:
        """Whether only identical subtrees match, which needs far fewer pairs."""
        raise NotImplementedError

    def feature_space(self) -> str:
        return "subset trees"

    def _native_plan(self, a: Forest, b: Forest | None, *, per_tree: bool) -> Any:
        other = None if b is None else b.arrays
        return _core.SubsetTreePlan(a.arrays, other, self._only_identical, self.lone_leaves, per_tree)

    def _native_arguments(self, native: object) -> tuple[object, ...]:
        return (self.max_depth or 0,)

    def _has_leaf_value(self) -> bool:
        return self.lone_leaves

    def _fill_diagonal(self, a: Corpora, schedule: Schedule, out: Matrix) -> bool:
        if self.max_depth is not None:
            return False
        (forest,), (decay, frontier) = a, self._label_settings()
        arrays = forest.arrays
        numbers = node_labels(forest)
        labels = [forest.vocabulary[number] for number in numbers.tolist()]
        by_label = np.zeros((2, len(forest.vocabulary)))
        for values, (_, setting) in zip(by_label, (decay, frontier), strict=True):
            values[numbers] = hyper.label_values(setting, labels)[:-1]
        leaf = float(hyper.label_values(decay[1], [])[-1]) if self.lone_leaves else 0.0
        options = (schedule.memory, schedule.n_threads, schedule.tell)
        # False if the pairs of one tree would not fit the memory.
        done = _core.subset_self(arrays, by_label[0], by_label[1], leaf, self._only_identical, *options, out)
        schedule.done()
        return done


@dataclass(frozen=True, repr=False)
class SubsetTree(ProductionKernel):
    r"""Count the fragments two trees share, never cutting a production in half (SST).

    A fragment is a connected piece of a tree in which every node keeps all of its children or none of them. It
    weighs ``decay`` for each production in it and ``frontier`` for each inner node left unexpanded. With decay
    :math:`\lambda_x` and frontier weight :math:`\alpha_x` of the label :math:`x` of node :math:`u`,

    .. math:: K(s, t) = \sum_{u \in s, v \in t} \Delta(u, v), \qquad
        \Delta(u, v) = \lambda_x \prod_i (\alpha_x + \Delta(u_i, v_i))

    over inner children :math:`i` if the productions of :math:`u` and :math:`v` are equal, and 0 otherwise.

    Parameters
    ----------
    decay
        The papers' :math:`\lambda`: the weight of one production. A number, or one per label.
    frontier
        The papers' :math:`\alpha` (:math:`\sigma` in Moschitti): the weight of leaving an inner child
        unexpanded. 1 gives subset trees, ``fixed(0)`` gives subtrees.
    max_depth
        Count fragments of at most this depth, in edges: one production has depth 1 (Collins and Duffy's
        footnote 3). The matrix then takes up to ``max_depth`` times as long.
    lone_leaves
        Also count each shared leaf alone, with weight ``decay`` (KeLP's convention). A leaf below its
        production always weighs 1.
    on
        The column to read if the input is a table.

    Notes
    -----
    Time is linear in the pairs of distinct subtrees with equal productions, plus the pairs of occurrences; memory
    is 8 bytes for each such pair that some parent needs. The pull-back takes about twice as long as the matrix, however
    many hyperparameters there are. The papers have one decay; values per label follow Beck et al. (2015).

    Examples
    --------
    >>> kernel = SubsetTree(decay=1.0)
    >>> kernel(["(NP (D the) (N cat))", "(NP (D a) (N cat))"])
    array([[6., 3.],
           [3., 6.]])
    """

    decay: Hyperparameter = hyperparameter(0.4, DECAY_BOUNDS, zero=False)
    frontier: Hyperparameter = hyperparameter(1.0, FRONTIER_BOUNDS)
    max_depth: int | None = None
    lone_leaves: bool = False
    on: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_depth is not None:
            object.__setattr__(self, "max_depth", whole_number("max_depth", self.max_depth, none=True))

    @property
    def _only_identical(self) -> bool:
        return isinstance(self.frontier, Fixed) and self.frontier.value == 0 and self.max_depth is None

    def _form(self) -> tuple[object, ...]:
        # One plan serves every max_depth.
        return (type(self), self.on, self.lone_leaves, self._only_identical)


@dataclass(frozen=True, repr=False)
class Subtree(ProductionKernel):
    r"""Count the complete subtrees two trees share, down to the leaves (ST).

    A fragment is a node with everything below it. It weighs ``decay`` for each production in it:
    ``SubsetTree`` with ``frontier=fixed(0)``.

    Parameters
    ----------
    decay, lone_leaves, on
        As for :class:`SubsetTree`.

    Notes
    -----
    Only identical subtrees match, so time is linear in the pairs of trees that share each subtree.

    Examples
    --------
    >>> Subtree(decay=1.0)(["(NP (D the) (N cat))", "(NP (D a) (N cat))"])
    array([[3., 1.],
           [1., 3.]])
    """

    _when_too_large: ClassVar = "Use a smaller decay."
    max_depth: ClassVar[None] = None  # type: ignore[misc]  # a subtree goes down to the leaves

    decay: Hyperparameter = hyperparameter(0.4, DECAY_BOUNDS, zero=False)
    lone_leaves: bool = False
    on: str | None = None

    @property
    def _only_identical(self) -> bool:
        return True

    def _label_settings(self) -> list[tuple[str, object]]:
        return [("decay", self.decay), ("frontier", Fixed(0.0))]
