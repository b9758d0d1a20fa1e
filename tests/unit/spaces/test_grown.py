"""Spaces whose features grow: how they read and write features, and what they refuse."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels import (
    Constant,
    DependencySubtree,
    PartialTree,
    Polynomial,
    Power,
    SimilarityTable,
    Spectrum,
    Subsequence,
    SubsetTree,
    Tagging,
    fixed,
)
from espalier.kernels.inputs import Inputs
from espalier.selection.grown_features import Grown
from espalier.spaces.grown import Atoms, space_for
from espalier.structures import DependencyTree, Fragment, TaggedSequence, Tree

SCHEDULE = Schedule.of(1, "1 GB")


def features_of(kernel: Any, trained: Any, data: Any, bounds: Any = None, max_order: int = 3) -> list[set[str]]:
    """The features of each row of ``data`` among all those of ``trained``, as texts."""
    space = space_for(kernel)

    def read(rows: Any, own: Any) -> tuple[Inputs, Any]:
        inputs = Inputs.of(rows)
        return inputs, np.arange(len(inputs) + 1) if own is None else np.asarray(own)

    inputs, alone = read(trained, bounds if data is trained else None)
    atoms = space.learned(inputs, alone, 0.0, SCHEDULE)
    graphs = space.graphs(inputs, alone, atoms, SCHEDULE)
    grown = Grown.empty(space, len(atoms), atoms.top, 1, 1)
    for order in range(1, max_order + 1):
        opened = np.ones(len(grown.weight), np.uint8)
        settings = (len(atoms), grown.first(opened), opened, order, 0.0, 1 << 28, "", 1, None)
        grown.insert(_core.count_frequent(graphs, grown.trie, *settings)["key"], order)
    opened = np.ones(len(grown.weight), np.uint8)
    graphs = space.graphs(*read(data, bounds), atoms, SCHEDULE)
    found = _core.feature_rows(graphs, grown.trie, len(atoms), grown.first(opened), opened, opened, max_order, 1, None)
    texts = [text_of(grown, atoms, int(node)) for node in found["node"]]
    start = found["start"].tolist()
    rows = [texts[first:last] for first, last in pairwise(start)]
    assert all(len(set(row)) == len(row) for row in rows)
    return [set(row) for row in rows]


def text_of(grown: Grown, atoms: Atoms, node: int) -> str:
    keys, path = grown.trie.keys(), []
    while node > 0:
        key = int(keys[node])
        path.append((key >> 24 & 63, key & 0xFFFFFF))
        node = key >> 30
    return grown.space.write(atoms, path[::-1])


def test_sets_are_written_by_number_or_by_name() -> None:
    rows = np.array([[1, 0, 1], [0, 0, 1]])
    assert features_of(Polynomial(2), rows, rows) == [{"0", "2", "0 & 2"}, {"2"}]
    table = {"old": [1, 0], "long": [[1, 0], [0, 1]]}
    named = [{"old", "long[0]", "old & long[0]"}, {"long[1]"}]
    assert features_of(Polynomial(2, on=("old", "long")), table, table) == named


def test_sparse_sets_are_those_of_dense_ones() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    rows = (np.random.default_rng(0).random((6, 5)) < 0.5).astype(float)
    matrix = sparse.csr_matrix(rows)
    matrix.data[0] = 0.0  # a zero that is stored is a zero
    assert features_of(Polynomial(3), matrix, matrix) == features_of(Polynomial(3), matrix.toarray(), matrix.toarray())


@pytest.mark.parametrize("is_sparse", [False, True])
def test_numbers_that_are_not_binary_are_refused_by_place(is_sparse: bool) -> None:
    rows: Any = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.5]])
    if is_sparse:
        rows = pytest.importorskip("scipy.sparse").csr_matrix(rows)
    with pytest.raises(InputError, match=r"Row 1, column 2 is 0\.5, but features must be binary.*Binarizer"):
        features_of(Polynomial(2), rows, rows)


def test_sequences_are_written_with_dots_if_they_may_have_gaps() -> None:
    rows = ["the old cat"]
    assert features_of(Spectrum(2), rows, rows, max_order=2) == [{"the", "old", "cat", "the old", "old cat"}]
    gaps = {"the", "old", "cat", "the ... old", "the ... cat", "old ... cat"}
    assert features_of(Subsequence(2), rows, rows, max_order=2) == [gaps]
    assert features_of(Spectrum(2, of="characters"), ["a b"], ["a b"], max_order=2) == [{"a", " ", "b", "a ", " b"}]


def test_tags_are_written_with_or_without_their_words() -> None:
    rows = [TaggedSequence(["the", "dog"], ["D", "N"])]
    runs = {"D N", "D/the N", "D N/dog", "D/the N/dog"}
    assert features_of(Tagging(), rows, rows) == [{"D", "N", "D/the", "N/dog"} | runs]
    gaps = features_of(Tagging(gap_decay=0.5), rows, rows)[0]
    assert "D ... N/dog" in gaps


def test_fragments_are_written_as_fragments_print() -> None:
    trees = [
        Tree("S", [Tree("NP", ["NP"]), Tree("V P", [Tree("V", ["(", Tree("", [Tree("Y", ["x"])])])])]),
        Tree("NP", [Tree("NP")]),
    ]
    found = features_of(SubsetTree(), trees, trees, max_order=5)
    for texts, tree in zip(found, trees, strict=True):
        for text in texts:
            fragment = Fragment.from_brackets(text)
            assert str(fragment) == text
            assert fragment.occurrences(tree)
    assert "(NP NP)" in found[0] & found[1]
    assert r"(S (NP) (V\ P))" in found[0]
    assert found[1] == {"(NP NP)"}


def test_a_leaf_and_a_node_that_are_spelled_alike_differ() -> None:
    trees = ["(S (A a))", "(S A)"]
    assert features_of(SubsetTree(), trees, trees) == [{"(S (A))", "(A a)", "(S (A a))"}, {"(S A)"}]
    nameless = [Tree("S", [Tree("", ["a"])]), Tree("S", [Tree("")])]
    assert len(features_of(SubsetTree(), nameless[:1], nameless)[1]) == 0


@pytest.mark.parametrize(
    ("kernel", "trained", "data", "expected"),
    [
        (Spectrum(2), ["b c", "a"], ["z b c", "x y"], [{"b", "c", "b c"}, set()]),
        (Spectrum(2), ["b c"], ["b z c"], [{"b", "c"}]),
        (Subsequence(2), ["b c"], ["b z c"], [{"b", "c", "b ... c"}]),
        (
            Tagging(),
            [TaggedSequence(["the", "dog"], ["D", "N"])],
            [TaggedSequence(["cat", "the"], ["N", "D"]), TaggedSequence(["the", "dog"], ["X", "N"])],
            [{"N", "D", "D/the"}, {"N", "N/dog"}],
        ),
        (
            SubsetTree(),
            ["(S (A a) (B b))"],
            ["(T (B b) (S (A a) (B c)))"],
            [{"(B b)", "(A a)", "(S (A) (B))", "(S (A a) (B))"}],
        ),
    ],
    ids=["n-grams", "n-grams around a new word", "subsequences", "tagging", "fragments"],
)
def test_new_rows_have_only_features_that_training_met(kernel: Any, trained: Any, data: Any, expected: Any) -> None:
    assert features_of(kernel, trained, data) == expected


def test_candidates_share_positions_but_keep_their_own_features() -> None:
    rows = ["(S (A a) (A a))", "(S (A a) (A b))", "(A b)", "(A a)"]
    alone = features_of(SubsetTree(), rows, rows)
    assert features_of(SubsetTree(), rows, rows, [0, 3, 4]) == alone
    forest = Forest.from_brackets(["(X (Y y))", *rows])[[1, 2, 3, 4]]  # a view of a larger forest
    assert features_of(SubsetTree(), forest, forest, [0, 3, 4]) == alone


def test_a_group_has_at_most_64_candidates() -> None:
    rows = np.eye(65)[:, :64]
    assert features_of(Polynomial(2), rows[:64], rows[:64], [0, 64]) == [{str(column)} for column in range(64)]
    for kernel, data in ((Polynomial(2), rows), (Spectrum(2), ["a"] * 65), (SubsetTree(), ["(A a)"] * 65)):
        with pytest.raises(InputError, match=r"65 candidates.*at most 64"):
            features_of(kernel, data, data, [0, 65])


@pytest.mark.parametrize("words", ["ab", "ba", "abc"])
def test_dependency_trees_of_one_group_have_the_same_words(words: str) -> None:
    first, other = (
        DependencyTree(list(own), ["T"] * len(own), [0] * len(own), [""] * len(own)) for own in ("aa", words)
    )
    kernel = DependencySubtree(features=("tags",), root=True)
    assert features_of(kernel, [first, other], [first, other])[0] == {"[tags: ROOT T]", "[tags: ROOT T] [tags: ROOT T]"}
    with pytest.raises(InputError, match="Row 1 must have the words of row 0"):
        features_of(kernel, [first, other], [first, other], [0, 2])


def test_dependency_trees_of_one_group_may_have_different_tags() -> None:
    rows = [
        DependencyTree(list("abc"), list(tags), heads, [""] * 3)
        for tags, heads in (("NVN", [2, 0, 2]), ("NVV", [2, 0, 2]), ("NVN", [2, 0, 1]), ("VVN", [3, 3, 0]))
    ]
    for features in (("tags",), ("tag -1, word",), ("head tag, between tag, tag", "word")):
        kernel = DependencySubtree(features=features, root=True)
        assert features_of(kernel, rows, rows, [0, 4]) == features_of(kernel, rows, rows)


def test_rows_without_features() -> None:
    assert features_of(Polynomial(2), np.zeros((2, 3)), np.zeros((2, 3))) == [set(), set()]
    assert features_of(Spectrum(2), [[], []], [[], []]) == [set(), set()]
    assert features_of(SubsetTree(), [Tree("a")], [Tree("a")]) == [set()]
    assert features_of(SubsetTree(), ["(A a)"], Forest.from_trees([None], missing="empty")) == [set()]


def test_a_deep_tree_needs_no_recursion() -> None:
    tree = Tree("a")
    for depth in range(4000):
        tree = Tree(f"L{depth % 3}", [tree])
    assert len(features_of(SubsetTree(), [tree], [tree])[0]) == 4 + 4 + 4


@pytest.mark.parametrize(
    ("kernel", "advice"),
    [
        (SubsetTree(lone_leaves=True), "Leave out lone_leaves=True"),
        (SubsetTree(max_depth=2), "Leave out max_depth"),
        (SubsetTree(frontier=fixed(0.0)), r"Leave out frontier=fixed\(0\)"),
        (Subsequence(2, similarity=SimilarityTable(["a", "b"], np.eye(2))), "Leave out the similarity"),
        (DependencySubtree(contiguous=False), "Leave out contiguous=False"),
        (Power(SubsetTree(), 2), r"Of powers, only those of single arcs can: Power\(Constant"),
        (Power(Constant(1.0) + DependencySubtree(), 2), "max_arcs=1"),
        (Power(Constant(1.0) + DependencySubtree(max_arcs=1), 1.5), "with any whole exponent"),
        (Power(DependencySubtree(max_arcs=1), 2), "Of powers, only those of single arcs"),
        (PartialTree(), "Those of DependencySubtree, Polynomial, Spectrum, Subsequence, Tagging, SubsetTree can"),
    ],
)
def test_kernels_without_such_features_are_refused(kernel: Any, advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        space_for(kernel)


@pytest.mark.parametrize(
    ("kernel", "order"),
    [
        (Power(DependencySubtree(max_arcs=1) + Constant(1.0), 4), 4),
        (DependencySubtree(max_arcs=2), 2),
        (Polynomial(4), 4),
        (Spectrum(3), 3),
        (Subsequence(5), 5),
        (Tagging(), None),
        (SubsetTree(), None),
    ],
)
def test_kernels_limit_the_order(kernel: Any, order: int | None) -> None:
    assert space_for(kernel).largest_order == order
