"""A matrix of somebody else as a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError

ROOT = np.random.default_rng(0).normal(size=(12, 3))
MATRIX = ROOT @ ROOT.T + np.eye(12)


def test_values_are_looked_up():
    kernel = es.Precomputed(MATRIX)
    np.testing.assert_array_equal(kernel(list(range(12))), MATRIX)
    np.testing.assert_array_equal(kernel(np.array([3, 1])[:, None], [0]), MATRIX[[3, 1]][:, [0]])
    np.testing.assert_array_equal(kernel.diagonal([5, 5, 2]), MATRIX.diagonal()[[5, 5, 2]])
    assert kernel.value(2, 7) == MATRIX[2, 7]
    assert kernel.parameters() == {}


def test_it_joins_sums_and_learners():
    table = {"row": list(range(12)), "tree": ["(A a)", "(B b)"] * 6}
    kernel = es.Precomputed(MATRIX, on="row") + 2.0 * es.SubsetTree(on="tree")
    expected = MATRIX + 2.0 * es.SubsetTree()(table["tree"])
    np.testing.assert_allclose(kernel(table), expected)
    assert set(kernel.vjp(table)[1](np.ones((12, 12)))) == {"terms[1].scale", "terms[1].decay", "terms[1].frontier"}
    machine = es.KernelSVC(es.Precomputed(MATRIX)).fit(list(range(10)), [0, 1] * 5)
    assert len(machine.predict([10, 11])) == 2
    process = es.GPRegressor(1.0 * es.Precomputed(MATRIX)).fit(list(range(10)), ROOT[:10, 0])
    assert abs(process.predict([10, 11]) - ROOT[10:, 0]).max() < 1.0


def test_equal_matrices_make_equal_kernels():
    a, b = es.Precomputed(MATRIX), es.Precomputed(MATRIX.tolist())
    assert a == b and hash(a) == hash(b) and a != es.Precomputed(2 * MATRIX) and a != es.Precomputed(MATRIX, on="x")
    assert repr(a) == "Precomputed(<12 rows>)"
    with pytest.raises(ValueError, match="read-only"):
        a.matrix[0, 0] = 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: es.Precomputed(np.ones((2, 3))), "must be square"),
        (lambda: es.Precomputed([[1.0, np.nan], [np.nan, 1.0]]), r"\[0, 1\] is nan"),
        (lambda: es.Precomputed([[1.0, 2.0], [0.0, 1.0]]), "must be symmetric"),
        (lambda: es.Precomputed(MATRIX)([12]), "There is no row 12: the matrix has 12 rows"),
        (lambda: es.Precomputed(MATRIX)([-1]), "There is no row -1"),
        (lambda: es.Precomputed(MATRIX)(["a"]), "numbers of rows, from 0 to 11, got 'a'"),
        (lambda: es.Precomputed(MATRIX)([0.5]), "numbers of rows"),
    ],
)
def test_mistakes_are_one_clear_error(make, message):
    with pytest.raises(InputError, match=message):
        make()
