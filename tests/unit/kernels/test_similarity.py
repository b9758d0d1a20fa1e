"""Similarities of symbols: what they say, what they refuse, and the nearest that is a kernel."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from tests.reference.nearest_correlation import clipped, nearest_correlation

import espalier as es

WRONG = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])  # its smallest eigenvalue is -0.27


def test_exact():
    np.testing.assert_array_equal(es.kernels.Exact()(["a", "b"], ["b", "a", "b", "c"]), [[0, 1, 0, 0], [1, 0, 1, 0]])
    assert es.kernels.Exact()([], ["a"]).shape == (0, 1)
    assert es.kernels.Exact() == es.kernels.Exact() != es.Embedding({})


def test_a_table_answers_for_its_symbols_and_equal_ones():
    table = es.kernels.SimilarityTable(["a", "b"], [[1.0, -0.5], [-0.5, 1.0]])
    np.testing.assert_array_equal(table(["a", "z", "b"], ["b", "z", "y"]), [[-0.5, 0, 0], [0, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    ("symbols", "matrix", "message"),
    [
        ("ab", [[1.0]], r"2 symbols need a matrix of 2 rows and columns, got the shape \(1, 1\)"),
        ("ab", [[1.0, 0.5, 0.1], [0.5, 1.0, 0.1]], r"shape \(2, 3\)"),
        ("ab", [[1.0, np.nan], [np.nan, 1.0]], "similarity of 'a' and 'b' is nan"),
        ("ab", [[1.0, np.inf], [np.inf, 1.0]], "is inf"),
        (
            "ab",
            [[1.0, 0.5], [0.4, 1.0]],
            "symmetric, but the similarity of 'a' and 'b' is 0.5 and the similarity of 'b' and 'a' is 0.4",
        ),
        ("ab", [[2.0, 0.5], [0.5, 1.0]], "with itself must be 1, but that of 'a' is 2"),
        ("aa", np.eye(2), "'a' occurs twice, at 0 and 1"),
        ("abc", WRONG, "negative eigenvalue, -0.273. Use SimilarityTable.nearest_to"),
    ],
)
def test_tables_that_are_refused(symbols, matrix, message):
    with pytest.raises(es.InputError, match=message):
        es.kernels.SimilarityTable(list(symbols), matrix)


def test_the_nearest_is_a_kernel_and_the_nearest():
    nearest = es.kernels.SimilarityTable.nearest_to("abc", WRONG)
    values = nearest("abc")
    assert np.linalg.eigvalsh(values)[0] > -1e-12
    np.testing.assert_allclose(values.diagonal(), 1.0)
    # Without negative eigenvalues from the start nothing changes.
    fine = np.array([[1.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(es.kernels.SimilarityTable.nearest_to("ab", fine)("ab"), fine, atol=1e-12)
    np.testing.assert_allclose(es.kernels.SimilarityTable("ab", fine).nearest("ab")("ab"), fine, atol=1e-12)


def matrices():
    """Matrices with 1 on the diagonal and negative eigenvalues: random ones, and cosines below a threshold set to 0."""
    rng = np.random.default_rng(5)
    yield WRONG
    for n in (2, 6, 25):
        random = rng.uniform(-1, 1, (n, n))
        vectors = rng.normal(size=(n, 5))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = vectors @ vectors.T
        for values in ((random + random.T) / 2, np.where(cosines > 0.3, cosines, 0.0), np.full((n, n), -1.0)):
            np.fill_diagonal(values, 1.0)
            yield values


@pytest.mark.parametrize("matrix", list(matrices()), ids=lambda matrix: str(len(matrix)))
def test_the_nearest_is_that_of_highams_projections(matrix):
    symbols = [f"s{k}" for k in range(len(matrix))]
    vectors = es.kernels.SimilarityTable.nearest_to(symbols, matrix)
    values = vectors(symbols)
    np.testing.assert_allclose(values.diagonal(), 1.0, rtol=0, atol=1e-15)
    assert np.linalg.eigvalsh(values)[0] > -1e-12
    np.testing.assert_allclose(values, nearest_correlation(matrix), rtol=0, atol=2e-7)
    distance = np.linalg.norm(matrix - values)
    assert distance <= np.linalg.norm(matrix - clipped(matrix)) + 1e-12
    # A step towards any other correlation matrix leads away: the set of them is convex.
    for other in (np.eye(len(matrix)), clipped(matrix)):
        assert np.linalg.norm(matrix - values) <= np.linalg.norm(matrix - (0.99 * values + 0.01 * other)) + 1e-9


def test_the_nearest_is_nearer_than_clipped_eigenvalues():
    symbols = list("abc")
    values = es.kernels.SimilarityTable.nearest_to(symbols, WRONG)(symbols)
    np.testing.assert_allclose(np.linalg.norm(WRONG - values), 0.3467924, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(WRONG - clipped(WRONG)), 0.3530798, atol=1e-6)


@pytest.mark.parametrize("rank", [1, 3, 20])
def test_the_nearest_of_a_rank(rank):
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(40)]
    cosines = es.Embedding.from_arrays(words, rng.normal(size=(40, 4)))
    nearest = cosines.nearest(words, rank)
    assert np.linalg.eigvalsh(nearest(words))[0] > -1e-10
    found, vectors = np.linalg.eigh(cosines(words))
    kept = np.maximum(found, 0.0)
    kept[: 40 - rank] = 0.0
    best = (vectors * kept) @ vectors.T
    scale = 1.0 / np.maximum(1.0, np.sqrt(best.diagonal()))
    expected = best * np.outer(scale, scale)
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(nearest(words), expected, atol=1e-8)


def test_the_check_thins_out_many_symbols():
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(4000)]
    clipped = es.Embedding.from_arrays(words, rng.normal(size=(4000, 5)))
    with pytest.raises(es.InputError, match="on 1,500 of the symbols"):
        clipped.check(words)
    es.Embedding.from_arrays(words, rng.normal(size=(4000, 5)), clip=False).check(words)
    es.Embedding.from_arrays(words, rng.random(size=(4000, 1))).check(words)  # all cosines are 1


def test_embeddings_are_clipped_cosines():
    vectors = {"a": [3.0, 4.0], "b": [-4.0, 3.0], "c": [-3.0, -4.0], "o": [0.0, 0.0], "d": [1e200, 0.0]}
    words = [*vectors, "none"]
    expected = np.eye(6)
    expected[0, 4] = expected[4, 0] = 0.6
    clipped = es.Embedding(vectors)
    np.testing.assert_allclose(clipped(words), expected, atol=1e-15)
    signed = es.Embedding(vectors, clip=False)(words)
    np.testing.assert_allclose([signed[0, 2], signed[1, 4], signed[2, 4], signed[3, 0]], [-1, -0.8, -0.6, 0])
    np.testing.assert_allclose(es.Embedding(vectors, power=2)(words)[1, 4], 0.64)
    np.testing.assert_allclose(es.Embedding(vectors, power=3)(words)[1, 4], 0.0)
    np.testing.assert_allclose(es.Embedding(vectors, clip=False, power=3)(words)[1, 4], -(0.8**3))


def test_embeddings_from_a_function_and_arrays():
    vectors = {"a": np.array([1.0, 1.0]), "b": np.array([1.0, 0.0])}
    function = es.Embedding(vectors.get)
    arrays = es.Embedding.from_arrays(["a", "b"], np.stack(list(vectors.values())))
    words = ["a", "b", "c"]
    np.testing.assert_array_equal(function(words), es.Embedding(vectors)(words))
    np.testing.assert_array_equal(arrays(words), es.Embedding(vectors)(words))
    assert arrays == es.Embedding(vectors) and hash(arrays) == hash(es.Embedding(vectors))
    assert function == es.Embedding(vectors.get) != arrays
    assert pickle.loads(pickle.dumps(arrays)) == copy.deepcopy(arrays) == arrays
    assert repr(arrays) == "Embedding(<2 words, 2 dimensions>)"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: es.Embedding(np.eye(2)), TypeError, r"Embedding.from_arrays\(words, array\).*Got ndarray"),
        (lambda: es.Embedding({"a": [1.0], "b": [1.0, 2.0]}), es.InputError, r"vector of 'b' has the shape \(2,\)"),
        (lambda: es.Embedding({"a": 1.0}), es.InputError, "must be one-dimensional"),
        (lambda: es.Embedding({"a": [np.nan]}), es.InputError, "vector of 'a' holds nan"),
        (lambda: es.Embedding({1: [1.0]}), TypeError, "Symbols are texts, got 1"),
        (lambda: es.Embedding({}, power=0), ValueError, "power must be a positive integer, got 0"),
        (lambda: es.Embedding({"a": [2.0]}, normalize=False), es.InputError, "may be longer than 1, but that of 'a'"),
        (
            lambda: es.Embedding({"a": [1e200, 1e200]}, normalize=False),
            es.InputError,
            "may be longer than 1, but that of 'a'",
        ),
        (lambda: es.Embedding.from_arrays(["a"], np.eye(2)), es.InputError, "1 words need an array with 1 rows"),
        (lambda: es.Embedding.from_arrays(["a", "a"], np.eye(2)), es.InputError, "'a' occurs twice"),
        (lambda: es.kernels.Exact().nearest([]), es.InputError, "needs some symbols"),
        (lambda: es.kernels.Exact().nearest(["a"], rank=0), ValueError, "rank must be a positive integer"),
    ],
)
def test_bad_embeddings(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_files_of_word2vec_and_glove(tmp_path, header):
    path = tmp_path / "vectors.txt"
    path.write_text(header + "the 1 0\n. . 0.5 0.5\nkatze\u00a0tier -1e-1 2 \n", encoding="utf-8")
    read = es.Embedding.read(path)
    assert read == es.Embedding({"the": [1, 0], ". .": [0.5, 0.5], "katze\u00a0tier": [-0.1, 2]})
    assert es.Embedding.read(path, {"the", "unheard"}, clip=False) == es.Embedding({"the": [1, 0]}, clip=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no vectors"),
        (b"a 1 2\nb 1\n", "line 2: a word and 2 numbers were expected here, got 'b 1'"),
        (b"a 1 2\n 1 2\n", "line 2: a word and 2 numbers"),
        (b"a 1 2\nb 1 x\n", "line 2: 2 numbers should follow the word 'b'"),
        (b"a 1 2\nb 3 4\na 1 2\n", "line 3: the word 'a' is already on line 1"),
        (b"a 1 2\n\xff 3 4\n", "line 2: this is not UTF-8"),
        (b"a 1 nan\n", "line 1: the vector of 'a' contains a number that is not finite"),
        (b"a 1 2\nb 1 1e999\n", "line 2: the vector of 'b' contains a number that is not finite"),
        (b"1 " + b"9" * 5_000 + b"\n", "line 1: the vector of '1' contains a number that is not finite"),
        ("1 ²\n".encode(), "line 1: 1 numbers should follow the word '1'"),
        (b"word\n", "line 1: a word and 0 numbers"),
    ],
)
def test_broken_files(tmp_path, content, message):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(es.InputError, match=message):
        es.Embedding.read(path)


def test_a_byte_order_mark_is_no_part_of_the_first_word_and_an_address_no_file(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"\xef\xbb\xbfthe 1 0\ncat 0 1\n")
    assert es.Embedding.read(path) == es.Embedding({"the": [1, 0], "cat": [0, 1]})
    with pytest.raises(es.InputError, match="https://example"):
        es.Embedding.read("https://example.org/vectors.txt")


def test_latent_semantic_analysis_is_a_truncated_decomposition():
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(list("abcdefgh"), size=6)) for _ in range(30)]
    found = es.kernels.LatentSemantic.fit(texts, 4, min_count=1)
    words = sorted({word for text in texts for word in text.split()})
    idf = es.kernels.Idf.fit(texts)
    table = np.array([[np.log1p(text.split().count(word)) * idf(word) for word in words] for text in texts])
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    _, sizes, right = np.linalg.svd(table, full_matrices=False)
    vectors = right[:4].T * sizes[:4]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(found(words), vectors @ vectors.T, atol=1e-8)
    assert found == es.kernels.LatentSemantic.fit(texts, 4, min_count=1)
    assert found.is_positive


def test_latent_semantic_analysis_leaves_rare_words_alone():
    texts = ["a b once", "a b c", "c b a", "a c", "b c"]
    similar = es.kernels.LatentSemantic.fit(texts, 2)
    np.testing.assert_array_equal(similar(["once"], ["a", "b", "once"]), [[0, 0, 1]])
    with pytest.raises(es.InputError, match=r"below the number of texts \(5\) and of words in 2 or more of them \(3\)"):
        es.kernels.LatentSemantic.fit(texts, 3)
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))"]
    assert len(es.kernels.LatentSemantic.fit([es.Tree.from_brackets(t) for t in trees], 1, of="tags")) == 2


@pytest.mark.parametrize("number", ["\u00a01", "1\u00a0", "1_0", "\u0661", "\x1f1"])
def test_numbers_in_a_file_of_vectors_are_spelled_in_ascii(tmp_path, number):
    path = tmp_path / "vectors.txt"
    path.write_text(f"the 1 0\ncat 1 {number} \n", encoding="utf-8")
    with pytest.raises(es.InputError, match=r"line 2: 2 numbers should follow the word 'cat'"):
        es.Embedding.read(path)
