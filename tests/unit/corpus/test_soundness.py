"""No way into the compiled core is unchecked: constructors, pickles and copies take sound arrays alone."""

from __future__ import annotations

import copy
import pickle
from collections import Counter

import numpy as np
import pytest
from tests.random_trees import INNER, random_trees
from tests.unit.corpus.test_storage import (
    GRAPHS,
    HOSTILE,
    HOSTILE_ARCS,
    HOSTILE_GRAPHS,
    HOSTILE_SEQUENCES,
    TEXTS,
    TREES,
)

import espalier as es
from espalier.corpus import Arcs, Forest, Graphs, Sequences, Vocabulary
from espalier.errors import InputError


def forest() -> Forest:
    return Forest.from_trees([*TEXTS, None], missing="empty")


def sequences() -> Sequences:
    return Sequences.from_items(["the cat", "", ["a word", "é"]], "tags")


def changed(corpus, change):
    """Copies of a corpus's arrays, changed, and the header that says what else it is."""
    arrays = (
        dict(zip(("symbol", "start"), corpus.arrays, strict=True)) if isinstance(corpus, Sequences) else corpus.arrays
    )
    arrays = {name: array.copy() for name, array in arrays.items()}
    header = {"labels": list(corpus.vocabulary)}
    change(header, arrays)
    return arrays, header


# What stands in a header is checked by those who read files; all else by the constructors too.
OF_FILES = ("labels", "unit", "template", "another version", "half a character", "a label twice")


def of_arrays(hostile):
    return [name for name in hostile if not any(part in name for part in OF_FILES)]


@pytest.mark.parametrize("name", of_arrays(HOSTILE))
def test_a_forest_of_unsound_arrays_is_refused(name):
    arrays, _ = changed(forest(), HOSTILE[name])
    with pytest.raises(InputError, match="These arrays are no forest"):
        Forest(arrays, forest().vocabulary)


@pytest.mark.parametrize("name", of_arrays(HOSTILE_SEQUENCES))
def test_sequences_of_unsound_arrays_are_refused(name):
    arrays, _ = changed(sequences(), HOSTILE_SEQUENCES[name])
    with pytest.raises(InputError, match="no corpus of sequences"):
        Sequences(arrays.get("symbol"), arrays.get("start"), sequences().vocabulary, "tags")


@pytest.mark.parametrize("name", of_arrays(HOSTILE_ARCS))
def test_arcs_of_unsound_arrays_are_refused(name):
    arcs = Arcs.from_trees(TREES, ("tags", "own"))
    arrays, _ = changed(arcs, HOSTILE_ARCS[name])
    with pytest.raises(InputError, match="no corpus of dependency trees"):
        Arcs(arrays, arcs.vocabulary, arcs.templates)


@pytest.mark.parametrize("name", of_arrays(HOSTILE_GRAPHS))
def test_graphs_of_unsound_arrays_are_refused(name):
    graphs = Graphs.from_items(GRAPHS, "words")
    arrays, _ = changed(graphs, HOSTILE_GRAPHS[name])
    with pytest.raises(InputError, match="no corpus of graphs"):
        Graphs(arrays, graphs.vocabulary, "words")


CORPORA = {
    "forest": (forest, es.SubsetTree()),
    "sequences": (sequences, es.Spectrum(1, of="tags")),
    "arcs": (lambda: Arcs.from_trees(TREES, ("tags", "own")), es.DependencySubtree(("tags", "own"))),
    "graphs": (lambda: Graphs.from_items(GRAPHS, "words"), es.WeisfeilerLehman(1, labels="words")),
}


def arrays_of(corpus):
    return (
        dict(zip(("symbol", "start"), corpus.arrays, strict=True)) if isinstance(corpus, Sequences) else corpus.arrays
    )


@pytest.mark.parametrize("name", CORPORA)
def test_a_damaged_pickle_is_refused(name):
    corpus = CORPORA[name][0]()
    maker, arguments = corpus.__reduce__()
    if isinstance(corpus, Sequences):
        damaged = (arguments[0] + np.int32(1000), *arguments[1:])
    else:
        damaged = ({key: array + array.dtype.type(1000) for key, array in arguments[0].items()}, *arguments[1:])
    with pytest.raises(InputError, match="These arrays are no"):
        maker(*damaged)


@pytest.mark.parametrize("name", CORPORA)
def test_pickles_and_copies_are_the_same_corpus(name):
    make, kernel = CORPORA[name]
    corpus = make()[::-1]
    for again in (pickle.loads(pickle.dumps(corpus)), copy.copy(corpus), copy.deepcopy(corpus)):
        np.testing.assert_array_equal(kernel(again), kernel(corpus))
        for key, array in arrays_of(corpus).items():
            np.testing.assert_array_equal(arrays_of(again)[key], array)


@pytest.mark.parametrize("name", CORPORA)
def test_no_array_of_a_corpus_can_be_written_to(name):
    corpus = CORPORA[name][0]()
    for own in (corpus, corpus[[1, 0]], pickle.loads(pickle.dumps(corpus)), corpus.with_vocabulary(Vocabulary())):
        for key, array in arrays_of(own).items():
            with pytest.raises(ValueError, match="read-only"):
                array[:1] = 10_000
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
            if not isinstance(own, Sequences):
                own.arrays[key] = np.full(100, 10_000, array.dtype)  # into a dict of the caller's
                assert own.arrays[key] is array


