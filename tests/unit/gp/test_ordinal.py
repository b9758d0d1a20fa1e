"""``GPOrdinal``: what it learns and predicts, against sums over all latent values, and what it refuses."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.base import clone, is_classifier
from sklearn.metrics import log_loss, mean_absolute_error
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.scikit_learn_checks import expected_failures

import espalier as es
from espalier.errors import InputError
from espalier.gp import Ordinal
from random_trees import random_trees
from reference import ordinal as slow
from reference.gaussian_process import central_difference

TREES = [tree for tree in random_trees(3, 80) if tree.children][:40]
SIZES = np.array([tree.size for tree in TREES])
GRADES = np.searchsorted([4, 7, 11], SIZES, side="right") + 1
KERNEL = es.Normalized(es.SubsetTree(decay=0.4))
POINTS = np.array([[0.0], [0.8], [1.9], [2.5], [1.2]])
RBF = es.fixed(3.0) * es.RBF(es.fixed(1.0))


@pytest.fixture(scope="module", params=["ep", "laplace", "variational"])
def fitted(request):
    """A model fitted to four grades."""
    return es.GPOrdinal(KERNEL, inference=request.param, tolerance=1e-3).fit(TREES, GRADES)


@pytest.fixture(scope="module")
def model():
    """A model fitted to four grades without learning its kernel."""
    return es.GPOrdinal(KERNEL, max_iterations=3, tolerance=0.1).fit(TREES, GRADES)


@pytest.mark.parametrize(("inference", "near"), [("ep", 2e-3), ("laplace", 0.03), ("variational", 0.03)])
def test_a_few_rows_against_sums_over_all_latent_values(inference, near):
    """The evidence and the probabilities of a new row, by enumeration."""
    grades = [0, 1, 2, 1]
    model = es.GPOrdinal(RBF, inference=inference, learn=False).fit(POINTS[:4], grades)
    K = RBF(POINTS)
    exact = slow.log_evidence(K[:4, :4], grades, model.thresholds_.tolist())
    assert model.log_marginal_likelihood_ == pytest.approx(exact, abs=5 * near)
    if inference == "variational":
        assert model.log_marginal_likelihood_ < exact
    wanted = slow.probabilities(K, grades, model.thresholds_.tolist())
    np.testing.assert_allclose(model.predict_proba(POINTS[4:])[0], wanted, atol=near)
    left_out = model.leave_one_out()
    order = [1, 2, 3, 0]
    wanted = slow.probabilities(K[np.ix_(order, order)], [1, 2, 1], model.thresholds_.tolist())
    np.testing.assert_allclose(left_out[0], wanted, atol=2 * near)


def test_rows_that_have_nothing_in_common_are_exact():
    apart = 100.0 * np.arange(4)[:, None]
    grades = [0, 1, 2, 2]
    model = es.GPOrdinal(RBF, learn=False).fit(apart, grades)
    thresholds = model.thresholds_.tolist()
    exact = sum(slow.log_evidence(np.array([[3.0]]), [grade], thresholds) for grade in grades)
    assert model.log_marginal_likelihood_ == pytest.approx(exact, abs=1e-8)
    wanted = slow.probabilities(np.diag([3.0, 3.0]), [0], thresholds)
    np.testing.assert_allclose(model.leave_one_out(), np.tile(wanted, (4, 1)), atol=1e-8)


def test_without_a_function_thresholds_are_those_of_the_shares():
    model = es.GPOrdinal(es.fixed(1e-9) * es.RBF(es.fixed(1.0)), tolerance=1e-7).fit(
        np.zeros((10, 1)), [1] * 5 + [2] * 3 + [4] * 2
    )
    np.testing.assert_allclose(model.thresholds_, ndtri([0.5, 0.8]), atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 1)))[0], [0.5, 0.3, 0.2], atol=1e-4)


def test_with_one_wide_slope_it_is_ordered_probit():
    rng = np.random.default_rng(4)
    x = rng.normal(size=60)
    grades = np.searchsorted([-0.5, 0.4], 1.5 * x + rng.normal(size=60))
    slope, thresholds = slow.ordered_probit(x, grades.tolist())
    model = es.GPOrdinal(es.fixed(1e4) * es.Linear(), inference="laplace", tolerance=1e-6).fit(x[:, None], grades)
    np.testing.assert_allclose(model.thresholds_, thresholds, atol=0.05)
    assert model.predict_latent(np.ones((1, 1)))[0][0] == pytest.approx(slope, abs=0.05)


def test_gradients_of_the_evidence_are_those_of_differences(fitted):
    _, gradient = fitted.log_marginal_likelihood(gradient=True)
    assert list(gradient) == ["kernel.scale", "kernel.decay", "kernel.frontier", "first", "gap[1]", "gap[2]"]
    for path, slope in gradient.items():
        value = fitted.learned_[path].value
        found = central_difference(
            lambda x, path=path: fitted.log_marginal_likelihood({path: x}), value, 1e-3 * abs(value)
        )
        assert slope == pytest.approx(found, rel=1e-5, abs=1e-6)


def test_learning_raises_the_evidence_and_says_what_it_learned(fitted):
    start = es.GPOrdinal(KERNEL, inference=fitted.inference, learn=False).fit(TREES, GRADES)
    assert fitted.log_marginal_likelihood_ > start.log_marginal_likelihood_
    assert fitted.learned_["kernel.scale"].prior == "LogNormal(median=10.0, spread=1.5)"
    np.testing.assert_allclose(
        fitted.thresholds_, np.cumsum([fitted.learned_[path].value for path in ("first", "gap[1]", "gap[2]")])
    )
    assert fitted.score(TREES, GRADES) > 0.6 and fitted.n_examples_ == len(TREES)


def test_thresholds_start_where_grades_have_their_shares():
    counts = np.array([5, 80, 10, 5])
    for variance in (0.5, 40.0):
        p = Ordinal.of_counts(counts, variance).probabilities(np.zeros(1), np.full(1, variance))[0]
        np.testing.assert_allclose(p, (counts + 0.5) / 102, rtol=1e-12)
    start = es.GPOrdinal(KERNEL, learn=False).fit(TREES, GRADES)
    np.testing.assert_allclose(
        ndtr(start.thresholds_ / np.sqrt(5)), np.cumsum(np.bincount(GRADES - 1) + 0.5)[:-1] / (len(GRADES) + 2)
    )


def test_modes_medians_and_means_of_grades(model):
    p = model.predict_proba(TREES)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert model.classes_.tolist() == [1, 2, 3, 4]
    assert (model.predict(TREES) == 1 + p.argmax(axis=1)).all()
    np.testing.assert_allclose(model.predict_mean(TREES), p @ [1, 2, 3, 4])
    other = copy.copy(model).set_params(predicts="median")
    risk = p @ np.abs(np.arange(4)[:, None] - np.arange(4))
    assert (other.predict(TREES) == 1 + risk.argmin(axis=1)).all()
    assert (other.predict(TREES) != model.predict(TREES)).any()
    named = es.GPOrdinal(KERNEL, grades=("z", "y", "x", "w"), learn=False).fit(TREES, [" zyxw"[g] for g in GRADES])
    np.testing.assert_allclose(named.predict_mean(TREES), named.predict_proba(TREES) @ [0, 1, 2, 3])


def test_only_the_order_of_numbers_counts():
    plain = es.GPOrdinal(KERNEL, learn=False).fit(TREES, GRADES)
    for grades, y in (
        (None, np.array([0, 1, 2, 5, 10])[GRADES]),
        ((0.5, 1.5, 2.0, 2.5), np.array([0, 0.5, 1.5, 2.0, 2.5])[GRADES]),
        (["one", "two", "three", "four"], np.array(["", "one", "two", "three", "four"])[GRADES]),
        (np.array(["d", "c", "b", "a"]), np.array([" ", "d", "c", "b", "a"])[GRADES]),
    ):
        other = es.GPOrdinal(KERNEL, grades=grades, learn=False).fit(TREES, y)
        np.testing.assert_array_equal(other.predict_proba(TREES), plain.predict_proba(TREES))
        assert other.classes_.tolist() == [y[grade == GRADES][0] for grade in (1, 2, 3, 4)]


def test_latent_means_are_sums_over_training_rows(fitted):
    form = fitted.dual_form()
    mean, variance = fitted.predict_latent(TREES[:7])
    values = fitted.kernel_(TREES[:7], TREES) @ form.coefficients[0] + form.intercepts[0]
    np.testing.assert_allclose(values, mean, atol=1e-8)
    assert form.names == ("grade",) and (variance > 0).all()
    np.testing.assert_allclose(
        fitted.predict_proba(TREES[:7]), fitted.likelihood_.probabilities(mean, variance), rtol=1e-12
    )


def test_leave_one_out_is_near_fits_without_a_row(fitted):
    left_out = fitted.leave_one_out()
    near = 0.15 if fitted.inference == "laplace" else 0.05
    for row in (0, 5):
        rest = [k for k in range(len(TREES)) if k != row]
        other = es.GPOrdinal(fitted.kernel_, inference=fitted.inference, learn=False).fit(
            [TREES[k] for k in rest], GRADES[rest]
        )
        kernel, likelihood = fitted.kernel_, fitted.likelihood_
        other._link = lambda inputs, likelihood=likelihood: likelihood
        other.fit([TREES[k] for k in rest], GRADES[rest])
        assert other.kernel_ == kernel
        np.testing.assert_allclose(other.predict_proba(TREES[row : row + 1])[0], left_out[row], atol=near)


def test_a_saved_model_predicts_the_same_bits(fitted, tmp_path):
    stated = es.GPOrdinal(KERNEL, grades=np.array(["a", "b", "c"]), mean="constant", learn=False)
    stated.fit(TREES, np.array(["a", "b"])[GRADES % 2], sample_weight=1.0 + GRADES % 3)
    for model in (fitted, stated):
        model.save(tmp_path / "model")
        loaded = es.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict_proba(TREES), model.predict_proba(TREES))
        np.testing.assert_array_equal(loaded.leave_one_out(), model.leave_one_out())
        np.testing.assert_array_equal(loaded.thresholds_, model.thresholds_)
        assert loaded.log_marginal_likelihood() == pytest.approx(model.log_marginal_likelihood_, abs=1e-6)
        assert loaded.log_marginal_likelihood_ == model.log_marginal_likelihood_
        assert repr(loaded.learned_) == repr(model.learned_) and loaded.kernel_ == model.kernel_
        assert loaded.likelihood_ == model.likelihood_


def test_any_number_of_threads_gives_the_same_bits():
    one, two = (es.GPOrdinal(KERNEL, max_iterations=2, tolerance=0.1, n_threads=n).fit(TREES, GRADES) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(TREES), two.predict_proba(TREES))


def test_weights_count_rows():
    """A row of weight 2 is two rows; one of weight 0 is none, and its grade may be missing."""
    weights = np.ones(40)
    weights[3], weights[7] = 2.0, 0.0
    grades = GRADES.astype(object)
    grades[7] = None
    rows = [k for k in range(40) if k != 7] + [3]
    same = {"inference": "laplace", "learn": False}
    model = es.GPOrdinal(KERNEL, **same).fit(TREES, grades.tolist(), sample_weight=weights)
    other = es.GPOrdinal(KERNEL, **same).fit([TREES[k] for k in rows], GRADES[rows])
    np.testing.assert_allclose(model.predict_proba(TREES), other.predict_proba(TREES), atol=1e-6)
    assert model.log_marginal_likelihood_ == pytest.approx(other.log_marginal_likelihood_, abs=1e-7)
    assert model.n_examples_ == 39 and model.leave_one_out().shape == (39, 4)
    assert isinstance(model.likelihood_, Ordinal)
    # A row of weight 0 does not move the start, however large its covariance is.
    far = np.append(POINTS[:4, 0] + 1.0, 1e3)
    settings = {"kernel": es.fixed(1.0) * es.Linear(), "learn": False}
    with_far = es.GPOrdinal(**settings).fit(far[:, None], [1, 2, 3, 3, None], sample_weight=[1, 1, 1, 1, 0])
    without = es.GPOrdinal(**settings).fit(far[:4, None], [1, 2, 3, 3])
    np.testing.assert_array_equal(with_far.thresholds_, without.thresholds_)


def test_a_constant_mean_replaces_the_lowest_threshold():
    model = es.GPOrdinal(KERNEL, mean="constant", max_iterations=3, tolerance=0.1).fit(TREES, GRADES)
    assert [row.path for row in model.learned_][-2:] == ["gap[1]", "gap[2]"]
    assert "first" not in model.learned_.to_dict()
    plain = es.GPOrdinal(KERNEL, learn=False).fit(TREES, GRADES)
    held = es.GPOrdinal(KERNEL, mean="constant", learn=False).fit(TREES, GRADES)
    np.testing.assert_allclose(held.predict_proba(TREES), plain.predict_proba(TREES), atol=0.1)
    assert held.dual_form().constant_variance == 100.0


def test_a_listed_grade_without_rows_keeps_the_width_of_half_a_row():
    model = es.GPOrdinal(KERNEL, grades=[1, 2, 3, 4, 5], max_iterations=3, tolerance=0.1).fit(TREES, GRADES)
    assert [row.path for row in model.learned_][-3:] == ["first", "gap[1]", "gap[2]"]
    p = model.predict_proba(TREES)
    assert p.shape == (40, 5) and (p[:, 4] > 0).all() and p[:, 4].max() < 0.2
    middle = es.GPOrdinal(KERNEL, grades=[1, 2, 3, 4], learn=False).fit(TREES, np.where(GRADES == 2, 3, GRADES))
    assert [own.path for own in middle.likelihood_.parameters()] == ["first", "gap[2]"]
    lowest = es.GPOrdinal(KERNEL, grades=[0, 1, 2, 3, 4], learn=False).fit(TREES, GRADES)
    assert [own.path for own in lowest.likelihood_.parameters()] == ["gap[1]", "gap[2]", "gap[3]"]


def test_two_grades_a_grade_with_one_row_and_truth_values():
    two = es.GPOrdinal(KERNEL, learn=False).fit(TREES, SIZES > 6)
    assert two.classes_.tolist() == [False, True] and two.thresholds_.shape == (1,)
    assert two.predict(TREES).dtype == bool and two.predict_proba(TREES).shape == (40, 2)
    one = es.GPOrdinal(KERNEL, max_iterations=5, tolerance=0.1).fit(TREES, np.array([1] * 20 + [2] * 19 + [9]))
    assert one.predict_proba(TREES).shape == (40, 3) and np.diff(one.thresholds_)[0] > 0
    same = [TREES[0]] * 6
    p = es.GPOrdinal(KERNEL, tolerance=1e-6).fit(same, [1, 2, 3] * 2).predict_proba(same)
    np.testing.assert_allclose(p, 1 / 3, atol=0.03)


def test_a_pilot_has_rows_of_each_grade():
    few = np.array([1] * 38 + [2, 3])
    model = es.GPOrdinal(KERNEL, pilot=4).fit(TREES, few)
    assert model.classes_.tolist() == [1, 2, 3] and model.n_examples_ == 40
    for seed in range(3):
        rows = model._pilot_rows(model._examples, np.random.default_rng(seed))
        assert set(few[rows]) == {1, 2, 3} and len(rows) == 4
    assert es.GPOrdinal(KERNEL, pilot=1_000, learn=False).fit(TREES, few).n_examples_ == 40


def test_log_densities_of_grades(model):
    found = -model.log_density(TREES, GRADES).mean()
    assert found == pytest.approx(log_loss(GRADES, model.predict_proba(TREES)))
    with pytest.raises(InputError, match="knows no class 9, so it gives"):
        model.log_density(TREES[:1], [9])


def test_an_interrupted_fit_keeps_the_best_so_far():
    calls = []

    def stop(progress):
        calls.append(progress)
        if len(calls) == 3:
            raise KeyboardInterrupt

    model = es.GPOrdinal(KERNEL, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TREES, GRADES)
    assert model.predict_proba(TREES[:2]).shape == (2, 4) and len(model.thresholds_) == 3


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [3] * 40, "All rows have the grade 3"),
        ({"grades": [1, 2, 3]}, [3] * 40, "All rows have the grade 3"),
        ({}, GRADES[:39], "39 targets"),
        ({}, [np.nan, *GRADES[1:]], "row 0 must be a finite number"),
        ({}, [None, *GRADES[1:].tolist()], "Row 0 of y has no label"),
        ({}, [b"good", b"bad"] * 20, "Text such as b'bad' has no order"),
        ({}, GRADES / 2, r"list them if they are ordered grades, GPOrdinal\(kernel, grades=\[0.5"),
        ({}, ["good", "bad"] * 20, "Text such as 'bad' has no order"),
        ({"grades": ["bad", "good"]}, ["good", "fair"] * 20, "Row 1 of y has the grade 'fair', which is not in"),
        ({"grades": ["bad"]}, ["bad"] * 40, "grades must list two grades or more"),
        ({"grades": "abc"}, GRADES, "grades must list two grades or more"),
        ({"grades": [1, 2, 2]}, GRADES, "grades lists 2 twice"),
        ({"predicts": "mean"}, GRADES, "predicts must be"),
        ({"inference": "mcmc"}, GRADES, "inference must be"),
        ({"mean": "quadratic"}, GRADES, "mean must be"),
        ({"pilot": 0}, GRADES, "pilot must be"),
        ({"kernel": "SubsetTree()"}, GRADES, "kernel must be a kernel"),
    ],
)
def test_what_it_refuses(settings, y, message):
    with pytest.raises((InputError, ValueError, TypeError), match=message):
        es.GPOrdinal(**{"kernel": KERNEL, **settings}).fit(TREES, y)


def test_it_is_a_classifier_of_scikit_learn():
    model = es.GPOrdinal(KERNEL, grades=[1, 2, 3, 4], tolerance=0.1, max_iterations=5)
    assert clone(model).get_params()["kernel__decay"] == 0.4 and is_classifier(model)
    assert cross_val_score(model, TREES, GRADES, cv=3, scoring="neg_mean_absolute_error").mean() > -1.5
    median = clone(model).set_params(predicts="median").fit(TREES, GRADES)
    assert mean_absolute_error(GRADES, median.predict(TREES)) < 0.6


# Their data are few and easy to learn, so a climb may stop early.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [es.GPOrdinal(es.RBF(), learn=False)],
    expected_failed_checks=lambda _: {
        **expected_failures("expectation propagation approximates a row of weight 2 once, and two rows one by one"),
        "check_classifiers_classes": "text has no order: its grades must be listed",
    },
)
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_explanations_and_fragments_speak_for_high_grades(model):
    fragments = es.mine_fragments(model, n=5)
    assert "grade" in repr(fragments)
    why = es.explain(model, TREES[0])
    assert why.value == pytest.approx(model.predict_latent(TREES[:1])[0][0]) and str(why)
