"""The command: what it prints, how it fails, and what an interruption leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import invoke
from typer.testing import CliRunner

from espalier.cli import main, matrix, options, reproduce
from espalier.cli.main import app, run
from espalier.demo import BEST_SCORE, BLOCK
from espalier.demo.answers import answer_questions
from espalier.kernels import Normalized, SubsetTree

TREES = ["(S (NP (D the) (N cat)) (VP (V sat)))", "(S (NP (D a) (N cat)) (VP (V sat)))", "(NP (N dog))"]


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "trees.mrg"
    path.write_text("\n".join(TREES))
    return path


def command(*arguments: object, code: str = "from espalier.cli.main import run; run()") -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


def in_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=120)


def test_version_is_printed():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("espalier ")


def test_describe_counts_the_trees(trees):
    result = invoke("describe", trees)
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["trees", "3"] in rows
    assert ["distinct", "subtrees", "16"] in rows


def test_nearest_lists_value_line_and_tree(trees):
    result = invoke("nearest", trees, "--query", TREES[1], "-k", 2)
    assert result.exit_code == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [(row[1], row[2]) for row in rows] == [("2", TREES[1]), ("1", TREES[0])]
    assert float(rows[0][0]) == pytest.approx(1)


def test_nearest_takes_a_kernel_and_says_when_the_file_is_smaller_than_k(trees):
    result = invoke("nearest", trees, "--query", "(N dog)", "-k", 9, "--kernel", "SubsetTree(decay=0.5)")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "0.5\t3\t(NP (N dog))"
    assert len(result.stdout.splitlines()) == 3
    assert "-k asks for 9 trees" in result.stderr


def test_a_warning_of_the_library_is_one_line(trees):
    result = invoke("nearest", trees, "--query", "(dog)", "-k", 1)
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: 1 of 1 items of the second input have no fragment")
    assert "main.py" not in result.stderr


def test_gram_writes_the_matrix(trees, tmp_path):
    output = tmp_path / "out.npy"
    result = invoke("gram", trees, "-o", output, "--kernel", "Normalized(SubsetTree(decay=0.3))")
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(np.load(output), Normalized(SubsetTree(decay=0.3))(TREES))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npy", "trees.mrg"]


def test_gram_keeps_a_name_without_suffix(trees, tmp_path):
    assert invoke("gram", trees, "-o", tmp_path / "matrix").exit_code == 0
    assert np.load(tmp_path / "matrix").shape == (3, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demoo"], "No such command 'demoo'"),
        (["describe"], "FILE"),
        (["describe", "{nowhere}"], "No such file or directory"),
        (["describe", "{folder}"], "Is a directory"),
        (["describe", "{broken}"], "broken.mrg, line 2, column 1: this bracket is never closed"),
        (["describe", "{binary}"], "is not utf-8 text"),
        (["describe", "{empty}"], "contains no tree"),
        (["describe", "{trees}", "--encoding", "klingon"], "unknown encoding: klingon"),
        (["describe", "{trees}", "--depth", "3"], "No such option"),
        (["nearest", "{trees}"], "--query"),
        (["nearest", "{trees}", "--query", "(S"], "never closed"),
        (["nearest", "{trees}", "--query", "(S a)", "-k", "0"], "-k"),
        (["nearest", "{trees}", "--query", "(S a)", "-k", "many"], "-k"),
        (["nearest", "{trees}", "--query", "(S a)", "--kernel", "exit()"], "'exit' is no kernel"),
        (["nearest", "{trees}", "--query", "(S a)", "--kernel", "RBF()"], "not a vector of numbers"),
        (["nearest", "{trees}", "--query", "(S a)", "--kernel", "SubsetTree(on='x')"], "the column 'x'"),
        (["gram", "{trees}"], "-o"),
        (["gram", "{trees}", "-o", "{nowhere}/out.npy"], "no such folder"),
        (["gram", "{trees}", "-o", "{folder}"], "this is a folder"),
        (["gram", "{trees}", "-o", "{folder}/o.npy", "--memory", "lots"], "memory must be"),
        (["gram", "{trees}", "-o", "{folder}/o.npy", "--threads", "0"], "--threads"),
        (["demo", "--n", "3"], "at least 80 questions, got 3"),
        (["demo", "--svg", "{trees}"], "--svg names a folder"),
    ],
)
def test_a_mistake_is_one_message_and_exit_code_two(arguments, message, trees, tmp_path):
    (tmp_path / "broken.mrg").write_text("(A a)\n(S (NP")
    (tmp_path / "binary").write_bytes(bytes(range(128, 256)))
    (tmp_path / "empty").write_text("\n")
    names = {"trees": trees, "folder": tmp_path, "nowhere": tmp_path / "nowhere"}
    names |= {name: tmp_path / name for name in ("binary", "empty")} | {"broken": tmp_path / "broken.mrg"}
    before = sorted(tmp_path.iterdir())
    result = invoke(*[argument.format(**names) for argument in arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not result.stdout
    assert sorted(tmp_path.iterdir()) == before


def test_a_mistake_looks_the_same_in_a_real_process(tmp_path):
    result = in_process("describe", tmp_path / "nowhere.mrg")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == f"Error: {tmp_path / 'nowhere.mrg'}: No such file or directory.\n"


def test_overflow_is_an_error_of_the_user(tmp_path):
    path = tmp_path / "wide.mrg"
    path.write_text("(X " + "(N a)" * 3_000 + ")")
    result = invoke("gram", path, "-o", tmp_path / "o.npy", "--kernel", "SubsetTree(decay=1.0)")
    assert result.exit_code == 2
    assert "decay" in result.stderr
    assert not (tmp_path / "o.npy").exists()


def test_a_bug_is_not_hidden(trees, monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(main, "_forest", fail)
    assert isinstance(invoke("nearest", trees, "--query", "(A a)").exception, ZeroDivisionError)


SLOW = """
import sys, time
from espalier.cli import matrix
def slow(kernel, forest, *, n_threads, memory, progress):
    progress(0.5)
    print("computing", file=sys.stderr, flush=True)
    time.sleep(100)
