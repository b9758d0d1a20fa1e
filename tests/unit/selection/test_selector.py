"""The selector gives what its slow twin gives, as columns with names and weights, and works with scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.kernels import DependencySubtree, Polynomial, Spectrum, SubsetTree, Tagging
from espalier.rerank.quality import alike, quality
from espalier.selection import KernelSpaceSelector
from espalier.structures import Group
from mined_problems import CASES, TEMPLATES, Case, candidate_trees, drawn
from reference.gradient_mining import INTERCEPT, Example, Mined, mine

MAX_ORDER = 3
SETTINGS: dict[str, Any] = {"max_order": MAX_ORDER, "max_passes": 4, "step": 0.5, "steps": "constant"}
each_space = pytest.mark.parametrize("name", CASES)


def rows_of(items: list[Any]) -> Any:
    return np.array(items) if isinstance(items[0], np.ndarray) else items


def arc_groups(seed: int) -> list[Group]:
    """Sentences with any arcs, and a candidate drawn as the gold one."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(12):
        candidates = candidate_trees(rng, int(rng.integers(1, 5)))
        gold = candidates[int(rng.integers(len(candidates)))]
        found.append(Group(candidates, rng.integers(-4, 4, len(candidates)) / 4, gold=gold))
    return found


def retagged(groups: list[Group]) -> list[Group]:
    """The groups with some candidates tagged otherwise, in one place or everywhere; gold trees are among them."""
    found = []
    for row, group in enumerate(groups):
        candidates = list(group.candidates)
        for k in range(row % 2, len(candidates), 2):
            tags = list(candidates[k].tags)
            changed = range(len(tags)) if row % 3 == 0 else [k % len(tags)]
            for place in changed:
                tags[place] = {"N": "V", "V": "D"}.get(tags[place], "N")
            candidates[k] = replace(candidates[k], tags=tags)
        found.append(Group(candidates, group.scores, group.gold))
    return found


def dyadic(groups: list[Group]) -> list[Group]:
    """The same groups with scores of few bits, so that no sum is rounded."""
    return [Group(own.candidates, np.round(np.array(own.scores) * 4) / 4, own.gold) for own in groups]


GROUPS = {
    "arcs": arc_groups(0),
    "arcs and root": arc_groups(1),
    "arcs and root, retagged": retagged(arc_groups(1)),
    "sets of arcs": arc_groups(2),
    "tagging": dyadic(tagged_groups(0, 12)),
    "tagging with gaps": dyadic(tagged_groups(1, 12)),
    "fragments": dyadic(groups_of(0, 12)),
}


def examples_of(case: Case, groups: list[Group], cost: str, score_weight: float) -> list[Example]:
    """What the slow twin reads."""
    found = []
    for group in groups:
        same = [alike(own, group.gold) for own in group.candidates]
        matched, gold, parsed = quality(group)
        errors = np.maximum(gold, parsed) - matched if cost == "errors" else np.ones(len(group))
        found.append(
            Example(
                [case.features(own, MAX_ORDER) for own in group.candidates],
                same.index(True),
                [score_weight * score for score in group.scores or ()],
                np.where(same, 0.0, errors).tolist(),
            )
        )
    return found


def assert_selected(selector: KernelSpaceSelector, case: Case, expected: Mined, classes: list[int]) -> None:
    """The features, their orders and weights, and the figures of all passes are those of the slow twin."""
    pairs = {pair if classes else (0, pair) for own in expected.survivors.values() for pair in own}
    weights = {pair if classes else (0, pair): weight for pair, weight in expected.weights.items()}
    columns = classes or [0]
    found = {own.text: (own.order, own.weights) for own in selector.features_}
    assert found == {
        case.text(feature): (case.space.order(feature), tuple(weights.get((y, feature), 0.0) for y in columns))
        for _, feature in pairs
    }
    assert len(found) == len(selector.features_) == len(selector.get_feature_names_out())
    assert selector.features_.order.tolist() == sorted(selector.features_.order)
    assert [own.objective for own in selector.history_] == [own.objective for own in expected.history]
    assert [own.n_mispredicted for own in selector.history_] == [own.n_mispredicted for own in expected.history]
    assert selector.n_mispredicted_ == expected.history[0].n_mispredicted
    assert all(step.n_candidates <= step.n_counted for step in selector.history_[0].orders)
    for own, twin in zip(selector.history_, expected.history, strict=True):
        survivors = {} if twin.survivors is None else {order: len(kept) for order, kept in twin.survivors.items()}
        assert {step.order: step.n_survivors for step in own.orders} == survivors
        assert all(step.n_weights <= step.n_survivors for step in own.orders)
        assert own.memory > 0 and own.seconds >= 0


