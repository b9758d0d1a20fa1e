"""The reranker: what it chooses, for candidates of every kind and every kernel; saving, and damaged files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from tests.saved_files import rewrite

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.rerank import GPPreference, RankingSVM, Reranker, VotedPerceptron, quality
from espalier.structures.group import Group

TREES = es.SubsetTree(0.5)


CASES = [
    (groups_of, TREES),
    (groups_of, es.Normalized(TREES)),
    (groups_of, 2.0 * es.Normalized(TREES)),
    (groups_of, es.PartialTree(0.5, 0.5)),
    (groups_of, es.Normalized(TREES) + es.Normalized(es.Tagging())),
    (tagged_groups, es.Tagging(0.5)),
    (dependency_groups, es.DependencySubtree()),
]


def test_a_kernel_of_many_labels_is_loaded_again(tmp_path):
    kernel = es.SubsetTree(decay=es.PerLabel(0.3, values={f"LABEL-{k}": 0.1 + k / 1000 for k in range(600)}))
    reranker = Reranker(VotedPerceptron(kernel, random_state=0)).fit(groups_of(0))
    assert len(repr(kernel)) > 10_000
    reranker.save(tmp_path / "r")
    assert Reranker.load(tmp_path / "r").chooser_.kernel == kernel


@pytest.mark.parametrize(
    ("chooser", "names"),
    [
        (VotedPerceptron(TREES, random_state=3), {"n_mistakes_"}),
        (RankingSVM(TREES, random_state=np.int64(3)), {"n_passes_", "gap_"}),
        (GPPreference(TREES, random_state=3), {"n_groups_", "n_candidates_", "log_marginal_likelihood_"}),
    ],
)
def test_numbers_of_the_fit_and_the_seed_are_loaded_again(tmp_path, chooser, names):
    fitted = Reranker(chooser).fit(groups_of(0, 10))
    fitted.save(tmp_path / "r")
    loaded = Reranker.load(tmp_path / "r").chooser_
    assert loaded.random_state == 3
    assert {name: getattr(loaded, name) for name in names} == {name: getattr(fitted.chooser_, name) for name in names}


@pytest.mark.parametrize("learner", [VotedPerceptron, RankingSVM])
@pytest.mark.parametrize(("make", "kernel"), CASES)
def test_every_kind_of_candidate_is_chosen(make, kernel, learner):
    reranker = Reranker(learner(kernel, random_state=0)).fit(make(0))
    groups = make(1)
    assert reranker.score(groups) > 97
    chosen = reranker.predict(groups)
    assert [group.candidates.index(own) for group, own in zip(groups, chosen, strict=True)] == reranker.chosen(
        groups
    ).tolist()


@pytest.mark.parametrize("vote", ["average", "vote"])
@pytest.mark.parametrize("updates", ["all", "best"])
@pytest.mark.parametrize(("make", "kernel"), CASES)
def test_a_loaded_reranker_chooses_alike(tmp_path, make, kernel, updates, vote):
    path = tmp_path / "reranker.safetensors"
    learner = VotedPerceptron(kernel, updates=updates, vote=vote, epochs=2, random_state=0)
    reranker = Reranker(learner).fit(make(0))
    reranker.save(path)
    loaded = Reranker.load(path)
    for own, other in zip(reranker.decision_function(make(1)), loaded.decision_function(make(1)), strict=True):
        np.testing.assert_array_equal(own, other)
    assert loaded.chooser.epochs == 2 and loaded.chooser.kernel == kernel
    assert loaded.chooser.updates == updates and loaded.chooser.n_mistakes_ == reranker.chooser_.n_mistakes_


def test_a_block_of_rows_at_a_time_is_the_same(monkeypatch):
    groups = tagged_groups(0, 60)
    learner = VotedPerceptron(es.Tagging(0.5), epochs=3, score_weight=0.1, random_state=0)
    whole = learner.fit(groups).decision_function(groups)
    monkeypatch.setattr("espalier.rerank.combination.BLOCK", 7)
    for own, other in zip(clone(learner).fit(groups).decision_function(groups), whole, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-12)


def test_what_is_counted_of_each_kind():
    assert quality(tagged_groups(0)[0])[:, 0].tolist()[1:] == [len(tagged_groups(0)[0].words)] * 2
    group = dependency_groups(0)[0]
    counts = dict(zip(group.candidates, quality(group).T.tolist(), strict=True))
    assert counts[group.gold] == [3, 3, 3]
    assert sorted(counts.values()) == [[0, 3, 3], [2, 3, 3], [3, 3, 3]]


def test_a_reranker_by_default():
    reranker = Reranker().fit(groups_of(0))
    assert reranker.chooser is None and isinstance(reranker.chooser_, VotedPerceptron)
    assert reranker.score(groups_of(1)) == reranker.chooser_.score(groups_of(1)) > 97
    assert clone(Reranker(RankingSVM(TREES))).chooser.kernel == TREES


def test_a_search_of_scikit_learn_chooses_settings():
    reranker = Reranker(VotedPerceptron(TREES, random_state=0))
    grid = {"chooser__kernel": [es.SubsetTree(decay) for decay in (1e-6, 0.5)], "chooser__epochs": [1, 2]}
    search = GridSearchCV(reranker, grid, cv=3).fit(groups_of(0))
    assert search.best_score_ > 97 and len(search.cv_results_["params"]) == 4
    assert search.predict(groups_of(1)) == search.best_estimator_.predict(groups_of(1))


@pytest.mark.parametrize("chooser", [VotedPerceptron(TREES, vote="vote"), RankingSVM(TREES), GPPreference(TREES)])
def test_copies_of_what_was_fitted_choose_alike(chooser):
    reranker = Reranker(clone(chooser).set_params(random_state=0)).fit(groups_of(0))
    expected = reranker.decision_function(groups_of(1))
    for copied in (copy.deepcopy(reranker), pickle.loads(pickle.dumps(reranker))):
        for values, own in zip(copied.decision_function(groups_of(1)), expected, strict=True):
            np.testing.assert_array_equal(values, own)


def test_settings_may_be_numbers_of_numpy(tmp_path):
    chooser = VotedPerceptron(TREES, epochs=np.int64(2), score_weight=np.float32(0.5), random_state=0)
    Reranker(chooser).fit(groups_of(0)).save(tmp_path / "reranker")
    found = Reranker.load(tmp_path / "reranker").chooser
    assert (found.epochs, found.score_weight) == (2, 0.5)


def test_a_place_where_nothing_can_be_written_is_named(tmp_path):
    reranker = Reranker().fit(groups_of(0))
    with pytest.raises(IsADirectoryError, match=f"This is a folder, and a file is to be written: '{tmp_path}'"):
        reranker.save(tmp_path)
    with pytest.raises(FileNotFoundError, match=f"'{tmp_path}/nowhere/reranker'"):
        reranker.save(tmp_path / "nowhere" / "reranker")


def test_groups_of_one_candidate_without_gold_and_with_ties():
    reranker = Reranker(VotedPerceptron(TREES, random_state=0)).fit(groups_of(0))
    only = "(S (N alone))"
    assert reranker.predict([Group([only])]) == [es.Tree.from_brackets(only)]
    assert reranker.chosen([Group([only, only], [1.0, 1.0])]).tolist() == [0]
    assert reranker.predict([]) == []
    with pytest.raises(es.InputError, match="Group 0 has no gold tree to measure by"):
        reranker.score([Group([only])])


def test_bad_rerankers(tmp_path):
    with pytest.raises(TypeError, match="chooser must be a learner such as VotedPerceptron"):
        Reranker(TREES).fit(groups_of(0))
    with pytest.raises(TypeError, match="Only groups can be learned from, got str at 0"):
        Reranker().fit(["(S (N cats))"])
    kernel = es.SmoothedPartialTree(es.Embedding({"n0": [1.0, 0.5], "n1": [0.5, 1.0]}.get))
    fitted = Reranker(VotedPerceptron(kernel, random_state=0)).fit(groups_of(0))
    with pytest.raises(es.InputError, match="An Embedding of a function cannot be saved"):
        fitted.save(tmp_path / "never.safetensors")


def change(path, header=None, arrays=None):
    """A saved reranker with some of its header or arrays replaced."""
    names = {name: f"chooser.{name}" for name in arrays or {}}
    rewrite(
        path,
        lambda own, kept: (
            own["chooser"].update(header or {}),
            own["$file"].update((header or {}).get("$file", {})),
            kept.update({names[name]: array for name, array in (arrays or {}).items()}),
        ),
    )


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"$kind": "Popen"}, None, "holds a 'Popen', which this version of Espalier does not have"),
        ({"settings": {"kernel": "__import__('os')"}}, None, "kernel must be a kernel"),
        (
            {"settings": {"kernel": {"$kind": "SubsetTree"}, "epochs": "many"}},
            None,
            "epochs must be a positive integer",
        ),
        ({"settings": {"system": 1}}, None, "is damaged"),
        ({"settings": []}, None, "is damaged"),
        ({"weight": float("nan")}, None, "weight is out of range, or no number"),
        ({"weight": "1"}, None, "weight is out of range, or no number"),
        ({"$file": {"version": 99}}, None, "version 99"),
        (None, {"coefficients": np.zeros(3)}, "every candidate needs one coefficient"),
        ({"support": {"form": "trees", "brackets": ["(S"]}}, None, "is damaged"),
        ({"support": {"form": "trees", "brackets": [3]}}, None, "'brackets' must be a list of texts"),
        ({"support": {"form": "items", "items": [3.0]}}, None, "is damaged"),
        ({"support": {"form": "array", "array": 3}}, None, "its rows are no array"),
        ({"support": {"form": "files"}}, None, "'form' must be one of"),
    ],
)
def test_damaged_files(tmp_path, header, arrays, message):
    path = tmp_path / "reranker.safetensors"
    Reranker(VotedPerceptron(TREES, random_state=0)).fit(groups_of(0)).save(path)
    change(path, header, arrays)
    with pytest.raises(es.InputError, match=message):
        Reranker.load(path)


@pytest.mark.parametrize("updates", [np.array([[0, 99]]), np.array([[-1, 0]]), np.zeros((2, 3), np.int64), np.zeros(4)])
def test_damaged_votes(tmp_path, updates):
    path = tmp_path / "reranker.safetensors"
    Reranker(VotedPerceptron(TREES, vote="vote", random_state=0)).fit(groups_of(0)).save(path)
    change(path, arrays={"updates": updates})
    with pytest.raises(es.InputError, match=r"its updates name candidates|its updates do not fit|'updates' is missing"):
        Reranker.load(path)


def test_a_saved_reranker_does_not_say_how_many_threads_it_takes(tmp_path):
    path = tmp_path / "reranker.safetensors"
    learner = VotedPerceptron(es.SubsetTree(0.3), n_threads=1, random_state=0)
    reranker = Reranker(learner).fit(groups_of(0))
    reranker.save(path)
    assert Reranker.load(path).chooser.n_threads is None
    loaded = Reranker.load(path)
    assert loaded.chosen(groups_of(1)).tolist() == reranker.chosen(groups_of(1)).tolist()
    rewrite(path, lambda state, arrays: state["chooser"]["settings"].update(n_threads=100_000))
    with pytest.raises(es.InputError, match="a file may not set threads"):
        Reranker.load(path)