matrix.gram = slow
from espalier.cli.main import run
run()
"""


def test_an_interruption_exits_with_130_and_leaves_nothing(trees, tmp_path):
    output = tmp_path / "out.npy"
    arguments = command("gram", trees, "-o", output, code=SLOW)
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "computing\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == ("", "Interrupted.\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trees.mrg"]


def test_an_interruption_while_libraries_load_is_handled(monkeypatch, capsys):
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "app", interrupted)
    with pytest.raises(SystemExit) as caught:
        run([])
    assert caught.value.code == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_an_interruption_before_any_library_is_loaded_ends_without_a_traceback():
    code = """
import sys
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "numpy":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from espalier_command import run
run()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "Interrupted.\n")


def test_terminal_codes_of_a_file_are_made_visible(tmp_path):
    file = tmp_path / "codes.mrg"
    file.write_text("(S (N \x1b]0;title\x07cat) (V \x9b31msleeps))\n", "utf-8")
    found = CliRunner().invoke(main.app, ["nearest", str(file), "--query", "(S (N cat))", "-k", "1"])
    assert found.exit_code == 0
    assert found.output.rstrip().endswith("(S (N ␛]0;title␇cat) (V �31msleeps))")
    bad = tmp_path / "bad.mrg"
    bad.write_text("(S (N \x1b[31m", "utf-8")
    failed = CliRunner().invoke(main.app, ["stats", str(bad)])
    assert failed.exit_code == 2 and "\x1b" not in failed.output


