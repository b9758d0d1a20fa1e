"""Errors say where, and survive pickling."""

from __future__ import annotations

import pickle

import pytest

from espalier import errors


def test_caret_stands_below_the_place():
    error = errors.TreeSyntaxError("oops", source="a.mrg", line=17, text="(S (NP x)))", position=10)
    first, text, caret = str(error).split("\n")
    assert first == "a.mrg, line 17, column 11: oops."
    assert text[caret.index("^")] == ")" and caret.index("^") == 4 + 10


@pytest.mark.parametrize("position", [0, 39, 41, 500, 960, 999])
def test_long_lines_are_windowed_around_the_caret(position):
    line = "".join(chr(ord("a") + i % 26) for i in range(1000))
    _, text, caret = str(errors.TreeSyntaxError("m", line=1, text=line, position=position)).split("\n")
    assert len(text) <= 4 + 80 + 6
    assert text[caret.index("^")] == line[position]


def test_tabs_do_not_move_the_caret():
    _, text, caret = str(errors.TreeSyntaxError("m", text="\t\tx", position=2)).split("\n")
    assert text[caret.index("^")] == "x"


def test_message_alone_is_enough():
    assert str(errors.TreeSyntaxError("no tree")) == "no tree."


@pytest.mark.parametrize(
    "error",
    [
        errors.TreeSyntaxError("m", source="s", line=1, text="(a", position=1),
        errors.InputError("m"),
        errors.VocabularyMismatchError("m"),
        errors.KernelOverflowError("m"),
        errors.MemoryBudgetError("m"),
        errors.MissingDependencyError("polars", extra="tables", purpose="Reading Parquet"),
    ],
)
def test_errors_pickle(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("TreeSyntaxError", ValueError),
        ("InputError", ValueError),
        ("VocabularyMismatchError", ValueError),
        ("KernelOverflowError", OverflowError),
        ("MemoryBudgetError", MemoryError),
        ("MissingDependencyError", ImportError),
    ],
)
def test_each_is_also_the_builtin_a_caller_expects(name, builtin):
    assert issubclass(getattr(errors, name), builtin)
    assert getattr(errors, name).__doc__


def test_there_are_six():
    assert len(errors.__all__) == 6
