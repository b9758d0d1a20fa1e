"""Predictions where there is no doubt, or where a group is not known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score

import espalier as es
from espalier import GPRegressor, PerLabel, fixed
from espalier.errors import InputError
from espalier.gp import Log, Prediction
from espalier.gp.transforms import Transform
from espalier.gp.units import TargetUnits

X = np.random.default_rng(0).normal(size=(30, 1))
Y = np.exp(X[:, 0])
WHO = np.where(np.arange(30) % 2, "hasty", "careful")


@pytest.mark.parametrize("transform", [Transform(), Log()], ids=repr)
def test_the_density_without_any_doubt_is_infinite_at_the_prediction_and_nothing_elsewhere(transform):
    target = TargetUnits(transform, 0.0, 1.0, False)
    mean = transform.forward(np.array([2.0, 2.0, 2.0, 2.0]))[0]
    prediction = Prediction(mean, np.array([0.0, 0.0, 0.0, 1.0]), target)
    density = prediction.log_density([2.0, 2.5, -1e300, 2.0])  # warnings are errors in these tests
    assert density[:3].tolist() == [math.inf, -math.inf, -math.inf] and math.isfinite(density[3])


def test_the_density_of_a_model_without_noise_or_variance():
    model = GPRegressor(es.SubsetTree(), standardize=False, noise=fixed(0), learn=False)
    model.fit(["(A (B b))", "(C (D d))"], [1.0, 2.0])
    assert model.log_predictive_density([es.Tree("leaf")], [0.0]).tolist() == [math.inf]
    assert model.log_predictive_density([es.Tree("leaf")], [1.0]).tolist() == [-math.inf]


def groups_model(transform, noise=None):
    noise = PerLabel(0.1, values={"hasty": 0.8}) if noise is None else noise
    return GPRegressor(es.RBF(), noise=noise, target_transform=transform, learn=False)


def test_scores_take_groups():
    model = groups_model("log").fit(X, Y, noise_groups=WHO)
    weight = np.linspace(1, 2, 30)
    expected = r2_score(Y, model.predict(X, noise_groups=WHO), sample_weight=weight)
    assert model.score(X, Y, weight, noise_groups=WHO) == expected
    assert model.score(X, Y, sample_weight=weight, noise_groups=WHO[::-1]) != expected


def test_cross_validation_with_noise_by_group_scores_numbers():
    for transform in (None, "log"):
        model = groups_model(transform)
        options = {"cv": 3, "params": {"noise_groups": WHO}}
        if transform is None:
            scores = cross_val_score(model, X, Y, **options)
        else:
            with pytest.warns(UserWarning, match="noise_groups were not given"):
                scores = cross_val_score(model, X, Y, **options)
        assert np.isfinite(scores).all()


def test_a_mean_without_groups_uses_their_start_and_says_so_where_it_depends_on_it():
    plain = groups_model(None).fit(X, Y, noise_groups=WHO)
    assert plain.predict(X).tolist() == plain.predict(X, noise_groups=WHO).tolist()
    model = groups_model("log").fit(X, Y, noise_groups=WHO)
    with pytest.warns(
        UserWarning, match=r"the mean of a transformed target depends on the noise.* 0.1 .*noise_groups="
    ):
        mean = model.predict(X)
    expected = model.predict(X, noise_groups=np.full(30, "careful"))  # whose noise is the start
    np.testing.assert_allclose(mean, expected, rtol=1e-12)
    model.predict(X, include_noise=False)  # does not depend on it
    same = groups_model("log", PerLabel(fixed(0.1))).fit(X, Y, noise_groups=WHO)
    assert same.predict(X).tolist() == same.predict(X, noise_groups=WHO).tolist()  # no group differs
    with pytest.raises(InputError, match="the groups are needed"):
        model.predict(X, return_std=True)
    with pytest.raises(InputError, match="the groups are needed"):
        model.predict_distribution(X)


def test_groups_that_were_not_seen_are_named_once():
    model = groups_model(None).fit(X, Y, noise_groups=WHO)
    with pytest.warns(UserWarning, match=r"2 groups of noise were not seen .*: 'new', 'newer'") as caught:
        model.predict(X[:4], return_std=True, noise_groups=["new", "hasty", "newer", "new"])
    assert len(caught) == 1
    fixed_noise = groups_model(None, PerLabel(fixed(0.1))).fit(X, Y, noise_groups=WHO)
    fixed_noise.predict(X[:1], return_std=True, noise_groups=["new"])  # all groups have that value


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan])
def test_missing_groups_are_refused(missing):
    groups = [*WHO[:29].tolist(), missing]
    with pytest.raises(InputError, match=r"noise_groups\[29\] is missing"):
        groups_model(None).fit(X, Y, noise_groups=groups)


def test_rows_of_weight_zero_do_not_take_part():
    weight = np.where(np.arange(30) % 5 == 0, 0.0, 2.0)
    rows = np.flatnonzero(weight)
    y = np.where(weight == 0, -5.0, Y)  # of which there is no logarithm
    who = np.where(weight == 0, "nobody", WHO)
    variances = np.linspace(0, 0.1, 30)
    options = {"noise": PerLabel(0.1), "target_transform": "log", "mean": "linear"}
    model = GPRegressor(es.RBF(), **options)
    model.fit(X, y, sample_weight=weight, noise_groups=who, noise_variance=variances)
    without = GPRegressor(es.RBF(), **options).fit(
        X[rows], Y[rows], sample_weight=weight[rows], noise_groups=who[rows], noise_variance=variances[rows]
    )
    assert model.learned_.to_dict() == without.learned_.to_dict() and "noise[nobody]" not in model.learned_.to_dict()
    assert model.n_examples_ == 24 and len(model.leave_one_out()) == 24
    assert model.predict(X, noise_groups=WHO).tolist() == without.predict(X, noise_groups=WHO).tolist()
    with pytest.raises(InputError, match="Every sample_weight is zero"):
        GPRegressor(es.RBF()).fit(X, Y, sample_weight=np.zeros(30))


def test_nothing_of_a_row_of_weight_zero_is_checked():
    weight = np.where(np.arange(30) % 5 == 0, 0.0, 2.0)
    rows = np.flatnonzero(weight)
    nothing = np.where(weight == 0, np.nan, 1.0)
    who = [None if own == 0 else name for own, name in zip(weight, WHO, strict=True)]
    vectors = X * nothing[:, None]
    model = GPRegressor(es.RBF(), noise=PerLabel(0.1), learn=False)
    model.fit(vectors, Y * nothing, sample_weight=weight, noise_groups=who, noise_variance=nothing / 10)
    without = GPRegressor(es.RBF(), noise=PerLabel(0.1), learn=False)
    without.fit(X[rows], Y[rows], sample_weight=2.0, noise_groups=WHO[rows], noise_variance=0.1)
    np.testing.assert_allclose(model.predict(X), without.predict(X), rtol=1e-12)
    trees = ["(S (A a", "(S (A a))", "(S (B b))"]
    assert GPRegressor(es.SubsetTree()).fit(trees, [np.inf, 1, 2], sample_weight=[0, 1, 1]).n_examples_ == 2


def test_rows_are_named_as_they_were_given_where_others_have_no_weight():
    weight = np.where(np.arange(30) % 5 == 0, 0.0, 2.0)
    broken = np.where(np.arange(30) == 7, np.nan, 1.0)
    for options, message in (
        ({"y": Y * broken}, "y contains NaN: row 7"),
        ({"noise_variance": broken}, "noise_variance contains NaN: row 7"),
        ({"noise_variance": np.where(broken == 1, 1, -1)}, "noise_variance contains NaN|noise_variance.7. is -1"),
        ({"noise_groups": [*WHO[:7].tolist(), None, *WHO[8:]]}, r"noise_groups\[7\] is missing"),
        ({"noise_groups": WHO[:24]}, "X has 30 examples but noise_groups has 24"),
        ({"noise_variance": np.ones(24)}, "noise_variance must hold one number for each of the 30 rows"),
    ):
        given = {"y": Y, "noise_groups": WHO} | options
        with pytest.raises(InputError, match=message):
            GPRegressor(es.RBF(), noise=PerLabel(0.1)).fit(X, sample_weight=weight, **given)


@pytest.mark.parametrize("transform", [None, "log", "sqrt", "boxcox", "warped"])
def test_equal_targets_are_predicted_whatever_the_transform(transform):
    trees = ["(S (A a))", "(S (A a) (B b))"]
    for value, n in ((3.0, 1), (3.0, 2), (1.0, 1), (0.1, 2)):
        model = GPRegressor(es.Normalized(es.SubsetTree()), target_transform=transform)
        with pytest.warns(UserWarning, match="All targets are equal"):
            model.fit(trees[:n], [value] * n)
        mean, std = model.predict(["(X (Y y))", trees[0]], return_std=True)
        np.testing.assert_allclose(mean, value, rtol=1e-9)
        assert np.isfinite(std).all()


def test_small_differences_of_large_targets_are_differences():
    y = 1e15 + 4 * np.round(X[:, 0] * 4)
    model = GPRegressor(1.0 * es.RBF()).fit(X, y)  # no warning that all are equal
    near = GPRegressor(1.0 * es.RBF()).fit(X, y - 1e15)
    np.testing.assert_allclose(model.predict(X) - 1e15, near.predict(X), atol=0.5)
    with pytest.warns(UserWarning, match="All targets are equal"):
        GPRegressor(es.RBF()).fit(X[:3], [0.3, 0.1 + 0.2, 0.3])


@pytest.mark.parametrize("kind", ["table", "forest", "texts", "vectors", "sparse"])
def test_predictions_of_many_examples_are_made_in_blocks(kind, monkeypatch):
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    trees = [f"(S (A a{k % 5}) (B b{k % 7}))" for k in range(60)]
    vectors = rng.normal(size=(60, 2))
    kernel, data = {
        "table": (1.0 * es.SubsetTree(on="tree") + es.RBF(on="x"), es.Table(tree=trees, x=vectors)),
        "forest": (es.Normalized(es.SubsetTree()), es.Forest.from_trees(trees)),
        "texts": (es.Normalized(es.SubsetTree()), trees),
        "vectors": (es.RBF(), vectors),
        "sparse": (es.RBF(), csr_matrix(vectors)),
    }[kind]
    model = es.GPRegressor(kernel, learn=False, mean="constant").fit(data[:40], rng.normal(size=40))
    new = data[5:]
    mean, std = model.predict(new, return_std=True)
    sizes = []
    real = GPRegressor._cross

    def counted(self, X):
        out = real(self, X)
        sizes.append(out[0].shape[1])
        return out

    monkeypatch.setattr(GPRegressor, "_cross", counted)
    model.set_params(memory=4 * 8 * 40 * 20)  # twenty examples at a time; the kernel has the same budget
    again, deviation = model.predict(new, return_std=True)
    assert sizes == [20, 20, 15]
    np.testing.assert_allclose(again, mean, rtol=1e-12)
    np.testing.assert_allclose(deviation, std, rtol=1e-9)
    np.testing.assert_allclose(model.predict(new), mean, rtol=1e-12)
    assert model.predict(new[:0]).shape == (0,)
