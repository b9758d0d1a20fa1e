"""Fits of the selector that are prepared, saved, interrupted, or given what cannot be selected from."""

from __future__ import annotations

import copy
import os
import pickle
import re
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.errors import MemoryBudgetError
from espalier.kernels import DependencySubtree, Polynomial, Spectrum, Subsequence, SubsetTree, Subtree, Tagging, fixed
from espalier.selection import KernelSpaceSelector, frequent_counts
from espalier.selection import counting as counting_module
from espalier.selection.grown_features import Grown
from espalier.structures import Group
from mined_problems import drawn
from reference.gradient_mining import INTERCEPT, Example, mine

ARCS = DependencySubtree(features=("words", "tags"))
ROWS = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]] * 8)
LABELS = np.array([1, 0, 0, 1] * 8)
SETTINGS: dict[str, Any] = {"max_passes": 4, "step": 0.5, "steps": "constant"}


def with_base(examples: list[Example], order: int, C: float, space: Any, folds: Any, n_folds: int) -> list[Example]:
    """The examples with what models of a lower order, learned from the other parts, add to each output."""
    found = list(examples)
    for fold in range(n_folds):
        known = [own for own, part in zip(examples, folds, strict=True) if part != fold]
        weights = mine(known, C, space, max_order=order, **SETTINGS).weights
        for row in np.flatnonzero(folds == fold).tolist():
            own = examples[row]
            added = [sum(weights.get(feature, 0.0) for feature in output) for output in own.outputs]
            found[row] = replace(own, base=[a + b for a, b in zip(own.base, added, strict=True)])
    return found


