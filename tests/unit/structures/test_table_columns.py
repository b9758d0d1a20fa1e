"""What a table keeps of its columns: copies that cannot be changed, masks, lists inside."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import espalier as es
from espalier.errors import InputError
from espalier.kernels.embedding import Embedding
from espalier.kernels.similarity import SimilarityTable
from espalier.structures import Table


def test_a_table_does_not_follow_the_arrays_that_it_was_made_of():
    vectors, matrix = np.zeros((2, 3)), sparse.csr_array(np.eye(2))
    table = Table(v=vectors, s=matrix)
    vectors[:] = 7.0
    matrix.data[:] = 7.0
    assert not table["v"].any() and table["s"].toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert vectors.flags.writeable  # the caller's stays what it was
    assert np.shares_memory(Table(table)["v"], table["v"])  # what cannot change is not copied


def test_equal_tables_are_equal():
    def made(**changes):
        columns = {
            "tree": ["(A a)", None],
            "v": np.array([[1.0, np.nan], [2.0, 3.0]]),
            "s": sparse.csr_array(np.eye(2)),
            "f": es.Forest.from_trees(["(A a)", "(B b)"]),
            "q": es.Sequences.from_items(["a b", "c"]),
            "n": [float("nan"), 1.0],
        }
        return Table({**columns, **changes})

    assert made() == made() and hash(made()) == hash(made()) and made() != "table"
    assert made() == pickle.loads(pickle.dumps(made())) and made()[[0, 1]] == made()
    changes = {
        "tree": ["(A a)", "(A a)"],
        "v": np.array([[1.0, 0.0], [2.0, 3.0]]),
        "s": sparse.csr_array(2 * np.eye(2)),
        "f": es.Forest.from_trees(["(A a)", "(B c)"]),
        "q": es.Sequences.from_items(["a b", "d"]),
        "n": (1.0, 1.0),
        "more": [1, 2],
    }
    for name, column in changes.items():
        assert made(**{name: column}) != made()
    assert Table(a=[1], b=[2]) != Table(b=[2], a=[1]) and Table(a=[1]) != Table(a=np.array([1]))
    assert Table(a=np.array([1])) != Table(a=np.array([1.0]))


def test_what_is_masked_is_missing():
    table = Table(
        x=np.ma.array([1, 2, 3], mask=[False, True, False]),
        word=np.ma.array(["a", "b", "c"], mask=[True, False, False]),
        whole=np.ma.array([1, 2, 3]),
        v=np.ma.array(np.ones((3, 2)), mask=np.eye(3, 2, dtype=bool)),
    )
    np.testing.assert_array_equal(table["x"], [1.0, np.nan, 3.0])
    assert table["word"] == (None, "b", "c")
    assert type(table["whole"]) is np.ndarray and table["whole"].tolist() == [1, 2, 3]
    assert np.isnan(table["v"]).tolist() == np.eye(3, 2, dtype=bool).tolist()
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    for column, name in ((masked, None), (Table(x=masked), "x")):
        with pytest.raises(InputError, match=r"Row 1, dimension 0.* must be a finite number"):
            es.RBF(on=name)(column)
    with pytest.raises(InputError, match="y is masked in 1 rows, the first is row 1"):
        es.KernelSVR(es.RBF()).fit(np.ones((3, 1)), np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]))


def test_arrays_of_a_table_stay_read_only():
    texts = np.array(["a", "b"])
    days = np.array(["2020-01-01", "2020-01-02"], "datetime64[D]")
    closed = np.array([1.0, 2.0])
    closed.flags.writeable = False
    table = Table(x=np.array([1.0, 2.0]), v=np.ones((2, 3), order="F"), s=texts, d=days, o=closed, e=np.zeros((2, 0)))
    for made in (table, table[[1, 0]], table[["x", "v"]], copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        for name in made.columns:
            column = made[name]
            with pytest.raises(ValueError, match="WRITEABLE"):
                column.flags.writeable = True
            with pytest.raises(ValueError, match="read-only"):
                column[...] = column[0] if column.size else 0
    closed.flags.writeable = True  # its owner may change it, and the table keeps what it was given
    closed[0] = 9.0
    assert table["o"].tolist() == [1.0, 2.0]


def test_sparse_columns_of_a_table_stay_what_they_are():
    given = sparse.csr_array(([2.0, 1.0, 3.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))  # in no order
    table = Table(s=given)
    for made in (table, table[[0, 1]], table[["s"]], copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        for part in (made["s"].data, made["s"].indices, made["s"].indptr):
            with pytest.raises(ValueError, match="read-only"):
                part[0] = 1
            with pytest.raises(ValueError, match="WRITEABLE"):
                part.flags.writeable = True
        made["s"].data = np.zeros(3)  # changes the matrix that was handed out, not the table
        made["s"].sort_indices()
        assert made["s"].toarray().tolist() == [[1.0, 2.0], [3.0, 0.0]]
        assert (made["s"] @ made["s"].T).toarray().tolist() == [[5.0, 3.0], [3.0, 9.0]]
    assert given.data.flags.writeable
    assert np.shares_memory(Table(table)["s"].data, table["s"].data)


def objects(*values):
    """An array of objects, which numpy would make two-dimensional if it could."""
    array = np.empty(len(values), object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def nested():
    """Columns whose entries can be changed, and nothing else holds them."""
    return {
        "arrays": [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        "lists": [[1, [2, 3]], [4, [5, 6]]],
        "objects": objects(np.array([1.0, 2.0]), [3, 4]),
        "pairs": [("a", [1]), ("b", [2])],
        "sparse": [sparse.csr_array(np.eye(2)), sparse.csr_array(np.eye(2))],
        "dicts": [{"n": [1]}, {"n": [2]}],
        "series": pd.Series([np.array([1.0]), [2.0]]),
    }


def test_a_table_does_not_follow_what_is_inside_its_columns():
    given = nested()
    table = Table(given)
    given["arrays"][0][0] = 99
    given["lists"][0][1][0] = 99
    given["objects"][0][0], given["objects"][1][0] = 99, 99
    given["pairs"][0][1].append(99)
    given["sparse"][0].data[:] = 99
    given["dicts"][0]["n"].append(99)
    given["dicts"][0]["m"] = 99
    given["series"][0][0], given["series"][1][0] = 99, 99
    assert table == Table(nested())
    assert given["arrays"][0].flags.writeable


def test_what_is_inside_the_columns_of_a_table_cannot_be_changed():
    table = Table(nested())
    restored = pickle.loads(pickle.dumps(table))
    for made in (table, table[[0, 1]], table[["arrays", "lists", "objects"]], copy.deepcopy(table), restored):
        assert made["lists"] == ((1, (2, 3)), (4, (5, 6))) and made["objects"][1] == (3, 4)
        for array in (made["arrays"][0], made["objects"][0], made["objects"]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 77
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
    assert restored == table and hash(restored) == hash(table)
    changed = {**nested(), "objects": objects(np.array([1.0, 7.0]), [3, 4])}
    assert Table(changed) != table
    again = Table(table).with_column("n", [1, 2])
    assert again["arrays"][0] is table["arrays"][0]  # what cannot change is not copied


def test_entries_that_a_table_does_not_know_stay_what_they_are():
    class Words(list):
        """Stands for a tree of NLTK, which is a list."""

    rows = [Words("ab"), Words("cd")]
    assert all(kept is row for kept, row in zip(Table(w=rows)["w"], rows, strict=True))
    text = ("(A a)", "(B b)")
    assert Table(t=text)["t"] is text


def test_columns_with_lists_are_read_as_before():
    words = Table(w=[["the", "cat"], ["the", "dog"]])
    assert es.BagOfWords(on="w")(words).tolist() == es.BagOfWords()([["the", "cat"], ["the", "dog"]]).tolist()
    vectors = Table(v=[[1.0, 2.0], np.array([3.0, 4.0])], s=[sparse.csr_matrix([[1.0, 2.0]]), sparse.coo_array([3, 4])])
    for name in vectors.columns:
        assert es.Linear(on=name)(vectors).tolist() == [[5.0, 11.0], [11.0, 25.0]]
    masked = Table(v=[np.array([1.0, 2.0]), np.ma.array([3.0, 4.0], mask=[False, True])])
    with pytest.raises(InputError, match="Row 1, dimension 1 of column 'v' must be a finite number"):
        es.Linear(on="v")(masked)
    trees = Table(t=[("NP", [("D", ["the"]), ("N", ["cat"])])])
    assert es.SubsetTree(1.0, on="t")(trees).tolist() == es.SubsetTree(1.0)(["(NP (D the) (N cat))"]).tolist()
    assert Table(n=[np.array(1.0), np.array(2.0)])["n"][0].shape == ()


def test_columns_of_deep_and_shared_lists():
    deep, shared = ("A", ["a"]), ("B", ["b"])
    for _ in range(20_000):
        deep = ("A", [deep])
    for _ in range(60):
        shared = ("B", [shared, shared])
    table = Table(t=[deep, shared])
    assert table["t"][1][1][0] is table["t"][1][1][1]
    assert len(es.Forest.from_trees(table["t"][:1])) == 1
    endless = [1]
    endless.append(endless)
    with pytest.raises(InputError, match="A list in a column contains itself"):
        Table(t=[endless])


def test_masked_arguments_are_refused():
    one = np.ma.array([1.0, 2.0, 3.0], mask=[False, False, True])
    square = np.ma.array(np.eye(2), mask=[[False, True], [True, False]])
    x, y, kernel = np.arange(3.0)[:, None], [1.0, 2.0, 2.5], es.RBF()
    grouped = es.GPRegressor(kernel, noise=es.PerLabel(0.1))
    groups = np.ma.array(["a", "b", "a"], mask=one.mask)
    calls = {
        "sample_weight is masked in 1 rows, the first is row 2": [
            lambda: es.KernelSVC(kernel).fit(x, [0, 1, 1], sample_weight=one),
            lambda: es.GPRegressor(kernel).fit(x, y, sample_weight=one),
            lambda: es.GPRegressor(kernel).fit(x, y).score(x, y, sample_weight=one),
        ],
        "noise_variance is masked in 1 rows": [lambda: es.GPRegressor(kernel).fit(x, y, noise_variance=one)],
        "noise_groups is masked in 1 rows": [
            lambda: grouped.fit(x, y, noise_groups=groups),
            lambda: grouped.fit(x, y, noise_groups=["a", "b", "a"]).predict_distribution(x, noise_groups=groups),
        ],
        r"matrix is masked in 2 entries, the first is \[0, 1\]": [
            lambda: es.Precomputed(square),
            lambda: SimilarityTable(["a", "b"], square),
            lambda: SimilarityTable.nearest_to(["a", "b"], square),
        ],
        "vectors is masked in 2 entries": [lambda: Embedding.from_arrays(["a", "b"], square)],
        "The vector of 'b' is masked in 1 rows": [lambda: Embedding({"a": [1.0, 0.0, 0.0], "b": one})],
    }
    for message, refused in calls.items():
        for call in refused:
            with pytest.raises(InputError, match=message):
                call()


def test_masks_of_rows_that_count_for_nothing_are_passed_over():
    x, y, weight = np.arange(3.0)[:, None], [1.0, 2.0, 2.5], [1.0, 1.0, 0.0]
    known = np.ma.array([0.1, 0.1, 5.0], mask=[False, False, True])
    model = es.GPRegressor(es.RBF()).fit(x, y, sample_weight=weight, noise_variance=known)
    assert (
        model.predict(x).tolist()
        == es.GPRegressor(es.RBF()).fit(x, y, sample_weight=weight, noise_variance=known.data).predict(x).tolist()
    )
