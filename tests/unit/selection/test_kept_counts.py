"""Counts that are kept from pass to pass and changed are those of counting everything anew, and of the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from espalier import _core
from espalier.jobs.schedule import Schedule
from espalier.kernels import DependencySubtree, Polynomial, Spectrum, Subsequence, SubsetTree
from espalier.selection import counting as counting_module
from espalier.selection.counted import Counted
from espalier.selection.counting import Counting
from espalier.selection.grown_features import Grown, Problem
from espalier.selection.mining import Mining
from espalier.spaces.grown import Atoms, space_for
from espalier.structures import DependencyTree
from mined_problems import CASES, TEMPLATES, Drawn, drawn, inputs_of, mined, spelled_features
from reference.gradient_mining import Example, mine, soft

N_PASSES = 9
RATE = 0.125
THREE = Polynomial(degree=3)
SCHEDULE = Schedule.of(1, "1 GB")
Predicted = NDArray[np.int32]
each_space = pytest.mark.parametrize("name", CASES)
each_task = pytest.mark.parametrize("n_classes", [1, 2, 3], ids=["groups", "two classes", "three classes"])


def joined(parts: list[Drawn]) -> Drawn:
    """The examples of some problems in one."""
    starts = np.cumsum([0, *(part.bounds[-1] for part in parts)])
    bounds = [part.bounds[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    examples = [own for part in parts for own in part.examples]
    rows = [row for part in parts for row in part.rows]
    return Drawn(parts[0].case, examples, parts[0].space, rows, np.concatenate([[0], *bounds]), parts[0].root_of)


def problem_of(name: str, rng: np.random.Generator, n_classes: int, max_order: int) -> Drawn:
    return joined([drawn(name, rng, n_classes, max_order, ties=True) for _ in range(3)])


def turns(rng: np.random.Generator, examples: list[Example]) -> list[Predicted]:
    """What is predicted in each pass: examples come and go, change their output, or stay; and all do so at once."""
    right = np.array([own.right for own in examples])
    n_outputs = np.array([len(own.outputs) for own in examples])
    out = [(rng.random(len(right)) * n_outputs).astype(np.int32)]
    for changing in (0.5, 0.2, 0.0, 0.5, 1.0, 0.1, 0.5, 0.2):
        drawn_now = np.where(rng.random(len(right)) < 0.4, right, (rng.random(len(right)) * n_outputs).astype(int))
        out.append(np.where(rng.random(len(right)) < changing, drawn_now, out[-1]).astype(np.int32))
    out[4] = right.astype(np.int32)  # nothing is mispredicted, and then much is
    assert len(out) == N_PASSES
    return out


class Definition:
    """Counts of every feature of every output, and weights."""

    def __init__(self, problem: Drawn, C: float) -> None:
        self.problem, self.C = problem, C
        self.weights: dict[Any, float] = {}
        self.slopes: dict[Any, int] = {}

    def pass_over(self, predicted: Predicted) -> None:
        plus: Counter[Any] = Counter()
        minus: Counter[Any] = Counter()
        for example, y in zip(self.problem.examples, predicted.tolist(), strict=True):
            if y != example.right:
                plus.update(example.outputs[example.right])
                minus.update(example.outputs[y])
        order = self.problem.space.order
        survivors = {own for own in plus | minus if order(own) and max(plus[own], minus[own]) > self.C}
        survivors |= {own for own, weight in self.weights.items() if weight != 0}
        self.slopes = {own: plus[own] - minus[own] for own in survivors}
        for own, slope in self.slopes.items():
            self.weights[own] = soft(self.weights.get(own, 0.0) + RATE * slope, RATE * self.C)


def miner(problem: Drawn, C: float, **options: Any) -> tuple[Mining, Atoms]:
    own, grown, atoms = problem.problem(C, SCHEDULE)
    return Mining(own, grown, C=C, **options), atoms


def restarted(own: Mining, C: float) -> Mining:
    """Mining that has the same features and has counted nothing yet."""
    grown = own.grown
    n_roots = own.problem.n_roots
    copied = Grown.empty(grown.space, grown.n_atoms, grown.top, n_roots, len(grown.intercept))
    keys = grown.trie.keys()[n_roots:]
    for key, order in zip(keys, grown.order[n_roots:], strict=True):
        copied.insert(np.array([key]), order)
    copied.weight = grown.weight.copy()
    return Mining(own.problem, copied, C=C)


def slopes_of(counted: list[Counted]) -> list[dict[int, float]]:
    return [dict(zip(own.nodes.tolist(), own.slope.tolist(), strict=True)) for own in counted]


def sizes(own: Mining) -> list[int]:
    assert own.counting.kept is not None
    return [len(counts) for counts in own.counting.kept.counts]


def assert_same(own: Mining, other: Mining) -> None:
    """Features, weights and survivors have the same numbers and bits."""
    a, b = own.grown, other.grown
    assert a.trie.keys().tolist() == b.trie.keys().tolist()
    for name in ("order", "weight", "survives", "intercept"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name


@each_task
@each_space
def test_after_every_pass_the_counts_are_those_of_counting_anew(name: str, n_classes: int) -> None:
    max_order = 4 if name.startswith("arcs") else 3
    n_fresh = n_lost = 0
    for seed in range(3):
        rng = np.random.default_rng([seed, n_classes])
        C = [1.0, 2.0, 3.5][seed]
        problem = problem_of(name, rng, n_classes, max_order)
        kept, atoms = miner(problem, C)
        anew, threads = miner(problem, C)[0], miner(problem, C)[0]
        definition = Definition(problem, C)
        for t, predicted in enumerate(turns(rng, problem.examples)):
            fresh = restarted(kept, C)
            before = set(np.flatnonzero(kept.grown.survives).tolist()), len(kept.grown.weight)
            anew.counting.kept = None
            counted = [own.count(predicted, max_order, SCHEDULE) for own in (kept, anew, fresh)]
            counted.append(threads.count(predicted, max_order, Schedule.of(2, "1 GB")))
            for others in counted[1:]:
                assert slopes_of(others) == slopes_of(counted[0])
            assert [own.n_candidates for own in counted[2]] == [own.n_candidates for own in counted[0]]
            assert sizes(fresh) == sizes(kept) == sizes(threads)
            definition.pass_over(predicted)
            spelled = spelled_features(kept.grown, atoms, problem.root_of)
            slopes = {spelled[node]: slope for own in slopes_of(counted[0]) for node, slope in own.items()}
            assert slopes == {problem.spelled(own): slope for own, slope in definition.slopes.items()}
            for own, found in zip((kept, anew, fresh, threads), counted, strict=True):
                own.move(found, predicted, RATE)
            assert_same(kept, anew)
            assert_same(kept, threads)
            n_fresh += t > 0 and len(kept.grown.weight) > before[1]
            n_lost += bool(before[0] - set(np.flatnonzero(kept.grown.survives).tolist()))
    assert n_fresh > 3 and n_lost > 3


@each_task
@each_space
def test_many_passes_are_those_of_the_definition(name: str, n_classes: int) -> None:
    """With steps so large that predictions flip back and forth."""
    problem = problem_of(name, np.random.default_rng([7, n_classes]), n_classes, 3)
    settings = {"max_order": 3, "max_passes": 12, "step": 2.0, "steps": "constant"}
    expected = mine(problem.examples, 2.0, problem.space, **settings)
    own, atoms = mined(problem, 2.0, SCHEDULE, settings)
    other, _ = mined(problem, 2.0, SCHEDULE, settings, filter_memory=1 << 12)  # counts everything anew
    assert other.counting.kept is None
    assert_same(own, other)
    rises = np.diff([step.objective for step in own.history]) > 0
    assert not rises.all() and (rises.any() or name == "fragments")
    spelled = spelled_features(own.grown, atoms, problem.root_of)
    for step, again, twin, nodes in zip(own.history, other.history, expected.history, own.survived, strict=True):
        assert step.objective == again.objective == twin.objective
        assert step.n_mispredicted == again.n_mispredicted == twin.n_mispredicted
        kept = {feature for survivors in (twin.survivors or {}).values() for feature in survivors}
        assert {spelled[node] for node in nodes} == {problem.spelled(feature) for feature in kept}
    weights = {spelled[node]: own.grown.weight[node] for node in np.flatnonzero(own.grown.weight)}
    order = problem.space.order
    assert weights == {problem.spelled(own): weight for own, weight in expected.weights.items() if order(own)}


def rows_problem(rows: Any, C: float, kernel: Any = THREE) -> tuple[Problem, Grown]:
    """Items of two classes, of which every other one is of the second."""
    space, inputs = space_for(kernel), inputs_of(list(rows))
    bounds, labels = np.arange(len(rows) + 1), np.arange(len(rows), dtype=np.int32) % 2
    atoms = space.learned(inputs, bounds, C, SCHEDULE)
    cost = (labels[:, None] != np.arange(2)).astype(float).ravel()
    roots = np.array([-1, 0], np.int32)
    graphs = space.graphs(inputs, bounds, atoms, SCHEDULE)
    problem = Problem(graphs, np.arange(0, 2 * len(rows) + 1, 2), labels, np.zeros(len(cost)), cost, roots)
    return problem, Grown.empty(space, len(atoms), atoms.top, 1, 2)


def leafy(rng: np.random.Generator, depth: int) -> str:
    """A tree with few productions."""
    label = str(rng.choice(["A", "A", "A", "B"]))
    if depth == 0:
        return f"({label} {label.lower()})"
    return f"({label} {' '.join(leafy(rng, depth - 1) for _ in range(int(rng.integers(1, 3))))})"


LARGE: dict[str, tuple[Any, Callable[[np.random.Generator], Any]]] = {
    "fragments": (SubsetTree(), lambda rng: leafy(rng, 5)),
    "sets": (THREE, lambda rng: (rng.random(16) < 0.6).astype(float)),
    "n-grams": (Spectrum(4), lambda rng: " ".join(rng.choice(["a", "b", "c"], 12))),
    "subsequences": (Subsequence(4), lambda rng: " ".join(rng.choice(["a", "b", "c", "d", "e"], 9))),
}


def wide(rng: np.random.Generator) -> Any:
    """A row that has more columns than a word has bits."""
    return (rng.random(150) < 0.6).astype(float)


@pytest.mark.parametrize(
    ("kernel", "item", "n_rows", "max_order"),
    [*((*own, 60, 4) for own in LARGE.values()), (THREE, wide, 24, 3)],
    ids=[*LARGE, "wide sets"],
)
def test_items_with_many_features(kernel: Any, item: Any, n_rows: int, max_order: int) -> None:
    """Some features become frequent long after their parts did."""
    rng = np.random.default_rng(0)
    rows = [item(rng) for _ in range(n_rows)]
    own, other = (Mining(*rows_problem(rows, 3.0, kernel), C=5.0) for _ in range(2))
    right = own.problem.right
    n_features = []
    for share in (0.3, 0.5, 0.7, 0.2, 0.6, 0.8, 0.4, 0.9, 1.0):
        predicted = np.where(rng.random(len(rows)) < share, 1 - right, right).astype(np.int32)
        found, expected = own.count(predicted, max_order, SCHEDULE), anew(other, predicted, max_order)
        assert slopes_of(found) == slopes_of(expected)
        n_features.append(len(own.grown.weight))
    assert len(set(n_features)) > 4 and own.grown.order.max() == max_order
    own.count(right, max_order, SCHEDULE)
    assert own.counting.kept is not None and not any(sizes(own))


@pytest.mark.parametrize(("C", "is_kept"), [(126.0, True), (127.0, True), (127.5, False), (128.0, False)])
def test_thresholds_up_to_127_are_kept(C: float, is_kept: bool) -> None:
    """Features of two columns stay at the threshold, pass it by one, or by two, and leave it again."""
    assert _core.MOST_KEPT_THRESHOLD == 127.0
    rows = np.zeros((300, 4))
    rows[:, 0] = 1
    for column, n in enumerate((127, 128, 129), 1):
        rows[1 : 2 * n : 2, column] = 1
    problem, grown = rows_problem(rows, 0.0)
    own = Mining(problem, grown, C=C)
    other = Mining(*rows_problem(rows, 0.0), C=C)
    assert (own.counting.kept is not None) is is_kept
    mispredicted = np.where(problem.right == 1, 0, 1).astype(np.int32)
    fewer = np.where(np.arange(300) < 40, problem.right, mispredicted)
    for predicted in (problem.right, fewer, mispredicted, fewer, mispredicted, problem.right):
        other.counting.kept = None
        found, expected = (miner.count(predicted, 2, SCHEDULE) for miner in (own, other))
        assert slopes_of(found) == slopes_of(expected)
        assert own.grown.survives.tolist() == other.grown.survives.tolist()


def lists_problem(seed: int, C: float = 2.0) -> tuple[Problem, Grown]:
    """Lists of trees over the same few words, which differ in one or two heads; so features are in many places."""
    rng = np.random.default_rng(seed)
    rows, start = [], [0]
    for _ in range(40):
        n = int(rng.integers(4, 11))
        words, tags = (rng.choice(values, n).tolist() for values in (["a", "b"], ["N", "V"]))
        heads = [0, *(int(rng.integers(1, k + 1)) for k in range(1, n))]
        for _ in range(int(rng.integers(2, 6))):
            own = list(heads)
            for k in rng.integers(1, n, 2).tolist():
                own[k] = int(rng.integers(1, k + 1))
            rows.append(DependencyTree(words, tags, own, [""] * n))
        start.append(len(rows))
    space, inputs, bounds = space_for(DependencySubtree(TEMPLATES, root=True)), inputs_of(rows), np.array(start)
    atoms = space.learned(inputs, bounds, C, SCHEDULE)
    right = np.array([rng.integers(n) for n in np.diff(bounds)], np.int32)
    cost = np.ones(len(rows))
    cost[bounds[:-1] + right] = 0
    graphs = space.graphs(inputs, bounds, atoms, SCHEDULE)
    problem = Problem(graphs, bounds, right, np.zeros(len(rows)), cost, np.empty(0, np.int32))
    return problem, Grown.empty(space, len(atoms), atoms.top, 1, 1)


def turns_of(problem: Problem, seed: int) -> list[Predicted]:
    outputs = [[()] * n for n in np.diff(problem.start).tolist()]
    examples = [Example(own, right, [], []) for own, right in zip(outputs, problem.right.tolist(), strict=True)]
    return turns(np.random.default_rng(seed), examples)


def anew(own: Mining, predicted: Predicted, max_order: int) -> list[Counted]:
    own.counting.kept = None
    return own.count(predicted, max_order, SCHEDULE)


@pytest.mark.parametrize("seed", range(3))
def test_lists_whose_trees_share_most_of_their_arcs(seed: int) -> None:
    own, other, threads = (Mining(*lists_problem(seed), C=2.0) for _ in range(3))
    for predicted in [*turns_of(own.problem, seed), *turns_of(own.problem, seed + 9)]:
        found, again = own.count(predicted, 4, SCHEDULE), threads.count(predicted, 4, Schedule.of(2, "1 GB"))
        assert slopes_of(found) == slopes_of(again) == slopes_of(anew(other, predicted, 4))
        assert [step.n_counted for step in found] == [step.n_counted for step in again]
        for mining in (own, other, threads):
            mining.move(found, predicted, RATE)
        assert_same(own, other)
    assert len(own.grown.weight) > 900 and own.grown.order.max() == 4
    own.count(own.problem.right, 4, SCHEDULE)
    assert own.counting.kept is not None and sizes(own) == [0, 0, 0, 0]
    assert not own.counting.kept.plus.any() and not own.counting.kept.minus.any()


@pytest.mark.parametrize("most", [0, 3])
@pytest.mark.parametrize("n_few", [0, 2], ids=["many at once", "few at first"])
def test_counts_that_need_more_than_their_share_are_no_longer_kept(
    monkeypatch: pytest.MonkeyPatch, most: int, n_few: int
) -> None:
    """The pass that meets the limit counts as all others do, and tells as many candidates."""
    plenty, own = (Mining(*lists_problem(0), C=2.0) for _ in range(2))
    right = plenty.problem.right
    few = [np.where(np.arange(len(right)) == k, 1 - np.minimum(right, 1), right).astype(np.int32) for k in range(n_few)]
    was_kept = []
    for predicted in [*few, *turns_of(plenty.problem, 0)]:
        expected = plenty.count(predicted, 4, SCHEDULE)
        was_kept.append(own.counting.kept is not None)
        with monkeypatch.context() as patched:
            # So many counts of each of the 4096 partitions.
            patched.setattr(counting_module, "_KEPT_SHARE", int(1e9 / (8 * 4096 * (most + 0.5))))
            found = own.count(predicted, 4, SCHEDULE)
        assert slopes_of(found) == slopes_of(expected)
        if was_kept[-1]:
            assert [step.n_candidates for step in found] == [step.n_candidates for step in expected]
        for mining in (plenty, own):
            mining.move(expected, predicted, RATE)
        assert_same(plenty, own)
    assert plenty.counting.kept is not None
    n_kept = 1 + n_few if most else 1
    assert was_kept == [k < n_kept for k in range(len(was_kept))]


def test_an_interrupted_pass_leaves_no_counts_that_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Mining(*lists_problem(0), C=2.0)
    first, second, *rest = turns_of(own.problem, 0)
    own.count(first, 3, SCHEDULE)
    changes = Counting._changes

    def stopping(self: Mining, order: int, *arguments: Any) -> Any:
        if order == 3:
            raise KeyboardInterrupt
        return changes(self, order, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Counting, "_changes", stopping)
        with pytest.raises(KeyboardInterrupt):
            own.count(second, 3, SCHEDULE)
    for predicted in rest:
        expected = restarted(own, 2.0).count(predicted, 3, SCHEDULE)
        assert slopes_of(own.count(predicted, 3, SCHEDULE)) == slopes_of(expected)


def test_passes_may_go_up_to_different_orders() -> None:
    own = Mining(*lists_problem(1), C=2.0)
    for max_order, predicted in zip((2, 4, 4, 1, 3, 3), turns_of(own.problem, 1), strict=False):
        expected = restarted(own, 2.0).count(predicted, max_order, SCHEDULE)
        assert slopes_of(own.count(predicted, max_order, SCHEDULE)) == slopes_of(expected)


def test_what_is_held_includes_kept_counts() -> None:
    own, other = (Mining(*lists_problem(0), C=2.0) for _ in range(2))
    predicted = turns_of(own.problem, 0)[0]
    own.count(predicted, 4, SCHEDULE)
    anew(other, predicted, 4)
    n_kept = sum(sizes(own)) + len(own.grown.weight)
    assert 8 * n_kept <= own.counting.n_bytes - other.counting.n_bytes <= 3 * 8 * n_kept
    assert own.counting.memory(SCHEDULE) == other.counting.memory(SCHEDULE) - (
        own.counting.n_bytes - other.counting.n_bytes
    )
