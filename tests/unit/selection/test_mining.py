"""Gradient mining gives exactly what its slow twin gives, in every space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from espalier.jobs.schedule import Schedule
from mined_problems import CASES, Drawn, drawn, mined, spelled_features
from reference.gradient_mining import INTERCEPT, Mined, mine

MAX_ORDER = 3
N_PASSES = 5
FEW, MANY = 512, 1 << 16  # bytes of a filter: features pass by mistake, or hardly any do
each_space = pytest.mark.parametrize("name", CASES)
each_task = pytest.mark.parametrize("n_classes", [1, 2, 3], ids=["groups", "two classes", "three classes"])


def schedule(n_threads: int = 1) -> Schedule:
    return Schedule.of(n_threads, "1 GB")


def assert_equal(problem: Drawn, C: float, settings: dict[str, Any], expected: Mined, **options: Any) -> None:
    """The history, the survivors and the weights of the selector are those of the slow twin."""
    n_threads = options.pop("n_threads", 1)
    mining, atoms = mined(problem, C, schedule(n_threads), settings, **options)
    grown = mining.grown
    # Steps by square roots are not dyadic: there the order of sums may change the last bits of a score.
    close = {"rel": 0, "abs": 0} if settings["steps"] == "constant" else {"rel": 1e-13, "abs": 1e-13}
    objectives = [twin.objective for twin in expected.history]
    assert [own.objective for own in mining.history] == pytest.approx(objectives, **close)
    for own, twin in zip(mining.history, expected.history, strict=True):
        assert own.n_mispredicted == twin.n_mispredicted
        by_order = {} if twin.survivors is None else twin.survivors
        assert {step.order: step.n_survivors for step in own.orders} == {k: len(v) for k, v in by_order.items()}
    spelled = spelled_features(grown, atoms, problem.root_of)
    survivors = [twin.survivors for twin in expected.history if twin.survivors is not None]
    for nodes, by_order in zip(mining.survived, survivors, strict=True):
        assert {spelled[node] for node in nodes} == {problem.spelled(f) for own in by_order.values() for f in own}
    weights = {spelled[node]: float(grown.weight[node]) for node in np.flatnonzero(grown.weight)}
    intercepts = {(y, INTERCEPT): float(value) for y, value in enumerate(grown.intercept) if value}
    assert weights | intercepts == {
        feature if problem.space.order(feature) == 0 else problem.spelled(feature): weight
        for feature, weight in expected.weights.items()
    }


@each_task
@each_space
def test_every_pass_is_that_of_the_definition(name: str, n_classes: int) -> None:
    n_high = n_orphans = 0
    variants = [{"filter_memory": MANY}, {"n_threads": 2}, {"filter_memory": FEW, "n_threads": 2}]
    for seed in range(5):
        rng = np.random.default_rng([seed, n_classes])
        C = [0.5, 1.0, 1.0, 2.0, 0.0][seed]
        steps = ["constant", "square root"][seed // 2 % 2]
        problem = drawn(name, rng, n_classes, MAX_ORDER, ties=steps == "constant")
        settings = {"max_order": MAX_ORDER, "max_passes": N_PASSES, "step": 0.5, "steps": steps}
        expected = mine(problem.examples, C, problem.space, **settings)
        assert_equal(problem, C, settings, expected)
        assert_equal(problem, C, settings, expected, **variants[seed % 3])
        n_high += sum(problem.space.order(feature) > 1 for feature in expected.weights)
        n_orphans += number_of_orphans(problem, expected)
    assert n_high > 0
    assert n_orphans > 0


def number_of_orphans(problem: Drawn, expected: Mined) -> int:
    """How many features survive a pass, because they have a weight, although a part of them does not."""
    n = 0
    for step in expected.history:
        alive = set().union(*(step.survivors or {}).values())
        n += sum(not problem.space.components(feature) <= alive for feature in alive)
    return n


@each_space
def test_mining_stops_when_the_objective_hardly_changes(name: str) -> None:
    problem = drawn(name, np.random.default_rng(3), 2, MAX_ORDER, ties=True)
    settings = {"max_order": MAX_ORDER, "max_passes": 40, "step": 0.125, "steps": "constant", "tolerance": 0.05}
    expected = mine(problem.examples, 1.0, problem.space, **settings)
    assert expected.history[-1].survivors is None
    assert_equal(problem, 1.0, settings, expected)
