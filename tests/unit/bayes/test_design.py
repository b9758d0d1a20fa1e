"""Central composite designs stand for a normal distribution."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from espalier.bayes.design import central_composite, corners


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 11, 37])
def test_moments_are_those_of_a_standard_normal_distribution(n):
    points, weights = central_composite(n)
    assert weights.sum() == pytest.approx(1.0) and weights.min() > 0
    assert not points[0].any()
    assert np.allclose(weights @ points, 0.0, atol=1e-12)
    assert np.allclose(points.T @ (weights[:, None] * points), np.eye(n), atol=1e-12)
    assert weights @ (points**2).sum(axis=1) ** 2 == pytest.approx(n * (n + 2))  # the fourth moment of the radius
    assert len({tuple(point) for point in points.round(9).tolist()}) == len(points)


def test_one_dimension_is_the_rule_of_gauss_and_hermite():
    points, weights = central_composite(1)
    nodes, wanted = np.polynomial.hermite_e.hermegauss(3)
    assert np.allclose(np.sort(points[:, 0]), nodes)
    assert np.allclose(weights[np.argsort(points[:, 0])], wanted / wanted.sum())


@pytest.mark.parametrize(("n", "together"), [(4, 4), (7, 4), (10, 4), (11, 3), (25, 3)])
def test_effects_are_kept_apart(n, together):
    """No few columns of the corners multiply to 1, so that no product of few coordinates has a mean."""
    signs = corners(n)
    for size in range(1, together + 1):
        for chosen in combinations(range(min(n, 12)), size):
            assert signs[:, chosen].prod(axis=1).sum() == 0


@pytest.mark.parametrize(("n", "n_points"), [(1, 3), (2, 9), (3, 15), (5, 27), (10, 149), (30, 125)])
def test_the_number_of_points_is_as_documented(n, n_points):
    assert len(central_composite(n)[0]) == n_points
