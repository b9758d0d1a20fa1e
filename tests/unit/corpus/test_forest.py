"""Forests: interning, views, growth, and what goes wrong."""

import pickle
from collections import Counter

import numpy as np
import pytest

import espalier as es
from espalier.corpus import Forest, Vocabulary, concatenate
from espalier.errors import InputError, TreeSyntaxError, VocabularyMismatchError
from espalier.kernels.subset_tree import SubsetTree
from espalier.structures.tree import Tree

TEXTS = [
    "(S (NP (D the) (N cat)) (VP (V eats) (NP (D the) (N mouse))))",
    "(NP (D the) (N cat))",
    "(X)",
    "(S (NP (D the) (N cat)) (VP (V eats) (NP (D the) (N mouse))))",
]


def counts_by_hand(tree: Tree) -> Counter[Tree]:
    return Counter(tree)


@pytest.mark.parametrize("make", [Forest.from_brackets, Forest.from_trees])
def test_each_tree_is_its_subtrees_with_counts(make) -> None:
    forest = make(TEXTS)
    arrays = forest.arrays
    for row, text in enumerate(TEXTS):
        tree = Tree.from_brackets(text)
        assert forest[row] == tree
        expected = counts_by_hand(tree)
        entries = slice(arrays["tree_start"][row], arrays["tree_start"][row + 1])
        assert sorted(arrays["tree_count"][entries]) == sorted(expected.values())
        assert np.all(np.diff(arrays["tree_subtree"][entries]) > 0)


def test_texts_trees_and_mixed_objects_give_the_same_forest() -> None:
    one = Forest.from_brackets(TEXTS)
    two = Forest.from_trees([Tree.from_brackets(text) for text in TEXTS])
    three = Forest.from_trees([TEXTS[0], *(Tree.from_brackets(text) for text in TEXTS[1:])])
    assert list(one) == list(two) == list(three)
    assert one.n_subtrees == two.n_subtrees == three.n_subtrees


def test_children_precede_parents_and_heights_rise() -> None:
    arrays = Forest.from_brackets(TEXTS).arrays
    parent = np.repeat(np.arange(len(arrays["label"])), np.diff(arrays["child_start"]))
    assert np.all(arrays["child"] < parent)
    assert np.all(np.diff(arrays["height"]) >= 0)


def test_a_leaf_and_an_inner_node_spelled_alike_differ() -> None:
    forest = Forest.from_brackets(["(A A)", "(A (A A))"])
    assert forest.n_subtrees == 3


@pytest.mark.parametrize("rows", [[1, 0], slice(0, 2), np.array([True, False, True, False]), [], np.array([-1])])
def test_views_share_subtrees(rows) -> None:
    forest = Forest.from_brackets(TEXTS)
    view = forest[rows]
    assert [tree.to_brackets() for tree in view] == [
        Tree.from_brackets(TEXTS[row]).to_brackets()
        for row in np.arange(4)[rows if len(np.shape(rows)) != 1 or len(rows) else np.array([], int)]
    ]
    assert view.arrays["label"] is forest.arrays["label"]


def test_an_index_out_of_range_or_of_floats_is_an_error() -> None:
    forest = Forest.from_brackets(TEXTS)
    with pytest.raises(IndexError):
        forest[4]
    with pytest.raises(IndexError):
        forest[[4]]
    with pytest.raises(TypeError, match="integers"):
        forest[np.array([0.5])]


def test_arrays_are_read_only() -> None:
    forest = Forest.from_brackets(TEXTS)
    with pytest.raises(ValueError, match="read-only"):
        forest.arrays["label"][0] = 1


def test_growth_gives_a_new_forest() -> None:
    forest = Forest.from_brackets(TEXTS[:2])
    n_labels = len(forest.vocabulary)
    wider = forest.extended(["(NEW (LABEL word))", Tree.from_brackets(TEXTS[0])])
    assert len(forest) == 2 and len(forest.vocabulary) == n_labels
    assert [tree.to_brackets() for tree in wider] == [*TEXTS[:2], "(NEW (LABEL word))", TEXTS[0]]
    assert wider.vocabulary.extends(forest.vocabulary)


