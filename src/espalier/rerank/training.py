"""Groups made ready to learn from: one corpus of candidates, and which of each group is to win."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError
from espalier.parsing.evaluation import evaluate
from espalier.structures.groups import Group

Target = Literal["gold", "best"]


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The candidates of many groups in one corpus.

    Parameters
    ----------
    forest
        All candidates, group after group; the first of each group is its target.
    start
        Where each group starts.
    """

    forest: Forest
    start: NDArray[np.int64]

    @staticmethod
    def of(groups: Sequence[Group], target: Target, sample: int | None, rng: np.random.Generator) -> TrainingSet:
        """Draw candidates and put the target first: the gold tree, or the candidate that is most like it.

        Groups in which nothing but the target is left teach nothing, and are left out.
        """
        trees, start = [], [0]
        for row, group in enumerate(groups):
            if group.gold is None:
                raise InputError(f"Group {row} has no gold tree to learn from.")
            wanted = group.gold if target == "gold" else group.candidates[best_candidate(group)]
            chosen: Iterable[int] = range(len(group))
            if sample is not None and len(group) > sample:
                chosen = np.sort(rng.choice(len(group), sample, replace=False)).tolist()
            rivals = [group.candidates[k] for k in chosen if group.candidates[k] != wanted]
            if rivals:
                trees += [wanted, *rivals]
                start.append(len(trees))
        if not trees:
            raise InputError("No group has a candidate beside its target: there is nothing to learn.")
        return TrainingSet(Forest.from_trees(trees), np.array(start, np.int64))

    def __len__(self) -> int:
        return len(self.start) - 1


def quality(group: Group) -> NDArray[np.int64]:
    """Of each candidate: constituents shared with the gold tree, of the gold tree, and of the candidate."""
    found = evaluate([group.gold] * len(group), group.candidates)
    return np.array([found.matched, found.gold, found.parsed], np.int64)


def best_candidate(group: Group) -> int:
    """The candidate with the largest F1; the first of equals."""
    matched, gold, parsed = quality(group)
    return int(np.argmax(2.0 * matched / np.maximum(gold + parsed, 1)))


def intern_candidates(groups: Sequence[Group], vocabulary: Vocabulary) -> tuple[Forest, NDArray[np.int64]]:
    """All candidates over a vocabulary, which may grow, and where each group starts."""
    trees: list[Any] = [tree for group in groups for tree in group.candidates]
    start = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    return Forest.from_trees(trees, vocabulary=vocabulary), start
