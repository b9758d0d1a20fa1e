"""What ``espalier gram`` reads: trees, lines of text or CoNLL-U, by what the kernel compares."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import espalier as es
from espalier.cli.items import needed_format
from espalier.cli.main import app
from espalier.kernels.expressions import parse_kernel

TEXTS = ["the cat sat", "a cat sat", "", "the dog"]
BRACKETS = ["(S (NP (D the) (N cat)) (VP (V sat)))", "(S (NP (D a) (N cat)) (VP (V sat)))", "(NP (N dog))"]
CONLLU = """\
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tsat\tsit\tVERB\tVBD\t_\t0\troot\t_\t_

1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t_\t_
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    found = {"text": tmp_path / "texts.txt", "brackets": tmp_path / "trees.mrg", "conllu": tmp_path / "trees.conllu"}
    found["text"].write_text("\n".join(TEXTS) + "\n")
    found["brackets"].write_text("\n".join(BRACKETS))
    found["conllu"].write_text(CONLLU)
    return found


def gram(file: Path, kernel: str, *options: str) -> Result:
    arguments = ["gram", str(file), "-o", str(file.with_name("o.npy")), "--kernel", kernel, *options]
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, arguments)


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        ("Subsequence(2)", "text"),
        ("Spectrum(3, of='characters')", "text"),
        ("2.0 * BagOfWords() + Spectrum(2)", "text"),
        ("Normalized(SubsetTree())", "brackets"),
        ("SubsetTree() + BagOfWords()", "brackets"),
        ("BagOfWords() * PartialTree() + Constant(1.0)", "brackets"),
        ("Tagging()", "conllu"),
        ("DependencySubtree(('tags', 'relation'))", "conllu"),
        ("WeisfeilerLehman(2)", "conllu"),
        ("Spectrum(2, of='tags')", "conllu"),
        ("BagOfWords() + Tagging() + SubsetTree()", "conllu"),
    ],
)
def test_the_kernel_says_what_the_file_holds(files, kernel, kind):
    file = files[kind]
    result = gram(file, kernel)
    assert result.exit_code == 0, result.output
    items = {"text": TEXTS, "brackets": BRACKETS, "conllu": es.read_conllu(files["conllu"])}[kind]
    n = len(items)
    assert f"{n} x {n} values of" in result.stdout
    np.testing.assert_array_equal(np.load(file.with_name("o.npy")), parse_kernel(kernel)([*map(as_read(kind), items)]))


def as_read(kind):
    return es.Tree.from_brackets if kind == "brackets" else lambda item: item


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [("Tagging()", "brackets"), ("SubsetTree()", "conllu"), ("Spectrum(1)", "conllu"), ("Spectrum(1)", "brackets")],
)
def test_a_format_may_be_named(files, kernel, kind):
    result = gram(files[kind], kernel, "--format", kind)
    assert result.exit_code == 0, result.output
    items = [es.Tree.from_brackets(text) for text in BRACKETS] if kind == "brackets" else es.read_conllu(files[kind])
    np.testing.assert_array_equal(np.load(files[kind].with_name("o.npy")), parse_kernel(kernel)(items))


def test_compressed_and_foreign_lines(tmp_path):
    path = tmp_path / "texts.gz"
    path.write_bytes(gzip.compress("été\r\nété chaud\r\n".encode("latin-1"), mtime=0))
    assert gram(path, "BagOfWords()", "--encoding", "latin-1").exit_code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), [[1.0, 1.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("kind", "kernel", "options", "message"),
    [
        (
            "brackets",
            "Tagging()",
            [],
            "reads CoNLL-U for Tagging(). If the file holds trees in brackets, pass --format",
        ),
        ("text", "SubsetTree()", [], "texts.txt, line 1, column 1"),
        (
            "text",
            "SubsetTree()",
            ["--format", "text"],
            "SubsetTree() cannot read lines of text; pass --format brackets",
        ),
        (
            "brackets",
            "DependencySubtree()",
            ["--format", "brackets"],
            "cannot read trees in brackets; pass --format co",
        ),
        ("text", "BagOfWords()", ["--format", "csv"], "--format"),
        ("text", "RBF()", [], "RBF() compares vectors, and this command reads trees, texts and CoNLL-U"),
        ("text", "BagOfWords() + Linear()", [], "Linear() compares vectors"),
        ("text", "Constant(2.0)", [], "Constant(variance=2.0) reads nothing of its items"),
        ("brackets", "SubsetTree(on='x')", [], "reads the column 'x'"),
    ],
)
def test_mistakes_say_what_to_do(files, kind, kernel, options, message):
    result = gram(files[kind], kernel, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not files[kind].with_name("o.npy").exists()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [("BagOfWords()", "contains no line"), ("SubsetTree()", "contains no tree"), ("Tagging()", "contains no sentence")],
)
def test_an_empty_file_holds_nothing(tmp_path, kernel, message):
    path = tmp_path / "empty"
    path.write_text("")
    result = gram(path, kernel)
    assert result.exit_code == 2 and message in result.stderr


def test_lines_that_read_as_trees_are_trees_or_text_if_the_user_says_so(files):
    file = files["brackets"]
    result = gram(file, "BagOfWords()")
    assert result.exit_code == 2
    assert "line 1 reads as a tree in brackets" in result.stderr
    assert "--format brackets" in result.stderr
    assert "--format text" in result.stderr
    assert gram(file, "BagOfWords()", "--format", "text").exit_code == 0
    np.testing.assert_array_equal(np.load(file.with_name("o.npy")), es.BagOfWords()([t.split() for t in BRACKETS]))
    assert gram(file, "BagOfWords()", "--format", "brackets").exit_code == 0
    np.testing.assert_array_equal(np.load(file.with_name("o.npy")), es.BagOfWords()(es.Forest.from_trees(BRACKETS)))


def test_a_kernel_that_does_not_say_what_it_reads_is_told_how():
    with pytest.raises(
        es.InputError, match=r"^Precomputed\(.*\) does not say what it reads \(its method reads\(\) returns"
    ):
        needed_format(es.Precomputed([[1.0]]))
