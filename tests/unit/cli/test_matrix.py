"""A matrix is written as numpy writes it, whole or not at all."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from espalier.cli.matrix import save_array


@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_reads_the_matrix_back(tmp_path, order):
    matrix = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    save_array(matrix, tmp_path / "k.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "k.npy"), matrix)
    save_array(np.zeros((0, 0)), tmp_path / "k.npy")
    assert np.load(tmp_path / "k.npy").shape == (0, 0)


def test_a_full_disk_is_told_with_the_path_and_the_reason(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            save_array(np.zeros((1000, 1000)), tmp_path / "k.npy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(tmp_path / "k.npy") and list(tmp_path.iterdir()) == []
