"""``GPClassifier``: what it learns and predicts, against its parts, and what it refuses."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.scikit_learn_checks import expected_failures

import espalier as es
from espalier.errors import InputError
from espalier.gp import Bernoulli, LogNormal, ep, laplace, softmax
from espalier.gp.likelihoods import Softmax
from random_trees import random_trees
from reference.gaussian_process import central_difference

TREES = [tree for tree in random_trees(3, 80) if tree.children][:40]
TWO = np.array(["short" if tree.size < 6 else "long" for tree in TREES])
THREE = np.array([tree.label for tree in TREES])
KERNEL = es.Normalized(es.SubsetTree(decay=0.4))
SETTINGS = [
    {"inference": "ep"},
    {"inference": "laplace"},
    {"inference": "variational"},
    {"likelihood": "logit", "inference": "laplace"},
    {"likelihood": "softmax"},
]


@pytest.fixture(scope="module", params=SETTINGS, ids=repr)
def fitted(request):
    """A model of each kind, fitted to three classes and to two."""
    return [es.GPClassifier(KERNEL, tolerance=1e-3, **request.param).fit(TREES, y) for y in (THREE, TWO)]


def test_predictions_are_those_of_the_parts(fitted):
    for model, y in zip(fitted, (THREE, TWO), strict=True):
        K = model.kernel_(TREES) + 100.0
        classes = np.unique(y)
        assert model.classes_.tolist() == classes.tolist()
        p = model.predict_proba(TREES)
        if model.likelihood == "softmax":
            codes = np.searchsorted(classes, y)
            given = softmax.condition(K, Softmax(len(classes)), codes)
            mean, covariance = given.mean(K), given.covariances(K, K.diagonal())
            wanted = np.exp(Softmax(len(classes)).log_predictive(mean, covariance))
            evidence = given.log_evidence
        else:
            link = Bernoulli(model.likelihood)
            inference = {"ep": ep, "laplace": laplace}.get(model.inference, es.gp.variational)
            none = np.zeros((len(TREES), 0))
            odds, evidence = [], 0.0
            for label in classes[-1:] if len(classes) == 2 else classes:
                given = inference.condition(K, link, np.where(y == label, 1.0, -1.0))
                yes = link.probability(given.mean(K, none), given.variance(K, K.diagonal(), none))
                odds.append(yes / (1 - yes))
                evidence += given.log_evidence
            odds = np.stack([np.ones(len(TREES)), *odds] if len(classes) == 2 else odds, axis=1)
            wanted = odds / odds.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(p, wanted, atol=1e-5)
        assert model.log_marginal_likelihood_ == pytest.approx(evidence, abs=1e-5)
        assert (model.predict(TREES) == classes[p.argmax(axis=1)]).all()
        np.testing.assert_allclose(np.exp(model.predict_log_proba(TREES[:4])), p[:4], rtol=1e-9)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_latent_means_are_sums_over_training_rows(fitted):
    for model in fitted:
        form = model.dual_form()
        values = model.kernel_(TREES[:7], TREES) @ form.coefficients.T + form.intercepts
        mean, variance = model.predict_latent(TREES[:7])
        np.testing.assert_allclose(values if mean.ndim == 2 else values[:, 0], mean, atol=1e-8)
        assert (variance > 0).all() and variance.shape == mean.shape
        log_p = model.predict_log_proba(TREES[:7])
        wanted = log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p
        np.testing.assert_array_equal(model.decision_function(TREES[:7]), wanted)
        np.testing.assert_array_equal(form.coefficients, model.alpha_)


def test_gradients_of_the_evidence_are_those_of_differences(fitted):
    model, _ = fitted
    _, gradient = model.log_marginal_likelihood(gradient=True)
    for path, slope in gradient.items():
        value = model.learned_[path].value
        found = central_difference(lambda x, path=path: model.log_marginal_likelihood({path: x}), value, 1e-3 * value)
        assert slope == pytest.approx(found, rel=1e-5, abs=1e-6)


def test_leave_one_out_is_near_fits_without_a_row(fitted):
    for model, y in zip(fitted, (THREE, TWO), strict=True):
        left_out = model.leave_one_out()
        for row in (0, 5):
            rest = np.arange(len(TREES)) != row
            other = es.GPClassifier(
                model.kernel_, likelihood=model.likelihood, inference=model.inference, learn=False
            ).fit([tree for tree, kept in zip(TREES, rest, strict=True) if kept], y[rest])
            known = dict(zip(other.classes_.tolist(), other.predict_proba(TREES[row : row + 1])[0], strict=True))
            near = 0.06 if model.inference in ("ep", "variational") else 0.12
            for label, p in zip(model.classes_.tolist(), left_out[row], strict=True):
                assert p == pytest.approx(known.get(label, 0.0), abs=near)


def test_a_saved_model_predicts_the_same_bits(fitted, tmp_path):
    for model in fitted:
        model.save(tmp_path / "model")
        loaded = es.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict_proba(TREES), model.predict_proba(TREES))
        np.testing.assert_array_equal(loaded.leave_one_out(), model.leave_one_out())
        assert loaded.log_marginal_likelihood() == pytest.approx(model.log_marginal_likelihood_, abs=1e-6)
        assert loaded.log_marginal_likelihood_ == model.log_marginal_likelihood_
        assert repr(loaded.learned_) == repr(model.learned_) and loaded.kernel_ == model.kernel_


def test_learning_raises_the_evidence_and_says_what_it_learned():
    model = es.GPClassifier(KERNEL).fit(TREES, THREE)
    start = es.GPClassifier(4.0 * KERNEL, learn=False).fit(TREES, THREE)
    assert model.log_marginal_likelihood_ > start.log_marginal_likelihood_
    assert [row.path for row in model.learned_] == ["kernel.scale", "kernel.decay", "kernel.frontier"]
    assert model.learned_["kernel.scale"].prior == "LogNormal(median=10.0, spread=1.5)"
    assert model.score(TREES, THREE) > 0.9 and model.n_examples_ == len(TREES)


def test_a_kernel_with_a_variance_is_not_multiplied():
    for kernel in (es.fixed(2.0) * KERNEL, 2.0 * KERNEL, es.RBF() + es.Constant(1.0)):
        x = TREES if "SubsetTree" in repr(kernel) else np.arange(40.0)[:, None]
        model = es.GPClassifier(kernel, learn=False).fit(x, TWO)
        assert model.kernel_ == kernel
    assert es.GPClassifier(KERNEL, learn=False).fit(TREES, TWO).kernel_ == 4.0 * KERNEL


def test_without_a_prior_the_variance_of_separable_classes_runs_away():
    x = np.concatenate([np.linspace(-2, -1, 10), np.linspace(1, 2, 10)])[:, None]
    y = np.repeat([0, 1], 10)
    kernel = 1.0 * es.RBF(es.fixed(2.0))
    scale = es.GPClassifier(kernel, variance_prior=None).fit(x, y).learned_["kernel.scale"].value
    held = es.GPClassifier(kernel).fit(x, y).learned_["kernel.scale"].value
    own = es.GPClassifier(es.Learned(1.0, prior=LogNormal(2.0, 0.1)) * es.RBF(es.fixed(2.0))).fit(x, y)
    assert scale > 10 * held
    assert own.learned_["kernel.scale"].value == pytest.approx(2.0, rel=0.3)


def test_weights_count_rows():
    """A row of weight 2 is two rows; one of weight 0 is none, and its label may be missing."""
    settings = {"learn": False}
    weights = np.ones(40)
    weights[3], weights[7] = 2.0, 0.0
    labels = TWO.astype(object)
    labels[7] = None
    model = es.GPClassifier(KERNEL, **settings).fit(TREES, labels, sample_weight=weights)
    rows = [k for k in range(40) if k != 7] + [3]
    other = es.GPClassifier(KERNEL, **settings).fit([TREES[k] for k in rows], TWO[rows])
    # Twice the same row has the same mode, but EP approximates each row on its own.
    np.testing.assert_allclose(model.predict_proba(TREES), other.predict_proba(TREES), atol=0.02)
    for likelihood in ("probit", "softmax"):
        same = {"inference": "laplace", "likelihood": likelihood, **settings}
        model = es.GPClassifier(KERNEL, **same).fit(TREES, labels, sample_weight=weights)
        other = es.GPClassifier(KERNEL, **same).fit([TREES[k] for k in rows], TWO[rows])
        np.testing.assert_allclose(model.predict_proba(TREES), other.predict_proba(TREES), atol=1e-6)
        assert model.log_marginal_likelihood_ == pytest.approx(other.log_marginal_likelihood_, abs=1e-7)
    assert model.n_examples_ == 39 and model.leave_one_out().shape == (39, 2)


def test_balanced_classes_weigh_the_same():
    rare = np.array(["a"] * 36 + ["b"] * 4)
    plain, balanced = (
        es.GPClassifier(KERNEL, class_weight=own, learn=False).fit(TREES, rare) for own in (None, "balanced")
    )
    by_hand = es.GPClassifier(KERNEL, class_weight={"a": 40 / 72, "b": 40 / 8}, learn=False).fit(TREES, rare)
    assert balanced.predict_proba(TREES)[:, 1].mean() > plain.predict_proba(TREES)[:, 1].mean()
    np.testing.assert_allclose(balanced.predict_proba(TREES), by_hand.predict_proba(TREES), atol=1e-9)


def test_a_pilot_learns_and_all_rows_tell():
    pilot = es.GPClassifier(KERNEL, pilot=15).fit(TREES, THREE)
    assert pilot.n_examples_ == len(TREES)
    again = es.GPClassifier(pilot.kernel_, learn=False).fit(TREES, THREE)
    np.testing.assert_allclose(pilot.predict_proba(TREES), again.predict_proba(TREES), atol=1e-6)
    other = es.GPClassifier(KERNEL, pilot=None).fit(TREES, THREE)
    assert other.kernel_ != pilot.kernel_
    few = np.array(["a"] * 38 + ["b", "c"])
    assert es.GPClassifier(KERNEL, pilot=2).fit(TREES, few).classes_.tolist() == ["a", "b", "c"]


def test_log_densities_of_labels():
    model = es.GPClassifier(KERNEL, learn=False).fit(TREES, THREE)
    found = -model.log_density(TREES, THREE).mean()
    assert found == pytest.approx(log_loss(THREE, model.predict_proba(TREES), labels=model.classes_))
    with pytest.raises(InputError, match="knows no class 'X9'"):
        model.log_density(TREES[:1], ["X9"])


def test_an_interrupted_fit_keeps_the_best_so_far():
    calls = []

    def stop(progress):
        calls.append(progress)
        if len(calls) == 3:
            raise KeyboardInterrupt

    model = es.GPClassifier(KERNEL, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TREES, THREE)
    assert model.predict_proba(TREES[:2]).shape == (2, len(set(THREE)))
    done = []
    es.GPClassifier(KERNEL, progress=done.append).fit(TREES, TWO)
    assert done[-1].fraction == 1.0


@pytest.mark.parametrize("inducing", [None, 8], ids=["exact", "sparse"])
def test_any_number_of_threads_gives_the_same_bits(inducing):
    def fit(n):
        return es.GPClassifier(KERNEL, inducing=inducing, tolerance=1.0, n_threads=n).fit(TREES, THREE)

    one, two = fit(1), fit(2)
    assert one.log_marginal_likelihood_ == two.log_marginal_likelihood_
    np.testing.assert_array_equal(one.predict_proba(TREES), two.predict_proba(TREES))


@pytest.mark.parametrize("boxed", [False, True])
def test_truth_values_are_predicted_as_truth_values(boxed, tmp_path):
    """Also if they come in an array of Python objects, which scikit-learn's scores would refuse."""
    labels = (TWO == "short").astype(object if boxed else bool)
    model = es.GPClassifier(KERNEL, learn=False).fit(TREES, labels)
    assert model.predict(TREES).dtype == bool
    assert 0.6 < np.mean(model.predict(TREES) == labels) == model.score(TREES, labels)
    model.save(tmp_path / "model")
    assert es.load(tmp_path / "model").predict(TREES).dtype == bool


