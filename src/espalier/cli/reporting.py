"""How commands fail: a mistake of the user becomes one message on standard error and an exit code."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ParamSpec

import typer

from espalier.structures.layout import printable

P = ParamSpec("P")

USER_ERROR, INTERRUPTED = 2, 130


def say(message: str) -> None:
    """Print a message on standard error."""
    typer.echo("\n".join(map(visible, message.split("\n"))), err=True)


def visible(text: str) -> str:
    """Return a text that is safe for a terminal: codes that would move its cursor or set its title become visible."""
    return printable(text, len(text))


def command_group(name: str, words: str) -> typer.Typer:
    """Commands under one name, such as ``espalier tag``."""
    app = typer.Typer(
        name=name, help=words, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    app.callback(help=words)(lambda: None)
    return app


def write_lines(lines: Iterable[str], output: Path | None) -> None:
    """Write lines to a file completely or not at all, or print them."""
    text = "".join(f"{line}\n" for line in lines)
    if output is None:
        typer.echo(text, nl=False, color=True)  # without colour, typer would cut characters out of the data
    else:
        from espalier.structures.files import write_text

        write_text(output, text)


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
            except OSError as error:
                say(f"Error: {_os_message(error)}")
                raise typer.Exit(USER_ERROR) from None
            except (ValueError, OverflowError, FloatingPointError, MemoryError, ImportError, LookupError) as error:
                say(f"Error: {_memory_message(error) if isinstance(error, MemoryError) else error}")
                raise typer.Exit(USER_ERROR) from None

    return run_command


def _memory_message(error: MemoryError) -> str:
    """Say what did not fit into memory if the error knows; errors of the core and of Python do not."""
    if str(error) not in ("", "std::bad_alloc"):
        return str(error)
    return "there is not enough memory for this. Ask for less at once: fewer sentences, a smaller -k, fewer candidates."


def _os_message(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    return f"{os.fspath(error.filename)}: {error.strerror}."
