"""Files of bracketed trees: the treebanks, and files that are broken."""

from __future__ import annotations

import gzip
import io
import os

import pytest

from espalier.errors import InputError, TreeSyntaxError
from espalier.structures import Tree, brackets, read_brackets, write_brackets

TREEBANKS = {
    "wsj/sample.mrg.gz": 3914,
    "gum/trees.ptb.gz": 13263,
    "ewt_srl/train.mrg.gz": 12517,
    "ewt_srl/dev.mrg.gz": 1965,
    "ewt_srl/test.mrg.gz": 2056,
    "questionbank/trees.txt": 4000,
    "qe/fr-en/source.trees.gz": 2497,
    "qe/fr-en/target.trees.gz": 2497,
    "qe/en-es/source.trees.gz": 858,
    "qe/en-es/target.trees.gz": 858,
    "sst/train.txt.gz": 8544,
    "sst/dev.txt.gz": 1101,
    "sst/test.txt.gz": 2210,
}


@pytest.mark.parametrize("name", TREEBANKS)
def test_treebanks_read_and_round_trip(data, name):
    trees = read_brackets(data / name)
    assert len(trees) == TREEBANKS[name]
    again = read_brackets(io.StringIO("\n".join(map(str, trees))))
    assert again == trees


@pytest.mark.parametrize("name", ["qe/fr-en/target.trees.gz", "sst/dev.txt.gz"])
def test_one_line_treebanks_are_written_as_they_were(data, name):
    with gzip.open(data / name, "rt", encoding="utf-8", newline="\n") as file:
        lines = [" ".join(line.split(" ")).strip(" \n") for line in file]
    assert [str(tree) for tree in read_brackets(data / name)] == lines


def test_questionbank_empty_labels(data):
    trees = read_brackets(data / "questionbank" / "trees.txt")
    assert sum(any(node.label == "" for node in tree) for tree in trees) > 0


def test_lines_do_not_matter(tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text("(A a)\n\n( (S\r\n  (B b)))  (C c)(D d)\n", newline="")
    assert [str(tree) for tree in read_brackets(path)] == [
        "(A a)",
        "( (S (B b)))",
        "(C c)",
        "(D d)",
    ]


def test_equal_subtrees_are_one_object():
    first, second = read_brackets(io.StringIO("(S (NP it) (VP is))(S (NP it) (VP was))"))
    assert first[0] is second[0] and first is not second


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff"])
def test_an_empty_file_is_an_empty_list(tmp_path, text):
    path = tmp_path / "empty"
    path.write_text(text, encoding="utf-8")
    assert read_brackets(path) == []


def test_every_kind_of_source(tmp_path):
    expected = [Tree("N", ["häuser"])]
    plain, packed, disguised = tmp_path / "a.mrg", tmp_path / "a.mrg.gz", tmp_path / "b"
    plain.write_text("(N häuser)", encoding="utf-8")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    disguised.write_bytes(packed.read_bytes())
    for source in (plain, str(plain), packed, disguised, io.BytesIO(packed.read_bytes())):
        assert read_brackets(source) == expected
    with plain.open(encoding="utf-8") as text, plain.open("rb") as binary:
        assert read_brackets(text) == read_brackets(binary) == expected
    assert read_brackets(io.BytesIO("(N häuser)".encode("latin-1")), encoding="latin-1") == expected


def test_errors_name_file_line_column_and_show_a_caret(tmp_path):
    path = tmp_path / "bad.mrg"
    path.write_text("(A a)\n(B b))\n(C c)\n")
    with pytest.raises(TreeSyntaxError) as caught:
        read_brackets(path)
    assert str(caught.value) == (
        f"{path}, line 2, column 6: ')' closes a bracket that was never opened.\n    (B b))\n         ^"
    )


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"(A a)\n(B b", TreeSyntaxError, "line 2, column 1: this bracket is never closed"),
        (b"(A a)\nword", TreeSyntaxError, "line 2, column 1: a word stands outside"),
        (b"(A a)\n(B \xff)", InputError, "line 2, column 4: byte 0xff is not utf-8"),
        (b"(A \xc3\xa4 \xe4)", InputError, "line 1, column 6: byte 0xe4"),
        (b"(A a)\n(B \x00)", InputError, "line 2: a NUL"),
        (b'\x18\0\0\0\0\0\0\0{"a": 1}', InputError, "is a safetensors file, such as a saved model, and no text"),
        ("(A a)".encode("utf-16"), InputError, "not utf-8"),
        (bytes(range(256)), InputError, "not utf-8"),
        (gzip.compress(b"(A a)" * 1000, mtime=0)[:-20], InputError, "ends too early"),
        (gzip.compress(b"(A a)" * 1000, mtime=0)[:5], InputError, "gzip file"),
        (b"\x1f\x8b" + b"\x00" * 50, InputError, "damaged gzip"),
        (gzip.compress(b"(A a)", mtime=0)[:-6] + b"\x00" * 6, InputError, "damaged gzip"),
    ],
)
def test_broken_files_get_one_clear_error(tmp_path, content, error, message):
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(error, match=message) as caught:
        read_brackets(path)
    assert str(path) in str(caught.value)


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_brackets(tmp_path / "absent")
    with pytest.raises(TypeError, match="path or an open file"):
        read_brackets(42)
    (tmp_path / "plain.gz").write_text("(A a)")
    with pytest.raises(InputError, match=r"without \.gz"):
        read_brackets(tmp_path / "plain.gz")


@pytest.mark.parametrize("name", ["trees.mrg", "trees.mrg.gz"])
def test_written_files_read_back(tmp_path, name):
    trees = [Tree("X", ["a b", "(", "line\nbreak", ""]), Tree("", [Tree("S", ["häuser"])])]
    write_brackets(trees, tmp_path / name)
    assert read_brackets(tmp_path / name) == trees
    first = (tmp_path / name).read_bytes()
    write_brackets(iter(trees), tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    assert os.listdir(tmp_path) == [name]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "trees.mrg"
    write_brackets([Tree("A")], path)
    with pytest.raises(TypeError, match="Element 1 is not a Tree"):
        write_brackets([Tree("B"), "(C c)"], path)

    def interrupted(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_brackets([Tree("B")], path)
    assert path.read_text() == "(A)\n"
    assert os.listdir(tmp_path) == ["trees.mrg"]


@pytest.mark.parametrize("piece", [1, 3, 1 << 16])
def test_a_tree_is_found_again_where_it_is_written(piece, monkeypatch):
    monkeypatch.setattr(brackets, "_PIECE", piece)
    written = ["(A a)", "(B\n  b)", r"(C \\(c\\) (D\u00a0d))", "()", "(E (F f)\n\n(G g))", "((H h))"]
    text = "\n " + written[0] + written[1] + "\n\n" + "  \r\n".join(written[2:]) + " \n"
    trees = brackets.trees_of_text(text, "here")
    lines = []
    for row, tree in enumerate(trees):
        line, found = brackets.locate_tree(text, row)
        lines.append(line)
        assert found == written[row] and brackets.trees_of_text(found, "here") == [tree]
    assert lines == [2, 2, 5, 6, 7, 10]
    with pytest.raises(InputError, match="There are 6 trees in this text, and none has the number 6"):
        brackets.locate_tree(text, 6)
