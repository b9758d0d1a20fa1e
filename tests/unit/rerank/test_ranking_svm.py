"""The ranking machine against its dual, solved as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from tests.unit.rerank.test_perceptron import groups_of

import espalier as es
from espalier.rerank import RankingSVM
from espalier.rerank.training import TrainingSet

KERNEL = es.Normalized(es.SubsetTree(0.5))


def solved(groups, kernel, C):
    """The dual over all pairs of target and rival, by a solver that knows nothing of groups; values at candidates."""
    data = TrainingSet.of(groups, "gold", None, np.random.default_rng(0))
    differences = []
    for first, last in zip(data.start[:-1], data.start[1:], strict=True):
        for rival in range(first + 1, last):
            row = np.zeros(len(data.items))
            row[first], row[rival] = 1.0, -1.0
            differences.append(row)
    pairs = np.array(differences)
    q = pairs @ kernel(data.items) @ pairs.T
    found = minimize(
        lambda a: (0.5 * a @ q @ a - a.sum(), q @ a - 1.0),
        np.zeros(len(pairs)),
        jac=True,
        bounds=[(0.0, C)] * len(pairs),
        method="L-BFGS-B",
        options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9},
    )
    return kernel([t for g in groups for t in g.candidates], data.items) @ (found.x @ pairs)


@pytest.mark.parametrize("C", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("kernel", [KERNEL, es.SubsetTree(0.3, max_depth=2), es.Normalized(es.PartialTree())])
def test_values_are_those_of_the_dual(C, kernel):
    groups = groups_of(0, 6)
    model = RankingSVM(kernel, C=C, sample=None, score_weight=0.0, tolerance=1e-5, max_iterations=2000).fit(groups)
    assert model.gap_ < 1e-5
    np.testing.assert_allclose(
        np.concatenate(model.decision_function(groups)), solved(groups, kernel, C), rtol=1e-3, atol=1e-3
    )


def test_it_learns_what_is_there_to_learn():
    train, test = groups_of(1, 40), groups_of(2, 40)
    model = RankingSVM(KERNEL, random_state=0).fit(train)
    assert np.mean([g.candidates[k] == g.gold for g, k in zip(test, model.chosen(test), strict=True)]) > 0.9


def test_a_pass_that_was_the_last_allowed_says_what_was_left():
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 passes, with a gain of .* Raise max_iterations"):
        model = RankingSVM(KERNEL, score_weight=0.0, max_iterations=1).fit(groups_of(3))
    assert model.n_passes_ == 1 and model.gap_ > 0.01


def test_progress_grows_to_one():
    told = []
    model = RankingSVM(KERNEL, score_weight=0.0, random_state=0, progress=told.append).fit(groups_of(1, 40))
    assert 2 < model.n_passes_ == len(told) - 1 < 100
    told = [float(done) for done in told]
    assert told == sorted(told) and told[-2:] == [1.0, 1.0] and told[-3] > 0.3


def test_a_tolerance_below_what_numbers_can_tell_ends_too():
    with pytest.warns(ConvergenceWarning, match="stopped after 3 passes"):
        RankingSVM(KERNEL, score_weight=0.0, tolerance=1e-300, max_iterations=3).fit(groups_of(3))


@pytest.mark.parametrize("block", [None, 30, 1])
def test_groups_that_rest_are_as_good_as_those_visited_in_every_pass(block, monkeypatch):
    if block is not None:
        monkeypatch.setattr("espalier.rerank.ranking_svm.AT_HAND", block)
        monkeypatch.setattr("espalier.rerank.combination.is_compressible", lambda _: False)
    groups = groups_of(5, 12)
    visits = []
    visit = RankingSVM._visit
    monkeypatch.setattr(RankingSVM, "_visit", lambda self, *a: visits.append(a[1]) or visit(self, *a))
    model = RankingSVM(KERNEL, C=0.3, sample=None, score_weight=0.0, tolerance=1e-5, random_state=0).fit(groups)
    assert len(visits) > model.n_passes_ * 12  # some were visited again within a pass
    np.testing.assert_allclose(
        np.concatenate(model.decision_function(groups)), solved(groups, KERNEL, 0.3), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C must be a positive finite number"),
        ({"tolerance": -1.0}, "tolerance must be a positive finite number"),
        ({"max_iterations": 0}, "max_iterations must be a positive integer"),
        ({"C": "much"}, "C must be a positive finite number, got 'much'"),
        ({"C": 10**400}, "C must be a positive finite number, got an integer of about 401 digits"),
        ({"score_weight": 10**400}, "or a finite number, got an integer of about 401 digits"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        RankingSVM(KERNEL, **options).fit(groups_of(0))


def test_rivals_that_the_kernel_does_not_tell_from_the_target_do_not_keep_it_from_converging():
    right, twin = "(S (X (A a)) (X (A b) (A c)))", "(S (X (A a) (A b)) (X (A c)))"  # the same rules
    wrong = "(S (A a) (A b) (A c))"
    kernel = es.SubsetTree(1.0, max_depth=1)
    assert kernel.value(right, right) == kernel.value(right, twin) == kernel.value(twin, twin)
    machine = RankingSVM(kernel, score_weight=0.0, random_state=0).fit([es.Group([wrong, twin], gold=right)] * 5)
    assert machine.n_passes_ < 100 and machine.gap_ < 0.01
    assert machine.chosen([es.Group([wrong, twin])]).tolist() == [1]


def test_interrupted_machine_keeps_the_weights_of_its_passes():
    told = []

    def stop(done):
        told.append(done)
        if len(told) == 2:
            raise KeyboardInterrupt

    groups = groups_of(3)
    cut = RankingSVM(KERNEL, score_weight=0.0, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        cut.fit(groups)
    with pytest.warns(ConvergenceWarning):
        two = RankingSVM(KERNEL, score_weight=0.0, max_iterations=2, tolerance=0.01).fit(groups)
    assert cut.n_passes_ == two.n_passes_ == 2
    assert len(cut.chosen(groups)) == len(groups)
