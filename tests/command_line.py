"""Running the command line inside a test."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from espalier.cli.main import app


def invoke(*arguments: object) -> Result:
    """Run ``espalier`` with these arguments, on a wide terminal without colours."""
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, [str(a) for a in arguments])


def done(*arguments: object) -> Result:
    """Run a command that must succeed."""
    result = invoke(*arguments)
    assert result.exit_code == 0, result.stderr
    return result
