"""What a fitted GPRegressor reports: bounds, tables, fixed numbers, labels, groups, dimensions."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import espalier as es
from espalier import GPRegressor, Learned, PerDimension, PerLabel, fixed
from espalier.errors import InputError
from processes import KERNEL, TREES, WAVE, X, Y


def test_bounds_that_were_hit_are_shown():
    kernel = es.RBF(Learned(1.0, bounds=(0.9, 1.1)))
    model = GPRegressor(kernel, noise=Learned(0.5, bounds=(0.4, 2))).fit(X, WAVE)
    row = model.learned_["kernel.lengthscale"]
    assert (row.bound, row.value) == ("low", 0.9)
    assert row.gradient < 0
    assert (model.learned_["noise"].bound, model.learned_["noise"].value) == ("low", 0.4)
    assert model.learned_.at_bounds == ["kernel.lengthscale", "noise"]
    assert model.learned_.gradient_norm < 1e-3  # bounds explain what is left
    assert "low" in repr(model.learned_) and "0.9..1.1" in repr(model.learned_)


def test_the_table_of_what_was_learned():
    model = GPRegressor(KERNEL).fit(TREES, Y)
    table = model.learned_
    assert [row.path for row in table] == ["kernel.scale", "kernel.decay", "kernel.frontier", "noise"]
    lines = repr(table).splitlines()
    assert lines[0].split() == ["hyperparameter", "value", "start", "bounds", "at", "gradient", "unit"]
    assert len(lines) == 6 and lines[-1].startswith("largest free gradient")
    assert table["noise"].unit == "variance, in squared standard deviations of y"
    frame = table.to_frame()
    assert frame["path"].tolist() == list(table.to_dict()) and frame["value"].tolist() == list(table.to_dict().values())
    assert {"start", "low", "high", "bound", "gradient", "prior", "unit"} <= set(frame.columns)
    assert table["kernel.decay"].start == 0.4 and table["kernel.decay"].value == model.kernel_.kernel.kernel.decay
    with pytest.raises(KeyError, match="'decay' was not learned"):
        table["decay"]
    _, gradient = model.log_marginal_likelihood(gradient=True)
    assert table["noise"].gradient == pytest.approx(gradient["noise"] * table["noise"].value, abs=1e-6)


def test_fixed_numbers_stay():
    kernel = 1.0 * es.SubsetTree(fixed(0.25), PerLabel(fixed(0.5))) + es.SubsetTree(0.2, fixed(0))
    model = GPRegressor(kernel, noise=fixed(0.3)).fit(TREES, Y)
    assert list(model.learned_.to_dict()) == ["kernel.terms[0].scale", "kernel.terms[1].decay"]
    assert model.noise_ == fixed(0.3)
    assert "fixed(0.25)" in repr(model.kernel_)
    nothing = GPRegressor(es.SubsetTree(fixed(0.25), fixed(1)), noise=fixed(0.3), restarts=5).fit(TREES, Y)
    assert len(nothing.learned_) == 0 and len(nothing.restarts_) == 1


def test_one_decay_for_each_label():
    model = GPRegressor(es.Normalized(es.SubsetTree(PerLabel(0.4), fixed(1.0)))).fit(TREES, Y)
    paths = [path for path in model.learned_.to_dict() if path.startswith("kernel.decay[")]
    assert "kernel.decay[NP]" in paths and len(paths) > 2
    # Labels that were not seen use the default, and are no error.
    mean, std = model.predict(["(UNSEEN (NEW words))", "(S (NEW a))"], return_std=True)
    assert np.isfinite(mean).all() and (std > 0).all()
    assert model.predict(["(UNSEEN (NEW words))"])[0] == pytest.approx(Y.mean())


def test_noise_of_groups():
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, size=(120, 1))
    groups = np.array(["good", "bad"])[rng.integers(2, size=120)]
    y = np.sin(x[:, 0]) + rng.normal(size=120) * np.where(groups == "good", 0.05, 0.8)
    model = GPRegressor(es.RBF(), noise=PerLabel(0.1), standardize=False).fit(x, y, noise_groups=groups)
    assert model.learned_["noise[good]"].value == pytest.approx(0.05**2, rel=0.5)
    assert model.learned_["noise[bad]"].value == pytest.approx(0.8**2, rel=0.5)
    assert model.log_marginal_likelihood_ > GPRegressor(es.RBF(), standardize=False).fit(x, y).log_marginal_likelihood_
    at = np.zeros((3, 1))
    with pytest.warns(UserWarning, match="'never seen'"):
        std = model.predict(at, return_std=True, noise_groups=["good", "bad", "never seen"])[1]
    assert std[0] < 0.1 and std[1] > 0.6
    unseen = math.sqrt(0.1 + model.predict(at, return_std=True, include_noise=False)[1][2] ** 2)
    assert std[2] == pytest.approx(unseen)  # the declared default
    with pytest.raises(InputError, match="the groups are needed"):
        model.predict(at, return_std=True)
    assert model.predict(at).shape == (3,)  # a mean needs no groups


def test_relevance_of_dimensions():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 3))
    model = GPRegressor(es.RBF(PerDimension(1.0))).fit(x, np.sin(2 * x[:, 1]))
    scales = [model.learned_[f"kernel.lengthscale[{k}]"].value for k in range(3)]
    assert scales[1] < 2 < min(scales[0], scales[2])


def test_an_empty_list_is_predicted_as_nothing():
    model = GPRegressor(KERNEL).fit(TREES, Y)
    assert model.predict([]).shape == (0,)
    assert [part.shape for part in model.predict([], return_std=True, quantiles=[0.1, 0.9])] == [(0,), (0,), (0, 2)]
    assert model.predict([], return_cov=True)[1].shape == (0, 0)


def test_a_row_alone_is_predicted_as_among_others():
    model = GPRegressor(KERNEL).fit(TREES, Y)
    mean, std = model.predict(TREES, return_std=True)
    alone = [model.predict([tree], return_std=True) for tree in TREES]
    np.testing.assert_allclose([m[0] for m, _ in alone], mean, rtol=1e-11)
    np.testing.assert_allclose([s[0] for _, s in alone], std, rtol=1e-9)


def test_threads_change_nothing():
    a, b = (GPRegressor(KERNEL, n_threads=n).fit(TREES, Y) for n in (1, 2))
    np.testing.assert_allclose(a.predict(TREES), b.predict(TREES), rtol=1e-9)


def test_copies_and_pickles_predict_the_same():
    model = GPRegressor(1.0 * es.SubsetTree(on="tree") + es.RBF(on="x"), mean="constant", target_transform="boxcox")
    table = es.Table(tree=TREES, x=np.arange(30.0)[:, None])
    model.fit(table, np.abs(Y) + 1)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.predict(table[:4]).tolist() == model.predict(table[:4]).tolist()
        assert other.log_marginal_likelihood() == model.log_marginal_likelihood()
        assert other.leave_one_out().mean.tolist() == model.leave_one_out().mean.tolist()
        assert other.learned_.to_dict() == model.learned_.to_dict()


def test_every_number_has_the_unit_that_its_kernel_declares():
    kernel = 1.0 * es.RBF(PerDimension(1.0)) + es.Constant()
    units = {row.path: row.unit for row in GPRegressor(kernel, max_iterations=0).fit(X, WAVE).learned_}
    variance = "variance, in squared standard deviations of y"
    assert units.pop("noise") == units.pop("kernel.terms[0].scale") == units.pop("kernel.terms[1].variance") == variance
    assert set(units.values()) == {"distance between inputs"}
    assert es.kernels.Radial(es.SubsetTree()).units() == {
        "width": "distance between fragments",
        "decay": "weight",
        "frontier": "weight",
    }
