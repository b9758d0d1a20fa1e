"""RBF and Matern against their twins and scikit-learn, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as sk

from espalier.kernels.hyperparameters import Learned, PerDimension, PerLabel, fixed
from espalier.kernels.stationary import RBF, Matern
from espalier.testing import check_gradients, check_kernel
from reference.stationary import matern, rbf

RNG = np.random.default_rng(20)
X = RNG.standard_normal((9, 3))
X[4], X[5] = X[1], X[2] + 1e-9  # equal and nearly equal rows
S = sparse.random(8, 30, density=0.2, format="csr", rng=np.random.default_rng(21))
SCALES = (0.5, 1.3, 4.0)

KERNELS = [
    RBF(0.7),
    RBF(PerDimension(0.7)),
    RBF(Learned(0.7, bounds=(0.1, 2.0))),
    RBF(fixed(0.7)),
    *(Matern(0.7, smoothness) for smoothness in (0.5, 1.5, 2.5)),
    *(Matern(PerDimension(0.7), smoothness) for smoothness in (0.5, 1.5, 2.5)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("vectors", [X, S, X[:, 0], X.tolist(), np.arange(6)], ids=lambda v: type(v).__name__)
def test_laws(kernel, vectors):
    check_kernel(kernel, vectors)


def test_equals_the_twins():
    per_dimension = PerDimension(1.0, values=SCALES)
    for setting, scales in [(0.8, (0.8,) * 3), (per_dimension, SCALES)]:
        expected = [[rbf(x, y, scales) for y in X] for x in X]
        np.testing.assert_allclose(RBF(setting)(X), expected, rtol=1e-12)
        for smoothness in (0.5, 1.5, 2.5):
            expected = [[matern(x, y, scales, smoothness) for y in X] for x in X]
            np.testing.assert_allclose(Matern(setting, smoothness)(X), expected, rtol=1e-12)


@pytest.mark.parametrize("scales", [0.8, SCALES])
def test_equals_scikit_learn(scales):
    # Its gradients are by logarithms. Its Matern-0.5 divides by 0 where rows are equal.
    vectors = X[[0, 1, 2, 3, 6, 7]]
    setting = scales if isinstance(scales, float) else PerDimension(1.0, values=scales)
    pairs = [(RBF(setting), sk.RBF(scales))]
    pairs += [(Matern(setting, nu), sk.Matern(scales, nu=nu)) for nu in (0.5, 1.5, 2.5)]
    for ours, theirs in pairs:
        expected, gradients = theirs(vectors, eval_gradient=True)
        values, pullback = ours.vjp(vectors)
        np.testing.assert_allclose(values, expected, rtol=1e-10)
        np.testing.assert_allclose(ours(X, vectors), theirs(X, vectors), rtol=1e-10)
        cotangent = np.random.default_rng(22).standard_normal(values.shape)
        logarithmic = [g * v for g, v in zip(pullback(cotangent).values(), np.atleast_1d(scales), strict=True)]
        np.testing.assert_allclose(logarithmic, np.einsum("ij,ijk->k", cotangent, gradients), rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sparse_equals_dense(kernel):
    dense = S.toarray()
    np.testing.assert_allclose(kernel(S), kernel(dense), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kernel(S[:3], dense[3:]), kernel(dense[:3], dense[3:]), rtol=1e-9)
    cotangent = np.random.default_rng(23).standard_normal((8, 8))
    expected = kernel.vjp(dense)[1](cotangent)
    assert kernel.vjp(S)[1](cotangent) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    for other in (sparse.coo_matrix(S), sparse.csr_array(S), sparse.csc_matrix(S)):
        assert np.array_equal(kernel(other), kernel(S))


def test_sparse_vectors_are_never_made_dense(monkeypatch):
    wide = sparse.random(5, 1_000_000, density=1e-5, format="csr", rng=np.random.default_rng(24))

    def refuse(self, *args, **kwargs):
        if max(self.shape) > 10:
            raise AssertionError("a sparse matrix was made dense.")
        return original(self, *args, **kwargs)

    original = sparse.csr_matrix.toarray
    monkeypatch.setattr(sparse.csr_matrix, "toarray", refuse)
    monkeypatch.setattr(type(wide), "toarray", refuse)
    values, pullback = RBF(2.0).vjp(wide)
    assert np.isfinite(values).all() and np.isfinite(pullback(np.ones((5, 5)))["lengthscale"])


def test_equal_rows_are_exactly_at_distance_zero():
    shifted = X + 1e8
    for kernel in KERNELS:
        assert kernel(shifted)[1, 4] == 1.0
        assert kernel(shifted[:2], shifted)[1, 4] == 1.0
        gradient = kernel.vjp(shifted[[1, 4]])[1](np.ones((2, 2)))
        assert not any(gradient.values())


def far_from_zero(offset):
    """Rows that are near each other and far from 0, and some at 0."""
    return np.array([[offset, 1, 0], [offset, 2, 3], [offset, 2, 3], [offset + 1, 0, 3], [0, 0, 0], [0, 1, 2.0]])


@pytest.mark.parametrize("n_rows", [4, 6], ids=["all far", "some far"])
@pytest.mark.parametrize("offset", [1e3, 1e7, 1e8, -1e9, 1e12])
def test_sparse_rows_far_from_zero_are_as_far_from_each_other_as_dense_ones(offset, n_rows):
    rows = far_from_zero(offset)[:n_rows]
    moved = rows.copy()
    moved[:4, 0] -= offset - 1e3  # the same distances, at an offset that leaves all digits
    cotangent = np.random.default_rng(25).standard_normal((n_rows, n_rows))
    for kernel in KERNELS:
        expected, pull_back = kernel.vjp(moved)
        gradient = pull_back(cotangent)
        for given in (rows, sparse.csr_matrix(rows)):
            values, pull_back = kernel.vjp(given)
            np.testing.assert_allclose(values, expected, rtol=1e-9 + 4e-16 * abs(offset))
            assert pull_back(cotangent) == pytest.approx(gradient, rel=1e-8 + 1e-15 * abs(offset))
            np.testing.assert_array_equal(values, values.T)
            np.testing.assert_allclose(kernel(given[:3], given), values[:3], rtol=1e-12 + 4e-16 * abs(offset))
        np.testing.assert_allclose(kernel(sparse.csr_matrix(rows), rows), kernel(rows), rtol=1e-9)


def test_equal_sparse_rows_are_exactly_at_distance_zero():
    rows = np.abs(np.random.default_rng(26).standard_normal((40, 7))) * 10.0 ** np.arange(-3, 4)
    for kernel in KERNELS:
        for dense in (rows, rows + 1e8):
            given = sparse.csr_matrix(dense)
            assert (kernel(sparse.vstack([given, given])).diagonal(40) == 1.0).all()
            assert (kernel(given, given).diagonal() == 1.0).all()
            assert (kernel(given, dense).diagonal() == 1.0).all()


def test_many_near_sparse_rows_are_compared_in_several_steps(monkeypatch):
    rows = far_from_zero(1e9)[[0, 1, 2, 3, 4, 5] * 3]
    kernel = Matern(PerDimension(0.7), 0.5)
    cotangent = np.random.default_rng(27).standard_normal((18, 18))
    expected = kernel(rows), kernel.vjp(rows)[1](cotangent)
    monkeypatch.setattr("espalier.kernels.distances._CELLS", 40)
    monkeypatch.setattr("espalier.kernels.row_blocks._BLOCK", 64)
    np.testing.assert_allclose(kernel(sparse.csr_matrix(rows)), expected[0], rtol=1e-6)
    assert kernel.vjp(sparse.csr_matrix(rows))[1](cotangent) == pytest.approx(expected[1], rel=1e-6)


def test_gradients_of_very_near_rows():
    near = np.array([[0.0, 0.0], [1e-9, 2e-9], [1.0, 1.0], [1.0, 1.0 + 1e-7]])
    for smoothness in (0.5, 1.5, 2.5):
        check_gradients(Matern(PerDimension(0.7), smoothness), near)


def test_far_vectors_give_zero_without_warnings():
    far = np.array([[0.0], [1e200], [-1e200], [1.1e200]])
    for kernel in KERNELS:
        for given in (far, sparse.csr_matrix(far)):
            values, pullback = kernel.vjp(given)
            assert np.array_equal(values, np.eye(4))
            assert not any(pullback(np.ones((4, 4))).values())


def test_paths_per_dimension():
    kernel = Matern(PerDimension(1.0))
    assert kernel.parameters() == {"lengthscale": 1.0}
    bound = kernel.plan(X).bind(kernel)
    assert list(bound.parameters()) == ["lengthscale[0]", "lengthscale[1]", "lengthscale[2]"]
    assert bound.with_parameters({"lengthscale[1]": 2.0}).lengthscale.values == (1.0, 2.0, 1.0)
    with pytest.raises(ValueError, match="3 dimensions, but the vectors have 2"):
        bound(X[:, :2])


def test_wrong_settings():
    for bad in (0.0, -1.0, float("nan"), fixed(0), PerDimension(fixed(1.0), values=(0.0, 1.0))):
        with pytest.raises(ValueError, match="lengthscale must be positive"):
            RBF(bad)
    with pytest.raises(ValueError, match=r"smoothness must be 0.5, 1.5 or 2.5, got 2"):
        Matern(smoothness=2)
    with pytest.raises(TypeError, match="PerDimension"):
        RBF(PerLabel(1.0))
