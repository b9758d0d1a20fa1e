"""Tables in files."""

from __future__ import annotations

import builtins
import gzip
import io

import numpy as np
import pytest

from espalier.errors import InputError, MissingDependencyError
from espalier.structures import Table, read_klp, read_table


def read(text: str, format: str, **options):
    return read_table(io.StringIO(text), format=format, **options)


def test_texts_stay_texts():
    table = read("id,tree\n001,(A a)\n2,\n", "csv")
    assert table["id"] == ("001", "2") and table["tree"] == ("(A a)", "")


def test_numeric_columns_by_name():
    table = read("a\tb\n1\t2\n3\t-4e1\n", "tsv", numeric=["b"])
    assert table["a"] == ("1", "3")
    assert table["b"].dtype == np.float64 and table["b"].tolist() == [2, -40]


def test_files_without_a_header():
    table = read("x\t(A a)\ny\t(B b)\n", "tsv", columns=["label", "tree"])
    assert table["label"] == ("x", "y")


def test_quotes():
    text = 'a,b\n"x, ""y""\nz",2\n'
    assert read(text, "csv")["a"] == ('x, "y"\nz',)
    assert read('a\tb\n"x\ty"\n', "tsv")["a"] == ('"x',)
    assert read('a\tb\n"x\ty"\tz\n', "tsv", quotes=True)["a"] == ("x\ty",)
    assert read('a,b\n"x,y\n', "csv", quotes=False)["a"] == ('"x',)


def test_line_ends_and_odd_spaces():
    table = read("a\tb\r\nx\u2028\x85\ty\u00a0\r\n", "tsv")
    assert table["a"] == ("x\u2028\x85",) and table["b"] == ("y\u00a0",)


def test_a_long_value_in_a_tsv_file():
    tree = "(A " + "a " * 100_000 + ")"
    assert read(f"tree\n{tree}\n", "tsv")["tree"] == (tree,)


def test_header_alone_is_an_empty_table():
    table = read("a,b\n", "csv", numeric=["b"])
    assert len(table) == 0 and table.columns == ("a", "b")


@pytest.mark.parametrize(
    ("text", "format", "options", "message"),
    [
        ("a,b\n1,2\n3\n", "csv", {}, "line 3: 1 fields where 2 columns"),
        ("a\tb\n1\t2\n3\t4\t5\n", "tsv", {}, "line 3: 3 fields where 2 columns"),
        ("a\tb\n\n", "tsv", {}, "line 2: 1 fields"),
        ('a,b\n"x\ny",2\n3\n', "csv", {}, "line 4: 1 fields"),
        ('a,b\n1,2\n"x,2\n', "csv", {}, "line 3: .*quotes=False"),
        ('a,b\n"x"y,2\n', "csv", {}, "line 2"),
        ("a,b\n" + "x" * 200_000 + ",2\n", "csv", {}, "line 2: field larger"),
        ("", "csv", {}, "is empty"),
        ("a,a\n1,2\n", "csv", {}, "two columns named 'a'"),
        ("a,b\n1,x\n", "csv", {"numeric": ["b"]}, "line 2, column 'b': 'x' is not a finite"),
        ("a,b\n1,nan\n", "csv", {"numeric": ["b"]}, "'nan' is not a finite"),
        ("a,b\n1,1_0\n", "csv", {"numeric": ["b"]}, "'1_0' is not a finite"),
        ("a,b\n1,2\n", "csv", {"numeric": ["c"]}, "no column 'c'"),
    ],
)
def test_broken_text_tables_are_named(text, format, options, message):
    with pytest.raises(InputError, match=message):
        read(text, format, **options)


