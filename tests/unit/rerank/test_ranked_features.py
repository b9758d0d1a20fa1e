"""The learner of the core against its slow twin: losses, margins, penalties, averages, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from espalier import _core
from espalier.jobs.schedule import Schedule
from espalier.kernels import Polynomial
from espalier.kernels.inputs import Inputs
from espalier.spaces.feature_tries import orders_of
from espalier.spaces.grown import Atoms, space_for
from espalier.spaces.selected import SelectedFeatures
from mined_problems import CASES
from reference.feature_ranking import Ranked, RankedGroup, learn, moves

LOSSES = ("perceptron", "softmax", "risk")
SCHEDULE = Schedule.of(1, "1 GB")
N_COLUMNS = 6


def all_sets(n_columns: int, max_order: int) -> SelectedFeatures:
    """Every set of at most ``max_order`` columns."""
    keys: list[int] = []
    node_of: dict[tuple[int, ...], int] = {(): 0}
    for order in range(1, max_order + 1):
        for columns in combinations(range(n_columns), order):
            keys.append(node_of[columns[:-1]] << 30 | (order > 1) << 24 | columns[-1])
            node_of[columns] = len(keys)
    atoms = Atoms(np.arange(n_columns, dtype=np.uint64), {})
    nodes = np.arange(1, len(keys) + 1, dtype=np.uint32)
    assert orders_of(np.array(keys, np.uint64), 1).max() == max_order
    return SelectedFeatures(
        Polynomial(max_order), atoms, np.array(keys, np.uint64), nodes, np.zeros((len(keys), 1)), ("choice",)
    )


def drawn_groups(seed: int, n: int = 14, *, base: bool = True) -> tuple[list[list[Any]], list[RankedGroup]]:
    """Groups of binary vectors, some alike, and what the slow twin reads; numbers are dyadic."""
    rng = np.random.default_rng(seed)
    rows, groups = [], []
    for _ in range(n):
        k = int(rng.integers(1, 6))
        own = [(rng.random(N_COLUMNS) < 0.5).astype(float) for _ in range(k)]
        right = int(rng.integers(k))
        costs = rng.integers(0, 4, k) / 2
        costs[right] = 0
        listed = [{((), f) for f in CASES["sets"].features(row, 3)} for row in own]
        scores = (rng.integers(-8, 8, k) / 8 if base else np.zeros(k)).tolist()
        rows.append(own)
        groups.append(RankedGroup(listed, right, scores, costs.tolist()))
    return rows, groups


def learned(
    rows: Sequence[Sequence[Any]], groups: Sequence[RankedGroup], passes: Sequence[Any], **settings: Any
) -> tuple[Ranked, list[float]]:
    """What the core learns, and the scores that it gives with averaged weights."""
    features = all_sets(N_COLUMNS, 3)
    bounds = np.cumsum([0, *map(len, rows)])
    inputs = Inputs.of(np.array([row for own in rows for row in own]))
    found = features.extracted(inputs, bounds, SCHEDULE, decay=settings.pop("decay", 1.0))
    own = {"margin": 1.0, "step": 1.0, "l1": 0.0, "l2": 0.0, **settings}
    learner = _core.RankingLearner(len(features), LOSSES.index(own.pop("loss")), **own)
    right = np.array([group.right for group in groups], np.int32)
    base, cost = (np.array([v for group in groups for v in getattr(group, name)]) for name in ("base", "costs"))
    wrong = [learner.run_pass(found, np.array(order), bounds, right, base, cost, None) for order in passes]
    sets = [frozenset(map(int, text.split(" & "))) for text in features.names_of()]
    weights, averaged = (
        dict(zip(sets, values.tolist(), strict=True)) for values in (learner.weights(), learner.averaged())
    )
    return Ranked(weights, averaged, wrong), found.scores(learner.averaged(), 2).tolist()


def assert_close(found: dict[Any, float], expected: dict[Any, float]) -> None:
    kept = {feature: value for feature, value in found.items() if feature in expected or value}
    assert kept == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"margin": 0.25, "step": 0.125, "decay": 0.5},
        {"margin": 0.0, "step": 0.5},
        {"l2": 0.25, "step": 0.25},
        {"l1": 0.0625, "step": 0.25},
        {"l1": 0.5, "step": 0.5},
        {"l1": 0.0625, "l2": 0.5, "step": 0.5, "decay": 0.5},
    ],
    ids=str,
)
def test_weights_are_those_of_the_definition(loss: str, options: dict[str, float]) -> None:
    for seed in range(4):
        rows, groups = drawn_groups(seed, base=seed > 0)
        rng = np.random.default_rng(seed)
        passes = [rng.permutation(len(groups)).tolist() for _ in range(3)]
        expected = learn(groups, passes, len, loss=loss, **options)
        found, _ = learned(rows, groups, passes, loss=loss, **options)
        assert_close(found.averaged, expected.averaged)
        assert found.n_mistakes == expected.n_mistakes
        assert_close(found.weights, expected.weights)


def test_scores_are_sums_of_weights_up_to_a_constant_of_the_group() -> None:
    rows, groups = drawn_groups(9)
    expected = learn(groups, [range(len(groups))], len, loss="softmax", decay=0.5)
    _, scores = learned(rows, groups, [np.arange(len(groups))], loss="softmax", decay=0.5)
    at = 0
    for own in rows:
        full = [
            sum(expected.averaged.get(f, 0.0) * 0.5 ** (len(f) - 1) for f in CASES["sets"].features(row, 3))
            for row in own
        ]
        found = scores[at : at + len(own)]
        at += len(own)
        assert np.subtract(found, found[0]).tolist() == pytest.approx(np.subtract(full, full[0]).tolist(), abs=1e-5)
        assert len(own) > 1 or found == [0.0]


def test_a_perceptron_starts_to_learn_although_all_scores_are_equal() -> None:
    rows = [[np.array([1.0, 0, 0, 0, 0, 0]), np.array([0.0, 1, 0, 0, 0, 0])]]
    groups = [RankedGroup([{((), frozenset({0}))}, {((), frozenset({1}))}], 1, [0.0, 0.0], [1.0, 0.0])]
    options: dict[str, Any] = {"loss": "perceptron", "margin": 0.0}
    found, _ = learned(rows, groups, [[0], [0]], **options)
    assert found.n_mistakes == [1, 0]
    assert {feature: weight for feature, weight in found.weights.items() if weight} == {
        frozenset({0}): -1.0,
        frozenset({1}): 1.0,
    }
    # What is as right as the target may be as good.
    alike = [RankedGroup(groups[0].candidates, 1, [0.0, 0.0], [0.0, 0.0])]
    assert learned(rows, alike, [[0]], **options)[0].n_mistakes == [0]
    # Other losses have a gradient there, and count no mistake.
    for loss in ("softmax", "risk"):
        found, _ = learned(rows, groups, [[0]], loss=loss, margin=0.0)
        assert found.n_mistakes == [0] and found.weights[frozenset({1})] == -found.weights[frozenset({0})] > 0


def test_moves_are_gradients_of_the_losses() -> None:
    group = RankedGroup([()] * 3, 1, [0.0] * 3, [2.0, 0.0, 1.0])
    scores = [0.5, -0.25, 0.75]

    def softmax(own: Any) -> Any:
        return np.log(np.exp(own).sum()) - own[1]

    def risk(own: Any) -> Any:
        return (np.exp(own) * group.costs).sum() / np.exp(own).sum()

    for loss, value in (("softmax", softmax), ("risk", risk)):
        for k in range(3):
            shift = 1e-6 * np.eye(3)[k]
            slope = (value(np.array(scores) + shift) - value(np.array(scores) - shift)) / 2e-6
            assert moves(group, scores, loss)[k] == pytest.approx(-slope, abs=1e-8)


def test_what_all_candidates_have_is_left_out_and_takes_no_room() -> None:
    space = space_for(Polynomial(3))
    rows = np.array([[1.0, 1, 0], [1.0, 1, 1], [1.0, 1, 0]])
    features, bounds = all_sets(3, 3), np.array([0, 2, 3])
    found = features.extracted(Inputs.of(rows), bounds, SCHEDULE)
    # Of the first group what has the third column: alone, in two pairs and in the triple; of the second nothing.
    assert found.n_features == 4 and len(found) == 2 and (found.n_bytes > 0).all()
    assert found.scores(np.ones(len(features), np.float32), 1).tolist() == [0.0, 4.0, 0.0]
    assert space.largest_order == 3
