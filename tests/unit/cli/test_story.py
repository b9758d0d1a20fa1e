"""Folding trees for a narrow terminal."""

from __future__ import annotations

import pytest

from espalier.cli.story import folded, still_there
from espalier.structures.tree import Tree

TREE = Tree.from_brackets("(S (NP (D the) (J old) (N cat)) (VP (V sat)) .)")


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (0, r"(S the\ …)"),
        (1, r"(S (NP the\ …) (VP sat) .)"),
        (2, TREE.to_brackets()),
        (9, TREE.to_brackets()),
    ],
)
def test_what_is_below_the_depth_becomes_one_leaf(depth, text):
    assert folded(TREE, depth).to_brackets() == text


@pytest.mark.parametrize("depth", range(5))
def test_positions_that_are_kept_hold_the_same_labels(depth):
    kept = still_there(list(TREE.positions()), TREE, depth)
    assert kept
    for position in kept:
        assert folded(TREE, depth)[position].label == TREE[position].label


def test_a_deep_tree_folds_without_recursion():
    tree = Tree("x")
    for _ in range(50_000):
        tree = Tree("A", [tree])
    assert folded(tree, 2).height == 3
