"""Linear and Polynomial against their twins and scikit-learn, and what may be a column of vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel

from espalier.errors import InputError, KernelOverflowError
from espalier.kernels.algebra import Constant
from espalier.kernels.hyperparameters import PerDimension, fixed
from espalier.kernels.normalized import Normalized
from espalier.kernels.stationary import RBF
from espalier.kernels.vectors import Linear, Polynomial
from espalier.testing import check_kernel
from reference.vectors import linear, polynomial

X = np.random.default_rng(30).standard_normal((7, 3))
S = sparse.random(8, 30, density=0.2, format="csr", rng=np.random.default_rng(31))
KERNELS = [
    Linear(),
    Linear(PerDimension(0.5)),
    Linear(fixed(2.0)),
    Linear(PerDimension(fixed(2.0))),
    Linear() + Constant(),
    Polynomial(),
    Polynomial(3, 0.5, 2.0),
    Polynomial(2, fixed(0)),
    1.0 * Polynomial(1),
    Normalized(Polynomial()),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("vectors", [X, S, X[:, 0], X.tolist(), np.arange(1, 6)], ids=lambda v: type(v).__name__)
def test_laws(kernel, vectors):
    check_kernel(kernel, vectors)


def test_equals_the_twins():
    variances = (0.5, 2.0, 1.0)
    kernel = Linear(PerDimension(1.0, values=variances))
    np.testing.assert_allclose(kernel(X), [[linear(x, y, variances) for y in X] for x in X], rtol=1e-11)
    np.testing.assert_allclose(Linear(0.3)(X), [[linear(x, y, (0.3,) * 3) for y in X] for x in X], rtol=1e-11)
    expected = [[polynomial(x, y, 3, 0.5, 2.0) for y in X] for x in X]
    np.testing.assert_allclose(Polynomial(3, 0.5, 2.0)(X), expected, rtol=1e-10, atol=1e-12)


def test_equals_scikit_learn():
    expected = polynomial_kernel(X, X[:4], degree=3, gamma=2.0, coef0=0.5)
    np.testing.assert_allclose(Polynomial(3, 0.5, 2.0)(X, X[:4]), expected, rtol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sparse_equals_dense(kernel):
    dense = S.toarray()
    np.testing.assert_allclose(kernel(S), kernel(dense), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(kernel(S[:3], dense[3:]), kernel(dense[:3], dense[3:]), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(S), kernel.diagonal(dense), rtol=1e-10)
    cotangent = np.random.default_rng(32).standard_normal((8, 5))
    expected = kernel.vjp(dense, dense[:5])[1](cotangent)
    assert kernel.vjp(S, S[:5])[1](cotangent) == pytest.approx(expected, rel=1e-8, abs=1e-12)
    assert kernel.vjp(dense, S[:5])[1](cotangent) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_overflow_names_the_place():
    for kernel in (Linear(), Polynomial(3), Linear(PerDimension(1.0))):
        with pytest.raises(KernelOverflowError, match=r"item . with i"):
            kernel([[1.0], [1e200]])


# What may be a column of vectors.


def test_all_forms_of_vectors_agree():
    expected = RBF()(X)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(X, columns=["x", "y", "z"])
    for kernel, form in [
        (RBF(), X.tolist()),
        (RBF(), tuple(map(tuple, X))),
        (RBF(), list(X)),
        (RBF(), np.asfortranarray(X)),
        (RBF(), X[::-1][::-1]),
        (RBF(on="v"), {"v": X}),
        (RBF(on="v"), {"v": X.tolist()}),
        (RBF(on="v"), pandas.DataFrame({"v": list(X)})),
        (RBF(on=("x", "y", "z")), frame),
        (RBF(on=["x", "y", "z"]), polars.DataFrame({"x": X[:, 0], "y": X[:, 1], "z": X[:, 2]})),
    ]:
        assert np.array_equal(kernel(form), expected)
    assert np.array_equal(RBF(on="x")(frame), RBF()(X[:, 0]))
    assert np.array_equal(RBF()(frame["x"]), RBF()(X[:, :1]))
    assert np.array_equal(RBF()(X.astype(np.float32)), RBF()(X.astype(np.float32).astype(float)))
    kernel = RBF(on=["x", "y"])
    assert eval(repr(kernel)) == kernel and hash(kernel) == hash(RBF(on=("x", "y")))


def test_a_dense_and_a_sparse_column_side_by_side():
    table = {"x": X, "s": S[:7]}
    np.testing.assert_allclose(Linear(on=("x", "s"))(table), X @ X.T + (S[:7] @ S[:7].T).toarray(), rtol=1e-12)


def test_single_pairs():
    assert Linear().value([1.0, 2.0], [3.0, 4.0]) == 11.0
    assert Linear().value(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11.0
    assert Linear().value(2.0, 3.0) == 6.0
    assert Linear(on="x").value({"x": [1.0, 2.0]}, {"x": [3.0, 4.0]}) == 11.0
    assert Linear(on="x").value({"x": 2.0}, {"x": 3.0}) == 6.0


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 2.0], [3.0, float("nan")]], r"Row 1, dimension 1 must be a finite number, got nan\."),
        (
            np.array([[np.inf, 2.0], [np.nan, 1.0]]),
            r"Row 0, dimension 0 .* got inf \(2 values are not finite\)",
        ),
        (sparse.csr_matrix([[0.0, 1.0], [0.0, np.nan]]), "Row 1, dimension 1 .* got nan"),
        ([1.0, float("-inf")], "Row 1, dimension 0 .* got -inf"),
        ([[1.0, 2.0], [3.0]], "Row 1 has 1 dimensions, but row 0 has 2 dimensions"),
        ([[1.0, 2.0], 3.0], "Row 1 has one number, but row 0 has 2 dimensions"),
        ([[1.0], None], r"Row 1 holds no vector \(None\)"),
        ([[1.0], [None]], "Row 1, dimension 0 is None"),
        (["1.0", "2.0"], "Row 0 is not a vector of numbers, got '1.0'"),
        ([[1.0], ["x"]], "Row 1 is not a vector of numbers"),
        ([[1.0], [[2.0], [3.0, 4.0]]], "Row 1 is not a vector of numbers"),
        (np.array(["a", "b"]), "must hold numbers"),
        (np.array([1j, 2j]), "must hold numbers"),
        (np.zeros((2, 2, 2)), r"of shape \(n, d\), got shape \(2, 2, 2\)"),
        (np.array([[1.0], [None]], dtype=object), "Row 1, dimension 0 is None"),
    ],
)
def test_what_is_no_vector_is_an_error_that_names_its_place(vectors, message):
    with pytest.raises(InputError, match=message):
        RBF()(vectors)
    if not isinstance(vectors, np.ndarray) or vectors.ndim < 3:
        with pytest.raises(InputError, match="of column 'x'"):
            RBF(on="x")({"x": vectors})


def test_other_numbers_of_dimensions_are_an_error():
    with pytest.raises(InputError, match="the same number of dimensions, got 3 and 2"):
        Linear()(X, X[:, :2])


def test_the_plan_keeps_its_own_copy():
    vectors = X.copy()
    plan = RBF(PerDimension(1.0)).plan(vectors)
    vectors[...] = 0.0
    assert np.array_equal(plan.matrix(RBF(PerDimension(1.0))), RBF(PerDimension(1.0))(X))


def test_wrong_settings():
    for degree in (0, 1.5, True):
        with pytest.raises(ValueError, match="degree must be a positive integer"):
            Polynomial(degree)
    with pytest.raises(TypeError, match="offset must be one number"):
        Polynomial(offset=PerDimension(1.0))
    with pytest.raises(ValueError, match="variance must be positive"):
        Linear(-1.0)


def test_a_missing_column_is_an_error():
    with pytest.raises(InputError, match="no column 'y'"):
        RBF(on="y")({"x": [1.0]})
    with pytest.raises(InputError, match="was not given a table"):
        RBF(on="y")([1.0])
    with pytest.raises(InputError, match="names no column"):
        RBF()({"x": [1.0]})


@pytest.mark.parametrize("kernel", [RBF(), Linear(), RBF(on="x")])
@pytest.mark.parametrize("numbers", [[1.0, 2.0], [1, 2]])
def test_masked_entries_of_a_row_are_missing(kernel, numbers):
    rows = [[3.0, 4.0], np.ma.masked_array(numbers, mask=[False, True])]
    with pytest.raises(InputError, match=r"Row 1, dimension 1.* must be a finite number, got nan"):
        kernel({"x": rows} if kernel.on else rows)
    with pytest.raises(InputError, match=r"Row 1, dimension 0.* must be a finite number, got nan"):
        kernel({"x": [1.0, np.ma.masked]} if kernel.on else [1.0, np.ma.masked])
