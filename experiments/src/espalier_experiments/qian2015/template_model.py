"""A reranker of hand-made templates: parts of trees with the tags of their words, and one word at a time.

Parts are arcs, neighbouring siblings, grandparents, grandparents with siblings, three siblings, all pairs of siblings
on one side, chains of three and four arcs, and three siblings with a grandparent. It learns like ``FeatureReranker``:
by expected errors, averaged, with the epoch and the weight of scores chosen on development groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.rerank import SCORE_SHARES, spread
from espalier.structures import DependencyTree, Group

Part = tuple[Any, ...]  # what it is, and its words, counted from 1; 0 is ROOT


def parts_of(tree: DependencyTree) -> Iterator[Part]:
    """All parts of a tree."""
    heads = (0, *tree.heads)
    sides: dict[tuple[int, bool], list[int]] = {}
    for word in range(1, len(heads)):
        sides.setdefault((heads[word], heads[word] < word), []).append(word)
    for (head, is_right), own in sides.items():
        outward = own if is_right else own[::-1]
        above = heads[head] if head else None
        for rank, word in enumerate(outward):
            yield "arc", head, word
            near = outward[max(rank - 2, 0) : rank]
            if near:
                yield "sibling", head, near[-1], word
            if len(near) > 1:
                yield "three siblings", head, *near, word
            if above is None:
                continue
            yield "grandparent", above, head, word
            if near:
                yield "grandparent and sibling", above, head, near[-1], word
            if len(near) > 1:
                yield "grandparent and three siblings", above, head, *near, word
            if above:
                yield "three arcs", heads[above], above, head, word
                if heads[above]:
                    yield "four arcs", heads[heads[above]], heads[above], above, head, word
        for first, second in combinations(outward, 2):
            yield "pair", head, first, second


def tagged_parts(tree: DependencyTree) -> list[tuple[Part, tuple[str, ...]]]:
    """All parts of a tree with the tags of their words."""
    tags = ("ROOT", *tree.tags)
    return [(part, tuple([tags[place] for place in part[1:]])) for part in parts_of(tree)]


def features_of(tree: DependencyTree, part: Part, tags: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """The features of a part: the tags of its words and on which side they stand; then with each of the words."""
    what, *places = part
    sides = tuple([place > places[0] for place in places[1:]])
    yield what, sides, tags
    for number, place in enumerate(places):
        if place:
            yield what, sides, tags, number, tree.words[place - 1]


@dataclass
class _Listed:
    """Groups with their features: those of parts that not all candidates have."""

    feature: list[NDArray[np.int64]]  # by group: all features of all candidates
    owner: list[NDArray[np.int64]]  # by group: the candidate of each, counted inside the group
    scores: list[NDArray[np.float64]]
    wrong: list[NDArray[np.float64]]


class TemplateModel:
    """Learns weights of templates from groups of dependency trees."""

    def __init__(
        self, *, step: float = 5.0, epochs: int = 4, learning_score_weight: float = 3.0, seed: int = 0
    ) -> None:
        self.step, self.epochs, self.learning_score_weight, self.seed = step, epochs, learning_score_weight, seed

    def fit(self, groups: Sequence[Group], development: Sequence[Group]) -> TemplateModel:
        """Learn from groups; keep the epoch and the weight of scores that are best on development groups."""
        self.numbers: dict[tuple[Any, ...], int] = {}
        data, held = self._listed(groups, new=True), self._listed(development, new=False)
        n = len(self.numbers)
        weight, moved = np.zeros(n), np.zeros(n)
        size = sum(map(len, data.feature)) / max(len(groups), 1)
        step, time = self.step / max(size, 1.0), 0
        rng = np.random.default_rng(self.seed)
        best: int | None = None
        for epoch in range(1, self.epochs + 1):
            for row in rng.permutation(len(groups)).tolist():
                time += 1
                feature, owner, wrong = data.feature[row], data.owner[row], data.wrong[row]
                value = np.bincount(owner, weight[feature], len(wrong)) + self.learning_score_weight * data.scores[row]
                share = np.exp(value - value.max())
                share /= share.sum()
                move = step * share * (share @ wrong - wrong)
                np.add.at(weight, feature, move[owner])
                np.add.at(moved, feature, (time - 1) * move[owner])
            mean = weight - moved / time
            errors, score_weight = self._best_weight(mean, held)
            if best is None or errors < best:
                best, self.weight, self.score_weight, self.epoch = errors, mean, score_weight, epoch
        return self

    def predict(self, groups: Sequence[Group]) -> list[Any]:
        """The candidate that is chosen in each group."""
        data = self._listed(groups, new=False)
        values = self._values(self.weight, data)
        sums = (own + self.score_weight * scores for own, scores in zip(values, data.scores, strict=True))
        return [group.candidates[int(own.argmax())] for group, own in zip(groups, sums, strict=True)]

    def _best_weight(self, weight: NDArray[np.float64], held: _Listed) -> tuple[int, float]:
        """The fewest errors on development groups, and the weight of scores that makes them."""
        values = self._values(weight, held)
        unit = spread(values) / (spread(held.scores) or 1.0)
        errors = []
        for share in SCORE_SHARES:
            found = zip(values, held.scores, held.wrong, strict=True)
            errors.append(int(sum(wrong[int((own + share * unit * scores).argmax())] for own, scores, wrong in found)))
        best = int(np.argmin(errors))
        return errors[best], SCORE_SHARES[best] * unit

    def _values(self, weight: NDArray[np.float64], data: _Listed) -> list[NDArray[np.float64]]:
        return [
            np.bincount(owner, weight[feature], len(scores)).astype(np.float64)
            for feature, owner, scores in zip(data.feature, data.owner, data.scores, strict=True)
        ]

    def _listed(self, groups: Sequence[Group], *, new: bool) -> _Listed:
        """Groups as arrays; new features get numbers, or are left out."""
        out = _Listed([], [], [], [])
        for group in groups:
            parts = [tagged_parts(own) for own in group.candidates]
            shared = set.intersection(*map(set, parts))
            feature: list[int] = []
            owner: list[int] = []
            for number, (tree, own) in enumerate(zip(group.candidates, parts, strict=True)):
                found = [name for part in own if part not in shared for name in features_of(tree, *part)]
                if new:
                    known = [self.numbers.setdefault(name, len(self.numbers)) for name in found]
                else:
                    known = [self.numbers[name] for name in found if name in self.numbers]
                feature += known
                owner += [number] * len(known)
            out.feature.append(np.array(feature, np.int64))
            out.owner.append(np.array(owner, np.int64))
            out.scores.append(np.array(group.scores))
            gold = group.gold.heads
            out.wrong.append(
                np.array([sum(a != b for a, b in zip(own.heads, gold, strict=True)) for own in group.candidates], float)
            )
        return out