@pytest.mark.parametrize("cost", ["zero-one", "errors"])
@pytest.mark.parametrize("name", GROUPS)
def test_features_of_groups_are_those_of_the_definition(name: str, cost: Any) -> None:
    case, groups = CASES[name.removesuffix(", retagged")], GROUPS[name]
    for C, score_weight in ((1.0, 1.0), (0.0, 0.5)):
        expected = mine(examples_of(case, groups, cost, score_weight), C, case.space, **SETTINGS)
        own = {"C": C, "score_weight": score_weight, "cost": cost, "tolerance": 0.0, **SETTINGS}
        selector = KernelSpaceSelector(case.kernel, **own).fit(groups)
        assert_selected(selector, case, expected, [])
        assert selector.features_.names == ("choice",) and not hasattr(selector, "classes_")
        for options in ({"n_threads": 2}, {"counting": "filter", "filter_memory": "1 MB", "n_threads": 1}):
            assert_selected(clone(selector).set_params(**options).fit(groups), case, expected, [])
    assert len(expected.survivors[2]) > 0


@pytest.mark.parametrize("n_classes", [2, 3])
@each_space
def test_features_of_classes_are_merged_with_a_weight_for_each(name: str, n_classes: int) -> None:
    n_shared = 0
    for seed in range(3):
        problem = drawn(name, np.random.default_rng([seed, n_classes]), n_classes, MAX_ORDER, ties=True)
        examples = [replace(own, base=[0.0] * n_classes) for own in problem.examples]
        expected = mine(examples, 1.0, problem.space, **SETTINGS)
        labels = np.array(["no", "some", "yes"])[[own.right for own in examples]]
        rows = rows_of(problem.rows)
        selector = KernelSpaceSelector(problem.case.kernel, C=1.0, tolerance=0.0, **SETTINGS).fit(rows, labels)
        assert_selected(selector, problem.case, expected, [1] if n_classes == 2 else [0, 1, 2])
        assert selector.classes_.tolist() == ["no", "some", "yes"][:n_classes]
        assert selector.features_.names == (("some",) if n_classes == 2 else ("no", "some", "yes"))
        n_shared += int((np.count_nonzero(selector.features_.weights, axis=1) > 1).sum())
        matrix = selector.transform(rows)
        assert isinstance(matrix, csr_matrix) and matrix.dtype == np.float64
        names = selector.get_feature_names_out().tolist()
        listed = [set(map(problem.case.text, problem.case.features(row, MAX_ORDER))) for row in problem.rows]
        assert matrix.toarray().tolist() == [[float(text in own) for text in names] for own in listed]
    assert n_shared > 0 or n_classes == 2


def test_weights_are_those_with_which_classes_are_told_apart() -> None:
    problem = drawn("sets", np.random.default_rng(4), 3, 2, ties=True)
    examples = [replace(own, base=[0.0] * 3) for own in problem.examples]
    settings = SETTINGS | {"max_order": 2}
    expected = mine(examples, 1.0, problem.space, **settings)
    rows, labels = rows_of(problem.rows), [own.right for own in examples]
    selector = KernelSpaceSelector(problem.case.kernel, C=1.0, tolerance=0.0, **settings).fit(rows, labels)
    intercepts = [expected.weights.get((y, INTERCEPT), 0.0) for y in range(3)]
    values = selector.transform(rows) @ selector.features_.weights + intercepts
    listed = [[sum(expected.weights.get(f, 0.0) for f in output) for output in own.outputs] for own in examples]
    assert values.tolist() == listed


def test_the_step_undoes_a_quarter_of_the_loss_if_none_is_given() -> None:
    groups = dependency_groups(0, 20)
    selector = KernelSpaceSelector(DependencySubtree(features=TEMPLATES), C=1.0, max_passes=1).fit(groups)
    loss = selector.history_[0].objective
    again = KernelSpaceSelector(selector.kernel, C=1.0, max_passes=1, step=0.25).fit(groups)
    slope = again.features_.weights / 0.25  # without the penalty, as the proximal step has taken it
    step = 0.25 * loss / float(np.sum(slope**2))
    np.testing.assert_allclose(selector.features_.weights, step * slope, rtol=1e-12)


def test_the_objective_falls_and_ends_the_passes() -> None:
    selector = KernelSpaceSelector(Tagging(), C=1.0, tolerance=0.01).fit(tagged_groups(0))
    objective = [own.objective for own in selector.history_]
    assert objective[-1] < objective[0] and len(objective) < selector.max_passes
    assert abs(objective[-1] - objective[-2]) < 0.01 * objective[-2] and selector.history_[-1].orders == ()


ROWS = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]] * 8)
LABELS = np.array([1, 0, 0, 1] * 8)