def test_a_regressor_that_is_interrupted_after_learning_is_not_fitted(monkeypatch):
    model = es.GPRegressor(KERNEL, learn=False)

    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(es.GPRegressor, "_finish", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TREES, np.arange(40.0))
    with pytest.raises(NotFittedError):
        model.predict(TREES)


def test_a_fit_that_is_interrupted_after_learning_leaves_no_half_fitted_model(monkeypatch):
    """Also not one that mixes an earlier fit with the labels of this one."""
    model = es.GPClassifier(KERNEL, learn=False).fit(TREES, TWO)

    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(es.GPClassifier, "_finish", stop)
    for own in (model, es.GPClassifier(KERNEL, learn=False)):
        with pytest.raises(KeyboardInterrupt):
            own.fit(TREES, THREE)
        with pytest.raises(NotFittedError):
            own.predict(TREES)


@pytest.mark.parametrize("labels", [np.arange(40) % 3, np.arange(40) % 2 == 0, (np.arange(40) % 2).astype(float)])
def test_labels_may_be_numbers_and_truth_values(labels, tmp_path):
    model = es.GPClassifier(KERNEL, learn=False).fit(TREES, labels)
    assert model.predict(TREES).dtype == labels.dtype
    model.save(tmp_path / "model")
    assert es.load(tmp_path / "model").predict(TREES).dtype == labels.dtype


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, ["a"] * 40, "All rows belong to one class, 'a'"),
        ({}, ["a"] * 39, "39 targets"),
        ({}, [None, *TWO[1:]], "Row 0 of y has no label"),
        ({}, np.linspace(0, 1, 40), "continuous"),
        ({}, np.array([np.inf, *range(39)], dtype=object), "Row 0 of y has no label, got inf"),
        ({"likelihood": "cauchit"}, TWO, "likelihood must be"),
        ({"inference": "mcmc"}, TWO, "inference must be"),
        ({"likelihood": "softmax", "inference": "ep"}, TWO, "needs inference='laplace'"),
        ({"class_weight": {"nobody": 2.0}}, TWO, "names the class 'nobody'"),
        ({"mean": "quadratic"}, TWO, "mean must be"),
        ({"variance_prior": 3.0}, TWO, "variance_prior must be 'weak'"),
        ({"pilot": 0}, TWO, "pilot must be"),
        ({"kernel": "SubsetTree()"}, TWO, "kernel must be a kernel"),
    ],
)
def test_what_it_refuses(settings, y, message):
    with pytest.raises((InputError, ValueError, TypeError), match=message):
        es.GPClassifier(**{"kernel": KERNEL, **settings}).fit(TREES, y)