def test_concatenation_needs_one_vocabulary() -> None:
    with pytest.raises(VocabularyMismatchError, match="different vocabularies"):
        concatenate([Forest.from_brackets(TEXTS), Forest.from_brackets(["(Z z)"])])
    with pytest.raises(ValueError, match="nothing to join"):
        concatenate([])
    assert len(concatenate([Forest.from_brackets(TEXTS), Forest.from_brackets(TEXTS)])) == 8


def test_a_missing_tree_names_its_row_or_counts_as_empty() -> None:
    with pytest.raises(InputError, match="Row 1 has no tree"):
        Forest.from_trees(["(A a)", None])
    forest = Forest.from_trees(["(A a)", None], missing="empty")
    assert len(forest) == 2
    assert list(forest) == [Tree("A", ("a",)), None]
    assert forest.describe().empty == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(A (B b)", "never closed"),
        ("(A b))", "never opened"),
        ("word", "outside any bracket"),
        ("", "no tree"),
        ("(A a) (B b)", "more than one tree"),
        ("(A \0)", "NUL"),
    ],
)
def test_broken_text_names_row_and_place(text, message) -> None:
    with pytest.raises(TreeSyntaxError, match=message) as caught:
        Forest.from_brackets(["(A a)", text])
    assert "row 1" in str(caught.value)


def test_half_a_surrogate_pair_is_an_error() -> None:
    with pytest.raises(InputError, match="Row 1"):
        Forest.from_brackets(["(A a)", "(A \ud800)"])


def test_what_is_no_corpus_is_an_error() -> None:
    with pytest.raises(TypeError, match="Row 1 must be a bracketed string"):
        Forest.from_brackets(["(A a)", 3])
    with pytest.raises(ValueError, match="missing must be"):
        Forest.from_trees([], missing="drop")


def test_an_empty_corpus_is_a_forest() -> None:
    for forest in (Forest.from_brackets([]), Forest.from_trees([])):
        assert len(forest) == 0 and list(forest) == []
        assert forest.describe().trees == 0


def test_deep_wide_and_long_trees() -> None:
    deep = "(A " * 50_000 + "a" + ")" * 50_000
    wide = "(W " + " ".join(f"(P w{k % 7})" for k in range(100_000)) + ")"
    long_word = "(L " + "x" * 10_000_000 + ")"
    forest = Forest.from_brackets([deep, wide, long_word])
    assert forest[0].to_brackets() == deep
    assert len(forest[1].children) == 100_000
    assert int(forest.arrays["height"].max()) == 50_000


def test_shared_objects_are_counted_not_expanded() -> None:
    tree = Tree("A", ("a",))
    for _ in range(25):
        tree = Tree("A", (tree, tree))
    forest = Forest.from_trees([tree])
    assert forest.n_subtrees == 27
    assert forest.arrays["tree_count"].max() == 2**25
    for _ in range(10):
        tree = Tree("A", (tree, tree))
    with pytest.raises(OverflowError, match="2,147,483,647"):
        Forest.from_trees([tree])


def test_a_forest_survives_pickle() -> None:
    forest = Forest.from_brackets(TEXTS)
    assert list(pickle.loads(pickle.dumps(forest))) == list(forest)


def test_interning_fills_the_vocabulary_it_is_given() -> None:
    vocabulary = Vocabulary(["S"])
    forest = Forest.from_brackets(TEXTS, vocabulary=vocabulary)
    assert forest.vocabulary is vocabulary and "NP" in vocabulary


def test_describe_counts() -> None:
    description = Forest.from_brackets(TEXTS).describe()
    assert (description.trees, description.distinct_trees, description.empty) == (4, 3, 0)
    assert (description.nodes, description.leaves) == (2 * 14 + 5 + 1, 2 * 5 + 2 + 1)
    assert (description.labels, description.words, description.depth, description.widest) == (6, 5, 4, 2)
    assert "distinct subtrees" in str(description)


def test_real_treebanks_round_trip(data) -> None:
    texts = (data / "questionbank" / "trees.txt").read_text("utf-8").splitlines()
    forest = Forest.from_brackets(texts)
    trees = [Tree.from_brackets(text) for text in texts]
    assert list(forest) == trees
    assert list(Forest.from_trees(trees)) == trees
    assert len(Forest.from_file(data / "wsj" / "sample.mrg.gz")) == 3914


