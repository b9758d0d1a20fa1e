"""Examples to select from: groups of candidates, or items with classes, as the core reads them."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.rerank.listed import Cost, ListedGroups
from espalier.rerank.training import Target, check_readable, checked
from espalier.selection.grown_features import Problem
from espalier.spaces.grown import Atoms, GrownSpace
from espalier.structures.group import Group

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Examples:
    """Outputs of many examples.

    Attributes
    ----------
    inputs
        All candidates, group after group, or all items.
    bounds
        Where each example begins in the inputs.
    right
        Which candidate or class is right.
    base, cost
        By output, as for :class:`~espalier.selection.grown_features.Problem`.
    classes
        The classes, sorted; None for candidates.
    kind
        What the candidates are, such as ``"trees"``; None for items with classes.
    """

    inputs: Inputs
    bounds: Integers
    right: NDArray[np.int32]
    base: Floats
    cost: Floats
    classes: NDArray[Any] | None = None
    kind: str | None = None

    @property
    def start(self) -> Integers:
        """Where the outputs of each example begin."""
        if self.classes is None:
            return self.bounds
        return np.arange(len(self.right) + 1) * len(self.classes)

    @property
    def root_of(self) -> NDArray[np.int32]:
        """The root of each class: of two, the first has no features."""
        if self.classes is None:
            return np.empty(0, np.int32)
        n = len(self.classes)
        return np.array([-1, 0] if n == 2 else range(n), np.int32)

    def problem(self, space: GrownSpace, atoms: Atoms, schedule: Schedule) -> Problem:
        """The examples as graphs of atoms."""
        graphs = space.graphs(self.inputs, self.bounds, atoms, schedule)
        return Problem(graphs, self.start, self.right, self.base, self.cost, self.root_of)


def ranked(
    groups: Sequence[Group], kernel: Kernel, cost: Cost, score_weight: float, target: Target = "gold"
) -> Examples:
    """Groups with gold trees whose candidates the kernel reads; the parser's scores get a weight."""
    if isinstance(groups, Sized) and len(groups) and not any(isinstance(own, Group) for own in groups):
        raise TypeError("Features are selected from groups with gold trees, or from items and their classes: give y.")
    groups = checked(groups, "learned from", gold="to learn from")
    check_readable(kernel, groups)
    own = ListedGroups.of(groups, cost, target)
    return Examples(own.inputs, own.bounds, own.right, score_weight * own.scores, own.cost, kind=groups[0].kind)


def classified(X: Any, y: Any) -> Examples:
    """Items with classes."""
    inputs = Inputs.of(X)
    if len(inputs):  # of nothing the type cannot be told
        check_classification_targets(y)
    classes, right = np.unique(np.asarray(y), return_inverse=True)
    if len(right) != len(inputs):
        raise InputError(f"There are {len(inputs):,} items and {len(right):,} classes. Each item needs one class.")
    if not len(right):
        raise InputError("There are no items to select features from.")
    if len(classes) < 2:
        raise InputError(
            f"Features are selected to tell classes apart, and all items have the class {classes.tolist()[0]!r}."
        )
    n, k = len(right), len(classes)
    cost = np.ones((n, k))
    cost[np.arange(n), right] = 0.0
    return Examples(
        inputs, np.arange(n + 1), right.astype(np.int32).reshape(-1), np.zeros(n * k), cost.reshape(-1), classes
    )
