"""The weak prior that the numbers of a ``PerLabel`` have unless their user says otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest

import espalier as es
from espalier import GPRegressor, Learned, PerLabel, fixed
from espalier.gp import AroundCommon, Beta, LogNormal
from espalier.gp.parameters import Parameter, Parameters
from espalier.kernels import Coregion
from random_trees import random_trees
from reference.around_common import log_density
from reference.gaussian_process import central_difference

TREES = [tree for tree in random_trees(7, 60) if tree.children][:24]
Y = np.array([float(tree.size) for tree in TREES]) + np.random.default_rng(0).normal(size=24)
WEAK = "AroundCommon(0.3)"


def fitted(decay, **options):
    kernel = 1.0 * es.Normalized(es.SubsetTree(decay, fixed(1.0)))
    return GPRegressor(kernel, max_iterations=60, tolerance=1e-3, **options).fit(TREES, Y)


def priors_of(decay):
    kernel = es.SubsetTree(decay)
    bound = kernel.plan(TREES).bind(kernel)
    found = {p.prior for p in es.gp.kernel_parameters(bound, "variance") if "decay" in p.path}
    assert len(found) <= 1
    return found


@pytest.mark.parametrize("values", [[0.3], [0.1, 0.4], [0.4, 0.4, 0.02, 1.3]], ids=len)
def test_the_density_is_the_integral_over_the_common_value(values):
    prior = AroundCommon(0.4, 0.6, 1.5)
    assert prior.log_density(np.array(values)) == pytest.approx(log_density(values, 0.4, 0.6, 1.5), rel=1e-9)
    slopes = prior.slopes(np.array(values))
    for k, value in enumerate(values):

        def moved(place, k=k):
            return prior.log_density(np.array([place if j == k else other for j, other in enumerate(values)]))

        assert slopes[k] == pytest.approx(central_difference(moved, value, 1e-3 * value), rel=1e-6, abs=1e-6)
    assert prior.log_density(np.array([*values, 0.0])) == -math.inf


def test_the_density_is_highest_at_the_median_for_any_number_of_labels():
    for n in (1, 7, 100):
        assert np.abs(AroundCommon(0.2).slopes(np.full(n, 0.2))).max() == 0


def test_draws_share_their_common_value():
    rng = np.random.default_rng(0)
    logs = np.log([AroundCommon(0.4, 0.5, 1.5).draw(rng, 2) for _ in range(20_000)])
    covariance = np.cov(logs.T)
    assert np.allclose(logs.mean(axis=0), math.log(0.4), atol=0.06)
    assert np.allclose(covariance, [[2.5, 2.25], [2.25, 2.5]], rtol=0.05)


def test_random_starts_of_labels_are_drawn_together():
    labels = [Parameter(f"decay[{k}]", 0.4, 1e-6, 1e6, AroundCommon(0.4, 0.1, 1.0)) for k in "ABC"]
    parameters = Parameters([*labels, Parameter("noise", 0.1, 1e-6, 1.0)])
    rng = np.random.default_rng(0)
    places = np.array([parameters.draw(rng) for _ in range(500)])
    assert (places[:, 0] - places[:, 1]).std() == pytest.approx(0.1 * math.sqrt(2), rel=0.1)
    assert places[:, 0].std() == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize(
    ("decay", "prior"),
    [
        (PerLabel(0.3), AroundCommon(0.3)),
        (PerLabel(0.3, values={"A": 0.9}), AroundCommon(0.3)),
        (PerLabel(Learned(0.3, bounds=(0.1, 0.9))), AroundCommon(0.3)),
        (PerLabel(0.3, prior=None), None),
        (PerLabel(Learned(0.3, prior=None)), None),
        (PerLabel(Learned(0.3), prior=None), None),
        (PerLabel(Learned(0.3, prior=LogNormal(0.2))), LogNormal(0.2)),
        (PerLabel(0.3, prior=LogNormal(0.2)), LogNormal(0.2)),
        (PerLabel(0.3, prior=AroundCommon(0.2, 1.0)), AroundCommon(0.2, 1.0)),
        (0.3, None),
        (Learned(0.3), None),
    ],
    ids=repr,
)
def test_what_prior_a_setting_has(decay, prior):
    assert priors_of(decay) == {prior}
    assert eval(repr(decay), {**vars(es), **vars(es.gp)}) == decay
    assert hash(es.SubsetTree(decay)) == hash(es.SubsetTree(decay))


def test_fixed_numbers_have_none():
    assert priors_of(PerLabel(fixed(0.3))) == set()


def test_noise_by_group_has_one_and_covariances_of_tasks_have_none():
    X, groups = np.linspace(0, 1, 9)[:, None], ["a", "b", "c"] * 3
    model = GPRegressor(es.RBF(), noise=PerLabel(0.3)).fit(X, np.arange(9.0), noise_groups=groups)
    assert {row.path: row.prior for row in model.learned_ if row.prior} == {f"noise[{g}]": WEAK for g in "abc"}
    tasks = Coregion()
    bound = tasks.plan(groups).bind(tasks)
    assert set(bound.priors().values()) == {None}


def test_a_prior_is_declared_once():
    with pytest.raises(ValueError, match=r"PerLabel has the prior None, and .* inside it has another. Name one"):
        PerLabel(Learned(0.3, prior=Beta(2, 2)), prior=None)
    with pytest.raises(
        ValueError, match=r"prior of PerLabel must be 'weak', None or a prior of espalier.gp, got 'wide'"
    ):
        PerLabel(0.3, prior="wide")


def test_the_table_shows_the_prior_of_each_label_and_none_without():
    table = fitted(PerLabel(0.3)).learned_
    assert {row.prior for row in table if "decay[" in row.path} == {WEAK}
    assert not any(row.prior for row in fitted(PerLabel(0.3, prior=None)).learned_)


def test_what_is_maximised_is_the_evidence_and_the_prior_of_all_labels():
    model = fitted(PerLabel(0.3), restarts=1)
    values = model.learned_.to_dict()
    decays = [value for path, value in values.items() if "decay[" in path]
    assert len(decays) > 3
    climb = max(model.restarts_, key=lambda climb: climb.objective)
    expected = model.log_marginal_likelihood_ + log_density(decays, 0.3, 0.5, 3.0)
    assert climb.objective == pytest.approx(expected, rel=1e-9)


def test_the_gradient_of_the_objective_in_the_searched_space():
    model = fitted(PerLabel(0.3), learn=False)
    parameters = Parameters(model._examples.parameters())
    theta = parameters.start() + 0.3 * np.random.default_rng(1).normal(size=len(parameters))

    def objective(place, k):
        values = parameters.values(np.array([place if j == k else other for j, other in enumerate(theta)]))
        return model.log_marginal_likelihood(values) + parameters.log_prior(values)[0]

    values = parameters.values(theta)
    _, natural = model.log_marginal_likelihood(values, gradient=True)
    _, slopes = parameters.log_prior(values)
    assert set(slopes) == {path for path in values if "decay[" in path}
    gradient = parameters.gradient(values, {path: natural[path] + slopes.get(path, 0.0) for path in natural})
    for k in range(len(theta)):
        expected = central_difference(lambda place, k=k: objective(place, k), theta[k], 1e-3)
        assert gradient[k] == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_a_label_without_effect_has_the_value_of_the_others():
    """Nothing hangs below a pre-terminal but its word, so its frontier weight appears in no fragment."""
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (T (B c)))", "(S (T (A c)) (B c))"] * 4
    y = np.array([float(tree.count("c")) for tree in trees]) + 0.1 * np.random.default_rng(0).normal(size=16)
    kernel = es.Normalized(es.SubsetTree(fixed(0.5), PerLabel(0.5)))
    table = GPRegressor(kernel, tolerance=1e-9).fit(trees, y).learned_
    value = {name: math.log(table[f"kernel.frontier[{name}]"].value / 0.5) for name in "ABST"}
    assert [name for name in "ABST" if not table[f"kernel.frontier[{name}]"].effect] == ["A", "B"]
    assert abs(value["S"] - value["T"]) > 1e-3
    # The mode of two unseen values, given the two others.
    mean = (value["S"] + value["T"]) * 9.0 / (0.25 + 2 * 9.0)
    assert value["A"] == pytest.approx(mean, abs=1e-4) and value["B"] == pytest.approx(mean, abs=1e-4)


def test_a_rare_label_is_pulled_to_the_common_value():
    forest = es.Forest.from_trees(TREES)
    values = {}
    for prior in ("weak", None):
        table = fitted(PerLabel(0.3, prior=prior)).learned_
        values[prior] = np.log([row.value for row in table if "decay[" in row.path])
    assert len(forest) == 24
    assert values["weak"].std() < 0.3 < values[None].std()


def test_labels_that_say_nothing_no_longer_spoil_predictions():
    """Targets that have nothing to do with the trees: without a prior the model finds reasons for them."""
    forest = es.Forest.from_trees([tree for tree in random_trees(3, 400) if tree.children][:160])
    y = np.random.default_rng(5).normal(size=160)
    density = {}
    for prior in ("weak", None):
        kernel = 1.0 * es.Normalized(es.SubsetTree(PerLabel(0.1, prior=prior), PerLabel(0.5, prior=prior)))
        model = GPRegressor(kernel, max_iterations=40, tolerance=1e-3).fit(forest[:60], y[:60])
        density[prior] = model.log_predictive_density(forest[60:], y[60:]).mean()
    assert density["weak"] > density[None]
