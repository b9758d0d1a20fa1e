"""``GPRegressor`` with a matrix of targets: the long table it stands for, gaps, names, units, bad input."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import pandas
import polars
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict, cross_val_score

import espalier as es
from espalier import GPRegressor, PerLabel, fixed
from espalier.errors import InputError
from espalier.gp import BoxCox, TaskPrediction, Transform
from espalier.gp.inference.kronecker import KroneckerPosterior
from espalier.gp.task_units import TaskUnits
from processes import recorded
from task_cases import GAPS, ICM, PLAIN, RNG, TABLE, TASKS, TREE, TREES, Y, fit_tasks, long_table

LMC = es.Coregion("task") * TREE + es.Coregion("task", 2, kappa=0.1) * es.Subtree(on="tree")
KERNELS = {
    "icm": ICM,
    "lmc": LMC,
    "normalised": es.Normalized(es.Coregion("task") * TREE + es.Coregion("task") * es.Constant()),
    "radial": es.Radial(es.Coregion("task") * TREE, 1.3),
    "power": es.kernels.Power(es.Coregion("task"), 2) * TREE,
    "stated": 0.5 * (es.EasyAdapt("task") * TREE),
}


@pytest.mark.parametrize("matrix", [Y, GAPS], ids=["complete", "gaps"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_matrix_is_the_long_table_without_its_gaps(name, matrix):
    kernel = KERNELS[name]
    table, y, groups = long_table(matrix)
    long = GPRegressor(kernel, noise=PerLabel(0.1), learn=False, standardize=False).fit(table, y, noise_groups=groups)
    model = fit_tasks(kernel, matrix, standardize=False)
    assert model.log_marginal_likelihood_ == pytest.approx(long.log_marginal_likelihood_, rel=1e-10)
    value, slopes = model.log_marginal_likelihood(gradient=True)
    expected, by_path = long.log_marginal_likelihood(gradient=True)
    assert value == pytest.approx(expected, rel=1e-10)
    assert slopes == pytest.approx(by_path, rel=1e-6, abs=1e-7)
    new = es.Table(tree=TREES[:2], task=["joy"] * 2)
    mean, std = long.predict(new, return_std=True, noise_groups=["joy"] * 2)
    whole, deviations = model.predict(es.Table(tree=TREES[:2]), return_std=True)
    np.testing.assert_allclose(whole[:, 1], mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(deviations[:, 1], std, rtol=1e-7)
    left = model.leave_one_out()
    rows = ~np.isnan(matrix).all(axis=1)
    np.testing.assert_allclose(left.mean[~np.isnan(matrix[rows])], long.leave_one_out().mean, rtol=1e-6, atol=1e-9)
    assert np.isnan(left.mean[np.isnan(matrix[rows])]).all()


def test_tasks_are_standardised_one_by_one():
    model = fit_tasks()
    scale, location = np.nanstd(GAPS, axis=0), np.nanmean(GAPS, axis=0)
    scaled = fit_tasks(y=(GAPS - location) / scale, standardize=False)
    np.testing.assert_allclose(model.predict(TABLE), scaled.predict(TABLE) * scale + location, rtol=1e-9)
    jacobian = float(((~np.isnan(GAPS)).sum(axis=0) * np.log(scale)).sum())
    assert model.log_marginal_likelihood_ == pytest.approx(scaled.log_marginal_likelihood_ - jacobian, rel=1e-10)
    covariance = model.predict(TABLE[:2], return_cov=True)[1]
    assert covariance.shape == (2, 3, 2, 3)
    std = model.predict(TABLE[:2], return_std=True)[1]
    np.testing.assert_allclose(np.sqrt(np.einsum("itit->it", covariance)), std, rtol=1e-9)
    again = scaled.predict(TABLE[:2], return_cov=True)[1] * scale[:, None, None] * scale
    np.testing.assert_allclose(covariance, again, rtol=1e-8, atol=1e-10 * covariance.max())


def test_targets_are_transformed_in_every_task():
    positive = np.exp(GAPS / [1, 10, 100])
    logs = fit_tasks(y=positive, target_transform="log")
    plain = fit_tasks(y=np.log(positive))
    np.testing.assert_allclose(logs.predict_distribution(TABLE).median, np.exp(plain.predict(TABLE)), rtol=1e-9)
    log_density = logs.log_predictive_density(TABLE, positive)
    expected = plain.log_predictive_density(TABLE, np.log(positive)) - np.log(positive)
    np.testing.assert_allclose(log_density, expected, rtol=1e-9)
    joint = logs.log_predictive_density(TABLE, positive, joint=True)
    known = plain.log_predictive_density(TABLE, np.log(positive), joint=True) - np.nansum(np.log(positive), axis=1)
    np.testing.assert_allclose(joint, known, rtol=1e-9)
    assert fit_tasks(y=positive, target_transform=BoxCox(fixed(0.5))).predict(TABLE).shape == (10, 3)
    with pytest.raises(InputError, match="'log' needs targets above 0"):
        fit_tasks(target_transform="log")
    for learned in ("boxcox", "warped"):
        with pytest.raises(ValueError, match=f"must have no learned numbers .*{learned!r}. Use 'log'"):
            fit_tasks(y=positive, target_transform=learned)
    negative = positive.copy()
    negative[0, 1] = -1.0
    assert logs.log_predictive_density(TABLE, negative, joint=True)[0] == -math.inf


@pytest.mark.parametrize("matrix", [Y, GAPS], ids=["complete", "gaps"])
def test_joint_densities_hold_the_covariances_of_tasks(matrix):
    model = fit_tasks(y=matrix)
    mean, covariance = model.predict(TABLE, return_cov=True)
    expected = []
    for row, values in enumerate(matrix):
        there = ~np.isnan(values)
        normal = (mean[row, there], covariance[row, :, row][np.ix_(there, there)])
        expected.append(multivariate_normal(*normal).logpdf(values[there]) if there.any() else 0.0)
    found = model.log_predictive_density(TABLE, matrix, joint=True)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    model.memory = 1 << 12  # in parts
    np.testing.assert_allclose(model.log_predictive_density(TABLE, matrix, joint=True), expected, rtol=1e-8)
    alone = model.log_predictive_density(TABLE, matrix)
    assert np.isnan(alone).tolist() == np.isnan(matrix).tolist()
    assert not np.allclose(np.nansum(alone, axis=1), found, rtol=1e-3)


def test_predictions_of_each_task():
    model = fit_tasks()
    prediction = model.predict_distribution(TABLE)
    assert isinstance(prediction, TaskPrediction) and len(prediction) == 10 and prediction.tasks == TASKS
    np.testing.assert_array_equal(prediction["joy"].mean, prediction.mean[:, 1])
    mean, std, quantiles = model.predict(TABLE, return_std=True, quantiles=[0.1, 0.9])
    assert quantiles.shape == (10, 3, 2) and prediction.interval(0.8) == pytest.approx(quantiles)
    np.testing.assert_array_equal(quantiles[:, 1], prediction["joy"].quantiles([0.1, 0.9]))
    np.testing.assert_allclose(mean, prediction.median)
    np.testing.assert_array_equal(std, prediction.std)
    np.testing.assert_allclose(
        prediction.modelled_mean * np.nanstd(GAPS, axis=0) + np.nanmean(GAPS, axis=0), mean, rtol=1e-12
    )
    assert (prediction.modelled_std > 0).all()
    assert (model.predict(TABLE, return_std=True, include_noise=False)[1] < std).all()
    with pytest.raises(KeyError, match="There is no task 'awe'; the tasks are 'fear', 'joy', 'anger'"):
        prediction["awe"]
    assert model.predict(TABLE[:0]).shape == (0, 3)


@pytest.mark.parametrize("matrix", [Y, GAPS], ids=["complete", "gaps"])
def test_blocks_of_new_items_change_nothing(matrix):
    model = fit_tasks(y=matrix)
    mean, std = model.predict(TABLE, return_std=True)
    assert len(model._blocks(TABLE)) == 1
    model.memory = 1 << 12
    assert len(model._blocks(TABLE)) > 1
    np.testing.assert_allclose(model.predict(TABLE, return_std=True), (mean, std), rtol=1e-10)
    np.testing.assert_allclose(model.predict(TABLE), mean, rtol=1e-10)


@pytest.mark.parametrize("matrix", [Y, GAPS], ids=["complete", "gaps"])
def test_tasks_are_drawn_together(matrix):
    model = fit_tasks(y=matrix)
    draws = model.sample_posterior(TABLE[:2], 20_000, include_noise=True)
    assert draws.shape == (2, 3, 20_000)
    covariance = model.predict(TABLE[:2], return_cov=True)[1]
    scale = np.sqrt(np.einsum("itit->it", covariance))
    found = np.cov((draws / scale[:, :, None]).reshape(6, -1))
    expected = (covariance / scale[:, :, None, None] / scale).reshape(6, 6)
    np.testing.assert_allclose(found, expected, atol=0.05)
    assert model.sample_prior(TABLE[:4], 5).shape == (4, 3, 5)


def test_a_kernel_without_tasks_gets_a_coregion_in_front():
    model = GPRegressor(PLAIN, learn=False).fit(TREES, Y)
    assert model.kernel_.factors[1] == PLAIN and model.kernel_.factors[0].rank == 1
    assert model.tasks_ == ("0", "1", "2") and model.kernel == PLAIN
    assert sorted(dict(model.noise_.values)) == ["0", "1", "2"] and model.noise is None
    assert model.kernel_.factors[0].tasks() == ["0", "1", "2"]
    assert model.noise_.prior is None, "the noises of tasks are not held together"
    one = GPRegressor(PLAIN, noise=0.3, learn=False).fit(TREES, Y)
    assert one.noise_ == 0.3
    own = GPRegressor(PLAIN, noise=PerLabel(0.2, values={"joy": 0.5}), learn=False).fit(TREES, Y, tasks=TASKS)
    assert dict(own.noise_.values) == {"anger": 0.2, "fear": 0.2, "joy": 0.5}
    single = GPRegressor(PLAIN, learn=False).fit(TREES, Y[:, 0])
    assert single.noise_ == 0.1 and single.tasks_ is None


def test_names_come_from_frames_tables_and_mappings():
    columns = dict(zip(TASKS, GAPS.T, strict=True))
    expected = fit_tasks().predict(TABLE)
    with_none = {name: [None if value != value else value for value in column] for name, column in columns.items()}
    masked = np.ma.masked_invalid(GAPS)
    for y in (columns, es.Table(columns), pandas.DataFrame(columns), polars.DataFrame(columns), with_none):
        model = fit_tasks(y=y, tasks=None)
        assert model.tasks_ == TASKS
        np.testing.assert_array_equal(model.predict(TABLE), expected)
        assert model.score(TABLE, y) == model.score(TABLE, GAPS)
    for y in (masked, GAPS.tolist(), [[None if v != v else v for v in row] for row in GAPS.tolist()]):
        np.testing.assert_array_equal(fit_tasks(y=y).predict(TABLE), expected)
    extension = pandas.DataFrame(columns).astype("Float64")
    np.testing.assert_array_equal(fit_tasks(y=extension, tasks=None).predict(TABLE), expected)
    numbered = fit_tasks(y=pandas.DataFrame(GAPS), tasks=None)
    assert numbered.tasks_ == ("0", "1", "2")
    renamed = fit_tasks(y=pandas.DataFrame(GAPS), tasks=TASKS)
    assert renamed.tasks_ == TASKS
    turned = pandas.DataFrame(columns)[["joy", "anger", "fear"]]
    assert model.score(TABLE, turned) == model.score(TABLE, GAPS), "columns are found by name"
    np.testing.assert_array_equal(
        model.log_predictive_density(TABLE, turned), model.log_predictive_density(TABLE, GAPS)
    )
    assert fit_tasks(tasks=[1, 2.0, True]).tasks_ == ("1", "2", "True")


def test_one_column_is_one_target():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        model = GPRegressor(PLAIN, learn=False).fit(TREES, Y[:, :1])
    assert model.predict(TREES).shape == (10,) and model.tasks_ is None


def test_scores_are_means_over_the_tasks():
    model = fit_tasks(y=Y)
    assert model.score(TABLE, Y) == pytest.approx(r2_score(Y, model.predict(TABLE)), rel=1e-12)
    weight = np.arange(10.0)
    assert model.score(TABLE, Y, weight) == pytest.approx(r2_score(Y, model.predict(TABLE), sample_weight=weight))
    expected = [r2_score(GAPS[there, k], model.predict(TABLE)[there, k]) for k, there in enumerate((~np.isnan(GAPS)).T)]
    assert model.score(TABLE, GAPS) == pytest.approx(np.mean(expected))
    few = np.full_like(Y, np.nan)
    few[:4, 0], few[0, 1] = Y[:4, 0], Y[0, 1]
    assert model.score(TABLE, few) == pytest.approx(r2_score(Y[:4, 0], model.predict(TABLE)[:4, 0]))
    with pytest.raises(InputError, match="No task has two targets"):
        model.score(TABLE[:1], Y[:1])
    with pytest.raises(InputError, match="No task has two targets"):
        model.score(TABLE, Y, np.eye(10)[0])


def test_weights_and_known_noise_belong_to_rows_or_to_targets():
    weight, known = np.linspace(0.5, 2, 10), np.linspace(0.1, 1, 30).reshape(10, 3)
    table, y, groups = long_table(GAPS)
    item, task = np.nonzero(~np.isnan(GAPS))
    settings = {"noise": PerLabel(0.1), "learn": False, "standardize": False}
    long = GPRegressor(ICM, **settings).fit(
        table, y, noise_groups=groups, sample_weight=weight[item], noise_variance=known[item, task]
    )
    model = GPRegressor(ICM, **settings).fit(TABLE, GAPS, sample_weight=weight, noise_variance=known, tasks=TASKS)
    assert model.log_marginal_likelihood_ == pytest.approx(long.log_marginal_likelihood_, rel=1e-10)
    without = weight.copy()
    without[2] = 0
    dropped = GAPS.copy()
    dropped[2] = np.nan
    left, right = (
        GPRegressor(ICM, **settings).fit(TABLE, own, sample_weight=w, tasks=TASKS)
        for own, w in ((GAPS, without), (dropped, weight))
    )
    np.testing.assert_array_equal(left.predict(TABLE), right.predict(TABLE))
    assert left.n_examples_ == np.isfinite(dropped).sum()


def test_the_forms_of_tasks_sum_over_items():
    for matrix in (Y, GAPS):
        model = fit_tasks(y=matrix)
        form = model.dual_form()
        assert form.names == TASKS and form.solve is None
        scores = form.kernel(TABLE, form.inputs) @ form.coefficients.T + form.intercepts
        np.testing.assert_allclose(scores, model.predict(TABLE), rtol=1e-8)
    with pytest.raises(InputError, match="Only if the kernel is a product"):
        fit_tasks(LMC).dual_form()


def test_tasks_are_explained_and_mined():
    model = GPRegressor(es.SubsetTree(decay=0.6), learn=False).fit(TREES, GAPS, tasks=TASKS)
    example = es.explain(model, TREES[0], score="joy")
    assert example.value == pytest.approx(model.predict(TREES[:1])[0, 1])
    assert [own.name for own in es.mine_fragments(model, n=3)] == list(TASKS)


@pytest.mark.parametrize("matrix", [Y, GAPS], ids=["complete", "gaps"])
@pytest.mark.parametrize("kernel", [ICM, LMC], ids=["icm", "lmc"])
def test_saved_models_predict_the_same_bits(tmp_path, kernel, matrix):
    model = GPRegressor(kernel, max_iterations=2, tolerance=1e3).fit(TABLE, matrix, tasks=TASKS)
    model.save(tmp_path / "model")
    again = es.load(tmp_path / "model")
    for own, other in zip(model.predict(TABLE, return_std=True), again.predict(TABLE, return_std=True), strict=True):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_array_equal(model.leave_one_out().mean, again.leave_one_out().mean)
    np.testing.assert_array_equal(model.alpha_, again.alpha_)
    assert again.tasks_ == TASKS and again.trained_on() == model.trained_on()
    assert type(again._posterior.given) is type(model._posterior.given)


def test_the_contract_of_scikit_learn():
    frame = pandas.DataFrame(dict(zip(TASKS, GAPS.T, strict=True)))
    model = GPRegressor(ICM, learn=False)
    assert cross_val_score(model, TABLE, frame, cv=2).shape == (2,)
    assert cross_val_predict(model, TABLE, GAPS, cv=2).shape == (10, 3)
    fitted = clone(model).fit(TABLE, frame)
    assert not hasattr(clone(fitted), "tasks_") and clone(fitted).get_params() == fitted.get_params()
    X = np.arange(20.0).reshape(10, 2)
    assert GPRegressor(es.RBF(), learn=False).fit(X, Y).n_features_in_ == 2


def test_learning_reports_and_an_interruption_keeps_the_best():
    told = []

    def stop(progress):
        told.append(progress)
        if len(told) == 4:
            raise KeyboardInterrupt

    for matrix in (Y, GAPS):
        told.clear()
        model = GPRegressor(PLAIN, progress=stop)
        with pytest.raises(KeyboardInterrupt):
            model.fit(TREES, matrix)
        assert model.log_marginal_likelihood_ == pytest.approx(max(x.log_likelihood for x in told), rel=1e-10)
        assert model.predict(TREES).shape == (10, 3)


def test_a_pilot_takes_some_of_the_targets():
    model = GPRegressor(PLAIN, pilot=12, tolerance=0.05)
    fitted, _ = recorded(lambda: model.fit(TREES, Y))
    assert fitted.pilot_restarts_ and isinstance(fitted._posterior.given, KroneckerPosterior)


def test_a_pilot_may_have_no_target_of_a_task():
    units, z, jacobian = TaskUnits.of(Transform(), np.array([1.0, 3.0]), TASKS, np.array([0, 0]), standardize=True)
    assert z.tolist() == [-1.0, 1.0] and jacobian == 0.0
    assert [(own.location, own.scale) for own in units.each] == [(2.0, 1.0), (0.0, 1.0), (0.0, 1.0)]


def test_related_tasks_help_each_other():
    x = np.linspace(0, 6, 25)[:, None]
    y = np.column_stack([np.sin(x[:, 0]), 2 * np.sin(x[:, 0]) + 1]) + 0.05 * RNG.normal(size=(25, 2))
    gap = y.copy()
    gap[8:, 1] = np.nan
    model = GPRegressor(es.RBF()).fit(x, gap)
    alone, _ = recorded(lambda: GPRegressor(es.RBF()).fit(x[:8], gap[:8, 1]))

    def error(predicted):
        return float(np.sqrt(((predicted - y[8:, 1]) ** 2).mean()))

    assert error(model.predict(x[8:])[:, 1]) < 0.5 < 0.8 * error(alone.predict(x[8:]))


def test_sums_of_products_learn_from_good_starts():
    """The linear model of coregionalization: one product for what is smooth, one for what is rough."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 6, size=(30, 1))
    smooth, rough = np.sin(x[:, 0]), np.sin(9 * x[:, 0])
    y = np.column_stack([smooth + rough, smooth - rough, -smooth]) + 0.05 * rng.normal(size=(30, 3))
    kernel = es.Coregion("task") * es.RBF(2.0) + es.Coregion("task") * es.RBF(0.2)
    model, _ = recorded(lambda: GPRegressor(kernel, max_iterations=60).fit(x, y))
    single, _ = recorded(lambda: GPRegressor(es.Coregion("task", 2) * es.RBF(), max_iterations=60).fit(x, y))
    assert model.log_marginal_likelihood_ > single.log_marginal_likelihood_ + 5
    slow, fast = (term.factors[0].covariances(model.tasks_) for term in model.kernel_.terms)
    assert slow[0, 1] > 0 > slow[0, 2] and fast[0, 1] < 0 and abs(fast[2]).max() < 0.1 * fast[0, 0]