def test_an_interruption_while_writing_keeps_the_old_file(tmp_path, monkeypatch):
    output = tmp_path / "out.npy"
    output.write_bytes(b"old")

    def interrupted(stream: object, array: object) -> None:
        stream.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setitem(matrix._WRITERS, ".npy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        matrix.save_array(np.eye(2), output)
    assert output.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [output]


def test_a_closed_pipe_is_no_traceback(trees):
    read, write = os.pipe()
    os.close(read)
    try:
        result = subprocess.run(
            command("nearest", trees, "--query", "(N dog)"), stdout=write, stderr=subprocess.PIPE, timeout=120
        )
    finally:
        os.close(write)
    assert b"Traceback" not in result.stderr


def test_the_demo_tells_its_story_and_writes_a_page(tmp_path):
    folder = tmp_path / "new" / "page"
    result = invoke("demo", "--n", 240, "--seed", 4, "--svg", folder)
    assert result.exit_code == 0, result.stderr
    for text in ("words mislead", "nearest tree", "best possible", "95.0 %", "[SBARQ]", "┏"):
        assert text in result.stdout
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["index.html", "question-1.svg", "question-2.svg", "question-3.svg"]
    for name in names[1:]:
        assert ET.parse(folder / name).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    page = (folder / "index.html").read_text()
    assert page.count("<svg") == 3
    assert "src=" not in page
    assert "href=" not in page


@pytest.fixture(scope="module")
def experiment():
    return answer_questions(800, 1)


def test_trees_beat_words_and_stay_below_the_best_score(experiment):
    share = {score.name: score.share for score in experiment.scores}
    assert share["best possible"] == BEST_SCORE
    assert abs(share["words"] - 0.25) < 0.15
    assert share["words"] + 0.3 < share["trees, decay 0.6"] <= BEST_SCORE
    assert share["trees, decay 0.1"] < share["trees, decay 0.6"]


def test_the_marked_fragment_stands_in_both_trees(experiment):
    assert len(experiment.examples) == 3
    for example in experiment.examples:
        x, y = example.marks()
        assert [example.asked["tree"][p].label for p in x] == [example.nearest["tree"][p].label for p in y]


def test_the_demo_is_the_same_for_the_same_seed(experiment):
    again = answer_questions(800, 1, n_threads=1)
    assert again.examples == experiment.examples
    assert [score.share for score in again.scores] == [score.share for score in experiment.scores]


@pytest.mark.parametrize("group", [[], ["rerank"], ["tag"]], ids=" ".join)
def test_summaries_in_help_are_whole_at_60_columns(group):
    help_text = CliRunner(env={"COLUMNS": "60", "NO_COLOR": "1"}).invoke(app, [*group, "--help"]).stdout
    listed = help_text[help_text.index("Commands:") :]
    assert len(listed.splitlines()) > 3
    for line in listed.splitlines()[1:]:
        assert line.endswith(".") and not line.endswith("..") and len(line) <= 60


def _sorted_help(command):
    """The names of options in the help of a command, by the titles under which they stand."""
    found, title = {}, ""
    for line in CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(app, [command, "--help"]).stdout.splitlines():
        title = line if line.endswith(":") and not line.startswith(" ") else title
        found.setdefault(title, set()).update(re.findall(r"^  (--[a-z-]+)", line))
    return found


def test_help_says_which_options_are_for_constituents_and_which_for_dependency_trees():
    trees, arcs = f"{options.TREES}:", f"{options.ARCS}:"
    grammar, parse, candidates, evaluate = map(_sorted_help, ("grammar", "parse", "candidates", "evaluate"))
    assert grammar[trees] == {"--markov", "--split-tags", "--least", "--unknown", "--smoothing", "--skip"}
    assert grammar[arcs] == {"--order", "--epochs", "--tags", "--folds", "--seed"}
    assert grammar["Options:"] == {"--encoding", "--help"}
    assert parse[trees] == {"--beam", "--coarse", "--skip"}
    assert parse[arcs] == {"--tagger", "--taggings", "--tag-weight", "--tags"}
    assert candidates[trees] == grammar[trees] | {"--beam", "--coarse"}
    assert candidates[arcs] >= {"--order", "--epochs", "--tags", "--tag-folds", "--add-gold"}
    assert evaluate[trees] == {"--all-punctuation", "--all-labels"}


def test_the_help_of_the_demo_says_how_many_questions_are_held_out():
    help_text = " ".join(CliRunner(env={"NO_COLOR": "1"}).invoke(app, ["demo", "--help"]).stdout.split())
    assert f"a quarter, rounded down to a multiple of {BLOCK}, is held out" in help_text
    assert f"Each of {BLOCK} held-out questions" in invoke("demo", "--n", "120").stdout


def test_without_the_experiments_the_command_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr(reproduce, "PACKAGE", "espalier_experiments_that_nobody_installed")
    result = invoke("reproduce", "beck2015")
    assert result.exit_code == 2
    assert "pip install ./experiments" in result.stderr
