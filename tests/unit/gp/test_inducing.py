"""The choice of inducing structures, and combinations of structures, against the bound itself."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.gp import Inducing
from espalier.gp.sparse.choosing import greedy, in_order, least_explained, medoids, moments
from espalier.gp.sparse.combining import combine, gain_of
from espalier.gp.sparse.inducing import as_inducing
from reference.gaussian_process import central_difference
from reference.sparse import log_normal, variational_bound

N, POOL = 20, 12
TWINS = {3, 7}  # candidates with the same features


def problem(n_columns):
    """Covariances of 20 data, of which the first 12 are candidates, with noise, targets and columns of a mean."""
    rng = np.random.default_rng(1)
    features = rng.standard_normal((N, 9))
    features[7] = features[3]
    K, z = features @ features.T / 9, np.sin(2 * features[:, 0]) + 0.1 * rng.standard_normal(N)
    return K, z, rng.uniform(0.05, 0.3, N), rng.standard_normal((N, n_columns))


def bound(K, z, noise, columns, structures, weights=None):
    """The variational bound, with the weights of the mean among the inducing variables."""
    W = np.eye(len(structures)) if weights is None else weights
    m, p = len(W), columns.shape[1]
    if m + p == 0:
        return log_normal(z, np.diag(noise)) - 0.5 * (K.diagonal() / noise).sum()
    Ku = np.eye(m + p)
    Ku[:m, :m] = W @ K[np.ix_(structures, structures)] @ W.T
    return variational_bound(Ku, np.vstack([W @ K[structures], columns.T]), K + columns @ columns.T, noise, z)


@pytest.mark.parametrize("n_columns", [0, 2])
def test_the_greedy_choice_raises_the_bound_most_at_each_step(n_columns):
    K, z, noise, columns = problem(n_columns)
    told = moments(K[:POOL], noise, z, columns)
    chosen = greedy(K[:POOL, :POOL], told, POOL).tolist()
    assert len(chosen) == 9 and len(TWINS & set(chosen)) == 1  # as many as there are features
    for k in range(8):
        before = chosen[:k]
        own = bound(K, z, noise, columns, chosen[: k + 1])
        for other in set(range(POOL)) - set(before):
            if not (other in TWINS and TWINS & set(before)):
                assert bound(K, z, noise, columns, [*before, other]) <= own + 1e-8


def test_the_greedy_choice_ends_where_the_bound_stops_growing():
    K, z, noise, columns = problem(1)
    told = moments(K[:POOL], noise, z, columns)
    whole = greedy(K[:POOL, :POOL], told, POOL).tolist()
    heights = [bound(K, z, noise, columns, whole[:k]) for k in range(len(whole) + 1)]
    gains = np.diff(heights)
    least = 0.5 * (gains[4] + gains[5])
    assert greedy(K[:POOL, :POOL], told, POOL, least).tolist() == whole[:5]


def test_other_choices_take_no_structure_twice():
    K, *_ = problem(0)
    own = K[:POOL, :POOL]
    rng = np.random.default_rng(0)
    assert in_order(own, np.array([7, 5, 3, 1]), 9).tolist() == [7, 5, 1]
    assert in_order(own, np.array([7, 5, 3, 1]), 2).tolist() == [7, 5]
    for chosen in (least_explained(own, POOL), medoids(own, POOL, rng)):
        assert len(set(chosen.tolist())) == 9 and len(TWINS & set(chosen.tolist())) == 1
    assert least_explained(own, 1) == [own.diagonal().argmax()]
    left = own - np.outer(own[:, 0], own[0]) / own[0, 0]
    assert least_explained(own[[0], :][:, [0]], 3).tolist() == [0]
    first, second = least_explained(own, 2).tolist()
    left = own - np.outer(own[:, first], own[first]) / own[first, first]
    assert second == left.diagonal().argmax()


def test_medoids_are_the_middles_of_clusters():
    rng = np.random.default_rng(3)
    centres = 10 * np.eye(3)
    points = np.concatenate([centres, *(centres + 0.1 * rng.standard_normal((3, 3)) for _ in range(4))])
    around = np.concatenate([np.tile(np.arange(3), 5)])
    points[:3] = [points[around == k].mean(axis=0) for k in range(3)]
    assert set(medoids(points @ points.T, 3, rng).tolist()) == {0, 1, 2}


@pytest.mark.parametrize("n_columns", [0, 2])
def test_combinations_raise_the_bound_above_chosen_structures(n_columns):
    K, z, noise, columns = problem(n_columns)
    structures = greedy(K[:POOL, :POOL], moments(K[:POOL], noise, z, columns), 8)
    told = moments(K[structures], noise, z, columns)
    own = K[np.ix_(structures, structures)]
    found = combine(own, told, 3, np.random.default_rng(0))
    np.testing.assert_allclose(found.weights @ own @ found.weights.T, np.eye(3), atol=1e-10)
    none = bound(K, z, noise, columns, [])
    height = bound(K, z, noise, columns, structures, found.weights)
    assert found.gain == pytest.approx(height - none, abs=1e-8)
    assert bound(K, z, noise, columns, structures[:3]) + 1 < height < bound(K, z, noise, columns, structures)
    # No small change of the weights is better.
    rng = np.random.default_rng(5)
    for _ in range(5):
        other = found.weights + 1e-3 * rng.standard_normal(found.weights.shape)
        assert bound(K, z, noise, columns, structures, other) < height + 1e-7


def test_all_combinations_are_as_good_as_all_structures():
    K, z, noise, columns = problem(1)
    structures = np.arange(4)
    found = combine(K[:4, :4], moments(K[:4], noise, z, columns), 4, np.random.default_rng(0))
    whole = bound(K, z, noise, columns, structures)
    assert bound(K, z, noise, columns, structures, found.weights) == pytest.approx(whole, abs=1e-8)


def test_the_slope_of_the_gain_is_that_of_differences():
    K, z, noise, columns = problem(2)
    told = moments(K[:6], noise, z, columns)
    rng = np.random.default_rng(9)
    rows, way = rng.standard_normal((3, 6)), rng.standard_normal((3, 6))
    slope = (gain_of(rows, told)[1] * way).sum()
    assert slope == pytest.approx(central_difference(lambda x: gain_of(rows + x * way, told)[0], 0.0, 1e-4), rel=1e-7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be a positive integer"),
        ({"n": True}, "n must be"),
        ({"choose": "best"}, "choose must be 'greedy'"),
        ({"power": 1.5}, "power must lie between 0"),
        ({"power": "FITC"}, "power must lie between 0"),
        ({"learn": "exact"}, "learn must be"),
        ({"candidates": 0}, "candidates must be"),
        ({"least_gain": -1.0}, "least_gain must be"),
        ({"n": None, "choose": "random"}, "n=None adds structures"),
        ({"n": None, "combine": 10}, "n=None adds structures"),
        ({"n": 10, "combine": 5}, r"combine must be at least n.* Write Inducing\(10, combine=50\)"),
        ({"n": 10, "combine": 50, "power": 1.0}, "combine needs power=0.0"),
        ({"n": 10, "combine": 50, "learn": "bound"}, "combine needs learn='pilot'"),
    ],
)
def test_what_is_wrong_with_a_choice_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        Inducing(**options)


def test_a_number_stands_for_a_greedy_choice():
    assert as_inducing(None) is None
    assert as_inducing(np.int64(20)) == Inducing(20)
    assert repr(Inducing(np.int64(20), power=np.float64(0.5))) == repr(Inducing(20, power=0.5))
    for wrong in ("all", 0, 2.5, True):
        with pytest.raises(ValueError, match="inducing must be None"):
            as_inducing(wrong)