def test_ranks_do_not_stay_alike():
    """Two functions, each shared by two of four tasks: rank 2 keeps them apart."""
    x = np.linspace(0, 6, 20)[:, None]
    f, g = np.sin(2 * x[:, 0]), np.cos(3 * x[:, 0])
    y = np.column_stack([f, -f, g, 2 * g]) + 0.1 * np.random.default_rng(0).normal(size=(20, 4))
    fits = [
        recorded(lambda rank=rank: GPRegressor(es.Coregion("task", rank) * es.RBF(), max_iterations=40).fit(x, y))[0]
        for rank in (1, 2)
    ]
    assert fits[1].log_marginal_likelihood_ > fits[0].log_marginal_likelihood_ + 3
    B = fits[1].kernel_.factors[0].covariances(fits[1].tasks_)
    correlation = B / np.sqrt(np.outer(B.diagonal(), B.diagonal()))
    assert correlation[0, 1] < -0.9 and correlation[2, 3] > 0.9 and abs(correlation[0, 2]) < 0.6


def test_tasks_with_one_target_or_equal_ones():
    few = Y.copy()
    few[1:, 2] = np.nan
    model, messages = recorded(lambda: fit_tasks(y=few))
    assert any("targets of the task 'anger' are equal" in message for message in messages)
    assert np.isfinite(model.predict(TABLE)).all()
    assert model.leave_one_out().mean.shape == (10, 3)
    same, messages = recorded(lambda: fit_tasks(y=np.ones((10, 3))))
    assert any("All targets are equal" in message for message in messages)
    np.testing.assert_allclose(same.predict(TABLE), 1.0)