def test_a_sparse_matrix_is_read_like_a_dense_one() -> None:
    selector = KernelSpaceSelector(Polynomial(2), C=2.0, max_passes=3)
    dense, sparse = (clone(selector).fit(rows, LABELS) for rows in (ROWS, csr_matrix(ROWS)))
    assert dense.get_feature_names_out().tolist() == sparse.get_feature_names_out().tolist()
    for own in (dense, sparse):
        assert own.n_features_in_ == 4
        assert (own.transform(ROWS) != own.transform(csr_matrix(ROWS))).nnz == 0
    assert (dense.fit_transform(ROWS, LABELS) != dense.transform(ROWS)).nnz == 0
    with pytest.raises(ValueError, match=r"X has 5 features, but KernelSpaceSelector is expecting 4 features"):
        dense.transform(np.ones((2, 5)))


def test_columns_have_the_names_of_a_table() -> None:
    table = {"left": ROWS[:, 0], "right": ROWS[:, 1], "more": ROWS[:, 2:]}
    selector = KernelSpaceSelector(Polynomial(2, on=("left", "right", "more")), C=2.0, max_passes=3).fit(table, LABELS)
    assert "left & right" in selector.get_feature_names_out() and "more[1]" in selector.get_feature_names_out()


@pytest.mark.parametrize(
    ("kernel", "known", "new"),
    [
        (Spectrum(2), [["a", "b"], ["b", "a"]], ["x", "a", "b", "y"]),
        (SubsetTree(), ["(S (A a) (B b))", "(S (B b) (A a))"], "(T (S (A a) (B b)) (X y))"),
    ],
)
def test_what_was_not_met_is_in_no_feature(kernel: Any, known: list[Any], new: Any) -> None:
    selector = KernelSpaceSelector(kernel, C=2.0, max_passes=3).fit(known * 5, [0, 1] * 5)
    first, other = (set(selector.transform([row]).indices.tolist()) for row in (known[0], new))
    assert first == other and first
    assert selector.transform([]).shape == (0, len(selector.features_))


def test_unknown_words_of_a_dependency_tree_hide_only_their_own_features() -> None:
    groups = dependency_groups(0)
    selector = KernelSpaceSelector(DependencySubtree(features=("words", "tags")), C=1.0, max_order=1).fit(groups)
    tree = groups[0].gold
    names, matrix = selector.get_feature_names_out(), selector.transform([tree, replace(tree, words=["x", "v", "y"])])
    known, strange = (set(names[matrix[row].indices]) for row in (0, 1))
    assert strange == {text for text in known if text.startswith("[tags")}
    assert strange < known


def test_it_is_a_step_of_a_pipeline_and_of_a_search() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.random((120, 8)) < 0.5).astype(float)
    labels = (rows[:, 0] * rows[:, 1] > 0) | (rows[:, 2] * rows[:, 3] > 0)
    line = make_pipeline(KernelSpaceSelector(Polynomial(2), C=2.0, max_passes=5), LinearSVC(random_state=0))
    plain = cross_val_score(LinearSVC(random_state=0), rows, labels, cv=3).mean()
    assert cross_val_score(line, rows, labels, cv=3).mean() > plain
    search = GridSearchCV(line, {"kernelspaceselector__C": [3.0, 1000.0]}, cv=3, error_score=0.0)
    # With the larger C nothing is left to learn from.
    with pytest.warns(Warning, match="fits failed"), pytest.warns(UserWarning, match="No feature was selected"):
        search.fit(rows, labels)
    assert search.best_params_ == {"kernelspaceselector__C": 3.0}


def test_settings_are_listed_and_copied() -> None:
    selector = KernelSpaceSelector(Polynomial(3), C=2.5, max_order=3, pretrain=1, max_passes=3)
    copied = clone(selector.fit(ROWS, LABELS))
    assert copied.get_params() == selector.get_params() and copied.get_params()["kernel__degree"] == 3
    assert not hasattr(copied, "features_")
    assert selector.set_params(kernel__degree=2, max_order=2).fit(ROWS, LABELS).features_.order.max() == 2


def test_another_fit_leaves_nothing_of_the_one_before() -> None:
    selector = KernelSpaceSelector(Polynomial(2), C=2.0, max_passes=1).fit(ROWS, LABELS)
    selector.set_params(kernel=Tagging()).fit(tagged_groups(0))
    assert not hasattr(selector, "classes_") and not hasattr(selector, "n_features_in_")
    assert selector.features_.names == ("choice",)


def test_nothing_is_selected_if_nothing_is_frequent_enough() -> None:
    with pytest.warns(UserWarning, match=r"No feature was selected: none is in more than C = 1000 .* Use a smaller C"):
        selector = KernelSpaceSelector(Polynomial(2), C=1000.0).fit(ROWS, LABELS)
    assert len(selector.features_) == 0 and selector.transform(ROWS).shape == (32, 0)
    assert repr(selector.features_) == "<SelectedFeatures: none>" and len(selector.features_.heaviest()) == 0