@pytest.mark.parametrize("name", ["arcs", "sets", "fragments"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_of_a_lower_order_score_only_what_they_have_not_seen(name: str, n_classes: int) -> None:
    problem = drawn(name, np.random.default_rng(n_classes), n_classes, 2, ties=True)
    examples = [replace(own, base=[0.0] * n_classes) for own in problem.examples]
    folds = np.random.default_rng(7).permutation(len(examples)) % 3
    expected = mine(with_base(examples, 1, 1.0, problem.space, folds, 3), 1.0, problem.space, max_order=2, **SETTINGS)
    rows = np.array(problem.rows) if name == "sets" else problem.rows
    options = {"pretrain": 1, "pretrain_folds": 3, "random_state": 7, "max_order": 2, "tolerance": 0.0, **SETTINGS}
    selector = KernelSpaceSelector(problem.case.kernel, C=1.0, **options).fit(rows, [own.right for own in examples])
    assert [own.objective for own in selector.history_] == [own.objective for own in expected.history]
    columns = [1] if n_classes == 2 else [0, 1, 2]
    weights = {(y, own.text): w for own in selector.features_ for y, w in zip(columns, own.weights, strict=True) if w}
    kept = {(y, problem.case.text(f)): w for (y, f), w in expected.weights.items() if f != INTERCEPT}
    assert weights == kept


def test_prepared_examples_leave_less_to_mine_but_not_nothing() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.random((60, 30)) < 0.5).astype(float)
    labels = rng.integers(0, 2, 60)  # nothing can be learned: only what was seen is predicted
    plain = KernelSpaceSelector(Polynomial(2), C=1.0, max_passes=12)
    prepared = KernelSpaceSelector(Polynomial(2), C=1.0, max_passes=12, pretrain=1, random_state=1)
    seen = KernelSpaceSelector(Polynomial(2), C=1.0, max_passes=12, max_order=1).fit(rows, labels).history_[-1]
    assert seen.n_mispredicted < prepared.fit(rows, labels).n_mispredicted_ < plain.fit(rows, labels).n_mispredicted_
    again = copy.deepcopy(prepared).fit(rows, labels)
    assert again.features_.weights.tolist() == prepared.features_.weights.tolist()
    other = copy.deepcopy(prepared).set_params(random_state=2).fit(rows, labels)
    assert other.history_[0].objective != prepared.history_[0].objective
    assert (
        KernelSpaceSelector(Polynomial(2), C=0.5, pretrain=2, max_passes=3).fit(rows[:3], [0, 1, 1]).n_mispredicted_
        == 3
    )


MODELS = {
    "arcs": (ARCS, dependency_groups(0), None, dependency_groups(1)),
    "fragments": (SubsetTree(), groups_of(0), None, groups_of(1)),
    "tagging": (Tagging(gap_decay=0.5), tagged_groups(0), None, tagged_groups(1)),
    "sets": (Polynomial(2), ROWS, LABELS, ROWS[::-1]),
    "subsequences": (Subsequence(3), [list("abc"), list("bca")] * 6, ["x", "y"] * 6, [list("cab")]),
    "n-grams": (Spectrum(3, of="characters"), ["abc", "bca"] * 6, [True, False] * 6, ["cab"]),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_selector_finds_the_same_features(tmp_path: Path, name: str) -> None:
    kernel, rows, y, new = MODELS[name]
    options: dict[str, Any] = {"C": 1.0, "max_passes": 3, "n_threads": 1, "folder": str(tmp_path)}
    selector = KernelSpaceSelector(kernel, **options).fit(rows, y)
    selector.save(tmp_path / "model")
    again = es.load(tmp_path / "model")
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert (again.n_threads, again.folder, again.C) == (None, None, 1.0)
    items = [own for group in new for own in group.candidates] if y is None else new
    expected = selector.transform(items)
    assert expected.nnz > 0
    for other in (again, pickle.loads(pickle.dumps(selector)), copy.deepcopy(selector)):
        found = other.transform(items)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
        assert list(other.features_) == list(selector.features_)
        assert getattr(other, "classes_", np.array([])).tolist() == getattr(selector, "classes_", np.array([])).tolist()
    assert again.trained_on() == selector.trained_on() == {"rows": len(rows), "features": len(selector.features_)}
    assert getattr(again, "n_features_in_", None) == getattr(selector, "n_features_in_", None)


class StopError(Exception):
    """Raised by a report of progress."""


def test_an_interrupted_selector_keeps_what_was_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = dependency_groups(0)
    whole = KernelSpaceSelector(ARCS, C=1.0, max_passes=1).fit(groups)
    stops = [3]

    def counting(self: Any, order: int, *rest: Any) -> Any:
        stops[0] -= 1
        if stops[0] < 0:
            raise StopError
        return count(self, order, *rest)

    count = counting_module.Counting._changes
    monkeypatch.setattr(counting_module.Counting, "_changes", counting)
    cut = KernelSpaceSelector(ARCS, C=1.0, max_passes=3, tolerance=0.0)
    with pytest.raises(StopError):
        cut.fit(groups)  # in the second pass, before order 2
    assert len(cut.history_) == 1 and cut.history_[0].objective == whole.history_[0].objective
    first = cut.history_[0].orders
    assert [own.n_survivors for own in first] == [own.n_survivors for own in whole.history_[0].orders]
    assert list(cut.features_) == list(whole.features_) and cut.transform([groups[0].gold]).nnz > 0
    stops[0] = 1
    cut = KernelSpaceSelector(ARCS, C=1.0)
    with pytest.raises(StopError):
        cut.fit(groups)  # in the first pass, before order 2
    assert cut.features_.order.max() == 1 and cut.history_ == []
    stops[0] = 0
    none = KernelSpaceSelector(ARCS, C=1.0)
    with pytest.raises(StopError):
        none.fit(groups)
    assert not hasattr(none, "features_") and none.history_ == []


@pytest.mark.parametrize("n_inserted", range(5))
def test_features_that_were_inserted_by_half_are_not_kept(monkeypatch: pytest.MonkeyPatch, n_inserted: int) -> None:
    groups = dependency_groups(0)
    left = [n_inserted]

    def half(self: Any, keys: Any, order: int) -> Any:
        left[0] -= 1
        if left[0] < 0:
            self.trie.insert(keys)
            raise KeyboardInterrupt  # Ctrl-C while the core inserts them
        return insert(self, keys, order)

    insert = Grown.insert
    cut = KernelSpaceSelector(ARCS, C=1.0, max_passes=3, tolerance=0.0)
    monkeypatch.setattr(Grown, "insert", half)
    with pytest.raises(KeyboardInterrupt):
        cut.fit(groups)
    monkeypatch.undo()
    assert len(cut.history_) == n_inserted // 2 and hasattr(cut, "features_") == (n_inserted > 0)
    if n_inserted > 1:
        whole = KernelSpaceSelector(ARCS, C=1.0, max_passes=n_inserted // 2, tolerance=0.0).fit(groups)
        assert list(cut.features_) == list(whole.features_)


def test_reports_of_progress_grow_and_their_errors_are_passed_on() -> None:
    told: list[float] = []
    KernelSpaceSelector(ARCS, C=1.0, max_passes=3, progress=lambda done: told.append(done.fraction)).fit(
        dependency_groups(0)
    )
    assert told == sorted(told) and told[-1] == 1.0

    def stop(done: Any) -> None:
        raise StopError

    selector = KernelSpaceSelector(ARCS, C=1.0, progress=stop, pretrain=1, max_passes=3)
    with pytest.raises(StopError):
        selector.fit(dependency_groups(0, 5))


def test_the_history_says_whether_a_pass_changed_the_counts_of_the_one_before() -> None:
    groups = dependency_groups(0)
    options: dict[str, Any] = {"C": 1.0, "max_passes": 3, "tolerance": 0.0}
    own = KernelSpaceSelector(ARCS, **options).fit(groups)
    anew = KernelSpaceSelector(ARCS, **options, counting="filter", filter_memory="1 MiB").fit(groups)
    assert [[step.is_update for step in taken.orders] for taken in own.history_] == [
        [False] * 2,
        [True] * 2,
        [True] * 2,
    ]
    assert not any(step.is_update for taken in anew.history_ for step in taken.orders)
    first, *later = zip(own.history_, anew.history_, strict=True)
    assert [step.n_counted for step in first[0].orders] == [step.n_counted for step in first[1].orders]
    for update, whole in later:
        assert update.orders[0].n_counted < whole.orders[0].n_counted
        assert update.orders[1].n_candidates >= whole.orders[1].n_candidates


@pytest.mark.parametrize("counting", ["exact", "filter"])
def test_reports_say_candidates_and_survivors_by_order(counting: Any) -> None:
    told: list[str] = []
    selector = KernelSpaceSelector(ARCS, C=1.0, max_passes=2, tolerance=0.0, counting=counting, filter_memory="1 MiB")
    selector.set_params(progress=lambda done: told.append(done.detail)).fit(dependency_groups(0))
    for number, step in enumerate(selector.history_, 1):
        for own in step.orders:
            counts = f"order {own.order}: {own.n_candidates:,} candidates, {own.n_survivors:,} survivors"
            assert any(text.startswith(f"pass {number}, {counts}, ") and text.endswith("iB") for text in told), counts
    assert any(re.match(r"pass 2, counting order 2; order 1: \d+ candidates, \d+ survivors; .*iB", own) for own in told)
    told.clear()
    selector.set_params(pretrain=1, pretrain_folds=2).fit(dependency_groups(0))
    assert any(text.startswith("part 2 of 2, pass 1, order 1: ") for text in told) and told[-1].startswith("pass 2, ")


TREE = dependency_groups(0, 1)[0].gold
MANY = [replace(TREE, heads=[2, 0, 2], relations=[str(k), "r", "o"]) for k in range(65)]


@pytest.mark.parametrize(
    ("options", "rows", "y", "message"),
    [
        ({}, [Group([TREE])], None, "Group 0 has no gold tree to learn from"),
        ({}, [], None, "There are no groups to learn from"),
        ({}, [Group(MANY, gold=TREE)], None, "A group has 65 candidates, with its gold one, .* at most 64. Keep the"),
        ({}, groups_of(0, 2), None, "is a kernel of dependency trees, and the groups hold trees"),
        ({"kernel": Polynomial(2)}, ROWS * 2, LABELS, "Row 0, column 0 is 2, but features must be binary.*Binarizer"),
        ({"kernel": Polynomial(2)}, ROWS, LABELS * 0, "to tell classes apart, and all items have the class 0"),
        ({"kernel": Polynomial(2)}, ROWS, LABELS[1:], "There are 32 items and 31 classes. Each item needs one"),
        ({"kernel": Polynomial(2)}, ROWS[:0], [], "There are no items to select features from"),
        ({"kernel": Polynomial(2)}, ROWS, LABELS + 0.5, "Unknown label type: continuous"),
        ({"kernel": Subtree()}, groups_of(0), None, r"Features of Subtree\(.*cannot be selected. Those of Dependency"),
        ({"kernel": es.Normalized(SubsetTree())}, groups_of(0), None, r"Features of Normalized\(.* cannot be selected"),
        ({"kernel": SubsetTree(max_depth=3)}, groups_of(0), None, "Leave out max_depth"),
        ({"kernel": SubsetTree(frontier=fixed(0.0))}, groups_of(0), None, r"Leave out frontier=fixed\(0\)"),
        ({"kernel": DependencySubtree(contiguous=False)}, [], None, "Leave out contiguous=False"),
        ({"kernel": DependencySubtree(("own",))}, [], None, "Leave 'own' out"),
        ({"max_order": 9}, [], None, "max_order must be an integer from 1 to 8, got 9"),
        ({"C": -1.0}, [], None, "C must be 0 or a positive finite number, got -1.0"),
        ({"step": 0}, [], None, "step must be a positive finite number, got 0"),
        ({"steps": "linear"}, [], None, "steps must be 'square root' or 'constant', got 'linear'"),
        ({"cost": "errors "}, [], None, "cost must be 'zero-one' or 'errors'"),
        ({"counting": "fast"}, [], None, "counting must be 'exact' or 'filter'"),
        ({"max_passes": 0}, [], None, "max_passes must be a positive integer"),
        ({"pretrain": 3}, [], None, r"pretrain must be None or an integer from 1 to max_order \(2\), got 3"),
        ({"pretrain": 1, "pretrain_folds": 1}, [], None, "pretrain_folds must be an integer of at least 2"),
        ({"score_weight": "much"}, [], None, "score_weight must be a finite number, got 'much'"),
        ({"score_weight": np.inf}, [], None, "score_weight must be a finite number"),
    ],
)
def test_what_cannot_be_selected_from_is_refused(options: Any, rows: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KernelSpaceSelector(**{"kernel": ARCS, **options}).fit(rows, y)


@pytest.mark.parametrize(
    ("kernel", "rows", "largest"),
    [(Polynomial(1), ROWS, 1), (Polynomial(2), ROWS, 2), (es.Spectrum(1), ["a b", "a", "b", "b a"] * 5, 1)],
)
@pytest.mark.parametrize("pretrain", [None, 3])
def test_a_larger_order_than_the_kernel_has_selects_the_same(
    kernel: Any, rows: Any, largest: int, pretrain: int | None
) -> None:
    labels = LABELS[: len(rows)]
    own, expected = (
        KernelSpaceSelector(kernel, C=0.5, max_order=order, pretrain=pretrain and min(pretrain, order)).fit(
            rows, labels
        )
        for order in (3, largest)
    )
    assert len(own.features_) > 0 and list(own.features_) == list(expected.features_)
    assert [len(step.orders) for step in own.history_] == [len(step.orders) for step in expected.history_]
    assert max(len(step.orders) for step in own.history_) == largest
    assert frequent_counts(own, rows, labels) == frequent_counts(expected, rows, labels)


def test_items_without_classes_and_what_is_no_kernel_are_refused() -> None:
    with pytest.raises(TypeError, match="from groups with gold trees, or from items and their classes: give y"):
        KernelSpaceSelector(Polynomial(2)).fit(ROWS)
    with pytest.raises(TypeError, match="Only groups can be learned from, got DependencyTree at 1"):
        KernelSpaceSelector(ARCS).fit([Group([TREE], gold=TREE), TREE])
    with pytest.raises(TypeError, match="kernel must be a kernel"):
        KernelSpaceSelector("Polynomial").fit(ROWS, LABELS)


def test_a_gold_tree_that_is_no_candidate_is_added() -> None:
    groups = dependency_groups(0)
    without = [Group([own for own in group.candidates if own != group.gold], gold=group.gold) for group in groups]
    last = [Group([*own.candidates, own.gold], gold=own.gold) for own in without]
    found, expected = (KernelSpaceSelector(ARCS, C=1.0, max_passes=3).fit(given) for given in (without, last))
    assert list(found.features_) == list(expected.features_) and len(found.features_) > 0


def test_groups_that_are_always_right_select_nothing() -> None:
    groups = [Group([own.gold], gold=own.gold) for own in dependency_groups(0, 3)]
    with pytest.warns(UserWarning, match="No feature was selected: all examples are right without them"):
        selector = KernelSpaceSelector(ARCS, C=0.0).fit(groups)
    assert selector.n_mispredicted_ == 0 and len(selector.features_) == 0


def test_a_memory_budget_that_is_too_small_is_named() -> None:
    with pytest.raises(
        MemoryBudgetError,
        match=r"needs 32\.0 MiB of memory, but the budget, memory, is 976\.6 KiB\. Pass memory=33554432 or more\.$",
    ):
        KernelSpaceSelector(Polynomial(2), memory="1 MB", n_threads=1).fit(ROWS, LABELS)
    with pytest.raises(MemoryBudgetError, match=r"1\.1 GiB .*1\.0 GiB for the filter.* a smaller filter_memory\.$"):
        KernelSpaceSelector(Polynomial(2), memory="500 MB", counting="filter", n_threads=2).fit(ROWS, LABELS)
    with pytest.raises(MemoryBudgetError, match=r"96\.0 MiB of memory \(32\.0 MiB for each of 3 threads\).* fewer thr"):
        KernelSpaceSelector(Polynomial(2), memory=1, n_threads=3).fit(ROWS, LABELS)


def test_the_folder_is_looked_at_before_anything_is_counted(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"folder must be one in which .* got '.*nowhere'"):
        KernelSpaceSelector(Polynomial(2), folder=str(tmp_path / "nowhere")).fit(ROWS, LABELS)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if not os.access(closed, os.W_OK):  # nothing is closed to the superuser
        with pytest.raises(PermissionError, match="which cannot be written in"):
            KernelSpaceSelector(Polynomial(2), folder=str(closed)).fit(ROWS, LABELS)


def test_a_disk_that_is_full_while_counts_are_spilled_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    rows = np.zeros((200, 64))
    for row in rows:
        row[rng.choice(64, 44, replace=False)] = 1
    monkeypatch.setattr(counting_module, "_LEAST_MEMORY", 6_500_000)
    options: dict[str, Any] = {"C": 12.0, "max_order": 3, "max_passes": 1, "memory": 6_500_000, "n_threads": 1}
    selector = KernelSpaceSelector(Polynomial(3), folder=str(tmp_path), **options)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(
            OSError, match=f"Cannot write a temporary file in the folder '{tmp_path}'.*Give more memory"
        ):
            selector.fit(rows, np.arange(200) % 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == [] and selector.features_.order.max() == 2
    assert selector.fit(rows, np.arange(200) % 2).history_[0].orders[2].n_spilled > 0
