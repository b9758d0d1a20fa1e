"""Large matrices in pieces against LAPACK, and to the same bits for any number of threads."""

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_limits

from espalier.blas import blas_threads
from espalier.gp import cholesky, tiled
from espalier.gp.cholesky import factorize

SIZES = [1, 255, 256, 257, 600, 768, 790]  # with tiles that are whole, and with a rest


def covariances(n, seed=0):
    root = np.random.default_rng(seed).standard_normal((n, 40))
    return root @ root.T + np.eye(n)


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch):
    monkeypatch.setattr(tiled, "LARGE", 0)


@pytest.mark.parametrize("n", SIZES)
def test_factor_and_inverse_are_those_of_lapack(n):
    K = covariances(n)
    factor = factorize(K.copy(), 0.1)
    whole = K + 0.1 * np.eye(n)
    expected = scipy.linalg.cholesky(whole)
    np.testing.assert_allclose(np.triu(factor.matrix), expected, rtol=1e-9, atol=1e-11)
    assert np.array_equal(np.tril(factor.matrix, -1), np.tril(whole, -1))  # the other half is as it was
    inverse = np.linalg.inv(whole)
    np.testing.assert_allclose(factor.inverse_diagonal(), inverse.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(factor.inverse_in_place(), inverse, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("n", [600, 790])
def test_any_number_of_threads_gives_the_same_bits(n):
    K = covariances(n)
    found = []
    with threadpool_limits(8, user_api="blas"):
        for n_threads in (1, 2, 5):
            with blas_threads(n_threads):
                factor = factorize(K.copy(), 0.1)
                found.append((factor.matrix.copy(), factor.inverse_in_place()))
    for factor, inverse in found[1:]:
        assert np.array_equal(factor, found[0][0]) and np.array_equal(inverse, found[0][1])


@pytest.mark.parametrize("row", [3, 300, 599])
def test_a_matrix_that_is_not_positive_definite_is_tried_again_with_jitter(row):
    K = covariances(600)
    K[row] = K[:, row] = K[(row + 1) % 600]  # a repeated example, without noise
    K[row, row] = K[(row + 1) % 600, (row + 1) % 600] = K[(row + 1) % 600, row]
    factor = factorize(K.copy(), 0.0)
    L = np.triu(factor.matrix)
    np.testing.assert_allclose(L.T @ L, K, rtol=1e-6, atol=1e-6)
    K[row, row] = -5.0
    with pytest.raises(cholesky.NotPositiveDefiniteError):
        factorize(K, 0.0)


def test_functions_of_other_types_are_left_alone(monkeypatch):
    assert tiled._functions()
    monkeypatch.setattr(tiled, "_TYPES", {"dgemm": "char long"})
    tiled._functions.cache_clear()
    try:
        assert tiled._functions() == {} and not tiled.is_tiled(np.eye(3))
    finally:
        monkeypatch.undo()
        tiled._functions.cache_clear()
