"""Preferences against their definition: modes, evidence, gradients, probabilities; then the learner."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.errors import InputError
from espalier.gp import Probit, laplace
from espalier.jobs.progress import Progress
from espalier.kernels.inputs import Inputs
from espalier.rerank import GPPreference, Reranker
from espalier.rerank.choice import check_covariances, largest, pairwise
from espalier.rerank.pairs import SCORE, Pairs, PairScores
from espalier.rerank.training import TrainingSet
from espalier.storage import State
from espalier.structures.group import Group
from reference import preference as slow
from reference.gaussian_process import central_difference

START = [0, 3, 5, 9]
TREE = es.SubsetTree(0.5)


def covariances(n, seed=0, size=1.0):
    """A regular matrix."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n + 2))
    return size * (root @ root.T / n + 0.1 * np.eye(n))


def problem_of(kernel, groups, weight=None, scores=True):
    data = TrainingSet.of(groups, "gold", None, np.random.default_rng(0))
    pairs = Pairs(data.start)
    known = data.scores if scores else np.zeros(len(data.items))
    model = GPPreference(kernel)
    model._pairs, model._scores = pairs, PairScores.of(known, pairs, weight)
    return model._objective(kernel, Inputs.of(data.items)), data


def find_mode(K, offset=0.0, dual=None):
    return laplace.condition(K, Probit(), 1.0, offset, dual)


def cotangent(mode, K, offset=0.0):
    return laplace.cotangent(mode, K, Probit(), 1.0, offset).covariances


def slopes(z):
    return Probit().slopes(z, 1.0)


def test_pairs_are_differences():
    pairs = Pairs(np.array(START))
    D = np.zeros((6, 9))
    for row, (target, rival) in enumerate([(0, 1), (0, 2), (3, 4), (5, 6), (5, 7), (5, 8)]):
        D[row, target], D[row, rival] = 1, -1
    rng = np.random.default_rng(0)
    f, K, w, C = rng.normal(size=9), rng.normal(size=(9, 9)), rng.normal(size=6), rng.normal(size=(6, 6))
    assert len(pairs) == 6 and pairs.n_items == 9
    np.testing.assert_allclose(pairs.differences(f), D @ f)
    np.testing.assert_allclose(pairs.both(K), D @ K @ D.T)
    np.testing.assert_allclose(pairs.back(w), D.T @ w)
    np.testing.assert_allclose(pairs.both_back(C), D.T @ C @ D)


def test_slopes_of_the_likelihood():
    from scipy.special import log_ndtr

    z = np.array([-30.0, -3.0, -0.1, 0.0, 0.7, 5.0])
    slope, curvature, ratio = slopes(z)
    for k, place in enumerate(z.tolist()):
        assert slope[k] == pytest.approx(central_difference(log_ndtr, place, 1e-3), rel=1e-7)
        bent = central_difference(lambda x: slopes(np.array([x]))[0][0], place, 1e-3)
        assert curvature[k] == pytest.approx(-bent, rel=1e-7)
        third = central_difference(lambda x: -slopes(np.array([x]))[1][0], place, 1e-3)
        assert ratio[k] * curvature[k] == pytest.approx(third, rel=1e-6, abs=1e-9)


def test_slopes_far_away():
    slope, curvature, ratio = slopes(np.array([-1e200, -1e8, -1001.0, -999.0, 50.0, 1e200]))
    assert np.isfinite([slope, curvature, ratio]).all()
    np.testing.assert_allclose(curvature[:4], 1.0, rtol=2e-6)
    assert abs(curvature[2] - curvature[3]) < 1e-8 and abs(ratio[2] - ratio[3]) < 1e-7
    assert curvature[4] == pytest.approx(0.0, abs=1e-100) and slope[5] == 0.0


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("moved", [False, True])
def test_the_mode_and_the_evidence_are_those_of_the_definition(size, moved):
    K = covariances(9, size=size)
    pairs = Pairs(np.array(START))
    offset = np.random.default_rng(1).normal(size=9) if moved else np.zeros(9)
    mode = find_mode(pairs.both(K), pairs.differences(offset))
    f, spread, evidence = slow.laplace(K, START, offset)
    np.testing.assert_allclose(K @ pairs.back(mode.dual), f, atol=1e-6)
    np.testing.assert_allclose(mode.latent, pairs.differences(f), atol=1e-6)
    assert mode.log_evidence == pytest.approx(evidence, abs=1e-5)
    cross = pairs.differences(K).T  # of pairs with the items themselves
    explained = mode.explained(cross)
    np.testing.assert_allclose(K - explained.T @ explained, spread, atol=1e-4 * size)


