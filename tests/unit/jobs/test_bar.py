"""``verbose=True`` draws a bar on standard error, and goes on telling the user's own function."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

import espalier as es
from espalier.jobs.bar import reporting
from espalier.jobs.progress import Progress

FIT = """
import espalier as es
told = []
trees = ["(S (A a))", "(S (B b))", "(S (A a) (B b))", "(S (B b) (B b))"]
es.KernelSVC(es.SubsetTree(), progress=told.append, verbose=True).fit(trees, [0, 1, 0, 1])
assert told[-1].fraction == 1.0 and told[-1].what == "fitting KernelSVC", told
"""


DETAIL = """
from espalier.jobs.bar import bar
from espalier.jobs.progress import Progress
with bar("selecting") as draw:
    draw(0.25)
    draw(Progress("selecting", 0.5, None, "order [2]: 1,234 candidates"))
"""


NARROW = """
from espalier.jobs.bar import bar
from espalier.jobs.progress import Progress
with bar("1,500 trees in 5 parts") as draw:
    draw(Progress("selecting", 0.5, None, "pass 1, order 2: 123,456 candidates, 1,234 survivors, 5.5 GiB"))
"""


def drawn_by(program, columns=80):
    """What a program draws on a terminal."""
    own, terminal = pty.openpty()
    known = os.environ | {"TERM": "xterm", "COLUMNS": str(columns)}
    process = subprocess.Popen([sys.executable, "-c", program], stderr=terminal, env=known)
    os.close(terminal)
    drawn = b""
    while True:
        try:
            if not (some := os.read(own, 4096)):
                break
        except OSError:  # the other side is closed
            break
        drawn += some
    assert process.wait() == 0
    return drawn


def test_bar_is_drawn_on_a_terminal_and_progress_is_told():
    assert b"fitting KernelSVC" in drawn_by(FIT)


def test_a_detail_is_drawn_below_the_bar():
    bars = drawn_by(DETAIL).split(b"order [2]: 1,234 candidates")[0]
    assert b"50%" in bars and bars.rstrip(b"\x1b[0m").endswith(b"\n"), bars


@pytest.mark.parametrize("columns", [24, 40, 60])
def test_nothing_is_cut_on_a_narrow_terminal(columns):
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn_by(NARROW, columns).decode())
    assert "…" not in shown
    words = shown.split()
    for text in ("1,500 trees in 5 parts", "50%", "0:00:00 -:--:--", "1,234 survivors, 5.5 GiB"):
        own = text.split()
        assert any(words[k : k + len(own)] == own for k in range(len(words))), text


def test_nothing_is_written_where_standard_error_is_no_terminal():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, check=True)
    assert done.stderr == b"" and done.stdout == b""


def test_nobody_is_told_unless_somebody_asks():
    with reporting("x", None, False) as report:
        assert report is None


def test_verbose_passes_progress_on():
    told = []
    with reporting("x", told.append, True) as report:
        report(Progress("x", 0.5))
    assert told == [Progress("x", 0.5)]


def test_verbose_must_be_a_truth_value():
    with pytest.raises(TypeError, match="verbose must be True or False, got 'yes'"):
        es.KernelSVC(es.SubsetTree(), verbose="yes").fit(["(A a)", "(B b)"], [0, 1])
