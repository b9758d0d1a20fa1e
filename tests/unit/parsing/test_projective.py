"""Crossing arcs are found by their definition, lifted until none is left, and restored."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.dependencies import all_trees, has_crossing_arcs

from espalier import DependencyTree
from espalier.errors import InputError
from espalier.parsing.projective import crossing, projectivized, restored
from espalier.structures.conllu import read_conllu


def tree_of(heads):
    n = len(heads)
    return DependencyTree([f"w{k}" for k in range(n)], ["T"] * n, heads, [f"r{k}" for k in range(n)])


@pytest.mark.parametrize("several_roots", [False, True])
@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5])
def test_trees_with_crossing_arcs_are_those_of_the_definition(n_words, several_roots):
    for heads in all_trees(n_words, several_roots=several_roots, crossing=True):
        assert bool(crossing(heads)) == has_crossing_arcs(heads)


def test_every_small_tree_is_lifted_and_most_are_restored():
    n_crossing = n_restored = 0
    for heads in all_trees(5, crossing=True):
        tree = tree_of(heads)
        lifted = projectivized(tree)
        assert not crossing(lifted.heads)
        if not has_crossing_arcs(heads):
            assert lifted is tree
            assert restored(lifted) is tree
            continue
        n_crossing += 1
        back = restored(lifted)
        assert back.relations == tree.relations
        n_restored += back == tree
    assert n_restored > 0.8 * n_crossing  # the marks do not tell apart two paths below one head


def test_random_marks_never_make_a_circle():
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = int(rng.integers(2, 12))
        heads = [int(rng.integers(0, k)) if k else 0 for k in range(n)]  # each below an earlier word
        marks = rng.choice(["", "↑", "↓", "↑↓"], size=n).tolist()
        tree = DependencyTree(["w"] * n, ["T"] * n, heads, [f"r{mark}" for mark in marks])
        assert set(restored(tree).relations) == {"r"}  # a circle would have raised an error


def test_relations_with_the_signs_of_lifting_are_refused():
    tree = DependencyTree(["a", "b"], ["T", "T"], [2, 0], ["r↑", "root"])
    with pytest.raises(InputError, match="'r↑' of word 1 has one of the signs"):
        projectivized(tree)


def test_nearly_all_crossing_arcs_of_a_treebank_are_restored(data):
    trees = read_conllu(data / "ewt_ud" / "en_ewt-ud-dev.conllu.gz")
    found = [tree for tree in trees if crossing(tree.heads)]
    assert len(found) > 20
    assert sum(restored(projectivized(tree)) == tree for tree in found) >= 0.95 * len(found)