@pytest.mark.parametrize("start", [[0, 2], [0, 3]])
@pytest.mark.parametrize(("size", "error"), [(0.01, 2e-4), (0.1, 0.01), (1.0, 0.12), (10.0, 0.5)])
def test_the_evidence_is_near_the_integral(start, size, error):
    """Where utilities are small it is exact; where they are large, Laplace's approximation is known to be too low."""
    K = covariances(start[-1], seed=3, size=size)
    exact = slow.exact_evidence(K, start, 61)
    assert exact - error < find_mode(Pairs(np.array(start)).both(K)).log_evidence < exact


def test_where_the_climb_starts_does_not_matter():
    K = Pairs(np.array(START)).both(covariances(9, size=10.0))
    whole = find_mode(K)
    for dual in (whole.dual, 100 * whole.dual, np.random.default_rng(0).normal(size=6)):
        again = find_mode(K, 0.0, dual)
        np.testing.assert_allclose(again.latent, whole.latent, rtol=1e-9)
        assert again.log_evidence == pytest.approx(whole.log_evidence, rel=1e-10)


@pytest.mark.parametrize("size", [1e-8, 1e4, 1e8])
def test_covariances_of_any_size(size):
    K = Pairs(np.array(START)).both(covariances(9, size=size))
    mode = find_mode(K)
    np.testing.assert_allclose(mode.latent, K @ mode.dual, rtol=1e-5, atol=1e-12)
    assert np.isfinite(mode.log_evidence) and np.isfinite(cotangent(mode, K)).all()


def test_the_cotangent_is_the_derivative_in_the_covariances():
    pairs = Pairs(np.array(START))
    K = pairs.both(covariances(9, size=3.0))
    offset = np.linspace(-1, 1, 6)
    bar = cotangent(find_mode(K, offset), K)
    for seed in range(4):
        direction = pairs.both(covariances(9, seed=10 + seed))
        slope = central_difference(lambda t, d=direction: find_mode(K + t * d, offset).log_evidence, 0.0, 1e-3)
        assert (bar * direction).sum() == pytest.approx(slope, rel=1e-7)


KERNELS = [
    TREE,
    1.0 * TREE,
    2.0 * es.Normalized(TREE),
    1.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.4))),
    1.5 * es.SubsetTree(es.PerLabel(0.4), frontier=es.PerLabel(0.8)),
    1.0 * es.SubsetTree(0.4, frontier=es.fixed(0)),
    1.0 * es.Normalized(es.PartialTree(0.4, 0.5)) + 0.5 * es.Normalized(TREE),
]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weight", [None, 0.3])
def test_gradients_are_those_of_differences(kernel, weight):
    problem, _ = problem_of(kernel, groups_of(0, 6), weight)
    values = {p.path: p.start for p in problem.parameters()}
    assert (SCORE in values) == (weight is None)
    _, gradient = problem.gradient(values)
    for path, value in values.items():
        slope = central_difference(lambda x, path=path: problem.value({**values, path: x}), value, 1e-3 * value)
        assert gradient.get(path, 0.0) == pytest.approx(slope, rel=1e-6, abs=1e-8), path


def test_gradients_with_one_label_and_with_equal_trees():
    flat, left, right = "(A (A a) (A a) (A a))", "(A (A (A a) (A a)) (A a))", "(A (A a) (A (A a) (A a)))"
    groups = [Group([flat, left, right], [0.0, 1.0, 2.0], gold=gold) for gold in (left, right, flat)]
    # Without order, two of the trees have the same fragments: a pair of length 0.
    for kernel in (1.0 * es.SubsetTree(es.PerLabel(0.5)), 1.0 * es.BagOfWords()):
        problem, data = problem_of(kernel, groups)
        values = {p.path: p.start for p in problem.parameters()}
        evidence, gradient = problem.gradient(values)
        assert np.isfinite(evidence)
        for path, value in values.items():
            slope = central_difference(
                lambda x, path=path, p=problem, v=values: p.value({**v, path: x}), value, 1e-3 * value
            )
            assert gradient.get(path, 0.0) == pytest.approx(slope, rel=1e-6, abs=1e-8), path
    lengths = problem.observed.both(problem.plan.matrix(problem.kernel)).diagonal()
    assert lengths.min() == 0.0 and len(data) == 3


