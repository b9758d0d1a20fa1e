"""``GPRegressor(inducing=...)``: a function that is known through a few structures."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier import GPRegressor, PerLabel
from espalier.errors import InputError
from espalier.fragments import mine_fragments
from espalier.gp import Inducing
from processes import KERNEL, TREES, WAVE, X, Y, recorded
from reference.gaussian_process import central_difference

FEATURES = np.random.default_rng(0).normal(size=(30, 2))
TABLE = es.Table(source=TREES, features=FEATURES)
TARGETS = np.exp(np.random.default_rng(1).normal(size=30))
GROUPS = ["a", "b"] * 14 + ["c"] * 2
FEW = Inducing(4, choose="random")
TREE_KERNELS = {
    "per label": es.SubsetTree(PerLabel(0.3), PerLabel(0.5), on="source"),
    "per label, normalised": 0.8 * es.Normalized(es.SubsetTree(PerLabel(0.3), on="source")) + es.RBF(on="features"),
    "product": es.Normalized(es.SubsetTree(on="source")) * es.RBF(on="features") + es.Constant(0.3),
}


def check_gradient(model):
    """Every path, as those of exact processes are checked."""
    theta = {parameter.path: parameter.start for parameter in model._examples.parameters()}
    value, gradient = model.log_marginal_likelihood(theta, gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood(theta), rel=1e-12)
    for path, start in theta.items():
        step = 2e-3 * start

        def evidence(x, path=path):
            return model.log_marginal_likelihood({**theta, path: x})

        expected = central_difference(evidence, start, step)
        noise = 1e-12 * max(1.0, abs(value)) / step
        assert gradient[path] == pytest.approx(expected, rel=2e-6, abs=1e-7 + noise), path


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", TREE_KERNELS)
def test_gradients_of_kernels(name, power):
    """``PerLabel`` has labels that no chosen structure has."""
    inducing = Inducing(4, choose="random", power=power)
    model = GPRegressor(TREE_KERNELS[name], noise=0.3, learn=False, inducing=inducing).fit(TABLE, TARGETS)
    exact = GPRegressor(TREE_KERNELS[name], noise=0.3, learn=False).fit(TABLE, TARGETS)
    assert model.kernel_ == exact.kernel_
    check_gradient(model)


@pytest.mark.parametrize("mean", [None, "constant", es.gp.LinearMean(on="features")], ids=["0", "constant", "linear"])
def test_gradients_of_noise_and_units(mean):
    noise = PerLabel(0.2, values={"a": 0.4})
    model = GPRegressor(es.RBF(on="features"), noise=noise, mean=mean, target_transform="boxcox", inducing=FEW)
    model.learn = False
    known = np.linspace(0, 0.5, 30)
    model.fit(TABLE, TARGETS, noise_groups=GROUPS, sample_weight=np.linspace(0.5, 2, 30), noise_variance=known)
    check_gradient(model)


def test_gradients_with_combinations():
    inducing = Inducing(3, choose="random", combine=6)
    model = GPRegressor(KERNEL, noise=0.3, learn=False, inducing=inducing).fit(TREES, Y)
    assert model.inducing_weights_.shape == (3, 6)
    check_gradient(model)


@pytest.mark.parametrize("mean", [None, "constant"])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_with_all_examples_as_structures_it_is_exact(power, mean):
    """Trees that repeat are used once, and nothing is added to a diagonal; 100 is more than there are examples."""
    trees = [*TREES, *TREES[:5]]
    y = np.concatenate([Y, Y[:5] + 1])
    exact = GPRegressor(KERNEL, mean=mean).fit(trees, y)
    for choose in ("greedy", "random", "medoids", "variance"):
        inducing = Inducing(100, choose=choose, power=power)
        model = GPRegressor(exact.kernel_, noise=exact.noise_, mean=mean, learn=False, inducing=inducing).fit(trees, y)
        assert model.jitter_ == 0
        assert len(set(model.inducing_rows_.tolist())) == len(model.inducing_rows_) < 31
        assert model.log_marginal_likelihood_ == pytest.approx(exact.log_marginal_likelihood_, abs=1e-5)
        for own, other in zip(
            model.predict(trees, return_std=True), exact.predict(trees, return_std=True), strict=True
        ):
            np.testing.assert_allclose(own, other, atol=1e-4)


def test_numbers_are_learned_on_a_pilot_and_kept():
    kernel = 1.0 * es.RBF()
    model = GPRegressor(kernel, pilot=25, inducing=5).fit(X, WAVE)
    rows = np.sort(np.random.default_rng(0).permutation(40)[:25])
    pilot = GPRegressor(kernel).fit(X[rows], WAVE[rows])
    assert model.learned_.to_dict() == pilot.learned_.to_dict()
    assert model.noise_ == pilot.noise_ and model.n_examples_ == 40 and len(model.inducing_rows_) == 5
    assert np.abs(model.predict(X) - WAVE).mean() < 0.5


def test_learning_by_the_bound_raises_it_and_learns_more_noise():
    kernel = 1.0 * es.RBF()
    kept = GPRegressor(kernel, inducing=Inducing(6)).fit(X, WAVE)
    model = GPRegressor(kernel, inducing=Inducing(6, learn="bound")).fit(X, WAVE)
    assert model.log_marginal_likelihood_ > kept.log_marginal_likelihood_ + 1
    assert model.noise_ > 1.5 * kept.noise_
    assert model.learned_.gradient_norm < 1e-2 and len(model.pilot_restarts_) == len(model.restarts_) == 1
    np.testing.assert_array_equal(model.inducing_rows_, kept.inducing_rows_)


def test_structures_are_added_until_the_bound_stops_growing():
    few, more = (
        GPRegressor(1.0 * es.RBF(), inducing=Inducing(None, least_gain=least)).fit(X, WAVE) for least in (3.0, 0.01)
    )
    exact = GPRegressor(1.0 * es.RBF()).fit(X, WAVE)
    assert 1 < len(few.inducing_rows_) < len(more.inducing_rows_) < 30
    assert more.log_marginal_likelihood_ == pytest.approx(exact.log_marginal_likelihood_, abs=0.05)


@pytest.mark.parametrize("inducing", [6, Inducing(6, power=0.5), Inducing(3, combine=8)], ids=repr)
def test_predictions_draws_and_files(inducing, tmp_path):
    model = GPRegressor(KERNEL, mean="constant", inducing=inducing).fit(TREES, Y)
    mean, covariance = model.predict(TREES[:4], return_cov=True)
    _, deviation = model.predict(TREES[:4], return_std=True)
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), deviation)
    draws = model.sample_posterior(TREES[:4], 4_000, include_noise=True)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=4 * deviation.max() / 60)
    assert model.leave_one_out().mean.shape == (30,)
    model.save(tmp_path / "model.espalier")
    again = es.load(tmp_path / "model.espalier")
    assert again.inducing == model.inducing
    np.testing.assert_array_equal(again.inducing_rows_, model.inducing_rows_)
    np.testing.assert_allclose(again.predict(TREES, return_std=True), model.predict(TREES, return_std=True), rtol=1e-9)
    assert again.log_marginal_likelihood_ == pytest.approx(model.log_marginal_likelihood_)


def test_new_trees_may_have_labels_and_vocabularies_of_their_own():
    model = GPRegressor(KERNEL, inducing=6).fit(TREES, Y)
    strings = [str(tree) for tree in TREES[:3]] + ["(NEW (NP a) b)"]
    forest = es.Forest.from_trees(strings[::-1])
    np.testing.assert_allclose(model.predict(forest)[::-1], model.predict(strings))


@pytest.mark.parametrize("inducing", [6, Inducing(3, combine=8)], ids=repr)
def test_the_mean_is_a_sum_over_the_structures(inducing):
    model = GPRegressor(es.SubsetTree(), mean="constant", inducing=inducing).fit(TREES, Y)
    dual = model.dual_form()
    assert len(dual.inputs) == len(model.inducing_rows_) == len(model.alpha_)
    scores = dual.kernel(dual.inputs, TREES).T @ dual.coefficients[0] + dual.intercepts[0]
    np.testing.assert_allclose(scores, model.predict(TREES))
    assert len(list(mine_fragments(model))) > 0


def test_a_model_without_a_mean_tells_how_sure_it_is_of_features():
    model = GPRegressor(es.SubsetTree(), inducing=100).fit(TREES, Y)
    exact = GPRegressor(model.kernel_, noise=model.noise_, learn=False).fit(TREES, Y)
    cross = model.kernel_(model._examples.support, TREES)
    told = cross.T @ model.dual_form().solve(cross)
    whole = exact.kernel_(TREES)
    np.testing.assert_allclose(told, whole @ exact.dual_form().solve(whole), rtol=1e-4)


def test_an_interrupted_fit_is_a_sparse_process_with_the_best_values():
    def stop(progress):
        if progress.evaluation == 3:
            raise KeyboardInterrupt

    model = GPRegressor(1.0 * es.RBF(), inducing=5, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, WAVE)
    assert len(model.inducing_rows_) == 5 and model.predict(X).shape == (40,)


def test_structures_need_a_variance():
    with pytest.raises(InputError, match="every one has a variance of 0"):
        GPRegressor(es.Linear(), inducing=3, learn=False).fit(np.zeros((5, 2)), np.arange(5.0))
    with pytest.raises(ValueError, match="inducing must be None"):
        GPRegressor(KERNEL, inducing="many").fit(TREES, Y)


def test_every_run_and_number_of_threads_gives_the_same_bits():
    first, second = (GPRegressor(KERNEL, inducing=Inducing(3, combine=8), n_threads=n).fit(TREES, Y) for n in (1, 2))
    np.testing.assert_array_equal(first.predict(TREES), second.predict(TREES))


def test_fitting_warns_of_nothing_without_cause():
    assert recorded(lambda: GPRegressor(KERNEL, inducing=6).fit(TREES, Y))[1] == []


def test_several_targets_have_rows_of_their_own():
    with pytest.raises(InputError, match="inducing is for one target of each row"):
        GPRegressor(es.Coregion(on="task") * KERNEL, inducing=5).fit(TREES, np.stack([Y, Y], axis=1))
