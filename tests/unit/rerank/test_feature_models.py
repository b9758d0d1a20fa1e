"""Rerankers of features in files, copies, searches and interruptions, and what they refuse."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.kernels import DependencySubtree, Polynomial
from espalier.rerank import FeatureReranker, Reranker
from espalier.rerank import features as features_module
from espalier.selection import KernelSpaceSelector
from espalier.structures import Group

GROUPS, HELD, NEW = (dependency_groups(seed) for seed in range(3))
SELECTOR = KernelSpaceSelector(DependencySubtree(features=("words", "tags")), C=1.0, max_passes=10).fit(GROUPS)
SELECTED = SELECTOR.features_


def assert_same_values(model: Any, other: Any) -> None:
    for own, theirs in zip(model.decision_function(NEW), other.decision_function(NEW), strict=True):
        np.testing.assert_array_equal(own, theirs)


@pytest.mark.parametrize("wrap", [False, True], ids=["alone", "in a Reranker"])
def test_a_loaded_model_chooses_alike(tmp_path: Path, wrap: bool) -> None:
    options: dict[str, Any] = {"epochs": 2, "l2": 0.5, "n_threads": 1, "random_state": np.int64(3)}
    model: Any = FeatureReranker(SELECTED, **options)
    model = (Reranker(model) if wrap else model).fit(GROUPS, development=HELD)
    model.save(tmp_path / "model")
    again = es.load(tmp_path / "model")
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    for other in (again, type(model).load(tmp_path / "model"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert type(other) is type(model)
        assert_same_values(model, other)
        assert other.trained_on() == model.trained_on() and other.trained_on()["n_candidates"] == 90
    loaded, own = (again.chooser_, model.chooser_) if wrap else (again, model)
    for name in ("epoch_", "keep_", "score_weight_"):
        assert getattr(loaded, name) == getattr(own, name)
    assert list(loaded.features_) == list(own.features_) == list(loaded.features)
    assert (loaded.epochs, loaded.l2, loaded.random_state, loaded.n_threads) == (2, 0.5, 3, None)
    assert_same_values(loaded.fit(GROUPS, development=HELD), loaded)


@pytest.mark.parametrize("features", [SELECTED, SELECTOR], ids=["features", "selector"])
def test_copies_keep_the_features(features: Any) -> None:
    model = FeatureReranker(features, epochs=2, random_state=1)
    fitted = model.fit(GROUPS, development=HELD)
    copied = clone(fitted)
    assert copied.features is features and not hasattr(copied, "features_")
    assert copied.get_params(deep=False) == model.get_params(deep=False)
    assert_same_values(copied.fit(GROUPS, development=HELD), fitted)
    assert cross_val_score(model, GROUPS, cv=3).mean() > 90
    search = GridSearchCV(model, {"step": [1e-9, 5.0], "score_weight": [0.0]}, cv=2).fit(GROUPS)
    assert len(search.predict(NEW)) == len(NEW)
    assert Reranker(model).fit(GROUPS).chosen(NEW).tolist() == clone(Reranker(model)).fit(GROUPS).chosen(NEW).tolist()


def test_a_reranker_of_features_has_no_coefficients_of_candidates() -> None:
    reranker = Reranker(FeatureReranker(SELECTED)).fit(GROUPS)
    with pytest.raises(TypeError, match="no coefficients of candidates but weights of features"):
        reranker.dual_form()


class StopError(Exception):
    """Raised in the middle of learning."""


def test_an_interrupted_model_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [2]
    measure = features_module.FeatureReranker._best_weight

    def measured(self: Any, *rest: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise StopError
        return measure(self, *rest)

    whole = FeatureReranker(SELECTED, epochs=2).fit(GROUPS, development=HELD)
    monkeypatch.setattr(features_module.FeatureReranker, "_best_weight", measured)
    cut = FeatureReranker(SELECTED, epochs=5)
    with pytest.raises(StopError):
        cut.fit(GROUPS, development=HELD)  # in the third epoch
    assert_same_values(cut, whole)
    assert cut.epoch_ == whole.epoch_ and len(cut.n_mistakes_) == 3
    left[0] = 0
    none = FeatureReranker(SELECTED)
    with pytest.raises(StopError):
        none.fit(GROUPS, development=HELD)
    assert not hasattr(none, "features_")


def test_errors_of_progress_are_passed_on() -> None:
    def stop(done: Any) -> None:
        raise StopError

    model = FeatureReranker(SELECTED, progress=stop)
    with pytest.raises(StopError):
        model.fit(GROUPS)


def test_groups_of_one_candidate_decide_nothing() -> None:
    single = [Group([own.gold], [-3.0], own.gold) for own in GROUPS]
    model = FeatureReranker(SELECTED, epochs=1).fit(single + GROUPS, development=HELD)
    assert model.chosen(single).tolist() == [0] * len(single) and model.feature_values(single[:1])[0].tolist() == [0.0]
    # All weights stay 0: only the parser's score can decide.
    with pytest.warns(UserWarning, match="No feature has a weight: .* Only the parser's score chooses"):
        nothing = FeatureReranker(SELECTED, epochs=1, score_weight=1.0).fit(single, development=HELD)
    assert len(nothing.features_) == 0 and nothing.chosen(NEW).tolist() == [group.best for group in NEW]
    assert model.chosen([]).tolist() == [] and model.predict([]) == []


def test_a_gold_tree_that_is_no_candidate_is_added_to_learn_from() -> None:
    without = [Group([own for own in group.candidates if own != group.gold], gold=group.gold) for group in GROUPS]
    model = FeatureReranker(SELECTED, score_weight=0.0).fit(without, development=HELD)
    assert model.score(NEW) == 100.0
    assert len(model.decision_function(without[:1])[0]) == 2


TREE = GROUPS[0].gold


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "loss must be 'perceptron', 'softmax' or 'risk', got 'hinge'"),
        ({"keep": "all"}, "keep must be 'chosen', 'survivors' or 'weighted'"),
        ({"cost": "f1"}, "cost must be 'errors' or 'zero-one'"),
        ({"epochs": 0}, "epochs must be a positive integer"),
        ({"step": 0.0}, "step must be a positive finite number"),
        ({"decay": -1}, "decay must be a positive finite number"),
        ({"margin": -1}, "margin must be 0 or a positive finite number"),
        ({"l1": np.nan}, "l1 must be 0 or a positive finite number"),
        ({"l2": 1e6}, r"l2 must be less than .* here, got 1000000\.0: a step would overshoot 0"),
        ({"score_weight": "learned"}, "score_weight must be 'chosen' or a finite number, got 'learned'"),
        ({"score_weight": True}, "score_weight must be 'chosen' or a finite number, got True"),
        ({"learning_score_weight": "chosen"}, "learning_score_weight must be a finite number, got 'chosen'"),
        ({"features": SELECTED[:0]}, "There are no features to learn on: none was selected"),
    ],
)
def test_bad_settings_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FeatureReranker(**{"features": SELECTED, **options}).fit(GROUPS)


@pytest.mark.parametrize("features", [Polynomial(2), None, ["tags"], SELECTED.names_of()[0], es.SubsetTree()])
def test_what_has_selected_nothing_is_refused(features: Any) -> None:
    with pytest.raises(TypeError, match="features must be what a KernelSpaceSelector has selected"):
        FeatureReranker(features).fit(GROUPS)


def test_a_selector_that_is_not_fitted_selects_from_the_groups() -> None:
    selector = KernelSpaceSelector(SELECTED.kernel, C=1.0, max_order=2)
    model = FeatureReranker(selector).fit(GROUPS, development=HELD)
    fitted = FeatureReranker(clone(selector).fit(GROUPS)).fit(GROUPS, development=HELD)
    assert not hasattr(selector, "features_")
    for own, other in zip(model.decision_function(HELD), fitted.decision_function(HELD), strict=True):
        np.testing.assert_array_equal(own, other)
    assert len(cross_val_score(FeatureReranker(clone(selector).fit(GROUPS)), GROUPS, cv=2)) == 2


def test_bad_groups_are_refused() -> None:
    model = FeatureReranker(SELECTED)
    for groups, message in (
        ([], "There are no groups to learn from"),
        ([Group([TREE])], "Group 0 has no gold tree to learn from"),
        ([*GROUPS, *groups_of(0, 1)], "Group 0 holds dependency trees, but group 30 holds trees"),
        (tagged_groups(0), "is a kernel of dependency trees, and the groups hold tagged sequences"),
        ([Group([TREE] * 65, gold=TREE)] * 2, "A group has 65 candidates"),
    ):
        with pytest.raises(es.InputError, match=message):
            model.fit(groups)
    with pytest.raises(es.InputError, match="hold dependency trees, but development group 0 holds tagged"):
        model.fit(GROUPS, development=tagged_groups(0))
    with pytest.raises(es.InputError, match="Group 0 has no gold tree to choose by"):
        model.fit(GROUPS, development=[Group([TREE])])
    with pytest.raises(TypeError, match="Only groups can be learned from, got a single one"):
        model.fit(GROUPS[0])
    fitted = model.fit(GROUPS)
    with pytest.raises(es.InputError, match="It has learned from dependency trees, but group 0 holds trees"):
        fitted.predict(groups_of(0, 1))
    with pytest.raises(es.InputError, match="There are no groups to measure"):
        fitted.score([])