def test_scores_of_pairs():
    pairs = Pairs(np.array([0, 3, 5]))
    scores = PairScores.of(np.array([np.nan, -1.0, -3.0, -2.0, -7.0]), pairs, None)
    # The first target is no candidate: it is as low as its lowest rival.
    np.testing.assert_allclose(scores.differences * scores.unit, [-2.0, 0.0, 5.0])
    assert np.mean(scores.differences**2) == pytest.approx(1.0)
    assert scores.term is not None and PairScores.of(np.zeros(5), pairs, None).term is None
    np.testing.assert_allclose(PairScores.of(np.array([1.0, 2, 3, 4, 5]), pairs, 0.5).offset, [-0.5, -1.0, -0.5])


@pytest.mark.parametrize("n", [2, 3, 7, 40])
def test_choices_are_as_probable_as_they_are_often(n):
    rng = np.random.default_rng(n)
    mean, covariance = rng.normal(size=n), covariances(n, seed=n) * rng.uniform(0.2, 2.0)
    found = largest(mean, covariance)
    assert found.sum() == pytest.approx(1.0)
    # All with one variance, so that the differences of two have the variance that they have on average.
    apart = np.add.outer(covariance.diagonal(), covariance.diagonal()) - 2 * covariance
    alike = 0.5 * apart.sum() / (n * (n - 1)) * np.eye(n)
    np.testing.assert_allclose(found, slow.drawn_choices(mean, alike, 400_000, rng), atol=4e-3)
    # Where differences vary alike anyway, nothing is changed.
    common = 0.7 + 1.3 * np.eye(n)
    np.testing.assert_allclose(largest(mean, common), slow.drawn_choices(mean, common, 400_000, rng), atol=4e-3)
    both = pairwise(mean, covariance)
    for i, j in [(0, 1), (1, 0), (0, n - 1)]:
        two = largest(mean[[i, j]], covariance[np.ix_([i, j], [i, j])])
        np.testing.assert_allclose(two, [both[i, j], both[j, i]])


@pytest.mark.parametrize("n", [2, 3, 30, 400])
def test_the_most_probable_choice_is_the_one_with_the_largest_mean(n):
    rng = np.random.default_rng(n)
    for size in (1e-3, 1.0, 1e6):
        mean, root = rng.normal(size=n), rng.normal(size=(n, n)) * rng.uniform(0.0, size, (n, 1))
        found = largest(mean, root @ root.T)
        assert found.sum() == pytest.approx(1.0)
        assert np.array_equal(np.argsort(found), np.argsort(mean))


@pytest.mark.parametrize("kernel", [1.0 * TREE, 40.0 * es.SubsetTree(0.9), 9.0 * es.Normalized(TREE)])
def test_the_most_probable_candidate_is_the_one_that_is_chosen(kernel):
    model = GPPreference(kernel, learn=False, random_state=0).fit(groups_of(0, 12))
    new = groups_of(1, 40)
    assert [int(own.argmax()) for own in model.predict_proba(new)] == model.chosen(new).tolist()


@pytest.mark.parametrize("scale", [1e10, 1e18, 1e25, 1e60, 1e100])
def test_kernels_of_huge_values_have_probabilities(scale):
    model = GPPreference(scale * TREE, learn=False, random_state=0).fit(groups_of(0, 20))
    new = groups_of(1, 10)
    found = model.predict_proba(new)
    assert [int(own.argmax()) for own in found] == model.chosen(new).tolist()
    assert all(own.sum() == pytest.approx(1.0) for own in found)


