"""Preferences against their definition: modes, evidence, gradients, probabilities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import espalier as es
from candidate_groups import groups_of
from espalier.gp import Bernoulli, laplace
from espalier.kernels.inputs import Inputs
from espalier.rerank import GPPreference
from espalier.rerank.choice import check_covariances, largest, pairwise
from espalier.rerank.pairs import SCORE, Pairs, PairScores
from espalier.rerank.training import TrainingSet
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
    return laplace.condition(K, Bernoulli(), 1.0, offset, dual)


def cotangent(mode, K, offset=0.0):
    return laplace.cotangent(mode, K, Bernoulli(), 1.0, offset).covariances


def slopes(z):
    return Bernoulli().slopes(z, 1.0)


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
