"""Bags of words and n-grams against counting, scikit-learn, and their own features."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import espalier as es
from espalier.testing import check_gradients, check_kernel

TEXTS = ["a b a c", "b a", "c", "a a a b", "d e", "", "a x b y c", "b b c a"]
KERNELS = [
    es.BagOfWords(),
    es.BagOfWords("binary", weight=0.7),
    es.BagOfWords(weight=es.PerLabel(1.0, values={"a": 0.3, "x": 2.0})),
    es.BagOfWords(idf=es.kernels.Idf.fit(TEXTS[:5])),
    es.BagOfWords(of="characters"),
    es.Spectrum(2),
    es.Spectrum(3, shortest=1, order_weights=(0.5, 2.0, 1.0)),
    es.Spectrum(2, shortest=1, order_weights=1.0, of="characters"),
]


def twin(kernel, a, b):
    """From the definition: list, count, multiply, add."""

    def symbols(text):
        return list(text) if kernel.of == "characters" else text.split()

    def grams(text):
        tokens = symbols(text)
        if isinstance(kernel, es.BagOfWords):
            found = Counter((token,) for token in tokens)
            return Counter(set(found)) if kernel.values == "binary" else found
        first = kernel.length if kernel.shortest is None else kernel.shortest
        spans = [(k, k + p) for p in range(first, kernel.length + 1) for k in range(len(tokens) + 1 - p)]
        return Counter(tuple(tokens[i:j]) for i, j in spans)

    def weight(gram):
        if isinstance(kernel, es.Spectrum):
            given, first = kernel.order_weights, kernel.length if kernel.shortest is None else kernel.shortest
            return given.values[len(gram) - first] if isinstance(given, es.PerDimension) else given.value
        own = dict(kernel.weight.values) if isinstance(kernel.weight, es.PerLabel) else {}
        rare = 1.0 if kernel.idf is None else kernel.idf(gram[0])
        return own.get(gram[0], es.kernels.hyperparameters.default_of(kernel.weight)) * rare**2

    bags = [[grams(text) for text in side] for side in (a, b)]
    return np.array([[sum(weight(g) * n * t[g] for g, n in s.items()) for t in bags[1]] for s in bags[0]])


@pytest.mark.parametrize("kernel", KERNELS)
def test_values_are_those_of_counting(kernel):
    np.testing.assert_allclose(kernel(TEXTS), twin(kernel, TEXTS, TEXTS), rtol=1e-12)
    np.testing.assert_allclose(kernel(TEXTS[:3], TEXTS), twin(kernel, TEXTS[:3], TEXTS), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(TEXTS), kernel(TEXTS).diagonal(), rtol=1e-12)
    rows = kernel.features(TEXTS)
    np.testing.assert_allclose((rows @ rows.T).toarray(), kernel(TEXTS), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_those_of_differences(kernel):
    check_gradients(kernel, TEXTS)


@pytest.mark.parametrize("kernel", [KERNELS[1], KERNELS[6]])
def test_they_keep_the_laws(kernel):
    check_kernel(kernel, TEXTS[:5] + TEXTS[6:])


def counted_runs(a, b, lengths, weights):
    """The definition: list all runs of each length, count, multiply."""
    total = 0.0
    for p, weight in zip(lengths, weights, strict=True):
        runs = [Counter(tuple(text[i : i + p]) for i in range(len(text) + 1 - p)) for text in (a, b)]
        total += weight * sum(n * runs[1][run] for run, n in runs[0].items())
    return total


@pytest.mark.parametrize(("shortest", "length"), [(1, 40), (3, 9), (5, 5), (6, 7), (13, 13), (30, 60)])
def test_runs_of_any_length_are_counted(shortest, length):
    rng = np.random.default_rng(length)
    texts = [list(map(str, rng.choice(["a", "b"], size=n))) for n in (0, 1, 7, 25, 31, 40)]
    texts.append(texts[-1][3:] + texts[-2])
    weights = tuple(float(value) for value in rng.uniform(0.1, 1.0, length + 1 - shortest))
    kernel = es.Spectrum(length, shortest=shortest, order_weights=weights)
    expected = np.array([[counted_runs(a, b, range(shortest, length + 1), weights) for b in texts] for a in texts])
    np.testing.assert_allclose(kernel(texts), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(texts[:3], texts[3:]), expected[:3, 3:], rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(texts), expected.diagonal(), rtol=1e-12)
    check_gradients(kernel, texts[-3:])


def test_lengths_beyond_the_longest_sequence_cost_nothing():
    texts = ["a b", "b a b"]
    assert not es.Spectrum(10**6)(texts).any()
    assert es.Spectrum(10**6).features(texts).shape == (2, 0)
    long = es.Spectrum(10**6, shortest=1)
    assert long(texts).tolist() == es.Spectrum(3, shortest=1)(texts).tolist()
    assert long.plan(texts)._labels().names == ["1", "2", "3"]
    learned = es.Spectrum(5_000, shortest=1, order_weights=1.0)
    _, pull_back = learned.vjp(texts)
    gradient = pull_back(np.ones((2, 2)))
    assert len(gradient) == 5_000 and gradient["order_weights[2]"] == 1.0 and gradient["order_weights[4999]"] == 0.0


def test_counts_and_rarity_are_those_of_scikit_learn():
    documents = ["the cat sat on the mat", "the dog sat", "a bird flew over the dog and the cat", "mat mat mat"]
    pattern = r"\S+"
    rows = CountVectorizer(token_pattern=pattern).fit_transform(documents)
    np.testing.assert_allclose(es.BagOfWords()(documents), (rows @ rows.T).toarray())
    rows = CountVectorizer(token_pattern=pattern, ngram_range=(1, 3)).fit_transform(documents)
    np.testing.assert_allclose(es.Spectrum(3, shortest=1)(documents), (rows @ rows.T).toarray())
    rows = CountVectorizer(analyzer="char", ngram_range=(4, 4)).fit_transform(documents)
    np.testing.assert_allclose(es.Spectrum(4, of="characters")(documents), (rows @ rows.T).toarray())
    rows = TfidfVectorizer(token_pattern=pattern).fit_transform(documents)
    kernel = es.Normalized(es.BagOfWords(idf=es.kernels.Idf.fit(documents)))
    np.testing.assert_allclose(kernel(documents), (rows @ rows.T).toarray(), atol=1e-12)


def test_rarity_is_a_value():
    a, b = es.kernels.Idf.fit(["x y", "x"]), es.kernels.Idf.fit(["x", "y x"])
    assert a == b and hash(a) == hash(b) and a != es.kernels.Idf.fit(["x"])
    assert es.BagOfWords(idf=a) == es.BagOfWords(idf=b)
    assert a("never seen") > a("y") > a("x") == 1.0


def test_a_process_learns_which_words_count():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["good", "bad", "film", "plot", "scene"], size=5)) for _ in range(80)]
    y = [text.count("good") - text.count("bad") + 0.0 for text in texts]
    model = es.GPRegressor(es.BagOfWords(weight=es.PerLabel(1.0, prior=None)), noise=0.1).fit(texts, y)
    learned = {path.split("[")[-1][:-1]: value for path, value in model.learned_.to_dict().items() if "[" in path}
    assert min(learned["good"], learned["bad"]) > 10 * max(learned["film"], learned["plot"], learned["scene"])


@pytest.mark.parametrize("kernel", [es.BagOfWords(), es.Spectrum(2), es.Spectrum(2, shortest=1), es.Subsequence(2)])
def test_empty_sequences_share_nothing(kernel):
    values = kernel(["", [], "a b"])
    assert not values[:2].any() and not values[:, :2].any() and values[2, 2] > 0
    assert not kernel(["", ""]).any() and kernel.value("", "") == 0.0 and kernel([]).shape == (0, 0)
    with pytest.warns(UserWarning, match="1 of 2 items have no fragment"):
        assert es.Normalized(kernel)(["", "a b"]).tolist() == [[0.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: es.BagOfWords("tf"), ValueError, "values must be 'count' or 'binary'"),
        (lambda: es.BagOfWords(idf={"a": 1.0}), TypeError, "idf must be Idf.fit"),
        (lambda: es.BagOfWords(of="letters"), ValueError, "of must be one of"),
        (lambda: es.BagOfWords(weight=es.PerDimension(1.0)), TypeError, "use PerLabel"),
        (lambda: es.Spectrum(0), ValueError, "length must be an integer from 1"),
        (lambda: es.Spectrum(2, shortest=3), ValueError, "shortest must be an integer from 1 to length"),
        (lambda: es.Spectrum(3, 2, order_weights=(1.0,)), ValueError, "from 2 to 3, got 1"),
    ],
)
def test_mistakes_are_one_clear_error(make, error, message):
    with pytest.raises(error, match=message):
        make()