@pytest.mark.parametrize("rows", [[1, 0], [2], [], slice(None), [3, 3]])
def test_compact_copy_stores_only_its_own_subtrees(rows) -> None:
    view = Forest.from_brackets(TEXTS)[rows]
    copy = view.compact()
    again = Forest.from_trees(list(view))
    assert list(copy) == list(view)
    assert copy.vocabulary is view.vocabulary
    assert copy.n_subtrees == again.n_subtrees <= view.n_subtrees
    for name, array in view.arrays.items():
        assert copy.arrays[name].dtype == array.dtype
        if name != "label":  # numbers of labels belong to the vocabulary
            assert len(copy.arrays[name]) == len(again.arrays[name])
    assert np.array_equal(SubsetTree()(copy), SubsetTree()(view))


def test_compact_copy_keeps_empty_structures(tmp_path) -> None:
    copy = Forest.from_trees(["(A a)", None, "(B b)"], missing="empty")[[1, 2]].compact()
    assert list(copy) == [None, Tree.from_brackets("(B b)")]
    copy.save(tmp_path / "copy")  # loading checks everything that the compiled core trusts
    assert list(Forest.load(tmp_path / "copy")) == list(copy)


def test_compact_copy_shares_no_memory_with_the_corpus() -> None:
    forest = Forest.from_brackets(TEXTS)
    copy = forest[[0, 1, 2, 3]].compact()
    assert not any(np.shares_memory(forest.arrays[name], copy.arrays[name]) for name in forest.arrays)


def test_rows_are_chosen_as_scikit_learn_does() -> None:
    forest = Forest.from_brackets(TEXTS)
    assert forest.shape == (4,)
    assert list(forest[np.array([1, 0]), ...]) == [forest[1], forest[0]]
    assert list(forest[1:3, ...]) == [forest[1], forest[2]]
    assert forest[1, ...] == forest[1]


def test_labels_are_renumbered_by_another_vocabulary() -> None:
    forest = Forest.from_trees([*TEXTS, None, "(Z (the) (N cat))"], missing="empty")
    base = Forest.from_trees(["(N cat)", "(Y y)"]).vocabulary
    labels = list(base)
    for part in (forest, forest[1:], forest[[4]], forest[:0]):
        wider = base.extended()
        other = part.with_vocabulary(wider)
        assert list(other) == list(part)
        assert other.vocabulary is wider and wider.extends(base)
        expected = Forest.from_trees(list(part), vocabulary=base.extended(), missing="empty")
        np.testing.assert_array_equal(other.arrays["tree_count"].sum(), expected.arrays["tree_count"].sum())
        assert other.n_subtrees == expected.n_subtrees
    assert list(base) == labels


def test_a_vocabulary_gets_only_the_labels_that_a_view_holds() -> None:
    forest = Forest.from_trees(TEXTS)
    assert list(forest[[1]].with_vocabulary(Vocabulary(["q"])).vocabulary) == [
        "q",
        *sorted({"NP", "D", "the", "N", "cat"}, key=forest.vocabulary.id),
    ]


def test_a_vocabulary_that_agrees_costs_nothing() -> None:
    forest = Forest.from_trees(TEXTS)
    wider = forest.vocabulary.extended(["more"])
    same = forest.with_vocabulary(wider)
    assert same.vocabulary is wider
    assert same.arrays["label"] is forest.arrays["label"]
    assert forest.with_vocabulary(forest.vocabulary) is forest
    with pytest.raises(TypeError, match="must be a Vocabulary, got list"):
        forest.with_vocabulary(["a"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["(S a)"], "Only forests are joined, but item 0 is of type str. Make a forest"),
        ([Forest.from_brackets(TEXTS), es.Table({"tree": TEXTS})], "item 1 is of type Table.*join the columns"),
        (Forest.from_brackets(TEXTS), r"joined from a list, got one Forest. Write \[train, test\]"),
        (3, "joined from a list, got one int"),
    ],
)
def test_only_forests_are_joined(given, message):
    with pytest.raises(TypeError, match=message):
        concatenate(given)


def test_forests_of_an_iterator_are_joined():
    first = Forest.from_brackets(TEXTS)
    assert len(concatenate(iter([first, first]))) == 2 * len(TEXTS)
