"""Tagging against its twin, its gradients, and what it reads."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.tagging import tagging

import espalier as es
from espalier.errors import InputError, KernelOverflowError
from espalier.testing import check_gradients, check_kernel

KERNELS = [
    es.Tagging(),
    es.Tagging(1.0, 1.0),
    es.Tagging(0.7, es.fixed(0)),
    es.Tagging(es.PerLabel(0.5, values={"N": 0.9}), es.PerLabel(2.0, values={"D": 0.3})),
    es.Tagging(0.7, 1.0, gap_decay=0.5),
    es.Tagging(0.7, 1.0, gap_decay=es.fixed(1.0)),
    es.Tagging(es.PerLabel(0.5), es.PerLabel(2.0), es.PerLabel(0.3, values={"D": 0.9, "N": 1.2})),
    es.Tagging(0.7, 1.0, es.PerLabel(es.fixed(0.4), values={"N": 0.0})),
]


def random_items(seed, n):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, size=n)
    return [es.TaggedSequence(list(rng.choice(list("ab"), k)), list(rng.choice(list("DNV"), k))) for k in sizes]


ITEMS = random_items(0, 12)


def twin(kernel, a, b):
    def value(setting):
        own = dict(setting.values) if isinstance(setting, es.PerLabel) else {}
        return lambda tag: own.get(tag, es.kernels.hyperparameters.default_of(setting))

    settings = [value(setting) for setting in (kernel.decay, kernel.word_weight, kernel.gap_decay)]
    return np.array([[tagging(s, t, *settings) for t in b] for s in a])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_values_are_those_of_listing(kernel, n_threads):
    np.testing.assert_allclose(kernel(ITEMS, n_threads=n_threads), twin(kernel, ITEMS, ITEMS), rtol=1e-12)
    np.testing.assert_allclose(
        kernel(ITEMS[:4], ITEMS, n_threads=n_threads), twin(kernel, ITEMS[:4], ITEMS), rtol=1e-12
    )
    np.testing.assert_allclose(kernel.diagonal(ITEMS), twin(kernel, ITEMS, ITEMS).diagonal(), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_those_of_differences(kernel):
    check_gradients(kernel, random_items(3, 7))


@pytest.mark.parametrize("kernel", [es.Tagging(), es.Tagging(gap_decay=0.6)], ids=repr)
def test_it_keeps_the_laws(kernel):
    check_kernel(kernel, [item for item in ITEMS if len(item)][:6])


def test_without_gaps_fragments_are_runs_bit_for_bit():
    items = random_items(7, 30)
    runs = es.Tagging(0.7, 1.3)
    assert runs == es.Tagging(0.7, 1.3, es.fixed(0)) and repr(runs) == "Tagging(decay=0.7, word_weight=1.3)"
    np.testing.assert_array_equal(runs(items), es.Tagging(0.7, 1.3, es.PerLabel(es.fixed(0.0)))(items))
    np.testing.assert_allclose(es.Tagging(0.7, 1.3, gap_decay=1e-12)(items), runs(items), rtol=1e-9)


def test_gaps_are_those_of_subsequences():
    items = random_items(9, 12)
    tags = [list(item.tags) for item in items]
    own = es.Subsequence(5, gap_decay=0.4, match_decay=np.sqrt(0.7), order_weights=es.fixed(1.0))(tags)
    np.testing.assert_allclose(es.Tagging(0.7, es.fixed(0), gap_decay=0.4)(items), own, rtol=1e-12)


def test_gaps_count_within_the_memory():
    item = es.TaggedSequence(["a"] * 400, ["N", "V"] * 200)
    kernel = es.Tagging(0.01, 1.0, gap_decay=0.5)
    matrix, pull_back = kernel.vjp([item], memory=100_000)
    assert matrix.shape == (1, 1)
    with pytest.raises(es.errors.MemoryBudgetError, match=r"Sequence 0 with sequence 0 alone needs .* Pass memory="):
        pull_back(matrix)


def test_gradients_do_not_depend_on_threads():
    items = random_items(5, 200)
    cotangent = np.random.default_rng(1).normal(size=(200, 200))
    for gaps in (es.fixed(0), es.PerLabel(0.5)):
        kernel = es.Tagging(es.PerLabel(0.5), es.PerLabel(1.0), gaps)
        found = [kernel.vjp(items, n_threads=n)[1](cotangent) for n in (1, 2, 3)]
        assert found[0] == found[1] == found[2]


def test_trees_and_dependency_trees_are_tagged():
    tree = es.Tree.from_brackets("(S (NP (D the) (N cat)) (VP (V sleeps)))")
    arcs = es.DependencyTree(
        ["the", "cat", "sleeps"], heads=[2, 3, 0], tags=["D", "N", "V"], relations=["det", "nsubj", "root"]
    )
    tagged = es.TaggedSequence(["the", "cat", "sleeps"], ["D", "N", "V"])
    values = es.Tagging(1.0, 1.0)([tree, arcs, tagged])
    np.testing.assert_array_equal(values, np.full((3, 3), values[0, 0]))


def test_every_word_needs_a_tag():
    with pytest.raises(InputError, match="Row 1 has 1 tags and 2 words: every word needs one tag"):
        es.Tagging()([es.Tree.from_brackets("(S (A a))"), es.Tree.from_brackets("(S (A a) b)")])


@pytest.mark.parametrize("item", ["the cat", ["the", "cat"], ("the", "cat"), ""])
def test_words_alone_have_no_tags(item):
    with pytest.raises(InputError, match=r"Row 1 has no tags: .* Pass TaggedSequence"):
        es.Tagging()([ITEMS[0], item])
    with pytest.raises(InputError, match="Column 'x': Row 0 has no tags"):
        es.Tagging(on="x")({"x": [item]})


def test_interned_words_have_no_tags():
    with pytest.raises(InputError, match="These sequences contain words, but tags are needed"):
        es.Tagging()(es.Sequences.from_items(["the cat"]))


def test_empty_items_share_nothing():
    items = [es.TaggedSequence([], []), es.TaggedSequence(["a"], ["N"])]
    assert es.Tagging(1.0, 1.0)(items).tolist() == [[0.0, 0.0], [0.0, 2.0]]
    assert es.Tagging()(items[:1]).tolist() == [[0.0]] and es.Tagging()([]).shape == (0, 0)
    with pytest.warns(UserWarning, match="1 of 2 items have no fragment"):
        assert es.Normalized(es.Tagging())(items).tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_one_item_is_no_list_of_items():
    with pytest.raises(TypeError, match=r"got one TaggedSequence. Write \[item\]"):
        es.Tagging()(ITEMS[0])


def test_overflow_says_what_to_do():
    item = es.TaggedSequence(["a"] * 600, ["N"] * 600)
    with pytest.raises(KernelOverflowError, match="smaller decay"):
        es.Tagging(5.0)([item])