def test_a_class_with_one_row_and_equal_rows_with_different_labels():
    y = np.array(["a"] * 20 + ["b"] * 19 + ["c"])
    assert es.GPClassifier(KERNEL, learn=False).fit(TREES, y).predict_proba(TREES).shape == (40, 3)
    same = [TREES[0]] * 6
    p = es.GPClassifier(KERNEL).fit(same, ["a", "b"] * 3).predict_proba(same)
    np.testing.assert_allclose(p, 0.5, atol=1e-6)


def test_it_is_a_classifier_of_scikit_learn():
    model = es.GPClassifier(KERNEL, tolerance=0.01)
    assert clone(model).get_params()["kernel__decay"] == 0.4 and is_classifier(model)
    assert cross_val_score(model, TREES, TWO, cv=3, scoring="neg_log_loss").mean() > -1
    assert copy.deepcopy(model).fit(TREES, TWO).predict(TREES[:1]).shape == (1,)


WEIGHT = "expectation propagation approximates a row of weight 2 once, and two rows one by one"


def of_checks(estimator):
    """Which checks fail, and why; softmax weighs rows exactly."""
    found = expected_failures(WEIGHT)
    return {name: why for name, why in found.items() if estimator.likelihood != "softmax" or why != WEIGHT}


# Their data are few and easy to learn, so a climb may stop early.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [es.GPClassifier(es.RBF(), learn=False), es.GPClassifier(es.RBF(), likelihood="softmax", learn=False)],
    expected_failed_checks=of_checks,
)
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_explanations_and_fragments_speak_for_a_class():
    model = es.GPClassifier(KERNEL, learn=False).fit(TREES, TWO)
    fragments = es.mine_fragments(model, n=5)
    assert "short" in repr(fragments)
    why = es.explain(model, TREES[0])
    assert str(why)
    many = es.GPClassifier(KERNEL, learn=False).fit(TREES, THREE)
    assert str(es.explain(many, TREES[0]))


def test_both_kinds_of_models_show_fragments_nodes_and_pages_of_each_class():
    for likelihood in ("probit", "softmax"):
        model = es.GPClassifier(KERNEL, likelihood=likelihood, learn=False).fit(TREES, THREE)
        values = model.predict_latent(TREES[:1])[0][0]
        for k, name in enumerate(model.classes_.tolist()):
            why = es.explain(model, TREES[0], score=name)
            assert why.value == pytest.approx(values[k])
            shares = sum(float(own.shares.sum()) for own in why.trees)
            assert shares == pytest.approx(why.value - why.intercept)
        assert "<svg" in why.to_html() and len(es.explain(model, n=3).reasons) > 0
        assert {mined.name for mined in es.mine_fragments(model, n=3)} == set(model.classes_.tolist())
