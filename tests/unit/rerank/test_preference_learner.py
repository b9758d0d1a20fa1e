"""GPPreference as a learner: what it learns, keeps, warns of and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.errors import InputError
from espalier.jobs.progress import Progress
from espalier.rerank import GPPreference, Reranker
from espalier.rerank.pairs import SCORE
from espalier.storage import State
from espalier.structures.group import Group

TREE = es.SubsetTree(0.5)


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (groups_of, 1.0 * TREE),
        (groups_of, 1.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.4)))),
        (tagged_groups, 1.0 * es.Normalized(es.Tagging(0.5))),
        (dependency_groups, 1.0 * es.Normalized(es.DependencySubtree())),
    ],
)
@pytest.mark.parametrize("weight", ["learned", "chosen", 0.1])
def test_it_learns_what_is_there_to_learn(make, kernel, weight):
    model = GPPreference(kernel, score_weight=weight, random_state=0, max_iterations=30, tolerance=1e-3)
    reranker = Reranker(model).fit(make(0))
    assert reranker.score(make(1)) > 97
    fitted = reranker.chooser_
    assert isinstance(fitted.score_weight_, float) and fitted.n_groups_ <= len(make(0))
    assert fitted.log_marginal_likelihood_ > fitted.restarts_[0].trace[0]
    for group, probabilities in zip(make(1), fitted.predict_proba(make(1)), strict=True):
        assert len(probabilities) == len(group) and probabilities.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("weight", ["learned", 0.2])
def test_a_loaded_model_is_as_sure(tmp_path, weight):
    kernel = 1.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.4)))
    model = GPPreference(kernel, score_weight=weight, random_state=0, tolerance=1e-3)
    reranker = Reranker(model).fit(groups_of(0))
    reranker.save(tmp_path / "model.safetensors")
    loaded = Reranker.load(tmp_path / "model.safetensors")
    new = groups_of(1)
    np.testing.assert_array_equal(loaded.chosen(new), reranker.chosen(new))
    assert loaded.chooser_.kernel_ == reranker.chooser_.kernel_
    for own, other in zip(loaded.chooser_.predict_proba(new), reranker.chooser_.predict_proba(new), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("start", np.array([0, 1, 9])),
        ("start", np.array([0, 4, 10**15])),
        ("start", np.array([0.0, 4.0])),
        ("score_differences", np.zeros(3)),
        ("score_differences", np.array([0.0, 1.0, 2.0, np.nan])),
        ("score_variance", -1.0),
        ("score_unit", 0.0),
        ("score_weight", "much"),
        ("kernel", {"$kind": "exit"}),
    ],
)
def test_a_damaged_state_is_refused(name, value):
    header = {"kernel": {"$kind": "SubsetTree"}, "score_variance": 1.0, "score_unit": 2.0, "score_weight": None}
    arrays = {"start": np.array([0, 3, 6]), "score_differences": np.arange(4.0)}
    references = {own: {"$array": own} for own in arrays}
    model = GPPreference(1.0 * TREE)
    model._set_own_state(State({**header, **references}, arrays))
    with pytest.raises(InputError, match="other candidates"):
        model._set_support(["(S a)"], np.ones(1))
    (arrays if name in arrays else header)[name] = value
    with pytest.raises(InputError):
        model._set_own_state(State({**header, **references}, arrays))


def test_learning_climbs_and_restarts_do_not_hurt():
    told = []
    model = GPPreference(2.0 * es.Normalized(TREE), restarts=2, random_state=0, progress=told.append)
    model.fit(groups_of(4, 10))
    assert len(model.restarts_) == 3 and model.learned_.gradient_norm < 1e-2
    assert max(climb.log_likelihood for climb in model.restarts_) == model.log_marginal_likelihood_
    done = [progress.fraction for progress in told]
    assert done == sorted(done) and done[0] > 0 and done[-1] == 1.0
    assert all(isinstance(progress, Progress) for progress in told)
    kept = GPPreference(2.0 * es.Normalized(TREE), learn=False).fit(groups_of(4, 10))
    assert kept.kernel_ == kept.kernel and len(kept.learned_) == 0


def test_groups_are_drawn_up_to_the_limit():
    groups = groups_of(0, 30)  # each has four candidates, the gold one among them
    model = GPPreference(1.0 * TREE, sample=None, max_candidates=21, learn=False, random_state=0).fit(groups)
    assert (model.n_groups_, model.n_candidates_) == (5, 20) == (5, len(model.support_))
    other = clone(model).set_params(random_state=1).fit(groups)
    assert other.support_ != model.support_
    whole = clone(model).set_params(max_candidates=None).fit(groups)
    assert (whole.n_groups_, whole.n_candidates_) == (30, 120)
    with pytest.raises(InputError, match="max_candidates is 3"):
        clone(model).set_params(max_candidates=3).fit(groups)


def test_many_candidates_are_warned_of(monkeypatch):
    monkeypatch.setattr("espalier.rerank.preference.MANY", 10)
    with pytest.warns(UserWarning, match="max_candidates=2000"):
        GPPreference(1.0 * TREE, sample=None, max_candidates=None, learn=False).fit(groups_of(0, 5))


def test_an_end_before_the_end_is_warned_of():
    with pytest.warns(ConvergenceWarning, match="raise max_iterations"):
        GPPreference(1.0 * es.Normalized(TREE), max_iterations=1).fit(groups_of(0, 5))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("weight", ["learned", "chosen"])
def test_what_progress_raises_reaches_the_caller_after_the_model_was_finished(error, weight):
    told = []

    def stop(progress):
        told.append(progress)
        if len(told) == 3:
            raise error

    model = GPPreference(1.0 * es.Normalized(TREE), progress=stop, score_weight=weight, random_state=0)
    with pytest.raises(error):
        model.fit(groups_of(0, 10))
    assert len(told) == 3 and model.log_marginal_likelihood_ == max(model.restarts_[0].trace)
    assert model.restarts_[0].message == "interrupted"
    assert len(model.predict(groups_of(1, 4))) == 4 and len(model.predict_proba(groups_of(1, 4))) == 4
    model.set_params(progress=None, max_iterations=5, tolerance=1.0).fit(groups_of(0, 10))  # it is not raised again


def test_scores_that_are_all_equal_say_nothing():
    groups = [Group(group.candidates, gold=group.gold) for group in groups_of(0, 6)]
    model = GPPreference(1.0 * TREE, learn=False).fit(groups)
    assert model.score_weight_ == 0.0 and SCORE not in model.learned_.to_dict()


def test_scikit_learn_takes_it():
    model = GPPreference(1.0 * TREE, sample=5, score_weight=0.5, restarts=1)
    assert clone(model).get_params() == model.get_params()
    model.set_params(kernel=2.0 * TREE)
    assert model.kernel == 2.0 * TREE and not hasattr(model, "kernel_")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sample": 0}, ValueError, "sample must be a positive integer or None"),
        ({"max_candidates": 1}, ValueError, "max_candidates must be an integer of at least 2 or None, got 1"),
        ({"restarts": -1}, ValueError, "restarts must be an integer of at least 0, got -1"),
        ({"target": "silver"}, ValueError, "target must be 'gold' or 'best'"),
        ({"max_candidates": 1}, ValueError, "max_candidates"),
        ({"score_weight": "much"}, ValueError, "score_weight must be 'learned', 'chosen' or a finite number"),
        ({"score_weight": np.nan}, ValueError, "score_weight must be"),
        ({"restarts": -1}, ValueError, "restarts must be"),
        ({"max_iterations": 1.5}, ValueError, "max_iterations must be"),
        ({"tolerance": 0.0}, ValueError, "tolerance must be a positive finite number"),
        ({"kernel": "tree"}, TypeError, "kernel must be a kernel"),
    ],
)
def test_bad_settings(options, error, message):
    with pytest.raises(error, match=message):
        GPPreference(**{"kernel": 1.0 * TREE, **options}).fit(groups_of(0, 5))


def test_bad_groups():
    model = GPPreference(1.0 * TREE)
    with pytest.raises(InputError, match="Group 1 has no gold tree"):
        model.fit([groups_of(0)[0], Group(["(S (N a))"])])
    with pytest.raises(InputError, match="nothing to learn"):
        model.fit([Group(["(S (N a))"], gold="(S (N a))")])
    with pytest.raises(InputError, match="nothing to learn"):
        model.fit([])
    with pytest.raises(InputError, match="score"):
        Group(["(S (N a))"], [np.nan])


def test_model_is_saved_after_it_gave_probabilities_and_copies_start_anew(tmp_path):
    model = GPPreference(1.0 * TREE, learn=False).fit(groups_of(0, 6))
    known = model.predict_proba(groups_of(1, 2))
    model.save(tmp_path / "model")
    for a, b in zip(es.load(tmp_path / "model").predict_proba(groups_of(1, 2)), known, strict=True):
        np.testing.assert_array_equal(a, b)
    assert clone(model)._posterior is None
