"""Questions, labels and matrices for tests of machines."""

from __future__ import annotations

import numpy as np

import espalier as es
from espalier.demo import generate

TABLE = generate(160, seed=3)
TREES, LABELS = list(TABLE["tree"]), np.array(TABLE["label"])
FOREST = es.Forest.from_trees(TREES)
KERNEL = es.Normalized(es.SubsetTree())
TRAIN, TEST = slice(0, 110), slice(110, 160)
GRAM = KERNEL(FOREST)
BINARY = np.where(np.isin(LABELS, np.unique(LABELS)[:2]), "first", "second")


def close(a, b, tolerance=1e-9):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
