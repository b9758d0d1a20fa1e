"""What a user can cause is one message; a lack of memory suggests what to do."""

from __future__ import annotations

import pytest
import typer

from espalier.cli.reporting import reported
from espalier.errors import MemoryBudgetError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("std::bad_alloc"), "Error: there is not enough memory for this. Ask for less at once"),
        (MemoryError(), "Error: there is not enough memory for this."),
        (MemoryBudgetError("A pair needs 3 GiB."), "Error: A pair needs 3 GiB."),
        (ValueError("k must be positive."), "Error: k must be positive."),
        (FileNotFoundError(2, "No such file or directory", "k.txt"), "Error: k.txt: No such file or directory."),
    ],
)
def test_errors_are_one_message(error, message, capsys):
    @reported
    def command():
        raise error

    with pytest.raises(typer.Exit) as ended:
        command()
    out, told = capsys.readouterr()
    assert ended.value.exit_code == 2 and out == "" and told.startswith(message) and told.count("\n") == 1


def test_mistakes_of_our_own_are_not_hidden():
    @reported
    def command():
        raise AssertionError("this cannot be")

    with pytest.raises(AssertionError):
        command()
