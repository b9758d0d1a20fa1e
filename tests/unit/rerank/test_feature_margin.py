"""The margin of a reranker of features belongs to some losses alone."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es

WORDS, TAGS = ["cats", "saw", "dogs", "now"], ["N", "V", "N", "R"]
GOLD, *RIVALS = (
    es.DependencyTree(WORDS, TAGS, heads, ["x"] * 4) for heads in ([2, 0, 2, 2], [2, 0, 2, 3], [2, 0, 4, 2])
)
GROUPS = [es.Group([GOLD, *RIVALS], [0.0, 0.5, 0.25], gold=GOLD)] * 4


def weights(loss: str, margin: float) -> np.ndarray:
    selector = es.KernelSpaceSelector(es.DependencySubtree(("words", "tags")), C=1.0).fit(GROUPS)
    reranker = es.FeatureReranker(selector, loss=loss, margin=margin, epochs=1, score_weight=1.0)
    return reranker.fit(GROUPS, development=GROUPS).features_.weights


@pytest.mark.parametrize(("loss", "counts"), [("risk", False), ("softmax", True)])
def test_the_margin_counts_only_where_it_is_said_to(loss, counts):
    plain, wide = weights(loss, 0.0), weights(loss, 2.0)
    assert plain.any()
    assert np.array_equal(plain, wide) != counts
