"""Running the command line inside a test."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from espalier.cli.main import app

# For interrupt: runs a command with a function of the core that says when it begins, and goes on for ever.
SLOW_CORE = """
import sys
from espalier import _core
from espalier.cli.main import run
name, real = sys.argv[1], getattr(_core, sys.argv[1])
def slow(*arguments):
    print("at work", file=sys.stderr, flush=True)
    while True:
        real(*arguments)
setattr(_core, name, slow)
run(sys.argv[2:])
"""


def invoke(*arguments: object) -> Result:
    """Run ``espalier`` with these arguments, on a wide terminal without colours."""
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, [str(a) for a in arguments])


def done(*arguments: object) -> Result:
    """Run a command that must succeed."""
    result = invoke(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*arguments: object) -> str:
    """Run a command that must fail with one message, which is returned, and that must write nothing here."""
    before = _files()
    result = invoke(*arguments)
    assert result.exit_code == 2, result.exception
    assert "Traceback" not in result.stderr
    assert not result.stdout
    assert _files() == before
    return result.stderr


def interrupt(code: str, sign: str, *arguments: str) -> None:
    """Interrupt a command in a process of its own, when it prints this sign; it must exit and change no file here."""
    before = _files()
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and process.stderr.readline() == f"{sign}\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == ("", "Interrupted.\n")
    assert _files() == before


def _files() -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in Path().iterdir()}
