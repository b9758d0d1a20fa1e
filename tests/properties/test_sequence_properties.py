"""Sequences of few symbols, any decays and weights: kernels over them against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.subsequence import subsequence
from tests.reference.tagging import tagging

import espalier as es

SYMBOLS = st.sampled_from("abc")
SEQUENCES = st.lists(st.lists(SYMBOLS, max_size=6), min_size=1, max_size=4)
DECAYS = st.floats(0.01, 1.5)


@settings(deadline=None)
@given(SEQUENCES, DECAYS, DECAYS, st.lists(DECAYS, min_size=1, max_size=4), st.dictionaries(SYMBOLS, DECAYS))
def test_subsequences_are_those_of_listing(items, gap, match, weights, own):
    kernel = es.Subsequence(len(weights), es.PerLabel(gap, values=own), match, order_weights=tuple(weights))

    def gap_of(symbol):
        return own.get(symbol, gap)

    values = kernel(items)
    for i, s in enumerate(items):
        for j, t in enumerate(items):
            assert values[i, j] == pytest.approx(subsequence(s, t, gap_of, lambda _: match, weights), rel=1e-9)
    assert np.linalg.eigvalsh(values).min() > -1e-8 * max(1.0, values.max())


@settings(deadline=None)
@given(
    SEQUENCES,
    DECAYS,
    DECAYS,
    st.lists(DECAYS, min_size=1, max_size=3),
    st.floats(0, 1),
    st.lists(st.lists(st.floats(-2, 2), min_size=2, max_size=2), min_size=2, max_size=2),
)
def test_soft_subsequences_are_those_of_listing(items, gap, match, weights, mix, vectors):
    similarity = es.Embedding.from_arrays(["a", "b"], vectors, clip=False)  # c has no vector
    kernel = es.Subsequence(
        len(weights), gap, match, order_weights=tuple(weights), similarity=similarity, mix=es.fixed(mix)
    )

    def similar(x, y):
        return mix * (x == y) + (1 - mix) * similarity([x], [y])[0, 0]

    values = kernel(items)
    for i, s in enumerate(items):
        for j, t in enumerate(items):
            expected = subsequence(s, t, lambda _: gap, lambda _: match, weights, similar)
            assert values[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert np.linalg.eigvalsh(values).min() > -1e-8 * max(1.0, np.abs(values).max())


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(SYMBOLS, SYMBOLS), max_size=5), min_size=1, max_size=4), DECAYS, DECAYS)
def test_taggings_are_those_of_listing(pairs, decay, word_weight):
    items = [es.TaggedSequence([word for word, _ in item], [tag for _, tag in item]) for item in pairs]
    values = es.Tagging(decay, word_weight)(items)
    for i, s in enumerate(items):
        for j, t in enumerate(items):
            assert values[i, j] == pytest.approx(tagging(s, t, lambda _: decay, lambda _: word_weight), rel=1e-9)


@settings(deadline=None)
@given(SEQUENCES, st.integers(1, 3))
def test_the_products_of_features_are_the_kernel(items, length):
    for kernel in (es.BagOfWords(), es.Spectrum(length, shortest=1)):
        rows = kernel.features(items)
        np.testing.assert_allclose((rows @ rows.T).toarray(), kernel(items))
