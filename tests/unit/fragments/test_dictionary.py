"""Dictionaries of fragments: writing, reading, and matching them all at once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.random_trees import random_trees
from tests.reference.fragment_weights import brackets
from tests.reference.subset_tree import count_fragments

import espalier as es
from espalier.fragments import FragmentDictionary, PartialDictionary, mine_fragments
from espalier.structures import Fragment, Tree

TEXTS = ["(NP (D the) (N))", "(D the)", "(S (NP (D) (N x y)) VP (VP))", "(S (S (S)) (S S))", "(X \\( (Y))"]


def test_fragments_come_out_as_they_went_in():
    dictionary = FragmentDictionary.from_fragments(TEXTS)
    assert dictionary.names() == TEXTS
    assert list(dictionary) == [Fragment.from_brackets(text) for text in TEXTS]
    assert dictionary.n_productions.tolist() == [fragment.n_productions for fragment in dictionary]
    assert dictionary[-1] == dictionary[4] and dictionary[[3, 0]].names() == [TEXTS[3], TEXTS[0]]
    assert dictionary[dictionary.n_productions > 2].compact().names() == TEXTS[2:4]
    with pytest.raises(IndexError, match="There is no fragment 5: the dictionary has 5"):
        dictionary[5]


def test_words_alone_are_fragments_and_unexpanded_nodes_alone_are_not():
    dictionary = FragmentDictionary.from_fragments(["the", "(D the)"])
    assert dictionary.names() == ["the", "(D the)"] and dictionary[0] == Fragment(Tree("the"))
    assert dictionary.n_productions.tolist() == [0, 1]
    assert dictionary.counts(["(S (D the) the)"]).toarray().tolist() == [[2, 1]]
    with pytest.raises(es.InputError, match="is an unexpanded node"):
        FragmentDictionary.from_fragments(["(D)"])


def test_a_chain_of_thousands_of_nodes_is_a_fragment():
    text = "(A " * 20_000 + "(A)" + ")" * 20_000
    dictionary = FragmentDictionary.from_fragments([text])
    assert dictionary.names() == [text]
    assert dictionary.counts(["(A " * 20_002 + "x" + ")" * 20_002]).toarray().tolist() == [[2]]


@pytest.mark.parametrize("seed", range(8))
def test_counts_are_those_of_listing(seed):
    trees = random_trees(seed, 15, max_size=12)
    listed = [{brackets(f): n for f, n in count_fragments(tree, None, False).items()} for tree in trees]
    names = sorted(set().union(*listed))
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(names)[: max(1, len(names) // 2)].tolist()
    dictionary = FragmentDictionary.from_fragments(chosen)
    counts = dictionary.counts(es.Forest.from_trees(trees), n_threads=2)
    assert counts.toarray().tolist() == [[row.get(name, 0) for name in chosen] for row in listed]
    assert counts.has_sorted_indices


def test_fragments_are_found_in_trees_of_any_vocabulary():
    trees = random_trees(1, 20, max_size=12)
    (mined,) = mine_fragments(np.ones(20), trees, 200, kernel=es.SubsetTree(1.0))
    shuffled = es.Forest.from_trees([Tree("Z", [Tree("q")]), *reversed(trees)])
    counts = mined.fragments.counts(shuffled)
    assert counts.shape == (21, len(mined)) and counts[0].nnz == 0
    assert np.asarray(counts.sum(axis=0)).ravel() == pytest.approx(mined.weights)


def test_empty_dictionaries_and_empty_corpora():
    empty = FragmentDictionary.from_fragments([])
    assert len(empty) == 0 and empty.counts(["(A a)"]).shape == (1, 0)
    dictionary = FragmentDictionary.from_fragments(TEXTS)
    assert dictionary.counts([]).shape == (0, len(TEXTS))
    assert dictionary.counts(es.Forest.from_trees([None, "(D the)"], missing="empty")).toarray()[:, 1].tolist() == [
        0,
        1,
    ]


def test_depths_are_those_of_the_trees():
    trees = [tree for tree in random_trees(5, 40, max_size=10) if tree.children]
    fragments = sorted({fragment for tree in trees for fragment in map(brackets, count_fragments(tree, None, False))})
    dictionary = FragmentDictionary.from_fragments([*fragments, "word"])
    expected = [max(len(position) for position in dictionary[k].tree.positions()) for k in range(len(dictionary))]
    assert dictionary.depths.tolist() == expected
    assert FragmentDictionary.from_fragments([]).depths.tolist() == []


SUBSET = FragmentDictionary.from_fragments(["(NP (D the) (N))", "(D the)", "(NP (D) (N cat))"])
PARTIAL = PartialDictionary.from_fragments(["(NP (N cat))", "(NP)", "cat"])


@pytest.mark.parametrize("dictionary", [SUBSET, PARTIAL], ids=["subset", "partial"])
def test_a_dictionary_of_unsound_arrays_is_refused(dictionary):
    maker, (labels, *arrays) = dictionary.__reduce__()
    assert maker(labels, *arrays).names() == dictionary.names()
    for k, array in enumerate(arrays):
        for value in (10_000, -10_000):
            damaged = array.copy()
            damaged[len(damaged) // 2] = value
            with pytest.raises(es.InputError, match="These arrays are no fragments"):
                maker(labels, *arrays[:k], damaged, *arrays[k + 1 :])
    with pytest.raises(es.InputError, match="These arrays are no fragments"):
        maker(labels[:1], *arrays)


@pytest.mark.parametrize("dictionary", [SUBSET, PARTIAL], ids=["subset", "partial"])
def test_the_arrays_of_a_dictionary_cannot_be_written_to(dictionary):
    for again in (dictionary, pickle.loads(pickle.dumps(dictionary)), dictionary[[1, 0]], dictionary.compact()):
        for array in again.__reduce__()[1][1:]:
            with pytest.raises(ValueError, match="read-only"):
                array[:1] = 7
    maker, (labels, *arrays) = dictionary.__reduce__()
    given = [array.copy() for array in arrays]
    again = maker(labels, *given)
    for array in given:
        array[:] = 10_000
    assert again.names() == dictionary.names()


def test_masked_weights_are_refused():
    weights = np.ma.masked_array(np.ones((len(SUBSET), 1)), mask=[[True], [False], [False]])
    with pytest.raises(es.InputError, match=r"weights is masked in 1 entries, the first is \[0, 0\]"):
        SUBSET.weighed(["(D the)"], weights)
