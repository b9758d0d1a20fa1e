"""Sub-feature-trees of dependency trees: the kernel of Qian and Liu (2015)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.arcs import Arcs, check_templates
from espalier.corpus.soundness import FEATURE
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback, Reads
from espalier.kernels.checks import check_cotangent, check_finite
from espalier.kernels.hyperparameters import Fixed, Hyperparameter, Number, PerDimension, PerLabel, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.sequence_memory import ALL, DIAGONAL, SYMMETRIC, needed_for_one, threads_within
from espalier.kernels.sequence_plan import DECAY_BOUNDS
from espalier.structures.numbers import truth_value


@dataclass(frozen=True, repr=False)
class DependencySubtree(Kernel):
    r"""Count the subtrees two dependency trees share, every arc matched through any of its features.

    A subtree is a head with some of its children, neighbours in the sentence's order, and below each of them nothing or
    a subtree again. A *sub-feature-tree* picks one feature for each of its arcs; it weighs ``decay`` for each arc,
    times the weight of the template that the feature comes from. With :math:`m(x, y)` for the weight of what the arcs
    to :math:`x` and :math:`y` share,

    .. math:: E(x, y) = m(x, y) (1 + \Delta(x, y)), \quad R(x_i, y_j) = E(x_i, y_j) (1 + R(x_{i-1}, y_{j-1})), \quad
        \Delta(u, v) = \sum_{i, j} R(x_i, y_j)

    over the children of :math:`u` and :math:`v`; the kernel is the sum of :math:`\Delta` over all pairs of heads.

    Parameters
    ----------
    features
        The templates of features that an arc has: some of ``"words"`` (of head and child), ``"tags"``,
        ``"head word, tag"``, ``"head tag, word"``, ``"relation"``, ``"direction"``, ``"distance"``, and ``"own"``, the
        features that a :class:`DependencyTree` brings along for its arcs.
    decay
        The weight of one arc; 1 gives the paper's counts.
    weight
        The weight of a template. ``PerLabel(1.0)`` learns one for each.
    contiguous
        Whether the children that a subtree keeps must be neighbours, as in the paper's recursion.
    on
        The column to read where the input is a table.

    Notes
    -----
    A pair of trees costs the product of their sizes, in time and, for each thread, in memory; one that is beyond the
    budget is a MemoryBudgetError. The arc to a root has no head, and counts for nothing. There may be several roots,
    and arcs may cross: children stand in the order of the sentence, wherever their head does.

    Examples
    --------
    >>> from espalier import DependencyTree
    >>> tree = DependencyTree(["cats", "sleep"], ["NNS", "VBP"], [2, 0], ["nsubj", "root"])
    >>> DependencySubtree(("tags", "relation"), decay=1.0).value(tree, tree)
    2.0
    """

    features: tuple[str, ...] = ("words", "tags", "relation", "direction")
    decay: Number = hyperparameter(0.5, DECAY_BOUNDS, zero=False)
    weight: Hyperparameter = hyperparameter(Fixed(1.0))  # type: ignore[arg-type]
    contiguous: bool = True
    on: str | None = None

    def __post_init__(self) -> None:
        check_templates(self.features)
        object.__setattr__(self, "features", tuple(self.features))
        super().__post_init__()
        object.__setattr__(self, "contiguous", truth_value("contiguous", self.contiguous))
        if isinstance(self.decay, PerLabel | PerDimension):
            raise TypeError("decay is one number for all arcs; weight may be PerLabel, by template.")
        if isinstance(self.weight, PerDimension):
            raise TypeError("weight belongs to templates, not dimensions: use PerLabel.")
        if isinstance(self.weight, PerLabel):
            self._check_weight(self.weight)

    def _check_weight(self, weight: PerLabel) -> None:
        """Templates are all known beforehand: another name in a weight is a slip."""
        groups = dict(weight.groups)
        named = [
            *(name for name, _ in weight.values if name not in groups),
            *(x for group in groups.values() for x in group),
        ]
        for name in named:
            if name not in self.features:
                known = ", ".join(map(repr, self.features))
                raise ValueError(f"weight names {name!r}, which is no template of this kernel; it has {known}.")

    def reads(self) -> Reads:
        return "arcs"

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule) -> Plan:
        return ArcPlan(a.arcs(self.on, self.features), None if b is None else b.arcs(self.on, self.features), schedule)

    def _make_diagonal_plan(self, a: Inputs, schedule: Schedule) -> Plan:
        return ArcPlan(a.arcs(self.on, self.features), None, schedule, diagonal=True)


class ArcPlan(Plan):
    """Dependency trees to compare: those of two sides, of one with itself, or each with itself."""

    def __init__(self, a: Arcs, b: Arcs | None, schedule: Schedule, *, diagonal: bool = False) -> None:
        self._schedule = schedule
        self._pairs = DIAGONAL if diagonal else SYMMETRIC if b is None else ALL
        self._sides = (a, a if b is None else b)
        vocabulary = check_same_vocabulary(a.vocabulary, self._sides[1].vocabulary)
        self._templates = list(a.templates)
        self._arrays, self._part = _with_numbered_features(self._sides, len(vocabulary) + 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix, or of the diagonal."""
        n, m = (len(side) for side in self._sides)
        return (n,) if self._pairs == DIAGONAL else (n, m)

    @property
    def labels(self) -> list[str]:
        """The templates of features."""
        return list(self._templates)

    def bind(self, kernel: DependencySubtree) -> DependencySubtree:
        return replace(kernel, weight=hyper.bind_labels(kernel.weight, self._templates, leaves=False))

    def matrix(self, kernel: DependencySubtree) -> Matrix:
        out = np.empty(self.shape)
        arguments: Any = (*self._arguments(kernel, pulling_back=False), out.reshape(-1))
        _core.dependency_subtree_values(*arguments)
        self._schedule.done()
        check_finite(out, item="tree", advice="Use a smaller decay or weight.")
        return out

    def vjp(self, kernel: DependencySubtree) -> tuple[Matrix, Pullback]:
        return self.matrix(kernel), lambda cotangent: self._pull_back(kernel, cotangent)

    def _pull_back(self, kernel: DependencySubtree, cotangent: Matrix) -> dict[str, float]:
        cotangent = np.ascontiguousarray(check_cotangent(cotangent, self.shape))
        decay_bar, weight_bar = np.zeros(1), np.zeros(len(self._templates) + 1)  # the last would be the leaves'
        arguments: Any = (*self._arguments(kernel, pulling_back=True), cotangent.reshape(-1), decay_bar, weight_bar)
        _core.dependency_subtree_pull_back(*arguments)
        self._schedule.done()
        out = {} if hyper.is_fixed(kernel.decay) else {"decay": float(decay_bar[0])}
        return out | hyper.label_gradients("weight", kernel.weight, self._templates, weight_bar, leaves=False)

    def _arguments(self, kernel: DependencySubtree, *, pulling_back: bool) -> tuple[Any, ...]:
        weights = hyper.label_values(kernel.weight, self._templates)
        n_threads = self._threads(kernel, self._schedule, pulling_back=pulling_back)
        options = (n_threads, self._schedule.tell)
        decay = hyper.number_of(kernel.decay)
        return (*self._arrays, self._pairs, decay, weights, self._part, kernel.contiguous, *options)

    def _threads(self, kernel: DependencySubtree, schedule: Schedule, *, pulling_back: bool) -> int:
        """How many threads fit the memory."""
        sizes = [np.diff(side.arrays["start"]) for side in self._sides]
        # Tables of numbers over both trees, and as many again for their cotangents.
        bytes_per_cell = 8 * (3 if kernel.contiguous else 4) * (2 if pulling_back else 1)
        return threads_within(schedule, (sizes[0], sizes[1]), self._pairs, bytes_per_cell, item="tree")

    def _memory_needed(self, kernel: DependencySubtree, *, pulling_back: bool) -> int:
        return needed_for_one(
            lambda schedule: self._threads(kernel, schedule, pulling_back=pulling_back), self._schedule
        )


def _with_numbered_features(
    sides: tuple[Arcs, Arcs], n_texts: int
) -> tuple[list[dict[str, NDArray[Any]]], NDArray[np.int32]]:
    """The arrays of both sides with one number for each different feature, and the template of each."""
    keys = []
    for side in sides if sides[0] is not sides[1] else sides[:1]:
        template, first, second = (side.arrays[name].astype(np.int64) for name in FEATURE)
        keys.append((template * n_texts + first + 1) * n_texts + second)
    used, number = np.unique(np.concatenate(keys), return_inverse=True)
    numbers = np.split(number.reshape(-1).astype(np.int32), [len(keys[0])])
    arrays = [
        {name: array for name, array in side.arrays.items() if name not in FEATURE}
        | {"feature": numbers[k % len(keys)]}
        for k, side in enumerate(sides)
    ]
    return arrays, (used // n_texts**2).astype(np.int32)
