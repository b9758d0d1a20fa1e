"""Tables: columns of every kind, rows by index, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import cross_val_score

import espalier as es
from espalier import SubsetTree
from espalier.errors import InputError
from espalier.structures import Table, Tree, as_table


def test_columns_by_name(table):
    assert table.columns == ("tree", "vector", "sparse", "corpus", "label")
    assert len(table) == 3 and table.shape == (3, 5)
    assert table["tree"] == (Tree("A"), Tree("B"), Tree("C"))
    assert table["vector"].shape == (3, 2)


def test_repr(table):
    assert repr(table) == (
        "Table of 3 rows: tree (Tree), vector (2 x float64), sparse (3 sparse), corpus (Corpus), label (str)"
    )
    assert repr(Table()) == "Table without columns"


@pytest.mark.parametrize(
    "key",
    [
        [2, 0],
        np.array([2, 0]),
        np.array([-1, -3]),
        (np.array([2, 0]), ...),
        slice(None, None, -2),
    ],
)
def test_rows_by_index(table, key):
    part = table[key]
    assert isinstance(part, Table) and len(part) == 2 and part.columns == table.columns
    assert part["tree"] == (Tree("C"), Tree("A"))
    assert part["vector"].tolist() == [[4, 5], [0, 1]]
    assert part["sparse"].toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
    assert part["corpus"].items == ["c", "a"]


def test_rows_by_mask_and_none(table):
    assert table[np.array([True, False, True])]["label"] == ("x", "x")
    assert table[[False, True, False]]["label"] == ("y",)
    assert len(table[[]]) == 0 and table[[]].columns == table.columns


def test_one_row_is_a_dict(table):
    row = table[-1]
    assert row["tree"] == Tree("C") and row["vector"].tolist() == [4, 5] and row["corpus"] == "c"
    assert [row["label"] for row in table] == ["x", "y", "x"]


def test_some_columns(table):
    assert table[["label", "tree"]].columns == ("label", "tree")
    with pytest.raises(InputError, match="no column 'treee'"):
        table[["treee"]]


def test_with_column(table):
    longer = table.with_column("new", [1, 2, 3])
    assert longer.columns == (*table.columns, "new") and "new" not in table.columns
    assert table.with_column("label", ["a", "b", "c"])["label"] == ("a", "b", "c")
    named = table.with_column("v", np.eye(3), feature_names="pqr")
    assert named.feature_names["v"] == ("p", "q", "r")
    assert named[[0]].feature_names == named[["v"]].feature_names == {"v": ("p", "q", "r")}
    assert named.with_column("v", [1, 2, 3]).feature_names == {}
    assert Table(named).feature_names == named.feature_names


def test_tables_cannot_be_changed(table):
    with pytest.raises(AttributeError, match="with_column"):
        table.columns = ()
    with pytest.raises(ValueError, match="read-only"):
        table["vector"][0, 0] = 7
    with pytest.raises(ValueError, match="read-only"):
        table[[0]]["vector"][0, 0] = 7
    with pytest.raises(TypeError):
        table.feature_names["v"] = ()
    values = [1, 2]
    kept = Table(a=values)
    values.append(3)
    assert kept["a"] == (1, 2)


def test_tables_pickle(table):
    again = pickle.loads(pickle.dumps(table[["tree", "vector"]]))
    assert again["tree"] == table["tree"] and again.columns == ("tree", "vector")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Table({"a": [1]}, a=[2]), InputError, "two columns named 'a'"),
        (lambda: Table([("a", [1]), ("a", [2])]), InputError, "two columns named 'a'"),
        (lambda: Table(a=[1], b=[1, 2]), InputError, "'a' has 1, 'b' has 2"),
        (lambda: Table(a="text"), TypeError, "Column 'a' must be a list"),
        (lambda: Table(a=3), TypeError, "Column 'a'"),
        (lambda: Table(a={1, 2}), TypeError, "Column 'a'"),
        (lambda: Table(a=iter([1])), TypeError, "Column 'a'"),
        (lambda: Table(a=np.array(3)), InputError, "single number"),
        (lambda: Table({3: [1]}), TypeError, "name of a column must be a str, got 3"),
        (
            lambda: Table(pd.DataFrame(np.eye(2))),
            TypeError,
            r"must be a str, got 0\. .*frame\.rename\(columns=str\).*frame\.to_numpy\(\)",
        ),
        (lambda: Table("text"), TypeError, "mapping of names"),
        (lambda: Table(7), TypeError, "mapping of names"),
        (lambda: Table(np.eye(2)), TypeError, "mapping of names"),
        (
            lambda: Table(pd.DataFrame([[1, 2]], columns=["a", "a"])),
            InputError,
            "two columns named 'a'",
        ),
    ],
)
def test_what_is_no_table(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ("lable", InputError, "no column 'lable'; the columns are .*Did you mean 'label'?"),
        ("zzz", InputError, r"'label'\.$"),
        (3, IndexError, "no row 3: the table has 3 rows"),
        ([0, 3], IndexError, "no row 3"),
        ([-4], IndexError, "no row -4"),
        ([True, False], IndexError, "mask has 2 values, the table 3 rows"),
        ([0.5], TypeError, "slice, an array of integers"),
        (None, TypeError, "slice, an array of integers"),
        (True, TypeError, "slice, an array of integers"),
    ],
)
def test_what_is_not_in_a_table(table, key, error, message):
    with pytest.raises(error, match=message):
        table[key]


def test_pandas_frames():
    frame = pd.DataFrame({"tree": ["(A a)", None, "(B b)"], "n": [1, 2, 3], "x": [1.5, np.nan, 2]}, index=[7, 8, 9])
    table = Table(frame)
    assert table["tree"] == ("(A a)", None, "(B b)")
    assert table["n"].tolist() == [1, 2, 3]
    assert np.isnan(table["x"][1])
    objects = Table(pd.DataFrame({"tree": pd.Series([Tree("A"), None, pd.NA], dtype=object)}))
    assert objects["tree"] == (Tree("A"), None, None)
    assert Table(kind=pd.Series(["u", "v"], dtype="category"))["kind"] == ("u", "v")


def test_polars_frames():
    polars = pytest.importorskip("polars", reason="polars is optional")
    table = Table(polars.DataFrame({"tree": ["(A a)", None], "n": [1, 2]}))
    assert table["tree"] == ("(A a)", None)
    assert table["n"].tolist() == [1, 2]


def test_as_table(table):
    assert as_table(table) is table
    assert as_table({"a": [1]}).columns == ("a",)


class Memory(ClassifierMixin, BaseEstimator):
    """Predicts the most common label, after checking that it was given tables."""

    def fit(self, X, y):
        assert isinstance(X, Table) and len(X) == len(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.common_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        assert isinstance(X, Table)
        return np.array([self.common_] * len(X))


def test_scikit_learn_splits_tables():
    table = Table(tree=[Tree(str(i)) for i in range(30)], v=np.arange(30.0))
    labels = np.array(["a", "b", "a"] * 10)
    scores = cross_val_score(Memory(), table, labels, cv=5)
    assert scores.shape == (5,) and scores.mean() > 0.5


def test_a_lazy_frame_is_to_be_collected():
    lazy = pytest.importorskip("polars").LazyFrame({"tree": ["(A a)"]})
    for call in (lambda: Table(lazy), lambda: SubsetTree(on="tree")(lazy), lambda: SubsetTree(on="tree").plan(lazy)):
        with pytest.raises(TypeError, match=r"A LazyFrame is a query that holds no rows yet. Pass frame.collect\(\)"):
            call()
    for call in (
        lambda: es.Forest.from_trees(lazy),
        lambda: es.KernelSVC(es.SubsetTree()).fit(["(A a)"], lazy),
        lambda: es.GPRegressor(es.SubsetTree()).fit(["(A a)"], lazy),
    ):
        with pytest.raises(TypeError, match=r"A LazyFrame is a query that holds no rows yet. Pass frame.collect\(\)"):
            call()
    assert Table(lazy.collect())["tree"] == ("(A a)",)
