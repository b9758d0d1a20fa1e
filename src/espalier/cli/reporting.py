"""How commands fail: a mistake of the user becomes one message on standard error and an exit code."""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import typer
from typer.core import TyperCommand

from espalier.structures.layout import printable

if TYPE_CHECKING:
    from rich.console import Console

P = ParamSpec("P")

USER_ERROR, INTERRUPTED = 2, 130
_MISTAKES = (OSError, ValueError, OverflowError, FloatingPointError, MemoryError, ImportError, LookupError)


def say(message: str) -> None:
    """Print a message on standard error."""
    typer.echo("\n".join(map(visible, message.split("\n"))), err=True)


def visible(text: str) -> str:
    """Return a text that is safe for a terminal: codes that would move its cursor or set its title become visible."""
    return printable(text, len(text))


def console() -> Console:
    """Where tables are printed."""
    from rich.console import Console

    return Console(highlight=False)


def command_group(name: str, words: str) -> typer.Typer:
    """Commands under one name, such as ``espalier tag``."""
    app = typer.Typer(
        name=name, help=words, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    app.callback(help=words)(lambda: None)
    return app


class SortedHelp(TyperCommand):
    """A command whose help lists the options that only some kinds of input have under titles of their own."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options of all kinds, and then those of each kind."""
        listed: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            title = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if record is not None:
                listed.setdefault(getattr(parameter, "rich_help_panel", None) or title, []).append(record)
        for title, records in listed.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def write_lines(lines: Iterable[str], output: Path | None) -> None:
    """Write lines to a file completely or not at all, or print them."""
    write_whole("".join(f"{line}\n" for line in lines), output)


def write_whole(text: str, output: Path | None) -> None:
    """Write a text to a file completely or not at all, or print it."""
    if output is None:
        typer.echo(text, nl=False, color=True)  # without colour, typer would cut characters out of the data
    else:
        from espalier.structures.files import write_text

        write_text(output, text)


def write_json(record: object) -> None:
    """Print a record as JSON."""
    typer.echo(json.dumps(record, indent=2))


def reported(command: Callable[P, None]) -> Callable[P, None]:
    """Turn a mistake of the user into one message and an exit code, without a traceback."""

    @functools.wraps(command)
    def run_command(*arguments: P.args, **options: P.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_: say(f"Warning: {message}")
            try:
                command(*arguments, **options)
            except KeyboardInterrupt:
                say("Interrupted.")
                raise typer.Exit(INTERRUPTED) from None
            except BrokenPipeError:
                raise
            except _MISTAKES as error:
                say(f"Error: {_message(error)}")
                raise typer.Exit(USER_ERROR) from None

    return run_command


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}."
    if isinstance(error, MemoryError) and str(error) in ("", "std::bad_alloc"):  # of Python or of the core
        ask = "Ask for less at once: fewer sentences, a smaller -k, fewer candidates."
        return f"there is not enough memory for this. {ask}"
    return str(error)
