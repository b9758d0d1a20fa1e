"""A dash is standard input to what reads trees, text or tables, and standard output where text is written."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import invoke
from typer.testing import CliRunner

from espalier.cli.main import app
from espalier.kernels import Normalized, SubsetTree
from espalier.structures.group import Group
from espalier.structures.groups import write_groups

TREES = [
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (D a) (N cat)) (VP (V sat)))",
    "(S (NP (D the) (N dog)) (VP (V ran)))",
    "(S (NP (D a) (N dog)) (VP (V sat)))",
    "(S (NP (D the) (N cat)) (VP (V ran)))",
]
TEXT = "".join(f"{tree}\n" for tree in TREES)
CONLLU = "".join(
    f"1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\t{noun}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    for noun in ("cat", "dog", "fish", "bird", "cow")
)


@contextmanager
def standard_input(text: str) -> Iterator[None]:
    """Give the process itself a standard input: a file that nobody can find by name."""
    kept = os.dup(0)
    with tempfile.TemporaryFile() as stream:
        stream.write(text.encode())
        stream.flush()
        stream.seek(0)
        os.dup2(stream.fileno(), 0)
        try:
            yield
        finally:
            os.dup2(kept, 0)
            os.close(kept)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The files that commands read beside the one that is standard input, each made by a command."""
    made = tmp_path_factory.mktemp("streams")
    (made / "trees.mrg").write_text(TEXT)
    (made / "tagged.conllu").write_text(CONLLU)
    (made / "words.txt").write_text("the cat sat\na dog ran\n")
    rivals = [tree.replace("VP", "XP") for tree in TREES]
    write_groups(
        [Group([rival, tree], [0.0, -1.0], tree) for tree, rival in zip(TREES, rivals, strict=True)],
        made / "groups.jsonl",
    )
    for arguments in (
        ("grammar", made / "trees.mrg", "-o", made / "grammar.safetensors"),
        ("rerank", "fit", made / "groups.jsonl", "-o", made / "reranker.safetensors", "--score-weight", 1),
        ("tag", "fit", made / "tagged.conllu", "-o", made / "tagger.safetensors"),
    ):
        result = invoke(*arguments)
        assert result.exit_code == 0, result.output
    return made


COMMANDS = {
    "describe": ("trees.mrg", ["describe", "IN"]),
    "nearest": ("trees.mrg", ["nearest", "IN", "--query", TREES[0], "-k", 2]),
    "gram": ("trees.mrg", ["gram", "IN", "-o", "-"]),
    "grammar": ("trees.mrg", ["grammar", "IN", "-o", "OUT"]),
    "parse": ("words.txt", ["parse", "grammar.safetensors", "IN"]),
    "candidates": ("trees.mrg", ["candidates", "IN", "-o", "OUT.jsonl", "-k", 2, "--folds", 2]),
    "evaluate, gold": ("trees.mrg", ["evaluate", "IN", "trees.mrg"]),
    "evaluate, parsed": ("trees.mrg", ["evaluate", "trees.mrg", "IN"]),
    "rerank fit": ("groups.jsonl", ["rerank", "fit", "IN", "-o", "OUT", "--score-weight", 1]),
    "rerank apply": ("groups.jsonl", ["rerank", "apply", "reranker.safetensors", "IN"]),
    "rerank score": ("groups.jsonl", ["rerank", "score", "reranker.safetensors", "IN"]),
    "rerank explain": ("groups.jsonl", ["rerank", "explain", "reranker.safetensors", "IN", "--row", 1]),
    "tag fit": ("tagged.conllu", ["tag", "fit", "IN", "-o", "OUT"]),
    "tag apply": ("words.txt", ["tag", "apply", "tagger.safetensors", "IN"]),
    "tag candidates": ("tagged.conllu", ["tag", "candidates", "IN", "-o", "OUT.jsonl", "-k", 2, "--folds", 2]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_dash_reads_standard_input_as_the_file_is_read(name, folder, tmp_path, monkeypatch):
    file, template = COMMANDS[name]
    monkeypatch.chdir(folder)
    printed, written = [], []
    for given in (file, "-"):
        output = tmp_path / f"{len(printed)}.out"
        names = {"IN": given, "OUT": output, "OUT.jsonl": output.with_suffix(".jsonl")}
        with standard_input((folder / file).read_text() if given == "-" else ""):
            result = invoke(*(names.get(argument, argument) for argument in template))
        assert result.exit_code == 0, result.output
        printed.append(result.stdout.replace(str(output.with_suffix("")), "OUT"))
        written.append([path.read_bytes() for path in tmp_path.glob(f"{output.stem}.*")])
    assert printed[0] == printed[1] and written[0] == written[1]


def test_standard_input_is_read_once(folder):
    result = invoke("evaluate", "-", "-")
    assert result.exit_code == 2 and "can be read only once" in " ".join(result.output.split())


def test_an_error_in_standard_input_names_it(folder):
    with standard_input("(S (NP"):
        result = invoke("describe", "-")
    assert result.exit_code == 2 and "/dev/stdin, line 1" in result.output


@pytest.mark.parametrize("name", ["parse", "rerank apply", "tag apply"])
def test_a_dash_for_the_output_is_standard_output(name, folder, monkeypatch):
    file, template = COMMANDS[name]
    monkeypatch.chdir(folder)
    arguments = [file if argument == "IN" else argument for argument in template]
    assert invoke(*arguments, "-o", "-").stdout == invoke(*arguments).stdout != ""
    assert not (folder / "-").exists()


def test_models_do_not_go_to_standard_output(folder):
    result = invoke("grammar", folder / "trees.mrg", "-o", "-")
    assert result.exit_code == 2 and "goes to a file, not to standard output" in result.output


def test_a_pipe_carries_a_matrix_from_trees_to_numbers():
    code = "from espalier.cli.main import run; run()"
    command = [sys.executable, "-c", code, "gram", "-", "-o", "-"]
    result = subprocess.run(command, input=TEXT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    matrix = np.array([[float(value) for value in line.split(",")] for line in result.stdout.splitlines()])
    np.testing.assert_array_equal(matrix, Normalized(SubsetTree(decay=0.4))(TREES))


@pytest.mark.parametrize(
    "command",
    [["parse", "-", "x"], ["tag", "apply", "-", "x"], *(["rerank", name, "-", "x"] for name in ("apply", "score"))],
    ids=" ".join,
)
def test_a_model_from_standard_input_is_refused(command):
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, command)
    assert result.exit_code == 2
    assert "a model must be a file; - is standard input, for trees, text and tables." in result.stderr
