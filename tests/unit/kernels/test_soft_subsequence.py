"""Subsequences whose symbols match softly, against the twin that lists them all."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.subsequence import subsequence

import espalier as es
from espalier.testing import check_gradients, check_kernel

TEXTS = ["a b a c", "b a", "c", "a a d b", "d e", "", "a x b y c", "b b c e"]
RNG = np.random.default_rng(0)
VECTORS = {word: RNG.normal(size=4) for word in "abcdx"}  # e and y have none
SIGNED = es.Embedding(VECTORS, clip=False)
SQUARED = es.Embedding(VECTORS, power=2)
TABLE = es.kernels.SimilarityTable("abe", [[1.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 1.0]])
KERNELS = [
    es.Subsequence(3, similarity=SIGNED),
    es.Subsequence(1, 0.5, 0.7, similarity=SQUARED, mix=0.3),
    es.Subsequence(4, 0.9, 1.3, order_weights=(0.5, 2.0, 1.0, 3.0), similarity=SQUARED, mix=es.fixed(0.6)),
    es.Subsequence(2, es.fixed(0), 1.0, order_weights=es.fixed(1.0), similarity=TABLE, mix=0.2),
    es.Subsequence(
        3,
        es.PerLabel(0.5, values={"x": 0.9, "a": 0.2}),
        es.PerLabel(0.8, values={"b": 1.4}),
        similarity=SIGNED,
        mix=0.5,
    ),
    es.Subsequence(2, similarity=SIGNED, mix=es.fixed(1.0)),
]


def twin(kernel, a, b):
    def value(setting):
        own = dict(setting.values) if isinstance(setting, es.PerLabel) else {}
        return lambda symbol: own.get(symbol, es.kernels.hyperparameters.default_of(setting))

    mix = es.kernels.number_of(kernel.mix)

    def similar(x, y):
        return mix * (x == y) + (1 - mix) * kernel.similarity([x], [y])[0, 0]

    weights = kernel.order_weights
    weights = (weights.value,) * kernel.length if isinstance(weights, type(es.fixed(1))) else weights.values
    gap, match = value(kernel.gap_decay), value(kernel.match_decay)
    return np.array([[subsequence(s.split(), t.split(), gap, match, weights, similar) for t in b] for s in a])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_values_are_those_of_listing(kernel, n_threads):
    expected = twin(kernel, TEXTS, TEXTS)
    np.testing.assert_allclose(kernel(TEXTS, n_threads=n_threads), expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(kernel(TEXTS[:3], TEXTS[2:]), expected[:3, 2:], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(TEXTS), expected.diagonal(), rtol=1e-11)
    assert kernel.value(TEXTS[0], TEXTS[3]) == pytest.approx(expected[0, 3], rel=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_those_of_differences(kernel):
    check_gradients(kernel, TEXTS)
    check_gradients(es.Normalized(kernel), TEXTS[:5])


@pytest.mark.parametrize("mix", [1e-6, 0.5, 1.0])
def test_the_gradient_of_the_mixture_at_its_ends(mix):
    # One-sided where the mixture cannot go further: a match that weighs 0 at mix 1 still has a slope.
    def value(at):
        return es.Subsequence(3, similarity=SIGNED, mix=es.fixed(at))(TEXTS).sum()

    step = 1e-6
    low, high = max(mix - step, 0.0), min(mix + step, 1.0)
    kernel = es.Subsequence(3, similarity=SIGNED, mix=mix)
    _, pull_back = kernel.vjp(TEXTS)
    assert pull_back(np.ones((8, 8)))["mix"] == pytest.approx((value(high) - value(low)) / (high - low), rel=1e-4)


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[1], KERNELS[3]])
def test_it_keeps_the_laws(kernel):
    check_kernel(kernel, TEXTS[:5] + TEXTS[6:], prints=False)


def test_tiles_change_nothing():
    # A table of all forty words takes 12,800 bytes; a pair has six words at most, and a grid of about 1,000.
    rng = np.random.default_rng(2)
    words = [f"w{k}" for k in range(40)]
    texts = [" ".join(rng.choice(words, size=3)) for _ in range(30)]
    similar = es.Embedding.from_arrays(words, rng.normal(size=(40, 5)), clip=False)
    kernel = es.Subsequence(3, es.PerLabel(0.5), es.PerLabel(0.9), similarity=similar, mix=0.3)
    cotangent = rng.normal(size=(30, 30))
    whole, tiled = kernel.vjp(texts), kernel.vjp(texts, memory=4000)
    np.testing.assert_allclose(tiled[0], whole[0], rtol=1e-12, atol=1e-15)
    assert tiled[1](cotangent) == pytest.approx(whole[1](cotangent), rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(kernel(texts[:9], texts[9:], memory=4000), whole[0][:9, 9:], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(kernel.diagonal(texts, memory=4000), whole[0].diagonal(), rtol=1e-12)
    fractions: list[float] = []
    kernel(texts, memory=4000, progress=lambda told: fractions.append(told.fraction))
    assert fractions == sorted(fractions) and fractions[-1] == 1.0


def test_a_pair_beyond_the_memory_is_an_error():
    kernel = es.Subsequence(2, similarity=SIGNED)
    with pytest.raises(es.errors.MemoryBudgetError, match=r"Sequence 1 with sequence 0 alone needs .* Pass memory=\d+"):
        kernel(["a", "a b c d e a b c"], ["e d c"], memory=100)
    with pytest.raises(es.errors.MemoryBudgetError, match="Sequence 0 with sequence 0 alone needs"):
        kernel(["a b c d e x y"], memory=1000)


def test_threads_change_no_bit():
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdexy"), size=rng.integers(1, 15))) for _ in range(150)]
    kernel = es.Subsequence(4, es.PerLabel(0.5), es.PerLabel(0.9), similarity=SIGNED, mix=0.4)
    cotangent = rng.normal(size=(150, 150))
    found = []
    for n_threads in (1, 2, 3):
        values, pull_back = kernel.vjp(texts, n_threads=n_threads)
        found.append((values.tobytes(), pull_back(cotangent)))
    assert found[0] == found[1] == found[2]


def test_exact_similarity_is_none():
    soft, hard = es.Subsequence(3, similarity=es.kernels.Exact()), es.Subsequence(3)
    np.testing.assert_allclose(soft(TEXTS), hard(TEXTS), rtol=1e-13)
    all_exact = es.Subsequence(3, similarity=SIGNED, mix=es.fixed(1.0))
    np.testing.assert_allclose(all_exact(TEXTS), hard(TEXTS), rtol=1e-13)


def test_soft_matching_sees_what_words_alone_do_not():
    kernel = es.Normalized(es.Subsequence(2, similarity=es.Embedding({"cat": [1, 0.1], "kitten": [1, 0.2]})))
    hard = es.Normalized(es.Subsequence(2))
    pair = ["the cat", "the kitten"]
    assert kernel(pair)[0, 1] > 0.9 > hard(pair)[0, 1]


def test_a_process_learns_the_mixture():
    # Targets depend on the exact word; the similarity says all words are nearly alike.
    rng = np.random.default_rng(4)
    words = list("abcd")
    texts = [" ".join(rng.choice(words, size=5)) for _ in range(60)]
    y = np.array([float(text.count("a")) for text in texts])
    alike = es.Embedding({word: [1.0, 0.05 * k] for k, word in enumerate(words)}, clip=False)
    kernel = es.Subsequence(1, es.fixed(0.5), es.fixed(1.0), es.fixed(1.0), similarity=alike, mix=0.1)
    model = es.GPRegressor(1.0 * kernel, noise=0.1).fit(texts, y)
    assert model.learned_.to_dict()["kernel.mix"] > 0.5


def test_clipped_cosines_that_are_no_kernel_are_refused():
    rng = np.random.default_rng(5)
    words = [f"w{k}" for k in range(60)]
    clipped = es.Embedding.from_arrays(words, rng.normal(size=(60, 3)))
    texts = [" ".join(words[k : k + 3]) for k in range(0, 60, 3)]
    with pytest.raises(es.InputError, match=r"smallest eigenvalue is -.*similarity.nearest\(symbols\).*clip=False"):
        es.Subsequence(2, similarity=clipped)(texts)
    check_kernel(es.Subsequence(2, similarity=clipped.nearest(words)), texts, prints=False)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"similarity": {"a": [1.0]}},
            TypeError,
            r"similarity must be a Similarity or None, got dict. Write Embedding",
        ),
        ({"similarity": 0.5}, TypeError, "got float"),
        ({"similarity": TABLE, "mix": 1.5}, ValueError, "mix must lie between 0 and 1, got 1.5"),
        ({"similarity": TABLE, "mix": -0.5}, ValueError, "mix"),
        ({"similarity": TABLE, "mix": es.PerLabel(0.5)}, TypeError, "mix must be one number"),
        ({"mix": 0.5}, ValueError, "mix is the share of exact matching beside a similarity, but similarity is None"),
    ],
)
def test_bad_settings(options, error, message):
    with pytest.raises(error, match=message):
        es.Subsequence(2, **options)


def test_kernels_are_equal_where_their_similarities_say_the_same():
    again = es.Embedding({word: vector.copy() for word, vector in VECTORS.items()}, clip=False)
    assert es.Subsequence(2, similarity=SIGNED) == es.Subsequence(2, similarity=again)
    assert hash(es.Subsequence(2, similarity=SIGNED)) == hash(es.Subsequence(2, similarity=again))
    assert es.Subsequence(2, similarity=SIGNED) != es.Subsequence(2, similarity=SQUARED)
    plan = es.Subsequence(2, similarity=SIGNED).plan(TEXTS)
    with pytest.raises(TypeError, match="This plan was made for"):
        plan.matrix(es.Subsequence(2, similarity=SQUARED))
