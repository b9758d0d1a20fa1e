"""A matrix is written as numpy writes it, whole or not at all."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from espalier.cli.matrix import check_matrix_format, save_array
from espalier.errors import InputError


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


VALUES = np.array([[1.0, 1 / 3, 1e300], [-0.0, 5e-324, 1e17], [0.1, 2.0, 3.0]])


@pytest.mark.parametrize(("name", "separator"), [("k.csv", ","), ("k.tsv", "\t")])
def test_a_name_of_text_gets_text_that_gives_every_bit_back(tmp_path, name, separator):
    save_array(VALUES, tmp_path / name)
    text = (tmp_path / name).read_text()
    assert text.splitlines()[0].split(separator) == ["1.0", "0.3333333333333333", "1e+300"]
    again = np.loadtxt(tmp_path / name, delimiter=separator)
    assert again.tobytes() == VALUES.tobytes()


def test_a_name_in_npz_gets_an_archive(tmp_path):
    save_array(VALUES, tmp_path / "k.npz")
    with np.load(tmp_path / "k.npz") as archive:
        np.testing.assert_array_equal(archive["gram"], VALUES)


@pytest.mark.parametrize("name", ["k.txt", "k.csv.gz", "k.NPYX", "k.parquet"])
def test_a_name_of_no_known_format_is_refused_and_the_known_ones_are_named(tmp_path, name):
    for refuse in (check_matrix_format, lambda output: save_array(VALUES, output)):
        with pytest.raises(InputError, match=r"ends in \.npy, \.npz, \.csv or \.tsv.*got '.*" + name):
            refuse(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_ending_of_a_name_may_be_in_capitals(tmp_path):
    for name in ("k.CSV", "k.csv", "k.NPY"):
        check_matrix_format(tmp_path / name)
        save_array(VALUES, tmp_path / name)
    assert (tmp_path / "k.CSV").read_bytes() == (tmp_path / "k.csv").read_bytes()
    assert np.load(tmp_path / "k.NPY").tobytes() == VALUES.tobytes()