@pytest.mark.parametrize("gap", [False, True], ids=["complete", "gaps"])
def test_a_warning_names_tasks_that_lost_their_noise(gap):
    X = np.linspace(0, 3, 12)[:, None]
    y = np.column_stack([X[:, 0], np.random.default_rng(0).normal(size=12), np.full(12, 3.0)])
    if gap:
        y[0, 1] = np.nan
    model = GPRegressor(es.RBF(fixed(1.0)), tolerance=1e-3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, tasks=["smooth", "rough", "equal"])
        model.set_params(noise=PerLabel(0.1)).fit(X, y, tasks=["smooth", "rough", "equal"])
    said = [str(one.message).split(":")[0] for one in caught]
    assert [text for text in said if "noise" in text] == ["noise[smooth] has ended at its lower bound"]


def test_more_tasks_than_rows():
    y = np.random.default_rng(0).normal(size=(3, 7))
    model = GPRegressor(PLAIN, learn=False).fit(TREES[:3], y)
    assert isinstance(model._posterior.given, KroneckerPosterior) and model.predict(TREES).shape == (10, 7)
    one, messages = recorded(lambda: GPRegressor(PLAIN).fit(TREES[:1], y[:1]))
    assert len(messages) == 1 and "All targets are equal" in messages[0]
    np.testing.assert_allclose(one.predict(TREES[:1]), y[:1])