def test_json_lines_say_what_is_a_number():
    table = read(
        '{"t": "(A a)", "n": 1, "v": [1, 2.5], "o": [1], "b": true, "m": null}\n'
        '{"m": 3, "t": "é", "n": 2.5, "v": [3, 4], "o": [1, 2], "b": false}\n',
        "jsonl",
    )
    assert table.columns == ("t", "n", "v", "o", "b", "m")
    assert table["n"].tolist() == [1, 2.5] and table["v"].tolist() == [[1, 2.5], [3, 4]]
    assert table["t"] == ("(A a)", "é") and table["o"] == ((1,), (1, 2))
    assert table["b"] == (True, False) and table["m"] == (None, 3)
    assert len(read("", "jsonl")) == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: this is not a JSON object"),
        ("", "line 2"),
        ("[1]", "line 2: an object .* got list"),
        ('{"b": 1}', "line 2: the names differ .*'a', 'b'"),
        ('{"a": 1, "a": 2}', "line 2: .*'a' occurs twice"),
        ('{"a": NaN}', "line 2: .*NaN is not JSON"),
        ('{"a": ' + "[" * 100_000, "line 2"),
    ],
)
def test_broken_json_lines_are_named(line, message):
    with pytest.raises(InputError, match=message):
        read(f'{{"a": 1}}\n{line}\n{{"a": 1}}\n', "jsonl")


def test_the_name_tells_the_format(tmp_path):
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"a\tb\n1\t2\n"))
    assert read_table(tmp_path / "a.tsv.gz").columns == ("a", "b")
    (tmp_path / "a.JSONL").write_text('{"a": "x"}')
    assert read_table(tmp_path / "a.JSONL")["a"] == ("x",)
    with pytest.raises(InputError, match="Pass format="):
        read_table(tmp_path / "a.dat")
    with pytest.raises(ValueError, match="format must be"):
        read_table(tmp_path / "a.tsv.gz", format="xls")
    with pytest.raises(ValueError, match="for CSV and TSV"):
        read_table(tmp_path / "a.JSONL", numeric=["a"])


def test_parquet(tmp_path):
    polars = pytest.importorskip("polars", reason="polars is optional")
    path = tmp_path / "a.parquet"
    polars.DataFrame({"t": ["(A a)", None], "n": [1, 2], "v": [[1.0, 2.0], [3.0, 4.0]]}).write_parquet(path)
    table = read_table(path)
    assert table["t"] == ("(A a)", None) and table["n"].tolist() == [1, 2]
    assert table["v"].tolist() == [[1, 2], [3, 4]]
    path.write_text("no parquet")
    with pytest.raises(InputError, match="not a Parquet file"):
        read_table(path)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "absent.parquet")


def test_parquet_without_its_libraries(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments):
        if name.partition(".")[0] in ("polars", "pyarrow"):
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r"espalier\[tables\]"):
        read_table(tmp_path / "a.parquet")


def test_headlines_with_a_separator_inside(data):
    assert len(read_table(data / "affective" / "trial.tsv", numeric=["valence"])) == 250
    with pytest.raises(InputError, match=r"test\.tsv, line 30: 11 fields where 10 columns"):
        read_table(data / "affective" / "test.tsv")


def test_reviews_and_questions(data):
    assert len(read_table(data / "sentiment" / "reviews.tsv.gz")) == 8000
    questions = read_table(data / "trec" / "constituency_train.tsv.gz", columns=["label", "question", "tree"])
    assert len(questions) == 5452


def csv_table(text, **options):
    return read_table(io.StringIO(text), format="csv", **options)


def test_a_first_row_with_a_tree_is_no_header():
    text = "(S (A a)),x\n(S (B b)),y\n"
    with pytest.raises(
        InputError, match=r"The first row of <StringIO> contains a tree, .*Pass header=False or columns="
    ):
        csv_table(text)
    assert csv_table(text, header=False)["column_1"] == ("(S (A a))", "(S (B b))")
    assert csv_table(text, header=False, columns=["tree", "label"])["label"] == ("x", "y")
    assert csv_table(text, columns=["tree", "label"])["label"] == ("x", "y")
    assert csv_table(text, header=True).columns == ("(S (A a))", "x")
    assert csv_table("tree,height (km),(km)\n1,2,3\n").columns == ("tree", "height (km)", "(km)")


