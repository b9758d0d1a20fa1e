"""How GPRegressor learns and fails: starts, interruptions, jitter, odd data, what it reports, memory."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import tracemalloc
import warnings
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import espalier as es
from espalier import GPRegressor, Learned, PerDimension, PerLabel, fixed
from espalier.demo import generate
from espalier.errors import InputError, KernelOverflowError
from espalier.gp import FitProgress
from espalier.gp.optimize import Climb, Settings
from espalier.gp.parameters import Parameter, Parameters
from espalier.jobs import Processes
from espalier.kernels.base import Plan
from random_trees import random_trees

TREES = [tree for tree in random_trees(7, 60) if tree.children][:30]
Y = np.array([float(tree.size) for tree in TREES]) + np.random.default_rng(0).normal(size=30)
X = np.random.default_rng(1).uniform(-3, 3, size=(40, 1))
WAVE = np.sin(2 * X[:, 0]) + 0.1 * np.random.default_rng(2).normal(size=40)
KERNEL = 1.0 * es.Normalized(es.SubsetTree())


def recorded(function):
    """The result, and the messages of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    return result, [str(warning.message) for warning in caught]


def test_targets_without_weight_may_be_missing_in_scores():
    model = GPRegressor(KERNEL, learn=False).fit(TREES, Y)
    y, weight = Y.copy(), np.ones(30)
    y[3], weight[3] = np.nan, 0.0
    rest = np.flatnonzero(weight)
    assert model.score(TREES, y, weight) == pytest.approx(model.score([TREES[row] for row in rest], Y[rest]))
    assert model.score(TREES, Y, weight) == model.score(TREES, y, weight)
    with pytest.raises(ValueError, match="contains NaN"):
        model.score(TREES, y, np.ones(30))


# Starts


def test_learning_raises_the_evidence_and_ends_where_it_is_flat():
    model = GPRegressor(KERNEL, tolerance=1e-7).fit(TREES, Y)
    start = GPRegressor(KERNEL, learn=False).fit(TREES, Y)
    assert model.log_marginal_likelihood_ > start.log_marginal_likelihood_ + 1
    assert model.learned_.gradient_norm < 1e-3
    assert start.learned_.rows == [] and "Nothing was learned" in repr(start.learned_)
    assert model.kernel == KERNEL and model.noise == 0.1  # what was declared stays as it was
    free, _ = model.log_marginal_likelihood(gradient=True)
    assert free == pytest.approx(model.log_marginal_likelihood_, rel=1e-12)


def test_restarts_are_seeded():
    def fit(seed, restarts=3):
        return GPRegressor(KERNEL, restarts=restarts, random_state=seed).fit(TREES, Y)

    a, b, c = fit(1), fit(1), fit(2)
    assert [r.start for r in a.restarts_] == [r.start for r in b.restarts_]
    assert [r.trace for r in a.restarts_] == [r.trace for r in b.restarts_]
    assert a.predict(TREES).tolist() == b.predict(TREES).tolist()
    declared = {"kernel.scale": 1.0, "kernel.decay": 0.4, "kernel.frontier": 1.0, "noise": 0.1}
    assert a.restarts_[0].start == c.restarts_[0].start == pytest.approx(declared, rel=1e-14)
    assert a.restarts_[1].start != c.restarts_[1].start
    # More restarts go on where fewer ended.
    assert [r.start for r in fit(1, 1).restarts_] == [r.start for r in a.restarts_][:2]
    assert len(a.restarts_) == 4
    best = max(r.log_likelihood for r in a.restarts_)
    assert a.log_marginal_likelihood_ == pytest.approx(best, rel=1e-12)
    assert all(r.trace and max(r.trace) == r.log_likelihood for r in a.restarts_)


