"""Groups as arrays, for learners of features: all candidates in one list, which is right, and what the others cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.kernels.inputs import Inputs
from espalier.rerank.quality import alike, quality
from espalier.rerank.training import Target, checked
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Group

Floats = NDArray[np.float64]
Cost = Literal["zero-one", "errors"]


@dataclass(frozen=True, eq=False)
class ListedGroups:
    """The candidates of many groups.

    Attributes
    ----------
    inputs
        All candidates, group after group.
    bounds
        Where each group begins in them.
    scores
        The parser's score of each.
    right, cost
        Of groups to learn from: which candidate is right, and what each costs, 0 for the right one.
    """

    inputs: Inputs
    bounds: NDArray[np.int64]
    scores: Floats
    right: NDArray[np.int32]
    cost: Floats

    @staticmethod
    def of(groups: Sequence[Group], cost: Cost, target: Target = "gold") -> ListedGroups:
        """Groups to learn from; a gold tree that is not a candidate is added, with the lowest score of its group.

        A wrong candidate costs 1, or as many errors as it has. Dependency trees are found by their heads, and a gold
        tree that is added gets the tags of the first candidate. With the target ``"best"`` none is added: the best
        candidate is right, and others cost what they have more errors than it.
        """
        groups = checked(groups, "learned from", gold="to learn from")
        if not groups:
            raise InputError("There are no groups to learn from.")
        items: list[Any] = []
        bounds, right = [0], []
        scores: list[float] = []
        costs: list[float] = []
        for group in groups:
            same = [k for k, own in enumerate(group.candidates) if alike(own, group.gold)]
            if not same and target == "gold":
                own_scores = group.scores or (0.0,)
                gold_tree = tagged_alike(group.gold, group.candidates[0])
                group = Group([*group.candidates, gold_tree], [*own_scores, min(own_scores)], group.gold)
                same = [len(group) - 1]
            matched, gold, parsed = quality(group)
            errors = np.maximum(gold, parsed) - matched
            if not same:
                errors = errors - errors.min()
                same = np.flatnonzero(errors == 0).tolist()
            wrong = np.ones(len(group))
            wrong[same] = 0.0
            costs += (wrong if cost == "zero-one" else wrong * errors).tolist()
            right.append(same[0])
            scores += group.scores or ()
            items += group.candidates
            bounds.append(len(items))
        return ListedGroups(
            Inputs.of(items), np.array(bounds), np.array(scores), np.array(right, np.int32), np.array(costs)
        )

    @staticmethod
    def to_choose(groups: Sequence[Group]) -> ListedGroups:
        """Groups to choose in, with or without gold trees, which play no part."""
        groups = checked(groups, "chosen among")
        items = [own for group in groups for own in group.candidates]
        bounds = np.concatenate([[0], np.cumsum([len(group) for group in groups], dtype=np.int64)])
        scores = np.array([score for group in groups for score in group.scores or ()])
        return ListedGroups(Inputs.of(items), bounds, scores, np.empty(0, np.int32), np.empty(0))


def tagged_alike(gold: Any, candidate: Any) -> Any:
    """A gold dependency tree with the tags that the parser saw: otherwise it could be told by its tags."""
    return replace(gold, tags=candidate.tags) if isinstance(gold, DependencyTree) else gold
