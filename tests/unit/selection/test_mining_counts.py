"""What mining reads and counts: rows of features, scores, memory, interruptions, and real sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from espalier import _core
from espalier.errors import MemoryBudgetError
from espalier.jobs.schedule import Schedule
from espalier.kernels import DependencySubtree, Polynomial, Spectrum, Subsequence, SubsetTree
from espalier.selection import counting as counting_module
from espalier.selection.grown_features import Grown, Problem, scores_of
from espalier.selection.mining import Mining
from espalier.spaces.grown import Atoms, space_for
from espalier.structures import DependencyTree, Fragment, read_conllu
from mined_problems import CASES, TEMPLATES, Case, Drawn, drawn, inputs_of, mined, spelled_features
from reference.feature_spaces import POLYNOMIAL, dependency_features, dependency_occurrences
from reference.gradient_mining import Example, frequent, mine

MAX_ORDER = 3
NO_ROOTS, TWO_CLASSES = np.empty(0, np.int32), np.array([-1, 0], np.int32)
each_space = pytest.mark.parametrize("name", CASES)
SCHEDULE = Schedule.of(1, "1 GB")


def whole_space(case: Case, rows: list[Any], bounds: Any, max_order: int) -> tuple[Grown, Atoms, Any, list[Any]]:
    """All features of some rows: the trie, the atoms, the graphs and the text of each feature."""
    space, inputs = space_for(case.kernel), inputs_of(rows)
    atoms = space.learned(inputs, bounds, 0.0, SCHEDULE)
    graphs = space.graphs(inputs, bounds, atoms, SCHEDULE)
    grown = Grown.empty(space, len(atoms), atoms.top, 1, 1)
    for order in range(1, max_order + 1):
        opened = np.ones(len(grown.weight), np.uint8)
        found = _core.count_frequent(
            graphs, grown.trie, len(atoms), grown.first(opened), opened, order, 0.0, 1 << 28, "", 2, None
        )
        grown.insert(found["key"], order)
    return grown, atoms, graphs, spelled_features(grown, atoms, NO_ROOTS)


def rows_of(grown: Grown, graphs: Any, spelled: list[Any], wanted: Any, n_threads: int = 1) -> list[dict[str, int]]:
    opened = np.ones(len(grown.weight), np.uint8)
    found = _core.feature_rows(
        graphs, grown.trie, grown.n_atoms, grown.first(opened), opened, wanted, MAX_ORDER + 1, n_threads, None
    )
    return [
        {spelled[node]: int(n) for node, n in zip(found["node"][a:b], found["count"][a:b], strict=True)}
        for a, b in zip(found["start"][:-1], found["start"][1:], strict=True)
    ]


def occurrences(name: str, item: Any) -> Counter[str]:
    """How often each feature occurs in an item; of fragments, in how many of its different subtrees."""
    case = CASES[name]
    if name.startswith("arcs"):
        found = dependency_occurrences(item, TEMPLATES, MAX_ORDER, case.kernel.root)
        return Counter({case.text(feature): n for feature, n in found.items()})
    if name == "fragments":
        listed = [Fragment.from_brackets(case.text(feature)) for feature in case.features(item, MAX_ORDER)]
        return Counter(str(fragment) for fragment in listed for node in set(item) if fragment.matches(node))
    if name.startswith("sets"):
        return Counter(map(case.text, case.features(item, MAX_ORDER)))
    tokens: list[Any] = [[symbol] for symbol in item] if isinstance(item, list) else []
    if not isinstance(item, list):
        tokens = [((tag,), (tag, word)) for tag, word in zip(item.tags, item.words, strict=True)]
    has_gaps = name in ("subsequences", "tagging with gaps")
    return Counter(
        case.text(chosen)
        for order in range(1, MAX_ORDER + 1)
        for places in combinations(range(len(tokens)), order)
        if has_gaps or places[-1] - places[0] == order - 1
        for chosen in product(*(tokens[place] for place in places))
    )


def groups(name: str, seed: int) -> Drawn:
    return drawn(name, np.random.default_rng(seed), 1, MAX_ORDER, ties=True)


@each_space
def test_rows_have_the_features_and_how_often_they_occur(name: str) -> None:
    for seed in range(3):
        problem = groups(name, seed)
        grown, _, graphs, spelled = whole_space(problem.case, problem.rows, problem.bounds, MAX_ORDER)
        expected = [dict(occurrences(name, row)) for row in problem.rows]
        wanted = np.ones(len(spelled), np.uint8)
        assert rows_of(grown, graphs, spelled, wanted) == expected
        assert rows_of(grown, graphs, spelled, wanted, n_threads=2) == expected
        some = (np.arange(len(spelled)) % 3 == 0).astype(np.uint8)
        kept = {spelled[node] for node in np.flatnonzero(some)}
        expected = [{text: n for text, n in row.items() if text in kept} for row in expected]
        assert rows_of(grown, graphs, spelled, some) == expected


@pytest.mark.parametrize("presence", [True, False])
@each_space
def test_scores_are_sums_of_the_weights_of_listed_features(name: str, presence: bool) -> None:
    """Scores of candidates are compared inside of a group only, so a constant of each group is left out."""
    for seed in range(3):
        problem = groups(name, seed)
        grown, _, graphs, spelled = whole_space(problem.case, problem.rows, problem.bounds, MAX_ORDER)
        rng = np.random.default_rng(seed)
        grown.weight = rng.integers(-2, 3, len(spelled)) / 2.0
        grown.weight[0] = 0.0
        weight_of = dict(zip(spelled, grown.weight.tolist(), strict=True))
        listed = [occurrences(name, row) for row in problem.rows]
        expected = np.array([sum(weight_of[f] * (1 if presence else n) for f, n in row.items()) for row in listed])
        for n_threads in (1, 2):
            schedule = Schedule.of(n_threads, "1 GB")
            scores = scores_of(grown, graphs, NO_ROOTS, MAX_ORDER, schedule, presence=presence)
            for first, last in zip(problem.bounds[:-1], problem.bounds[1:], strict=True):
                own, twin = scores[first:last], expected[first:last]
                assert (own - own[0]).tolist() == (twin - twin[0]).tolist()
        alone = np.arange(len(problem.rows) + 1)
        graphs = grown.space.graphs(inputs_of(problem.rows), alone, _learned(problem), SCHEDULE)
        grown.intercept = np.array([0.0, 0.25])
        scores = scores_of(grown, graphs, TWO_CLASSES, MAX_ORDER, SCHEDULE, presence=presence)
        assert scores.reshape(-1, 2).tolist() == [[0.0, value + 0.25] for value in expected]


def _learned(problem: Drawn) -> Atoms:
    return space_for(problem.case.kernel).learned(inputs_of(problem.rows), problem.bounds, 0.0, SCHEDULE)


def test_figure_1_has_60_sub_feature_trees() -> None:
    """The paper says 64. Two of the 60 are equal: both today and game are a noun below the verb."""
    words, tags = ["He", "won", "the", "game", "today"], ["PRP", "VBD", "DT", "NN", "NN"]
    tree = DependencyTree(words, tags, [2, 0, 4, 2, 2], [""] * 5)
    case = replace(CASES["arcs"], kernel=DependencySubtree(features=("words", "tags")))
    grown, _, graphs, spelled = whole_space(case, [tree], np.array([0, 1]), 4)
    assert len(spelled) - 1 == 59
    (row,) = rows_of(grown, graphs, spelled, np.ones(len(spelled), np.uint8))
    assert sum(row.values()) == 60
    assert row["[tags: VBD NN]"] == 2


def rival_of(tree: DependencyTree, rng: np.random.Generator) -> DependencyTree:
    """The tree with one word, or a few, below other words that are not below them."""
    heads = list(tree.heads)
    for word in rng.choice(len(heads), min(len(heads), 2), replace=False) + 1:
        others = [0, *(k for k in range(1, len(heads) + 1) if not _is_above(heads, int(word), k))]
        heads[word - 1] = int(rng.choice(others))
    return DependencyTree(tree.words, tree.tags, heads, [""] * len(heads))


def _is_above(heads: list[int], word: int, other: int) -> bool:
    while other not in (0, word):
        other = heads[other - 1]
    return other == word


@pytest.fixture(scope="module")
def sentences(data: Path) -> list[tuple[DependencyTree, DependencyTree]]:
    """Two hundred gold trees of at most 9 words, each with a rival."""
    path = data / "ewt_ud" / "en_ewt-ud-dev.conllu.gz"
    if not path.is_file():
        pytest.skip(f"no sentences at {path}")
    rng = np.random.default_rng(0)
    trees = [tree for tree in read_conllu(path) if 2 <= len(tree.words) <= 9][:200]
    return [(tree, rival_of(tree, rng)) for tree in trees]


REAL = ("words", "tags", "head word, tag", "head tag, tag, length, direction")


@pytest.mark.parametrize("C", [1.0, 2.0, 3.0])
def test_real_sentences_have_the_features_of_the_whole_space(
    sentences: list[tuple[DependencyTree, DependencyTree]], C: float
) -> None:
    listed = [
        Example([dependency_features(tree, REAL, 4) for tree in pair], 0, [0.0, 0.0], [0.0, 1.0]) for pair in sentences
    ]
    # No other features can survive.
    often = frequent(listed, C)
    listed = [replace(example, outputs=[own & often for own in example.outputs]) for example in listed]
    case = replace(CASES["arcs"], kernel=DependencySubtree(features=REAL))
    rows = [tree for pair in sentences for tree in pair]
    problem = Drawn(case, listed, case.space, rows, np.arange(0, len(rows) + 1, 2), NO_ROOTS)
    settings = {"max_order": 4, "max_passes": 3, "step": 0.125, "steps": "constant"}
    expected = mine(listed, C, case.space, **settings)
    assert len(expected.history[0].survivors[4]) > 0
    for options in ({}, {"filter_memory": 1 << 16}):
        own, atoms = mined(problem, C, Schedule.of(2, "1 GB"), settings, **options)
        spelled = spelled_features(own.grown, atoms, NO_ROOTS)
        for nodes, twin, step in zip(own.survived, expected.history, own.history, strict=True):
            assert {spelled[node] for node in nodes} == {
                problem.spelled(feature) for found in twin.survivors.values() for feature in found
            }
            assert (step.objective, step.n_mispredicted) == (twin.objective, twin.n_mispredicted)
        assert {spelled[node]: own.grown.weight[node] for node in np.flatnonzero(own.grown.weight)} == {
            problem.spelled(feature): weight for feature, weight in expected.weights.items()
        }


def chain(words: str) -> DependencyTree:
    return DependencyTree(list(words), ["T"] * len(words), list(range(len(words))), [""] * len(words))


@pytest.mark.parametrize(
    ("kernel", "rows", "n_candidates"),
    [
        (DependencySubtree(features=("word",)), [chain("rabc"), chain("rab"), chain("rc")], [3, 2, 0]),
        (Polynomial(3), [np.array([1, 1, 1]), np.array([1, 1, 0]), np.array([1, 0, 1])], [3, 3, 0]),
        (Spectrum(3), ["a b c", "a b", "c"], [3, 2, 0]),
        (Subsequence(3), ["a b c", "a b", "a c"], [3, 3, 0]),
        (SubsetTree(), ["(S (A a) (B b))", "(S (A a) (B c))", "(T (X x) (B b))"], [3, 2, 0]),
    ],
    ids=["arcs", "sets", "n-grams", "subsequences", "fragments"],
)
def test_features_with_a_rare_pair_are_no_candidates(kernel: Any, rows: list[Any], n_candidates: list[int]) -> None:
    """All atoms of the largest feature are in two items, and so is what it grows from, but not its last pair."""
    examples = [Example([set(), set()], 1, [0.0, 0.0], [1.0, 0.0])] * 3
    problem = Drawn(replace(CASES["sets"], kernel=kernel), examples, POLYNOMIAL, rows, np.arange(4), TWO_CLASSES)
    own, _ = mined(problem, 1.0, SCHEDULE, {"max_order": 3, "max_passes": 1})
    assert [step.n_candidates for step in own.history[0].orders] == n_candidates


def large_problem() -> tuple[Problem, Grown]:
    """Items of two classes with more combinations than the smallest budget can hold."""
    rng = np.random.default_rng(5)
    space = space_for(Polynomial(degree=3))
    rows = np.zeros((200, 64))
    for row in rows:
        row[rng.choice(64, 44, replace=False)] = 1
    inputs, bounds = inputs_of(list(rows)), np.arange(len(rows) + 1)
    atoms = space.learned(inputs, bounds, 1.0, SCHEDULE)
    labels = np.arange(len(rows), dtype=np.int32) % 2
    cost = np.array([[float(label != y) for y in range(2)] for label in labels]).ravel()
    graphs = space.graphs(inputs, bounds, atoms, SCHEDULE)
    start = np.arange(0, 2 * len(rows) + 1, 2)
    problem = Problem(graphs, start, labels, np.zeros(len(cost)), cost, TWO_CLASSES)
    return problem, Grown.empty(space, len(atoms), atoms.top, 1, 2)


def run_large(memory: Any, folder: str = "", n_threads: int = 1, progress: Any = None) -> Mining:
    problem, grown = large_problem()
    own = Mining(problem, grown, C=12.0, step=0.25, steps="constant", folder=folder)
    own.run(3, 2, 0.0, Schedule.of(n_threads, memory, progress))
    return own


def test_what_exceeds_the_memory_is_spilled_without_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run_large("1 GB")
    assert all(step.n_spilled == 0 for own in expected.history for step in own.orders)
    monkeypatch.setattr(counting_module, "_LEAST_MEMORY", 6_500_000)
    for n_threads in (1, 2):
        own = run_large(n_threads * 6_500_000, str(tmp_path), n_threads)
        assert any(step.n_spilled > 0 for taken in own.history for step in taken.orders)
        assert own.grown.trie.keys().tolist() == expected.grown.trie.keys().tolist()
        assert own.grown.weight.tolist() == expected.grown.weight.tolist()
        assert [taken.objective for taken in own.history] == [taken.objective for taken in expected.history]
    assert list(tmp_path.iterdir()) == []


def test_a_budget_that_is_too_small_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MemoryBudgetError, match=r"memory, is 976\.6 KiB"):
        run_large(1_000_000, str(tmp_path))
    monkeypatch.setattr(counting_module, "_LEAST_MEMORY", 6_500_000)
    with pytest.raises(MemoryBudgetError, match="a folder for temporary files"):
        run_large(6_500_000)


def test_an_error_of_progress_is_passed_on() -> None:
    reached: list[float] = []

    def interrupt(report: Any) -> None:
        reached.append(report.fraction)
        if report.fraction > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_large("1 GB", progress=interrupt)
    assert reached == sorted(reached)