@pytest.mark.parametrize("name", CORPORA)
def test_arrays_of_the_caller_are_copied_and_left_writable(name):
    corpus = CORPORA[name][0]()
    _, arguments = corpus.__reduce__()
    if isinstance(corpus, Sequences):
        given = {"symbol": arguments[0].copy(), "start": arguments[1].copy()}
        again = Sequences(given["symbol"], given["start"], *arguments[2:])
    else:
        given = {key: array.copy() for key, array in arguments[0].items()}
        again = type(corpus)(given, *arguments[1:])
    for array in given.values():
        array[:] = 10_000
    for key, array in arrays_of(corpus).items():
        np.testing.assert_array_equal(arrays_of(again)[key], array)


@pytest.mark.parametrize("name", CORPORA)
def test_a_vocabulary_is_needed_that_has_every_label(name):
    corpus = CORPORA[name][0]()
    maker, arguments = corpus.__reduce__()
    place = 2 if isinstance(corpus, Sequences) else 1
    for vocabulary, error in ((Vocabulary(["a"]), InputError), (list(corpus.vocabulary), TypeError)):
        with pytest.raises(error):
            maker(*arguments[:place], vocabulary, *arguments[place + 1 :])


def is_forest(arrays) -> bool:
    """The definition, by trees: distinct subtrees, and each tree the counts of all subtrees below its root."""
    try:
        built: list[es.Tree] = []
        for u, label in enumerate(arrays["label"].tolist()):
            first, last = arrays["child_start"][u : u + 2].tolist()
            below = arrays["child"][first:last].tolist()
            if any(not 0 <= v < u for v in below):
                return False
            built.append(es.Tree(str(label), [built[v] for v in below]))
            if built[-1].height != arrays["height"][u] or not 0 <= label < 6:
                return False
        if len(set(built)) < len(built):
            return False
        for t, root in enumerate(arrays["root"].tolist()):
            first, last = arrays["tree_start"][t : t + 2].tolist()
            listed = arrays["tree_subtree"][first:last].tolist()
            if not -1 <= root < len(built) or any(not 0 <= u < len(built) for u in listed):
                return False
            wanted = Counter() if root < 0 else Counter(list(built[root]))
            found = dict(zip((built[u] for u in listed), arrays["tree_count"][first:last].tolist(), strict=True))
            if listed != sorted(set(listed)) or found != dict(wanted):
                return False
    except IndexError:
        return False
    return True


def test_exactly_the_arrays_that_are_a_forest_by_the_definition_are_taken():
    rng, n_sound, n_unsound = np.random.default_rng(3), 0, 0
    for _ in range(300):
        trees = random_trees(int(rng.integers(1000)), 3)
        whole = Forest.from_trees(trees, vocabulary=Vocabulary([*INNER, "a", "b"]))
        arrays = {name: array.copy() for name, array in whole.arrays.items()}
        for _ in range(int(rng.integers(0, 3))):
            name = str(rng.choice(["label", "height", "child", "root", "tree_subtree", "tree_count"]))
            if len(arrays[name]):
                arrays[name][rng.integers(len(arrays[name]))] += rng.choice([-1, 1])
        if is_forest(arrays):
            n_sound += 1
            assert list(Forest(arrays, whole.vocabulary).arrays) == list(whole.arrays)
        else:
            n_unsound += 1
            with pytest.raises(InputError, match="no forest"):
                Forest(arrays, whole.vocabulary)
    assert n_sound > 80 and n_unsound > 80


def bomb(n: int) -> es.Tree:
    """A tree of 2^n - 1 nodes in n objects."""
    tree = es.Tree("x")
    for _ in range(n - 1):
        tree = es.Tree("x", [tree, tree])
    return tree


def test_a_few_shared_subtrees_are_not_written_out_as_a_billion_nodes():
    forest = Forest.from_trees([bomb(31)])
    tree = forest[0]
    for expand in (
        str,
        repr,
        es.Tree.pretty,
        es.Tree.words,
        es.Tree.leaves,
        pickle.dumps,
        list,
        lambda t: list(t.positions()),
        es.Graph.from_tree,
        lambda t: es.Tagging()(forest),
        lambda t: es.Group([t, bomb(31)]),
        lambda t: es.WeisfeilerLehman()(forest),
        lambda t: es.Spectrum()(forest),
    ):
        with pytest.raises(InputError, match="2,147,483,647 nodes once all its shared subtrees are written out"):
            expand(tree)
    with pytest.raises(InputError, match=r"more than 10\^18 nodes"):
        bomb(20_000).to_brackets()
    small = bomb(4)
    with pytest.raises(InputError, match="the limit is 14"):
        small.to_brackets(max_nodes=14)
    assert es.Tree.from_brackets(small.to_brackets(max_nodes=None)) == small == bomb(4)
    assert es.Tree.from_brackets(small.pretty(max_nodes=15)) == small


def test_transforms_visit_a_shared_subtree_once():
    tree = bomb(60)
    assert tree.collapsed().size == tree.size and tree.binarized() == tree
