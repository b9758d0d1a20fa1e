"""Arcs: what is interned, selections, and mistakes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import espalier as es
from espalier.corpus.arc_order import bottom_up, depths, previous_siblings
from espalier.corpus.arc_templates import PARTS
from espalier.corpus.arcs import TEMPLATES, Arcs
from espalier.errors import InputError
from espalier.kernels import ARC_TEMPLATES

CATS = es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"])
DOGS = es.DependencyTree(["old", "dogs", "bark"], ["J", "N", "V"], [2, 3, 0], ["amod", "nsubj", "root"])


def test_every_arc_has_one_feature_of_each_template():
    corpus = Arcs.from_trees([CATS, DOGS], ("tags", "relation"))
    arrays = corpus.arrays
    assert arrays["start"].tolist() == [0, 2, 5]
    assert arrays["feature_start"].tolist() == [0, 2, 2, 4, 6, 6]
    assert list(corpus.vocabulary) == ["N", "V", "J", "nsubj", "root", "amod"]
    assert arrays["template"].tolist() == [0, 1, 0, 1, 0, 1]
    assert arrays["first"].tolist() == [1, -1, 0, -1, 1, -1] and arrays["second"].tolist() == [0, 3, 2, 5, 0, 3]
    assert repr(corpus) == "<Arcs: 2 trees with 5 words>" and corpus.shape == (2,)
    again = pickle.loads(pickle.dumps(corpus))
    assert again.templates == corpus.templates and again.arrays["second"].tolist() == arrays["second"].tolist()


def test_words_with_spaces_are_kept_apart():
    s, t = (
        es.DependencyTree(words, ["A", "B"], [0, 1], ["r", "r"]) for words in (["10 000", "men"], ["10", "000 men"])
    )
    kernel = es.DependencySubtree(("words", "head word, tag"), decay=1.0)
    assert kernel([s, t]).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_no_rows_and_odd_ones_are_selected_or_refused():
    corpus = Arcs.from_trees([CATS, DOGS], ("tags",))
    assert len(corpus[[]]) == 0 and len(corpus[[1, 1]]) == 2
    with pytest.raises(TypeError, match="A corpus is indexed by integers, a slice or a mask"):
        corpus[[0.5]]


@pytest.mark.parametrize(
    ("templates", "error", "message"),
    [
        (("relations",), ValueError, "no template 'relations'. Did you mean 'relation'. A template is 'own', or .*"),
        (("colour",), ValueError, "no template 'colour'. A template .* 'head word', 'head tag', .* 'between tag', "),
        (("tag, tag",), ValueError, "The template 'tag, tag' has the part 'tag' twice"),
        (("tags, length, head tag",), ValueError, "has the part 'head tag' twice"),
        (("head word,word",), ValueError, "Did you mean 'head word, word'"),
        (("tag, Lenght",), ValueError, "Did you mean 'tag, length'"),
        (("words, distance",), ValueError, "no template 'words, distance'. Did you mean 'words, length'"),
        (("own, tag",), ValueError, "no template 'own, tag'"),
        (("tag, ",), ValueError, "no template 'tag, '"),
        (("",), ValueError, "no template ''"),
        (("x, " * 1000,), ValueError, "no template 'x, x, "),
        (("words", "head word, word"), ValueError, "'words' and 'head word, word' are the same template"),
        (("tag, head tag", "tags"), ValueError, "'tag, head tag' and 'tags' are the same template"),
        (("length", "distance"), ValueError, "'length' and 'distance' are the same template"),
        ((["tags"],), ValueError, "There is no template \\['tags'\\]"),
        ("tags", TypeError, "must list templates, such as"),
        (None, TypeError, "must list templates"),
        ((), ValueError, "one template or more"),
        (("tags", "tags"), ValueError, "each once"),
    ],
)
def test_templates_are_checked(templates, error, message):
    with pytest.raises(error, match=message):
        Arcs.from_trees([CATS], templates)
    with pytest.raises(error, match=message):
        es.DependencySubtree(templates)


def test_every_part_and_name_is_a_template():
    for template in (*PARTS, *TEMPLATES, *ARC_TEMPLATES, "own", ", ".join(reversed(PARTS)), "tag, words"):
        corpus = Arcs.from_trees([CATS, DOGS], (template,))
        assert corpus.templates == (template,) and es.DependencySubtree((template,)).features == (template,)


def test_distance_is_an_old_name_of_length():
    old, new = (Arcs.from_trees([CATS, DOGS], (name,)) for name in ("distance", "length"))
    assert old.arrays["second"].tolist() == new.arrays["second"].tolist()
    assert list(old.vocabulary) == list(new.vocabulary)


def test_what_templates_give():
    corpus = Arcs.from_trees([DOGS], ("head tag -1", "tag -1, tag +1, length", "between tag"), root=True)
    arrays, texts = corpus.arrays, list(corpus.vocabulary)
    told = [
        [None if k < 0 else texts[k] for k in own]
        for own in zip(arrays["first"].tolist(), arrays["second"].tolist(), strict=True)
    ]
    assert told == [
        *([None, "J"], ["ROOT", "N\t1"]),
        *([None, "N"], ["J", "V\t1"]),
        *([None, ""], ["N", "\t3"], [None, "J"], [None, "N"]),
    ]
    assert arrays["head"].tolist() == [-1, 2, 3, 0] and arrays["previous"].tolist() == [-1, -1, -1, -1]
    assert arrays["feature_start"].tolist() == [0, 0, 2, 4, 8] and repr(corpus) == "<Arcs: 1 trees with 3 words>"
    assert pickle.loads(pickle.dumps(corpus)).root


def test_long_stretches_between_head_and_word_are_looked_at_in_pieces(monkeypatch):
    n = 40
    tree = es.DependencyTree(["w"] * n, [f"T{k % 7}" for k in range(n)], [0] + [1] * (n - 1), ["r"] * n)
    whole = Arcs.from_trees([tree, CATS, tree], ("between tag, tag",), root=True)
    for size in (1, 10, 100):
        monkeypatch.setattr("espalier.corpus.arc_features._AT_ONCE", size)
        pieces = Arcs.from_trees([tree, CATS, tree], ("between tag, tag",), root=True)
        for name, array in whole.arrays.items():
            np.testing.assert_array_equal(pieces.arrays[name], array)


def test_half_a_character_is_an_error_that_names_the_row():
    odd = es.DependencyTree(["a\ud800", "b"], ["A", "B"], [2, 0], ["r", "r"])
    with pytest.raises(InputError, match="Row 1 contains half of a surrogate pair, which is not valid Unicode"):
        Arcs.from_trees([CATS, odd], ("words",))
    assert len(Arcs.from_trees([CATS, odd], ("tags",))) == 2  # what is not read does not matter


@pytest.mark.parametrize("item", [None, "(S a)", es.Tree("S"), ("a", "b"), es.TaggedSequence(["a"], ["A"])])
def test_other_items_are_an_error_that_names_the_row(item):
    with pytest.raises(InputError, match="Row 1: as_dependency_tree converts"):
        Arcs.from_trees([CATS, item], ("tags",))


@pytest.mark.parametrize("trees", ["the cat", CATS, 3, None])
def test_what_is_no_list_of_trees_is_an_error(trees):
    with pytest.raises(TypeError, match="A corpus is a list of dependency trees, got"):
        Arcs.from_trees(trees, ("tags",))


def random_heads(rng):
    """Heads of one tree, counted from 0; a tenth of the tokens are roots."""
    n = int(rng.integers(1, 9))
    order, heads = rng.permutation(n), [-1] * n
    for k in range(1, n):
        if rng.random() < 0.9:
            heads[order[k]] = int(order[rng.integers(k)])
    return heads


def visited(heads, head=-1):
    """Tokens below a head, from the left, each behind its own children."""
    children = [token for token, above in enumerate(heads) if above == head]
    return [found for token in children for found in (*visited(heads, token), token)]


def test_orders_are_those_of_walking():
    rng = np.random.default_rng(0)
    for n_trees in (0, 1, 2, 7, 50):
        trees = [random_heads(rng) for _ in range(n_trees)]
        head = np.array([above for heads in trees for above in heads], np.int32)
        start = np.cumsum([0, *map(len, trees)])
        assert bottom_up(head, start).tolist() == [token for heads in trees for token in visited(heads)]
        assert previous_siblings(head, start).tolist() == [
            max((k for k in range(token) if heads[k] == heads[token]), default=-1)
            for heads in trees
            for token in range(len(heads))
        ]


def test_circles_have_no_depth():
    assert depths(np.array([1, 2, -1, -1]), np.array([0, 4])).tolist() == [2, 1, 0, 0]
    assert depths(np.array([1, 0, -1, 2, 0, 0]), np.array([0, 5, 6])).tolist() == [-1, -1, 0, 1, -1, -1]


def test_a_long_chain():
    n = 20_000
    corpus = Arcs.from_trees([es.DependencyTree(["w"] * n, ["T"] * n, range(n), ["r"] * n)], ("tags",))
    assert corpus.arrays["order"].tolist() == list(range(n))[::-1]
