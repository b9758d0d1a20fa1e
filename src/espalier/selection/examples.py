"""Examples to select from: groups of candidates, or items with classes, as the core reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.rerank.quality import alike, quality
from espalier.rerank.training import checked
from espalier.selection.mining import Problem
from espalier.spaces.grown import Atoms, GrownSpace
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Group

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Cost = Literal["zero-one", "errors"]


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
        By output, as for :class:`~espalier.selection.mining.Problem`.
    classes
        The classes, sorted; None for candidates.
    """

    inputs: Inputs
    bounds: Integers
    right: NDArray[np.int32]
    base: Floats
    cost: Floats
    classes: NDArray[Any] | None = None

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


def ranked(groups: Sequence[Group], cost: Cost, score_weight: float) -> Examples:
    """Groups with gold trees; a gold tree that is not a candidate is added, with the lowest score of its group."""
    groups = checked(groups, "learned from", gold="to learn from")
    if not groups:
        raise InputError("There are no groups to learn from.")
    items: list[Any] = []
    bounds, right = [0], []
    base: list[float] = []
    costs: list[float] = []
    for row, group in enumerate(groups):
        listed, scores = list(group.candidates), list(group.scores or ())
        _check_tags(row, listed)
        same = [k for k, own in enumerate(listed) if alike(own, group.gold)]
        if not same:
            listed.append(group.gold)
            scores.append(min(scores))
        whole = group if same else Group(listed, scores, group.gold)
        matched, gold, parsed = quality(whole)
        errors = np.maximum(gold, parsed) - matched
        right.append(same[0] if same else len(listed) - 1)
        # Candidates that are the same choice as the gold tree cost nothing.
        wrong = np.array([not alike(own, group.gold) for own in listed])
        costs += (wrong * (1.0 if cost == "zero-one" else errors)).tolist()
        base += [score_weight * score for score in scores]
        items += listed
        bounds.append(len(items))
    return Examples(
        Inputs.of(items), np.array(bounds), np.array(right, np.int32), np.array(base), np.array(costs, np.float64)
    )


def classified(X: Any, y: Any) -> Examples:
    """Items with classes."""
    inputs = Inputs.of(X)
    check_classification_targets(y)
    classes, right = np.unique(np.asarray(y), return_inverse=True)
    if len(right) != len(inputs):
        raise InputError(f"There are {len(inputs):,} items and {len(right):,} classes. Each item needs one class.")
    if len(classes) < 2:
        raise InputError(f"Features are selected to tell classes apart, and all items have the class {classes[:1]!r}.")
    n, k = len(right), len(classes)
    cost = np.ones((n, k))
    cost[np.arange(n), right] = 0.0
    return Examples(
        inputs, np.arange(n + 1), right.astype(np.int32).reshape(-1), np.zeros(n * k), cost.reshape(-1), classes
    )


def _check_tags(row: int, candidates: Sequence[Any]) -> None:
    """Refuse dependency trees of one group with different tags: arcs are compared as if all had those of the first."""
    first = candidates[0]
    if isinstance(first, DependencyTree):
        for k, own in enumerate(candidates):
            if own.tags != first.tags:
                raise InputError(
                    f"Candidate {k} of group {row} has other tags than the first. Parse each sentence with one tagging."
                )
