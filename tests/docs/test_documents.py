"""Everything shown is run: each document's Python blocks and commands, in order, in one namespace."""

from __future__ import annotations

import re
import shlex
import sys
from contextlib import suppress
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from unittest import SkipTest

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from typer.testing import CliRunner

import espalier
from espalier.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE


def _run_commands(example: Example) -> str | None:
    """Run each ``$ espalier ...`` of a block, and compare what it prints with what stands below it."""
    for shown in re.split(r"^\$ ", str(example.parsed), flags=re.MULTILINE)[1:]:
        command, _, wanted = shown.partition("\n")
        name, *arguments = shlex.split(command)
        if name != "espalier":
            continue
        result = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"}).invoke(app, arguments)
        if result.exit_code or not OutputChecker().check_output(wanted, result.output, FLAGS):
            return f"$ {command}\nexpected:\n{wanted}\ngot, with exit code {result.exit_code}:\n{result.output}"
    return None


SYBIL = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=FLAGS),
        CodeBlockParser(language="console", evaluator=_run_commands),
        SkipParser(),
    ],
    path=str(ROOT),
)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_code_of_the_document_runs(path, tmp_path, monkeypatch):
    # A document that writes a file writes it here.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for example in SYBIL.parse(path).examples():
        # One block may need a library that is not installed; the others run all the same.
        with suppress(SkipTest):
            example.evaluate()
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_commands_of_the_document_exist(path):
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    text = path.read_text()
    named = set(re.findall(r"(?:^(?:\$ )?|`)make ([a-z-]+)", text, re.MULTILINE))
    assert named <= targets


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_links_of_the_document_lead_somewhere(path):
    if not (ROOT / "src").is_dir():
        pytest.skip("links lead all over the repository, and this is only a part of it")
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", text)
    local = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in local if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_names_of_the_library_in_the_document_exist(path):
    named = set(re.findall(r"\bes\.(\w+)", path.read_text()))
    assert [name for name in sorted(named) if not hasattr(espalier, name)] == []