@pytest.mark.parametrize("scale", [1e151, 1e200, 1e300])
def test_kernels_whose_squares_overflow_are_refused(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(es.errors.KernelOverflowError, match=r"reach .e\+.*too large for a float64.*Normalized"):
            GPPreference(scale * TREE, learn=False, random_state=0).fit(groups_of(0, 20))


def test_covariances_that_rounding_has_eaten_up_are_told_once():
    kept, lost = 1e10 + np.eye(3), 1e20 * np.ones((3, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_covariances([kept, np.full((1, 1), 1e20)], [1e10, 1e20])
    with pytest.warns(
        UserWarning, match=r"In 2 of 3 groups, the first is group 1, .* as large as 1e\+20, so rounding"
    ) as told:
        check_covariances([kept, lost, lost], [1e10, 1e20, 1e20])
    assert len(told) == 1
    with pytest.raises(
        es.errors.KernelOverflowError, match=r"group 1 are not finite, because the kernel has values of 1e\+300"
    ):
        check_covariances([np.eye(2), np.full((2, 2), np.nan)], [1.0, 1e300])


def test_choices_that_are_certain_equal_or_impossible():
    zero = np.zeros((3, 3))
    np.testing.assert_allclose(largest(np.array([50.0, 0.0, 0.0]), zero), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(largest(np.ones(3), zero), 1 / 3, atol=1e-12)
    np.testing.assert_array_equal(largest(np.array([3.0]), np.ones((1, 1))), [1.0])
    ones = np.ones((3, 3))  # all utilities are one: only the noise decides
    np.testing.assert_allclose(largest(np.zeros(3), 1e6 * ones), 1 / 3, atol=1e-12)


def test_utilities_are_those_of_the_definition():
    groups = groups_of(1, 3)
    model = GPPreference(1.0 * TREE, sample=None, score_weight=0.3, learn=False).fit(groups)
    data = TrainingSet.of(groups, "gold", None, np.random.default_rng(0))
    new = groups_of(2, 3)
    items = [*data.items, *(tree for group in new for tree in group.candidates)]
    # A little on the diagonal makes the definition's matrix regular, and changes little.
    K = TREE(items) + 1e-6 * np.eye(len(items))
    offset = np.concatenate([0.3 * data.scores, np.zeros(len(items) - len(data.items))])
    f, spread, _ = slow.laplace(K[: len(data.items), : len(data.items)], data.start.tolist(), offset[: len(data.items)])
    old, cross = K[: len(data.items), : len(data.items)], K[: len(data.items), len(data.items) :]
    gain = np.linalg.solve(old, cross)
    mean = gain.T @ f + np.concatenate([0.3 * np.array(group.scores) for group in new])
    covariance = K[len(data.items) :, len(data.items) :] - cross.T @ gain + gain.T @ spread @ gain
    np.testing.assert_allclose(np.concatenate(model.decision_function(new)), mean, atol=1e-3)
    for row, (own_mean, own) in enumerate(model._utilities(new)):
        np.testing.assert_allclose(own_mean, mean[4 * row : 4 * row + 4], atol=1e-3)
        np.testing.assert_allclose(own, covariance[4 * row : 4 * row + 4, 4 * row : 4 * row + 4], atol=1e-3)
    for row, probabilities in enumerate(model.predict_proba(new)):
        own = slice(4 * row, 4 * row + 4)
        apart = np.add.outer(*2 * (covariance[own, own].diagonal(),)) - 2 * covariance[own, own]
        drawn = slow.drawn_choices(mean[own], apart.sum() / 24 * np.eye(4), 200_000, np.random.default_rng(0))
        np.testing.assert_allclose(probabilities, drawn, atol=5e-3)


def test_a_learned_weight_is_that_of_a_linear_kernel():
    """The score as one more feature: the same utilities as with a kernel of scores added."""
    groups = groups_of(3, 8)
    problem, data = problem_of(1.0 * TREE, groups)
    whole = problem.posterior({SCORE: 2.0}).given
    pairs = problem.observed
    known = PairScores.of(data.scores, pairs, None)
    scores = data.scores / known.unit
    K = TREE(data.items) + 2.0 * np.outer(scores, scores)
    mode = find_mode(pairs.both(K))
    assert whole.log_evidence == pytest.approx(mode.log_evidence, rel=1e-12)
    weight = known.weight_given(whole.dual, 2.0)
    values = TREE(data.items) @ pairs.back(whole.dual) + weight * data.scores
    np.testing.assert_allclose(values, K @ pairs.back(mode.dual), atol=1e-9)


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
