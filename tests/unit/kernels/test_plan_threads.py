"""One plan, used from several Python threads at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.subset_tree import SubsetTree


@pytest.mark.parametrize("kind", [SubsetTree, PartialTree])
def test_a_plan_serves_several_threads(data, kind) -> None:
    trees = (data / "questionbank" / "trees.txt").read_text("utf-8").splitlines()[:200]
    kernels = [kind(decay=0.1 + 0.05 * k) for k in range(8)]
    plan = kernels[0].plan(trees, n_threads=2)
    alone = [plan.matrix(kernel) for kernel in kernels]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(plan.matrix, kernels))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)
