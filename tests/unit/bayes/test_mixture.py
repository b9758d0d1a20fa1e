"""Mixtures of predictions."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.bayes import Mixture
from espalier.gp import Log, Prediction, Transform
from espalier.gp.units import TargetUnits
from reference.marginal import mixture_cdf, mixture_density

WEIGHTS = np.array([0.5, 0.3, 0.2])
MEANS = np.array([[0.0, 1.0], [2.0, 1.1], [-1.0, 0.9]])
DEVIATIONS = np.array([[1.0, 0.1], [0.5, 0.2], [2.0, 0.3]])
LEVELS = [0.01, 0.25, 0.5, 0.9, 0.999]


def mixture(transform: Transform, location: float = 0.0, scale: float = 1.0) -> Mixture:
    target = TargetUnits(transform, location, scale, False)
    parts = tuple(Prediction(mean, std, target) for mean, std in zip(MEANS, DEVIATIONS, strict=True))
    return Mixture(parts, WEIGHTS)


def test_moments_and_densities_are_those_of_the_definition():
    mixed = mixture(Transform(), 3.0, 2.0)
    means, deviations = 3.0 + 2.0 * MEANS, 2.0 * DEVIATIONS
    mean = WEIGHTS @ means
    assert np.allclose(mixed.mean, mean)
    assert np.allclose(mixed.std, np.sqrt(WEIGHTS @ (deviations**2 + means**2) - mean**2))
    assert np.allclose(mixed.std_between, np.sqrt(WEIGHTS @ (means - mean) ** 2))
    y = np.array([2.5, 5.1])
    wanted = mixture_density(y, means, deviations**2, WEIGHTS)
    assert np.allclose(mixed.log_density(y), np.log(wanted))
    assert len(mixed) == 2


@pytest.mark.parametrize("transform", [Transform(), Log()])
def test_quantiles_are_roots_of_the_distribution_function(transform):
    mixed = mixture(transform, 0.5, 0.8)
    quantiles = mixed.quantiles(LEVELS)
    assert quantiles.shape == (2, 5)
    places = (np.log(quantiles) if isinstance(transform, Log) else quantiles) - 0.5
    for k in range(2):
        for level, place in zip(LEVELS, places[k] / 0.8, strict=True):
            assert mixture_cdf(place, MEANS[:, k], DEVIATIONS[:, k], WEIGHTS) == pytest.approx(level, abs=1e-9)
    assert np.array_equal(mixed.median, quantiles[:, 2])
    assert np.allclose(mixed.interval(0.8), mixed.quantiles([0.1, 0.9]))
    assert np.allclose(mixed.probability_below(quantiles[:, 3]), 0.9)


def test_parts_without_spread_are_steps():
    target = TargetUnits(Transform(), 0.0, 1.0, False)
    mixed = Mixture(tuple(Prediction(np.array([m]), np.zeros(1), target) for m in (1.0, 2.0, 3.0)), WEIGHTS)
    assert mixed.quantiles([0.4, 0.6, 0.9])[0] == pytest.approx([1.0, 2.0, 3.0])


def test_bad_levels_are_refused():
    with pytest.raises(ValueError, match="quantiles must lie between 0 and 1"):
        mixture(Transform()).quantiles([0.0])
    with pytest.raises(ValueError, match="probability must lie"):
        mixture(Transform()).interval(1.5)
    with pytest.raises(es.InputError, match="2 predictions"):
        mixture(Transform()).log_density([1.0])
