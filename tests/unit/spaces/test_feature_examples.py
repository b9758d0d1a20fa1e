"""Examples of selected features: items that have them, where in them, and how that is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.corpus.forest import Forest
from espalier.jobs.schedule import Schedule
from espalier.kernels import Constant, Power
from espalier.kernels.inputs import Inputs
from espalier.spaces.marked_words import marked_words

GROUPED: dict[str, tuple[Any, Any]] = {
    "arcs": (es.DependencySubtree(("words", "tags"), root=True), dependency_groups),
    "sets of arcs": (Power(Constant(1.0) + es.DependencySubtree(("words",), max_arcs=1), 2), dependency_groups),
    "tags": (es.Tagging(gap_decay=es.fixed(0)), tagged_groups),
    "tags with gaps": (es.Tagging(), tagged_groups),
    "runs of tags alone": (es.Spectrum(2, of="tags"), tagged_groups),
    "productions": (es.SubsetTree(), groups_of),
}


@pytest.mark.parametrize("name", GROUPED)
def test_examples_are_the_first_groups_that_have_a_feature(name: str) -> None:
    kernel, make = GROUPED[name]
    features = es.KernelSpaceSelector(kernel, C=0.5, max_order=2, max_passes=2).fit(make(0)).features_
    groups = make(1)[:8]
    schedule = Schedule.of(1)
    for number, found in enumerate(features.examples(groups, n=2)):
        having = [
            (row, candidate, counts)
            for row, group in enumerate(groups)
            for candidate, counts in enumerate(
                features.chosen(np.array([number])).matrix(Inputs.of(group.candidates), schedule, counts=True).toarray()
            )
            if counts[0]
        ]
        first = {row: (candidate, counts[0]) for row, candidate, counts in reversed(having)}
        expected = [(row, *first[row]) for row in sorted(first)[:2]]
        assert [(own.row, own.candidate, len(own.places)) for own in found] == expected
        assert all("*" in own.text and str(own) == own.text for own in found)


def one(kernel: Any, items: Any, labels: Any, text: str, new: Any) -> list[Any]:
    """The examples of one feature in new items."""
    features = es.KernelSpaceSelector(kernel, C=0.5, max_order=2, max_passes=1).fit(items, labels).features_
    number = features.names_of().index(text)
    return [(own.row, own.candidate, own.places, own.text) for own in features.examples(new, n=9)[number]]


def test_occurrences_are_shown_in_the_words_of_an_item() -> None:
    texts = ["not good", "so bad", "not so good"]
    new = ["a b", "is not very good so not good"]
    found = one(es.Subsequence(2), texts, [0, 1, 0], "not ... good", new)
    assert found == [(1, None, ((1, 3), (1, 6), (5, 6)), "is *not* very *good* so not good")]
    assert one(es.Spectrum(2, of="characters"), ["abc", "bcd"], [0, 1], "ab", ["cabab"])[0][2:] == (
        ((1, 2), (3, 4)),
        "c*ab*ab",
    )
    tree = es.DependencyTree(["cats", "saw", "big", "dogs"], ["N", "V", "A", "N"], [2, 0, 4, 2], ["x"] * 4)
    kernel = es.DependencySubtree(("words",), root=True)
    trees = [tree, tree]
    assert one(kernel, trees, [0, 1], "[words: saw dogs]", [tree])[0][2:] == (((4,),), "cats *saw* big *dogs*")
    assert one(kernel, trees, [0, 1], "[words: ROOT saw]", [tree])[0][2:] == (((2,),), "cats *saw* big dogs")
    fragments = ["(S (NP (D the) (N cat)) (VP (V sleeps)))", "(S (NP (N it)) (VP (V is)))"]
    for trees in (fragments, Forest.from_trees(fragments)):
        assert one(es.SubsetTree(), fragments, [0, 1], "(NP (D) (N))", trees) == [
            (0, None, ((1,),), "*the cat* sleeps")
        ]


def test_columns_are_shown_by_number_or_name() -> None:
    X = np.array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    for data in (X, csr_matrix(X)):
        found = one(es.Polynomial(2), data, [1, 0, 0, 1], "0 & 1", data)
        assert found == [(0, None, ((0, 1),), "0 & 1"), (3, None, ((0, 1),), "0 & 1")]
    named = {"a": [1, 0, 1], "b": [1, 1, 0]}
    found = one(es.Polynomial(2, on=("a", "b")), named, [1, 0, 0], "a & b", named)
    assert found == [(0, None, ((0, 1),), "a & b")]
    table = {"text": ["so good", "so bad"], "other": [1, 2]}
    assert one(es.Subsequence(2, on="text"), table, [0, 1], "so ... bad", table) == [(1, None, ((0, 1),), "*so bad*")]


def test_a_feature_that_no_item_has_has_no_example() -> None:
    features = es.KernelSpaceSelector(es.Spectrum(1), C=0.5, max_order=1).fit(["a b", "b c"], [0, 1]).features_
    assert features.examples(["d"]) == [[]] * len(features) and features.examples([]) == [[]] * len(features)
    assert all(len(own) <= 3 for own in features.examples(["a b c"] * 5))
    with pytest.raises(ValueError, match="n must be a positive integer"):
        features.examples(["a"], n=0)


def test_what_is_far_from_marked_words_is_left_out() -> None:
    words = [str(k) for k in range(40)]
    assert marked_words(words, {20}).split() == ["…", *words[12:20], "*20*", *words[21:29], "…"]
    assert marked_words(words, {0, 39}).count("…") == 1
