"""How GPRegressor learns and fails: starts, interruptions, jitter, odd data, what it reports, memory."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import espalier as es
from espalier import GPRegressor, Learned, fixed
from espalier.errors import InputError, KernelOverflowError
from espalier.gp import FitProgress
from espalier.jobs import Processes
from processes import KERNEL, TREES, WAVE, X, Y, recorded


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
    assert model.kernel == KERNEL and model.noise is None  # what was declared stays as it was
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
