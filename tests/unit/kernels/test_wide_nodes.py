"""Nodes that partial trees cannot compare in any reasonable time."""

from __future__ import annotations

import pytest

from espalier.corpus.forest import Forest
from espalier.errors import InputError
from espalier.kernels.embedding import Embedding
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.similarity import Exact
from espalier.kernels.smoothed_partial_tree import SmoothedPartialTree
from espalier.structures import Tree

N = 200_000


@pytest.fixture(scope="module")
def forest() -> Forest:
    """A small tree, one with a node of very many children, and one whose label differs."""
    leaf = Tree("x")
    return Forest.from_trees([Tree("S", [leaf]), Tree("S", [Tree("L", [leaf] * N)]), Tree("M", [leaf] * N)])


@pytest.mark.parametrize("kernel", [PartialTree(), SmoothedPartialTree(Exact())], ids=repr)
def test_two_nodes_with_very_many_children_are_refused(kernel, forest):
    message = "tree 1 has a node 'L' with 200,000 children.*takes 4e.10 steps.*at most 2.5e.10.*Split such nodes"
    for call in (kernel, kernel.vjp, kernel.diagonal, lambda forest: kernel(forest, forest[1:])):
        with pytest.raises(InputError, match=message):
            call(forest[:2])


@pytest.mark.parametrize("kernel", [PartialTree(), SmoothedPartialTree(Exact())], ids=repr)
def test_one_such_node_may_meet_others(kernel, forest):
    assert kernel(forest[:1], forest).shape == (1, 3)
    assert kernel(forest[1:2], forest[2:])[0, 0] > 0  # only leaves have a label in common


def test_where_all_labels_match_softly_they_need_not_be_equal(forest):
    kernel = SmoothedPartialTree(Embedding({"L": [1.0, 0.0], "M": [0.6, 0.8]}), soft="all")
    with pytest.raises(InputError, match=r"SmoothedPartialTree sums over .*'L' with 200,000 children"):
        kernel(forest[1:2], forest[2:])
