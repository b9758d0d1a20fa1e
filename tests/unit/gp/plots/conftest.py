"""Fitted models to draw, and figures that are closed after each test."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import espalier as es
from espalier.demo import generate_translations

matplotlib.use("Agg")
from matplotlib import pyplot


@pytest.fixture(scope="session")
def table() -> es.Table:
    return generate_translations(90, seed=7)


@pytest.fixture(scope="session")
def kernel() -> es.Kernel:
    return 1.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.3, prior=None), on="source")) + 1.0 * es.RBF(on="features")


@pytest.fixture(scope="session")
def model(table, kernel) -> es.GPRegressor:
    fitted = es.GPRegressor(kernel, target_transform="log", restarts=2, random_state=0, tolerance=1e-3)
    return fitted.fit(table[:60], table["seconds"][:60])


@pytest.fixture(scope="session")
def plain() -> es.GPRegressor:
    x = np.linspace(0, 6, 40)[:, None]
    y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(40)
    return es.GPRegressor(es.RBF(), noise=0.01).fit(x, y)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")
