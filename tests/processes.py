"""Trees, numbers and a kernel for tests of processes."""

from __future__ import annotations

import warnings

import numpy as np

import espalier as es
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