def test_strings_are_read_as_trees_by_all_kernels_of_items():
    kernel = PLAIN + es.Normalized(es.Subsequence(2))
    brackets = [tree.to_brackets() for tree in TREES]
    from_text = GPRegressor(kernel, learn=False).fit(brackets, GAPS)
    from_trees = GPRegressor(kernel, learn=False).fit(TREES, GAPS)
    np.testing.assert_array_equal(from_text.predict(brackets), from_trees.predict(TREES))


@dataclass(frozen=True, repr=False)
class Counted(es.Kernel):
    """The shape of each block that is computed."""

    def block(self, a, b):
        SHAPES.append((len(a), len(b)))
        return np.array([[1.0 + (x == y) for y in b] for x in a])


SHAPES: list[tuple[int, int]] = []


def test_kernels_of_items_are_computed_once_for_each_two_items():
    SHAPES.clear()
    model = GPRegressor(es.Coregion("task") * Counted() + es.Coregion("task"), learn=False).fit(list(range(10)), GAPS)
    assert set(SHAPES) == {(9, 9)}  # a row has no target
    SHAPES.clear()
    model.predict([1, 2, 3])
    assert set(SHAPES) == {(9, 3)}


def test_another_vocabulary_and_pickles(tmp_path):
    import pickle

    forest = es.Forest.from_trees(TREES)
    model = GPRegressor(PLAIN, learn=False).fit(forest, GAPS)
    np.testing.assert_array_equal(model.predict(es.Forest.from_trees(TREES[5:])), model.predict(forest)[5:])
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict(forest), model.predict(forest))


def test_models_of_a_matrix_are_compared():
    models = {"one": fit_tasks(y=GAPS), "two": fit_tasks(es.EasyAdapt("task") * TREE, y=GAPS)}
    found = es.compare(models)
    density = models["one"].leave_one_out().log_density(GAPS[~np.isnan(GAPS).all(axis=1)])
    row = next(row for row in found if row.name == "one")
    assert row.leave_one_out_density == pytest.approx(np.nanmean(density))
