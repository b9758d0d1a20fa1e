"""The slow definition of gradient mining: its spaces by hand, and its two forms against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from espalier.structures import DependencyTree, Tree
from random_trees import random_tree
from reference.feature_spaces import (
    DEPENDENCIES,
    FRAGMENTS,
    NGRAMS,
    POLYNOMIAL,
    TABLE_1,
    Space,
    atoms,
    dependency_features,
    dependency_occurrences,
    dependency_subtrees,
    fragments,
    is_fragment,
    ngrams,
    polynomial_features,
    subsequence_space,
    subsequences,
)
from reference.gradient_mining import (
    INTERCEPT,
    Example,
    Mined,
    by_class,
    classification,
    frequent,
    mine,
    mine_by_candidates,
)

MAX_ORDER = 3
Item = Callable[[np.random.Generator], set[Any]]  # draws the features of one small random item

FIGURE_1 = DependencyTree(
    ["He", "won", "the", "game", "today"], ["PRP", "VBD", "DT", "NN", "NN"], [2, 0, 4, 2, 2], [""] * 5
)


def random_dependencies(rng: np.random.Generator, n_words: int) -> DependencyTree:
    words, tags = (rng.choice(values, n_words).tolist() for values in (["a", "b"], ["N", "V", "D"]))
    heads = [0] * n_words
    order = rng.permutation(n_words) + 1
    for index in range(n_words):
        heads[order[index] - 1] = int(rng.choice([0, *order[:index], *order[:index]]))
    return DependencyTree(words, tags, heads, [""] * n_words)


def dependency_item(rng: np.random.Generator, root: bool = False) -> set[Any]:
    tree = random_dependencies(rng, int(rng.integers(1, 7)))
    return dependency_features(tree, ["words", "tags", "head tag, between tag, tag"], MAX_ORDER, root)


def random_tokens(rng: np.random.Generator) -> list[str]:
    return list(rng.choice(["a", "b", "c"], int(rng.integers(0, 7))))


SPACES: dict[str, tuple[Space, Item]] = {
    "dependencies": (DEPENDENCIES, dependency_item),
    "dependencies and root": (DEPENDENCIES, lambda rng: dependency_item(rng, root=True)),
    "polynomial": (
        POLYNOMIAL,
        lambda rng: polynomial_features(set(rng.integers(0, 8, int(rng.integers(0, 7))).tolist()), MAX_ORDER),
    ),
    "n-grams": (NGRAMS, lambda rng: ngrams(random_tokens(rng), MAX_ORDER)),
    "subsequences": (subsequence_space(None), lambda rng: subsequences(random_tokens(rng), MAX_ORDER)),
    "subsequences, gap 1": (subsequence_space(1), lambda rng: subsequences(random_tokens(rng), MAX_ORDER, max_gap=1)),
    "fragments": (FRAGMENTS, lambda rng: fragments(random_tree(rng, depth=3), MAX_ORDER)),
}
each_space = pytest.mark.parametrize("name", SPACES)


def random_examples(name: str, rng: np.random.Generator) -> tuple[list[Example], Space]:
    """Candidates to rank, or items of two or three classes."""
    space, item = SPACES[name]
    n_classes = int(rng.integers(1, 4))
    if n_classes > 1:
        items = [item(rng) for _ in range(12)]
        return classification(items, rng.integers(0, n_classes, 12).tolist(), n_classes), by_class(space)
    examples = []
    for _ in range(8):
        n_outputs = int(rng.integers(1, 5))
        right = int(rng.integers(n_outputs))
        costs = rng.integers(0, 4, n_outputs) / 2
        costs[right] = 0
        base = rng.integers(-2, 3, n_outputs) / 4
        examples.append(Example([item(rng) for _ in range(n_outputs)], right, base.tolist(), costs.tolist()))
    return examples, space


def test_figure_1_has_11_subtrees_and_60_sub_feature_trees() -> None:
    """The paper says 12 and 64. Two of the 60 are equal: both today and game are a noun below the verb."""
    assert len(dependency_subtrees(FIGURE_1, root=False)) == 11
    occurrences = dependency_occurrences(FIGURE_1, ["words", "tags"], 4)
    assert occurrences.total() == 60
    assert [feature for feature, n in occurrences.items() if n > 1] == [((("tags", "VBD", "NN"), ()),)]
    assert dependency_features(FIGURE_1, ["words", "tags"], 4) == set(occurrences)


def test_the_root_arc_doubles_the_subtrees_below_the_root_and_adds_itself() -> None:
    assert len(dependency_subtrees(FIGURE_1, root=True)) == 11 + 10 + 1


def test_atoms_of_an_arc() -> None:
    templates = [*("head tag -1, head tag, tag", "words", "head tag, between tag, tag"), "tag +1, length, direction"]
    assert atoms(FIGURE_1, 5, templates) == {
        ("head tag -1, head tag, tag", "PRP", "VBD", "NN"),
        ("words", "won", "today"),
        ("head tag, between tag, tag", "VBD", "DT", "NN"),
        ("head tag, between tag, tag", "VBD", "NN", "NN"),
        ("tag +1, length, direction", "", "3", "right"),
    }
    assert atoms(FIGURE_1, 1, ["tag -1, length, direction", "head tag, between tag, tag"]) == {
        ("tag -1, length, direction", "ROOT", "1", "left")
    }
    assert atoms(FIGURE_1, 2, ["words", "head tag -1, head tag +1"]) == {
        ("words", "ROOT", "won"),
        ("head tag -1, head tag +1", "", "PRP"),
    }
    assert len(set(TABLE_1)) == 33
    assert len(atoms(FIGURE_1, 5, TABLE_1)) == 34


def test_small_items_by_hand() -> None:
    assert polynomial_features({1, 2}, 3) == {frozenset({1}), frozenset({2}), frozenset({1, 2})}
    assert ngrams("aab", 2) == {("a",), ("b",), ("a", "a"), ("a", "b")}
    assert ("a", "c") in subsequences("abc", 2, max_gap=1)
    assert subsequences("abc", 2, max_gap=0) == ngrams("abc", 2)
    found = fragments(Tree.from_brackets("(NP (D the) (N cat))"), 3)
    assert len(found) == 6
    assert ("NP", (("D",), ("N", ("cat",)))) in found
    assert len(fragments(Tree.from_brackets("(NP (D the) (N cat))"), 2)) == 5


def atoms_of(feature: Any) -> set[Any]:
    """The atoms of a sub feature tree."""
    return {atom for atom, _ in feature}.union(*(atoms_of(below) for _, below in feature))


def expanded_labels(fragment: Any) -> set[str]:
    """The labels of the productions of a fragment."""
    return {fragment[0]}.union(*(expanded_labels(part) for part in fragment[1] if is_fragment(part)))


ALL_DIFFERENT: dict[str, tuple[Space, set[Any], Callable[[Any], set[Any]]]] = {
    "dependencies": (
        DEPENDENCIES,
        dependency_features(
            DependencyTree(list("abcdefg"), ["T"] * 7, [2, 0, 2, 3, 2, 5, 2], [""] * 7), ["word"], 7, root=True
        ),
        atoms_of,
    ),
    "polynomial": (POLYNOMIAL, polynomial_features(range(5), 5), set),
    "n-grams": (NGRAMS, ngrams("abcdef", 6), set),
    "subsequences": (subsequence_space(None), subsequences("abcdef", 6), set),
    "fragments": (
        FRAGMENTS,
        fragments(Tree.from_brackets("(A (B b) (C (D (E e)) (F (G g) (H h))))"), 8),
        expanded_labels,
    ),
}


@pytest.mark.parametrize("name", ALL_DIFFERENT)
def test_components_are_the_features_with_one_atom_less(name: str) -> None:
    """In an item whose atoms all differ, the atoms of a feature say which piece of the item it is."""
    space, features, atoms_in = ALL_DIFFERENT[name]
    for feature in features:
        smaller = {other for other in features if space.order(other) == space.order(feature) - 1}
        assert space.components(feature) == {other for other in smaller if atoms_in(other) < atoms_in(feature)}


@each_space
def test_an_item_has_the_components_of_its_features(name: str) -> None:
    space, item = SPACES[name]
    rng = np.random.default_rng(1)
    for _ in range(30):
        features = item(rng)
        for feature in features:
            assert space.components(feature) <= features
            assert bool(space.components(feature)) == (space.order(feature) > 1)


@each_space
def test_candidates_find_what_the_plain_definition_finds(name: str) -> None:
    n_high = n_pruned = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        examples, space = random_examples(name, rng)
        C = float(rng.choice([0.5, 1.0, 2.0]))
        settings: dict[str, Any] = {
            "max_order": MAX_ORDER,
            "max_passes": 6,
            "step": 0.5,
            "steps": str(rng.choice(["constant", "square root"])),
            "tolerance": 0.01,
        }
        plain = mine(examples, C, space, **settings)
        assert mine_by_candidates(examples, C, space, **settings) == plain
        survivors = set().union(*(found for step in plain.history for found in (step.survivors or {}).values()))
        n_high += sum(space.order(feature) > 1 for feature in survivors)
        features = {feature for example in examples for output in example.outputs for feature in output}
        n_pruned += sum(space.order(feature) > 1 for feature in features - survivors)
    assert n_high > 0
    assert n_pruned > 0


@each_space
def test_survivors_of_the_first_pass_are_frequent(name: str) -> None:
    for seed in range(10):
        examples, space = random_examples(name, np.random.default_rng(seed))
        survivors = mine(examples, 1.0, space, max_order=MAX_ORDER, max_passes=1).survivors
        assert set().union(*survivors.values()) <= frequent(examples, 1.0)


def test_occurrences_cannot_be_pruned_but_presence_can() -> None:
    """V over one N with two D: the chain V, N, D occurs twice, but its component V, N occurs once."""
    tree = DependencyTree(["a", "b", "c", "d"], ["V", "D", "N", "D"], [0, 3, 1, 3], [""] * 4)
    chain = ((("tags", "V", "N"), ((("tags", "N", "D"), ()),)),)

    def both(features: Any) -> tuple[Mined, Mined]:
        examples = [Example([features, set()], 0, [0.0, 0.0], [0.0, 1.0])]
        plain = mine(examples, 1.0, DEPENDENCIES, max_order=3, max_passes=1)
        return plain, mine_by_candidates(examples, 1.0, DEPENDENCIES, max_order=3, max_passes=1)

    plain, by_candidates = both(dependency_occurrences(tree, ["tags"], 3))
    assert plain.survivors[2] == {chain}
    assert by_candidates.survivors[2] == set()
    plain, by_candidates = both(dependency_features(tree, ["tags"], 3))
    assert plain == by_candidates


def test_three_passes_by_hand() -> None:
    """The right output has 1 and 2, the other 1 alone; an output of equal value is right, and weights shrink to 0."""
    a, b, both = frozenset({1}), frozenset({2}), frozenset({1, 2})
    examples = [Example([{a}, {a, b, both}], 1, [0.0, 0.0], [1.0, 0.0])]
    settings: dict[str, Any] = {"max_order": 2, "max_passes": 3, "steps": "constant"}
    mined = mine(examples, 0.5, POLYNOMIAL, **settings)
    assert [(step.objective, step.n_mispredicted) for step in mined.history] == [(1.0, 1), (0.5, 0), (1.0, 1)]
    assert mined.history[0].survivors == {1: {a, b}, 2: {both}}
    assert mined.history[1].survivors == {1: {b}, 2: {both}}
    assert mined.weights == {b: 0.5, both: 0.5}
    stopped = mine(examples, 0.5, POLYNOMIAL, tolerance=0.6, **settings)
    assert [step.survivors for step in stopped.history] == [{1: {a, b}, 2: {both}}, None]
    assert stopped.weights == {b: 0.5, both: 0.5}


def test_the_intercept_is_neither_pruned_nor_penalised() -> None:
    """Three items of class 1 and one of class 0, without other features, and a C that no count reaches."""
    mined = mine(classification([set()] * 4, [1, 1, 1, 0], 2), 9.0, by_class(NGRAMS), max_order=1, max_passes=2)
    assert mined.weights == {(1, INTERCEPT): 2.0 - 1.0 / 2**0.5}
    assert [step.objective for step in mined.history] == [4.0, 3.0]
    assert mined.survivors == {1: set()}


def test_of_three_classes_each_has_its_own_features() -> None:
    examples = classification([{("a",)}, {("b",)}], [2, 0], 3)
    mined = mine(examples, 0.25, by_class(NGRAMS), max_order=1, max_passes=1)
    assert set(mined.weights.items()) == {
        ((2, ("a",)), 0.75),
        ((0, ("a",)), -0.75),
        ((0, ("b",)), 0.75),
        ((1, ("b",)), -0.75),
        ((2, INTERCEPT), 1.0),
        ((1, INTERCEPT), -1.0),
    }