def test_a_first_row_with_a_number_is_warned_of():
    with pytest.warns(
        UserWarning, match=r"read as the names of the columns, but it contains numbers, such as '1\.5'"
    ) as got:
        table = csv_table("a,1.5\nb,2\n")
    assert len(got) == 1 and len(table) == 1
    for header, n_rows in ((True, 1), (False, 2)):
        assert len(csv_table("a,1.5\nb,2\n", header=header)) == n_rows


def test_a_first_row_with_a_value_of_its_own_column_is_warned_of():
    text = "pos\tgood film\nneg\tbad film\npos\tnice\n"
    with pytest.warns(UserWarning, match="'pos' is also a value of its column. Pass header=False") as caught:
        table = read(text, "tsv")
    assert caught[0].filename == __file__ and len(table) == 2
    assert len(read(text, "tsv", header=False)) == 3 and len(read(text, "tsv", header=True)) == 2


def test_a_table_with_many_columns_is_made_once(monkeypatch):
    made = []
    real = Table.__init__

    def counted(self, *arguments, **columns):
        made.append(1)
        real(self, *arguments, **columns)

    monkeypatch.setattr(Table, "__init__", counted)
    names = [f"c{k}" for k in range(200)]
    wide = read("{" + ", ".join(f'"{name}": 1' for name in names) + "}\n", "jsonl")
    klp = read_klp(io.StringIO("x " + " ".join(f"|BV:{name}| a:1 |EV|" for name in names)))
    assert len(wide.columns) == 200 and len(klp.columns) == 201 and len(klp.feature_names) == 200
    assert len(made) == 2


@pytest.mark.parametrize("names", [["a", "b", "a"], ["a", "b", "b", "a"]])
def test_the_first_name_that_stands_there_again_is_named(names):
    twice = "a" if names == ["a", "b", "a"] else "b"
    with pytest.raises(InputError, match=f"the name '{twice}' occurs twice"):
        read("{" + ", ".join(f'"{name}": 1' for name in names) + "}\n", "jsonl")
    with pytest.raises(InputError, match=f"two columns named '{twice}'"):
        read(",".join(names) + "\n", "csv")


def test_names_may_take_the_place_of_a_header():
    table = csv_table("a,b\n1,2\n", header=True, columns=["x", "y"], numeric=["x"])
    assert table.columns == ("x", "y") and table["x"].tolist() == [1.0]
    assert len(csv_table("", header=False)) == 0
    with pytest.raises(TypeError, match="columns must be a sequence of names"):
        csv_table("a,b\n", columns="ab")
    with pytest.raises(ValueError, match="header, numeric and quotes are for CSV"):
        read_table(io.StringIO("{}"), format="jsonl", header=False)


@pytest.mark.parametrize("value", ["1e999", "-1e999", "[1.0, 1e400]", "9" * 5_000])
def test_a_number_that_no_float_holds_is_an_error_with_file_and_line(value):
    text = f'{{"a": 1.0}}\n{{"a": {value}}}\n'
    with pytest.raises(InputError, match=r"<StringIO>, line 2: this is not a JSON object: .*(too large|5,000 digits)"):
        read_table(io.StringIO(text), format="jsonl")
    with pytest.raises(InputError, match=r"line 2, column 'a': .* is not a finite number"):
        csv_table("a\n1e999\n", numeric=["a"])


@pytest.mark.parametrize("header", [["l", "t"], "l", 0, 1, ()])
def test_a_header_that_is_neither_true_nor_false_is_refused(header):
    with pytest.raises(TypeError, match=r"header must be True, False or None.*columns=\[\.\.\.\]"):
        read_table(io.StringIO("x,1\ny,2\n"), format="csv", header=header)
    assert len(read_table(io.StringIO("x,1\ny,2\n"), format="csv", header=np.False_)) == 2


@pytest.mark.parametrize("number", ["\u00a01", "1\u00a0", "\u0661", "\x1f1"])
def test_numbers_in_a_table_are_spelled_in_ascii(number):
    with pytest.raises(InputError, match=r"line 2, column 'b': .* is not a finite number"):
        read(f"a,b\nx,{number}\n", "csv", numeric=["b"])
    assert read("a,b\nx, 1.5\t\n", "csv", numeric=["b"])["b"].tolist() == [1.5]