@pytest.mark.parametrize("pilot", [None, 20])
def test_restarts_in_other_processes_give_the_same_bits(pilot):
    told = []
    options = {"restarts": 2, "pilot": pilot, "max_iterations": 8, "learn": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = GPRegressor(KERNEL, **options).fit(TREES, Y)
        with Processes(2) as executor:
            there = GPRegressor(KERNEL, progress=told.append, **options).fit(TREES, Y, executor=executor)
    assert [r.trace for r in there.restarts_] == [r.trace for r in here.restarts_]
    assert [r.trace for r in there.pilot_restarts_] == [r.trace for r in here.pilot_restarts_]
    assert there.kernel_ == here.kernel_
    np.testing.assert_array_equal(there.predict(TREES[:5]), here.predict(TREES[:5]))
    assert told[-1].fraction == 1.0 and [x.fraction for x in told] == sorted(x.fraction for x in told)


def test_restarts_find_what_one_start_misses():
    bad = 1.0 * es.RBF(1e4)
    alone = GPRegressor(bad).fit(X, WAVE)
    helped = GPRegressor(bad, restarts=4, random_state=0).fit(X, WAVE)
    assert helped.log_marginal_likelihood_ > alone.log_marginal_likelihood_ + 10
    assert GPRegressor(bad, restarts=4, random_state=np.random.default_rng(0)).fit(X, WAVE).learned_.to_dict() == (
        helped.learned_.to_dict()
    )


def test_progress_tells_the_best_so_far():
    told = []
    model = GPRegressor(KERNEL, restarts=2, random_state=0, progress=told.append).fit(TREES, Y)
    assert all(isinstance(x, FitProgress) for x in told)
    assert len(told) == sum(len(r.trace) for r in model.restarts_) + 1  # the last tells the end
    assert [x.fraction for x in told] == sorted(x.fraction for x in told) and told[-1].fraction == 1.0
    assert [x.best for x in told] == sorted(x.best for x in told)
    assert {x.restart for x in told} == {0, 1, 2} and told[0].n_restarts == 3
    assert told[-1].best == pytest.approx(model.log_marginal_likelihood_, rel=1e-12)


@pytest.mark.parametrize("last", [1, 2, 5, 12])
def test_an_interruption_keeps_the_best(last):
    told = []

    def stop(progress):
        told.append(progress)
        if len(told) == last:
            raise KeyboardInterrupt

    model = GPRegressor(KERNEL, restarts=3, random_state=0, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TREES, Y)
    assert model.log_marginal_likelihood_ == pytest.approx(max(x.log_likelihood for x in told), rel=1e-12)
    assert model.restarts_[-1].message == "interrupted"
    assert np.isfinite(model.predict(TREES)).all() and len(model.learned_) == 4


def test_an_interruption_in_a_later_restart_keeps_an_earlier_best():
    def stop(progress):
        if progress.restart == 1:
            raise KeyboardInterrupt

    model = GPRegressor(KERNEL, restarts=3, random_state=0, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TREES, Y)
    alone = GPRegressor(KERNEL).fit(TREES, Y)
    assert model.log_marginal_likelihood_ >= alone.log_marginal_likelihood_
    assert len(model.restarts_) == 2


def test_an_interruption_before_anything_was_known_fits_nothing():
    @dataclass(frozen=True, repr=False)
    class Interrupted(es.Kernel):
        def pair(self, x, y):
            raise KeyboardInterrupt

    model = GPRegressor(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        model.fit(["a", "b"], [1.0, 2.0])
    with pytest.raises(NotFittedError):
        model.predict(["a"])


@dataclass(frozen=True, repr=False)
class Cliff(es.Kernel):
    """Overflows past an edge, just where the evidence would like to go."""

    lengthscale: float = es.kernels.hyperparameter(0.3)
    edge: float = 0.5

    def block(self, a, b):
        value = es.kernels.number_of(self.lengthscale)
        if value > self.edge:
            raise KernelOverflowError(f"The kernel overflows at {value}.")
        return es.RBF(value)(np.array(a), np.array(b))


def test_a_region_that_overflows_is_left_again():
    free = GPRegressor(es.RBF(0.3)).fit(X, WAVE).learned_["kernel.lengthscale"].value
    assert free > 0.5
    model, _ = recorded(lambda: GPRegressor(Cliff(), restarts=6, random_state=0).fit(list(X), WAVE))
    assert 0.3 < model.learned_["kernel.lengthscale"].value <= 0.5
    assert model.restarts_[0].n_failures > 0
    failed = [r for r in model.restarts_ if r.start["kernel.lengthscale"] > 0.5]
    assert failed and all("overflows" in r.message and r.values == {} for r in failed)
    assert (
        model.log_marginal_likelihood_ > GPRegressor(Cliff(), learn=False).fit(list(X), WAVE).log_marginal_likelihood_
    )


def test_a_declared_start_that_overflows_is_an_error():
    with pytest.raises(KernelOverflowError, match=r"overflows at 0\.9"):
        GPRegressor(Cliff(0.9), restarts=3).fit(list(X), WAVE)
    with pytest.raises(KernelOverflowError, match="smaller decay"):
        GPRegressor(es.SubsetTree(1.0)).fit(["(S " + "(X x) " * 3000 + ")"] * 2, [1.0, 2.0])


def test_a_failed_fit_leaves_the_fitted_model_as_it_was():
    model = GPRegressor(KERNEL).fit(TREES, Y)
    before = model.predict(TREES[:5])
    with pytest.raises(InputError):
        model.fit(TREES[:3], [1.0, math.nan, 2.0])
    model.set_params(kernel=es.SubsetTree(1.0))
    with pytest.raises(KernelOverflowError):
        model.fit(["(S " + "(X x) " * 3000 + ")"] * 2, [1.0, 2.0])
    assert model.predict(TREES[:5]).tolist() == before.tolist()


def test_what_the_user_changes_later_does_not_change_the_model():
    x, y = X.copy(), WAVE.copy()
    model = GPRegressor(es.RBF()).fit(x, y)
    before, evidence = model.predict(X), model.log_marginal_likelihood()
    x[:], y[:] = 0.0, 0.0
    assert model.predict(X).tolist() == before.tolist()
    assert model.log_marginal_likelihood() == evidence
    model.set_params(mean="constant", noise=5.0, kernel=es.Linear(), target_transform="log")
    assert model.predict(X).tolist() == before.tolist()


def test_too_few_iterations_warn():
    with pytest.warns(ConvergenceWarning, match="Learning ended before it converged.*raise max_iterations"):
        model = GPRegressor(KERNEL, max_iterations=1).fit(TREES, Y)
    assert not model.restarts_[0].converged
    start = GPRegressor(KERNEL, max_iterations=0).fit(TREES, Y)
    assert start.learned_.to_dict() == model.restarts_[0].start
    assert model.log_marginal_likelihood_ > start.log_marginal_likelihood_


# Numbers that are hard


def test_jitter_is_reported_and_warned_of_once():
    trees = list(dict.fromkeys(TREES))
    sizes = np.array([float(tree.size) for tree in trees])
    model, messages = recorded(lambda: GPRegressor(KERNEL, noise=fixed(1e-18)).fit(trees * 3, np.tile(sizes, 3)))
    assert model.jitter_ > 0
    assert len([m for m in messages if "nearly singular" in m]) == 1
    assert f"{model.jitter_:.3g} was added to its diagonal" in messages[0]
    np.testing.assert_allclose(model.predict(trees), sizes, rtol=1e-3)
    good = GPRegressor(KERNEL).fit(TREES, Y)
    assert good.jitter_ == 0


def test_no_noise_at_all():
    model = GPRegressor(es.RBF(), noise=fixed(0), learn=False).fit([[0.0], [1.0], [3.0]], [1.0, 2.0, 5.0])
    np.testing.assert_allclose(model.predict([[0.0], [1.0], [3.0]]), [1.0, 2.0, 5.0], rtol=1e-9)
    _, std = model.predict([[0.0], [100.0]], return_std=True)
    assert std[0] == pytest.approx(0.0, abs=1e-6) and std[1] > 1
    with pytest.raises(np.linalg.LinAlgError, match=r"not positive definite.*lower bound of the noise"):
        GPRegressor(es.SubsetTree(), noise=fixed(0), learn=False).fit([es.Tree("a"), es.Tree("b")], [1.0, 2.0])


def test_a_kernel_that_is_not_positive_is_one_clear_error():
    @dataclass(frozen=True, repr=False)
    class Negative(es.Kernel):
        def pair(self, x, y):
            return 1.0 if x == y else 5.0

    with pytest.raises(
        np.linalg.LinAlgError, match=r"not positive definite, even with .* may not be positive semi-definite"
    ):
        GPRegressor(Negative(), learn=False).fit(["a", "b", "c"], [1.0, 2.0, 3.0])


def test_ill_conditioned_kernels_end_in_a_result():
    x = np.linspace(0, 1, 60)[:, None]
    kernel = 1e4 * es.RBF(Learned(50.0, bounds=(1.0, 1e3)))
    model, _ = recorded(lambda: GPRegressor(kernel, noise=Learned(1e-6, bounds=(1e-9, 1))).fit(x, x[:, 0] ** 2))
    assert np.abs(model.predict(x) - x[:, 0] ** 2).max() < 0.01
    assert math.isfinite(model.log_marginal_likelihood_)


def test_all_targets_equal():
    for value in (3.0, 0.1, 0.0, -1e300):
        for transform in (None, "warped"):
            model, messages = recorded(
                lambda v=value, t=transform: GPRegressor(KERNEL, target_transform=t).fit(TREES[:7], [v] * 7)
            )
            assert len(messages) == 1 and "All targets are equal" in messages[0]
            np.testing.assert_allclose(model.predict(TREES), value, rtol=1e-9, atol=1e-12)
            assert np.isfinite(model.predict(TREES, return_std=True)[1]).all()


def test_one_example():
    model, messages = recorded(lambda: GPRegressor(KERNEL).fit(TREES[:1], [4.0]))
    assert len(messages) == 1 and "All targets are equal" in messages[0]
    assert model.predict(TREES[:3]).tolist() == [4.0] * 3
    plain = GPRegressor(es.SubsetTree(0.3), noise=0.1, standardize=False, learn=False).fit(TREES[:1], [4.0])
    k = es.SubsetTree(0.3).value(TREES[0], TREES[0])
    assert plain.predict(TREES[:1])[0] == pytest.approx(4.0 * k / (k + 0.1))
    assert plain.leave_one_out().mean.tolist() == [0.0]
    for mean in ("constant", es.gp.LinearMean()):
        alone, _ = recorded(lambda m=mean: GPRegressor(es.RBF(), mean=m, standardize=False).fit([[2.0]], [4.0]))
        assert alone.predict([[2.0]])[0] == pytest.approx(4.0, rel=1e-4)


def test_two_examples():
    model = GPRegressor(KERNEL).fit(TREES[:2], [1.0, 2.0])
    assert np.isfinite(model.predict(TREES, return_std=True)).all()


def test_duplicates_with_different_targets_give_their_mean_and_noise():
    model = GPRegressor(es.RBF(fixed(1.0)), standardize=False).fit([[0.0]] * 50, np.r_[np.zeros(25), np.full(25, 2.0)])
    mean, std = model.predict([[0.0]], return_std=True)
    assert mean[0] == pytest.approx(1.0, abs=0.05) and std[0] == pytest.approx(1.0, abs=0.1)


def test_huge_targets_need_standardising():
    with pytest.raises(FloatingPointError, match=r"targets or kernel values are too large. Standardise"):
        GPRegressor(es.RBF(), standardize=False).fit(X, 1e300 * WAVE)
    model = GPRegressor(es.RBF()).fit(X, 1e300 * WAVE)
    small = GPRegressor(es.RBF()).fit(X, WAVE)
    np.testing.assert_allclose(model.predict(X), 1e300 * small.predict(X), rtol=1e-6)
    assert model.log_marginal_likelihood_ == pytest.approx(small.log_marginal_likelihood_ - 40 * math.log(1e300))
    shifted = GPRegressor(es.RBF()).fit(X, 1e6 + WAVE)
    np.testing.assert_allclose(shifted.predict(X), 1e6 + small.predict(X), rtol=1e-9)
    wide = GPRegressor(es.RBF()).fit(X[:4], [1e308, -1e308, 1e308, 0.0])
    assert np.isfinite(wide.predict(X[:4])).all()
    wider = GPRegressor(es.RBF(), target_transform="log", learn=False).fit(X[:3], [1e-300, 1.0, 1e300])
    prediction = wider.predict_distribution(X[:3])
    assert np.isfinite(prediction.median).all() and not np.isnan(prediction.mean).any()
    assert not np.isnan(prediction.std).any()


def test_items_without_fragments_warn_once():
    trees = [es.Tree("a"), *TREES[:6]]
    model, messages = recorded(lambda: GPRegressor(es.Normalized(es.SubsetTree())).fit(trees, np.arange(7.0)))
    assert len(messages) == 1 and "1 of 7 items have no fragment" in messages[0]
    (mean, std), messages = recorded(lambda: model.predict(trees[:1], return_std=True))
    assert mean[0] == pytest.approx(3.0) and std[0] == pytest.approx(
        2.0 * math.sqrt(es.kernels.number_of(model.noise_))
    )
    assert len(messages) <= 2  # one for each of two matrices


# What is reported


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


# Comparing


def test_compare():
    models = {
        "trees": GPRegressor(KERNEL).fit(TREES, Y),
        "sizes": GPRegressor(1.0 * es.RBF()).fit([[t.size] for t in TREES], Y),
        "noise": GPRegressor(es.Constant(fixed(1.0))).fit(TREES, Y),
    }
    table = es.compare(models)
    assert [row.name for row in table] == ["sizes", "trees", "noise"] and table.best == "sizes"
    assert table.best_predicting == "sizes" and len(table) == 3
    row = table.rows[0]
    found = models["sizes"].leave_one_out()
    assert row.log_marginal_likelihood == models["sizes"].log_marginal_likelihood_
    assert row.leave_one_out_density == pytest.approx(found.log_density(Y).mean())
    assert row.leave_one_out_rmse == pytest.approx(math.sqrt(((found.mean - Y) ** 2).mean()))
    assert row.leave_one_out_mae == pytest.approx(np.abs(found.median - Y).mean())
    assert [d["name"] for d in table.to_dicts()] == ["sizes", "trees", "noise"]
    lines = repr(table).splitlines()
    assert lines[0].split("  ")[0] == "model" and len(lines) == 4 and "LOO RMSE" in lines[0]
    assert [row.name for row in es.compare([models["trees"]])] == ["1.0 * Normalized(SubsetTree())"]


def test_compare_drops_no_model():
    y = np.abs(Y) + 1
    models = [GPRegressor(KERNEL, target_transform=t).fit(TREES, y) for t in (None, "log", "log")]
    assert len(es.compare(models)) == 3
    names = [row.name for row in es.compare(models[:2])]
    assert any("target_transform='log'" in name for name in names) and len(set(names)) == 2


def test_compare_refuses_what_does_not_compare():
    a, b = GPRegressor(KERNEL).fit(TREES, Y), GPRegressor(KERNEL).fit(TREES, Y + 1)
    with pytest.raises(InputError, match="fitted to different targets"):
        es.compare([a, b])
    with pytest.raises(InputError, match="fitted to different targets"):
        es.compare({"a": a, "b": GPRegressor(KERNEL).fit(TREES[:5], Y[:5])})
    with pytest.raises(InputError, match="no models"):
        es.compare([])
    with pytest.raises(NotFittedError):
        es.compare([a, GPRegressor(KERNEL)])


def test_names_in_a_comparison():
    a = GPRegressor(KERNEL).fit(TREES, Y)
    assert [row.name for row in es.compare({1: a})] == ["1"] and "1 " in repr(es.compare({1: a}))
    long = 1.0 * es.Normalized(es.SubsetTree(0.123456789)) + 1.0 * es.Normalized(es.PartialTree(0.123456789))
    b, c = (GPRegressor(long, random_state=k, learn=False).fit(TREES, Y) for k in (1, 2))
    table = es.compare([b, c, b])
    firsts = [line[:60].split("  ")[0] for line in repr(table).splitlines()[1:]]
    assert all(len(line) <= 60 for line in firsts) and len(set(firsts)) == 3
    assert all("PartialTree(decay=0.123456789)" in row.name for row in table)  # names themselves are whole
    frame = table.to_frame()
    assert frame["name"].tolist() == [row.name for row in table] and frame["n_learned"].tolist() == [0, 0, 0]


# Memory


def _plans():
    gc.collect()
    return {id(found) for found in gc.get_objects() if isinstance(found, Plan)}


def test_a_fitted_model_keeps_its_arrays_and_no_plan():
    trees = list(generate(60, seed=0)["tree"])
    y = np.arange(60.0)
    before = _plans()
    model = GPRegressor(1.0 * es.Normalized(es.PartialTree()), restarts=1, pilot=30, max_iterations=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(trees, y)
    assert _plans() <= before
    value = model.log_marginal_likelihood()  # makes a plan, and drops it
    model.predict(trees[:5], return_std=True)
    model.leave_one_out()
    assert value == pytest.approx(model.log_marginal_likelihood_, rel=1e-12) and _plans() <= before


def _matrices_of_one_evaluation(kernel, table, n, mean=None):
    """The most numpy memory that one evaluation with its gradient takes, in n x n matrices."""
    model = GPRegressor(kernel, mean=mean, n_threads=1, learn=False).fit(table, np.arange(float(n)))
    problem, theta = model._examples.objective(n_threads=1), {}
    problem.gradient(theta)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        problem.gradient(theta)
        return (tracemalloc.get_traced_memory()[1] - before) / (8 * n * n)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "kernel",
    [
        es.SubsetTree(0.1, on="tree"),
        es.Normalized(es.SubsetTree(on="tree")),
        1.0 * es.Normalized(es.SubsetTree(PerLabel(0.4), on="tree")),
        1.0 * es.Normalized(es.SubsetTree(on="tree")) + 1.0 * es.Matern(on="x"),
        1.0 * es.Normalized(es.SubsetTree(on="tree")) + 1.0 * es.Normalized(es.PartialTree(on="tree")),
        1.0 * es.Normalized(es.SubsetTree(on="tree"))
        + 1.0 * es.Normalized(es.SubsetTree(0.1, on="tree"))
        + 1.0 * es.Matern(on="x"),
        1.0 * (es.Normalized(es.SubsetTree(on="tree")) * es.Normalized(es.SubsetTree(0.1, on="tree")))
        + 1.0 * es.Matern(on="x"),
        1.0 * es.Normalized(es.SubsetTree(on="tree")) * es.Normalized(es.SubsetTree(0.1, on="tree"))
        + 1.0 * es.Matern(on="x"),
    ],
    ids=repr,
)
def test_an_evaluation_takes_at_most_six_matrices(kernel):
    n = 800  # blocks of rows are small beside such matrices
    table = es.Table(
        tree=es.Forest.from_trees(generate(n, seed=1)["tree"]), x=np.random.default_rng(0).normal(size=(n, 3))
    )
    without = _matrices_of_one_evaluation(kernel, table, n)
    assert without <= 6
    assert _matrices_of_one_evaluation(kernel, table, n, es.gp.LinearMean(on="x")) < without + 0.4


# The climb itself


def test_a_worse_point_never_takes_the_place_of_a_better_one():
    """The line search overshoots, and is interrupted just there."""
    told = []

    def evaluate(values):
        return (3.0 if values["x"] == 1.0 else 1.0), {"x": 1.0}

    def stop(progress):
        told.append(progress)
        if progress.log_likelihood < progress.best:
            raise KeyboardInterrupt

    parameters = Parameters([Parameter("x", 1.0, 0.1, 10.0)])
    climb = Climb(SimpleNamespace(n_targets=1, gradient=evaluate), parameters, Settings(0, 20, 1e-5, progress=stop))
    climb.run([parameters.start()] * 3)
    assert climb.stop is not None and [x.log_likelihood for x in told] == [3.0, 1.0]
    assert [x.best for x in told] == [3.0, 3.0]
    assert climb.best.values == {"x": 1.0} and climb.best.log_likelihood == 3.0
    assert climb.best.gradient == {"x": 1.0}


@pytest.mark.parametrize("missing", [None, np.nan, "masked"])
def test_targets_of_rows_without_weight_may_be_missing(missing):
    X, y, weight = np.arange(6.0)[:, None], np.arange(6.0), np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    given = np.ma.masked_array(y, mask=weight == 0) if missing == "masked" else [*y[:2], missing, *y[3:]]
    found = es.GPRegressor(es.RBF(), learn=False).fit(X, given, sample_weight=weight)
    kept = es.GPRegressor(es.RBF(), learn=False).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(found.predict(X), kept.predict(X))
    with pytest.raises(es.InputError, match=r"row 2"):
        es.GPRegressor(es.RBF(), learn=False).fit(X, given)
