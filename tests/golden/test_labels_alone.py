"""Partial trees by the conventions of KeLP and SVM-Light-TK: labels alone decide, of leaves and of inner nodes."""

import gzip

import numpy as np
import pytest

import espalier as es

# Delta as KeLP's PartialTreeKernel computes it with lambda = mu = .4: terminal nodes and pairs of which one has no
# children weigh mu * lambda^2 = .064.
ENDS = 0.4 * 0.4**2
PAIRS = {
    ("(cat)", "(cat)"): ENDS,
    ("(cat)", "(cat the)"): ENDS,
    ("(cat the)", "(cat old)"): ENDS,
    ("(cat the)", "(cat (the very))"): ENDS + 0.4 * (0.4**2 + ENDS),
    ("(sat cat)", "(sat (cat the) well)"): ENDS + 0.4 * (0.4**2 + ENDS),
    ("(sat cat mat)", "(sat (cat the) well (mat a))"): 2 * ENDS + 0.4 * (0.4**2 + 2 * ENDS + 0.4 * ENDS**2),
}


@pytest.mark.parametrize(("pair", "value"), PAIRS.items(), ids=[" and ".join(pair) for pair in PAIRS])
def test_leaves_and_inner_nodes_with_one_label_match(pair, value) -> None:
    for kernel in (es.PartialTree(0.4, 0.4), es.SmoothedPartialTree(es.kernels.Exact())):
        assert kernel.value(*pair) == pytest.approx(value, rel=1e-14)
        assert kernel.value(*pair[::-1]) == pytest.approx(value, rel=1e-14)


def test_the_sum_over_the_first_thousand_questions_is_that_of_other_systems(data) -> None:
    with gzip.open(data / "trec" / "constituency_train.tsv.gz", "rt", encoding="utf-8") as lines:
        trees = [line.rstrip("\n").split("\t")[-1] for _, line in zip(range(1000), lines, strict=False)]
    values = es.PartialTree(0.4, 0.4)(es.Forest.from_trees(es.Tree.from_brackets(tree) for tree in trees))
    assert values.sum() == pytest.approx(1924275.12387, abs=1e-5)
    assert np.array_equal(values, values.T)
