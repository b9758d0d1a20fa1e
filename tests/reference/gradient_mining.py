"""Gradient mining of Qian and Liu (2015, algorithm 1) from its definition, in two ways that agree.

``mine`` looks at every feature of every output. ``mine_by_candidates`` goes from order to order as printed: it looks
only at features that survived the last pass or whose components survive. Two signs of the paper are corrected: the loss
is the score of the prediction less that of the right output, and the penalty moves a weight towards 0. The penalty is
a proximal step, so that weights become exactly 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from reference.feature_spaces import Space

Feature = Any
Features = set[Feature]
INTERCEPT = "intercept"


@dataclass(frozen=True)
class Example:
    """The features, the base value and the cost of each output, and the index of the right output.

    The features of an output are a set. A Counter also works and counts occurrences, for which pruning is not safe.
    """

    outputs: Sequence[Collection[Feature]]
    right: int
    base: Sequence[float]
    costs: Sequence[float]


@dataclass(frozen=True)
class Pass:
    """What a pass met before it changed anything, and which features survived, by order; None if it stopped."""

    objective: float
    n_mispredicted: int
    survivors: dict[int, Features] | None


@dataclass(frozen=True)
class Mined:
    """The survivors of the last completed pass by order from 1 on, the weights that are not 0, and all passes."""

    survivors: dict[int, Features]
    weights: dict[Feature, float]
    history: list[Pass]


# From the order, the old survivors of this order, and the new survivors of the order below.
Candidates = Callable[[int, Features, Features], Features]


def mine(
    examples: Sequence[Example],
    C: float,
    space: Space,
    *,
    max_order: int,
    max_passes: int,
    step: float = 1.0,
    steps: str = "square root",
    tolerance: float = 0.0,
) -> Mined:
    """Mine by the plain definition: every feature of every output is a candidate in every pass."""
    listed = by_order(examples, space)

    def candidates(order: int, old: Features, below: Features) -> Features:
        return listed.get(order, set())

    return descend(examples, C, space, candidates, max_order, max_passes, step, steps, tolerance)


def mine_by_candidates(
    examples: Sequence[Example],
    C: float,
    space: Space,
    *,
    max_order: int,
    max_passes: int,
    step: float = 1.0,
    steps: str = "square root",
    tolerance: float = 0.0,
) -> Mined:
    """Mine as printed: candidates are the old survivors and the features all of whose components survived."""
    listed = by_order(examples, space)

    def candidates(order: int, old: Features, below: Features) -> Features:
        if order == 1:
            return listed.get(1, set())
        return old | {feature for feature in listed.get(order, set()) if space.components(feature) <= below}

    return descend(examples, C, space, candidates, max_order, max_passes, step, steps, tolerance)


def descend(
    examples: Sequence[Example],
    C: float,
    space: Space,
    candidates: Candidates,
    max_order: int,
    max_passes: int,
    step: float,
    steps: str,
    tolerance: float,
) -> Mined:
    """Pass over all examples until the objective hardly changes; each pass predicts first and then moves weights."""
    always = by_order(examples, space).get(0, set())
    weights: dict[Feature, float] = {}
    survivors: dict[int, Features] = {order: set() for order in range(1, max_order + 1)}
    history: list[Pass] = []
    for t in range(1, max_passes + 1):
        predicted = [predict(example, weights) for example in examples]
        wrong = [(example, y) for example, y in zip(examples, predicted, strict=True) if y != example.right]
        value = objective(examples, C, space, weights)
        if history and abs(value - history[-1].objective) < tolerance * max(1.0, abs(history[-1].objective)):
            history.append(Pass(value, len(wrong), None))
            break
        plus: Counter[Feature] = Counter()
        minus: Counter[Feature] = Counter()
        for example, y in wrong:
            plus.update(example.outputs[example.right])
            minus.update(example.outputs[y])

        rate = step if steps == "constant" else step / math.sqrt(t)
        for feature in always:
            weights[feature] = weights.get(feature, 0.0) + rate * (plus[feature] - minus[feature])
        new: dict[int, Features] = {0: always}
        for order in range(1, max_order + 1):
            new[order] = {
                feature
                for feature in candidates(order, survivors[order], new[order - 1])
                if max(plus[feature], minus[feature]) > C or weights.get(feature, 0.0) != 0
            }
            for feature in new[order]:
                moved = weights.get(feature, 0.0) + rate * (plus[feature] - minus[feature])
                weights[feature] = soft(moved, rate * C)
        survivors = {order: new[order] for order in range(1, max_order + 1)}
        history.append(Pass(value, len(wrong), survivors))
    return Mined(survivors, {feature: weight for feature, weight in weights.items() if weight != 0}, history)


def by_order(examples: Sequence[Example], space: Space) -> dict[int, Features]:
    """All features of all outputs, by order."""
    found: dict[int, Features] = {}
    for example in examples:
        for output in example.outputs:
            for feature in output:
                found.setdefault(space.order(feature), set()).add(feature)
    return found


def score(example: Example, y: int, weights: dict[Feature, float]) -> float:
    """The base value of an output plus the weights of its features, added so that their order does not matter."""
    counts = Counter(example.outputs[y])
    return math.fsum([example.base[y], *(weights.get(feature, 0.0) * n for feature, n in counts.items())])


def predict(example: Example, weights: dict[Feature, float]) -> int:
    """The output with the highest sum of score and cost: among equals the right one, otherwise the first."""
    sums = [score(example, y, weights) + cost for y, cost in enumerate(example.costs)]
    return example.right if sums[example.right] == max(sums) else sums.index(max(sums))


def loss(example: Example, weights: dict[Feature, float]) -> float:
    """How far the highest sum of score and cost is above the score of the right output."""
    y = predict(example, weights)
    return score(example, y, weights) + example.costs[y] - score(example, example.right, weights)


def objective(examples: Sequence[Example], C: float, space: Space, weights: dict[Feature, float]) -> float:
    """The penalty of all weights but those of order 0, plus all losses."""
    penalised = math.fsum(abs(weight) for feature, weight in weights.items() if space.order(feature) > 0)
    return C * penalised + math.fsum(loss(example, weights) for example in examples)


def soft(x: float, threshold: float) -> float:
    """The proximal step of the penalty: closer to 0 by the threshold, and not beyond 0."""
    return math.copysign(max(abs(x) - threshold, 0.0), x)


def classification(items: Sequence[Collection[Feature]], labels: Sequence[int], n_classes: int) -> list[Example]:
    """One example for each item, given by its features: output y is class y and has the features (y, feature).

    With two classes, class 0 has no features. Each class that has features also has (y, INTERCEPT).
    """
    return [
        Example(
            outputs=[
                {(y, feature) for feature in (*features, INTERCEPT)} if y > 0 or n_classes > 2 else set()
                for y in range(n_classes)
            ],
            right=label,
            base=[0.0] * n_classes,
            costs=[float(y != label) for y in range(n_classes)],
        )
        for features, label in zip(items, labels, strict=True)
    ]


def by_class(space: Space) -> Space:
    """The space of pairs of a class and a feature; an intercept has order 0."""

    def order(pair: Feature) -> int:
        return 0 if pair[1] == INTERCEPT else space.order(pair[1])

    def components(pair: Feature) -> Features:
        return {(pair[0], component) for component in space.components(pair[1])}

    return Space(order, components)


def frequent(examples: Sequence[Example], C: float) -> Features:
    """The features that more than C outputs have, right and wrong ones of all examples together."""
    counts = Counter(feature for example in examples for output in example.outputs for feature in set(output))
    return {feature for feature, n in counts.items() if n > C}
