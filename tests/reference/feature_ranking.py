"""Learning weights of features from groups, one step a group, from its definition: every feature at every step.

A candidate has occurrences: pairs of a place in the sentence and a feature. An occurrence that all candidates of a
group have decides nothing and is left out. A feature of order r counts ``decay ** (r - 1)`` each time it occurs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

Feature = Any
Occurrence = tuple[Any, Feature]


@dataclass(frozen=True)
class RankedGroup:
    """The occurrences of each candidate, which is right, what is added to their scores, and what each costs."""

    candidates: Sequence[Collection[Occurrence]]
    right: int
    base: Sequence[float]
    costs: Sequence[float]


@dataclass(frozen=True)
class Ranked:
    """The weights after the last step, their averages over all steps, and the number of mistakes of each pass."""

    weights: dict[Feature, float]
    averaged: dict[Feature, float]
    n_mistakes: list[int]


def learn(
    groups: Sequence[RankedGroup],
    passes: Sequence[Sequence[int]],
    order_of: Callable[[Feature], int],
    *,
    loss: str,
    margin: float = 1.0,
    step: float = 1.0,
    l1: float = 0.0,
    l2: float = 0.0,
    decay: float = 1.0,
) -> Ranked:
    """Learn in passes, each of which lists the groups in the order in which they are met."""
    values = [valued(group, order_of, decay) for group in groups]
    features = {feature for group in values for candidate in group for feature in candidate}
    weights = dict.fromkeys(features, 0.0)
    sums = dict.fromkeys(features, 0.0)  # of the weights after each step
    n_mistakes = []
    t = 0
    for order in passes:
        n_mistakes.append(0)
        for number in order:
            t += 1
            group, own = groups[number], values[number]
            for feature in features:
                shrunk = weights[feature] * (1 - step * l2)
                weights[feature] = math.copysign(max(abs(shrunk) - step * l1, 0.0), shrunk)
            scores = [
                base + math.fsum(weights[feature] * value for feature, value in candidate.items()) + margin * cost
                for candidate, base, cost in zip(own, group.base, group.costs, strict=True)
            ]
            n_mistakes[-1] += winner(group, scores, loss) != group.right
            for move, candidate in zip(moves(group, scores, loss), own, strict=True):
                for feature, value in candidate.items():
                    weights[feature] += step * move * value
            for feature in features:
                sums[feature] += weights[feature]
    return Ranked(weights, {feature: total / t for feature, total in sums.items()}, n_mistakes)


def valued(group: RankedGroup, order_of: Callable[[Feature], int], decay: float) -> list[dict[Feature, float]]:
    """What each feature counts in each candidate, without what all candidates share."""
    shared = set.intersection(*map(set, group.candidates))
    counts = [Counter(feature for _, feature in set(candidate) - shared) for candidate in group.candidates]
    return [{feature: n * decay ** (order_of(feature) - 1) for feature, n in own.items()} for own in counts]


def winner(group: RankedGroup, scores: Sequence[float], loss: str) -> int:
    """The candidate of the highest score, costs included: among equals the right one, otherwise the first.

    The perceptron's right candidate loses a tie against one that costs something.
    """
    best = max(scores)
    if scores[group.right] < best:
        return scores.index(best)
    rivals = [k for k, score in enumerate(scores) if score == best and group.costs[k] > 0 and k != group.right]
    return rivals[0] if rivals and loss == "perceptron" else group.right


def moves(group: RankedGroup, scores: Sequence[float], loss: str) -> list[float]:
    """How far a step of size 1 moves the score of each candidate, as the gradient of the loss says."""
    n, right = len(scores), group.right
    if loss == "perceptron":
        best = winner(group, scores, loss)
        return [float(k == right) - float(k == best) for k in range(n)]
    total = math.fsum(math.exp(score - max(scores)) for score in scores)
    chances = [math.exp(score - max(scores)) / total for score in scores]
    if loss == "softmax":
        return [float(k == right) - chances[k] for k in range(n)]
    assert loss == "risk"
    expected = math.fsum(chance * cost for chance, cost in zip(chances, group.costs, strict=True))
    return [chance * (expected - cost) for chance, cost in zip(chances, group.costs, strict=True)]
