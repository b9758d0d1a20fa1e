"""How much text a reader accepts: a small compressed file can expand to gigabytes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from espalier.errors import InputError
from espalier.structures.numbers import whole_number


@dataclass(frozen=True)
class ReadLimits:
    r"""The largest text that a reader accepts, in bytes, in characters of one line, and in lines.

    The defaults are far above any treebank or table that fits into memory. Every reader of structures and tables
    accepts ``limits=``. None means no limit.

    Parameters
    ----------
    max_bytes
        Bytes of the text after decompression.
    max_line
        Characters of one line.
    max_lines
        Lines of a text, or rows of a Parquet file.

    Examples
    --------
    >>> import io
    >>> from espalier import read_brackets
    >>> read_brackets(io.StringIO("(A a)\n(B b)"), limits=ReadLimits(max_lines=1))
    Traceback (most recent call last):
    espalier.errors.InputError: <StringIO> has more than 1 lines, the limit.
    If it is meant to be so large, pass limits=ReadLimits(max_lines=...) with a larger number, or with None.
    """

    max_bytes: int | None = 2 * 1024**3
    max_line: int | None = 64 * 1024**2
    max_lines: int | None = 50_000_000

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_line", "max_lines"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole_number(name, value, most=math.inf, none=True))

    def check_bytes(self, n_bytes: int, name: str) -> None:
        """Refuse too many bytes."""
        if self.max_bytes is not None and n_bytes > self.max_bytes:
            raise _too_large(name, f"holds more than {self.max_bytes:,} bytes", "max_bytes")

    def check_rows(self, n_rows: int, name: str, what: str = "rows") -> None:
        """Refuse too many rows, or lines of a text."""
        if self.max_lines is not None and n_rows > self.max_lines:
            raise _too_large(name, f"has more than {self.max_lines:,} {what}", "max_lines")

    def check_lines(self, text: str, name: str) -> None:
        """Refuse a text of too many lines, or with a line that is too long."""
        self.check_rows(text.count("\n") + 1 - text.endswith("\n"), name, "lines")
        if self.max_line is None:
            return
        first = 0
        # From one line break to the last one within reach: a window without one is a line that is too long.
        while len(text) - first > self.max_line:
            found = text.rfind("\n", first, first + self.max_line + 1)
            if found < 0:
                line = text.count("\n", 0, first) + 1
                raise _too_large(f"{name}, line {line}", f"has more than {self.max_line:,} characters", "max_line")
            first = found + 1


DEFAULT_LIMITS = ReadLimits()
MOST_DIGITS = 400  # of an integer in a file: more than any float64 has, and few enough to be read at once


def shortened(text: str, most: int = 40) -> str:
    """Shorten a piece of a file for an error message."""
    return text if len(text) <= most else f"{text[:most]}..."


def _too_large(name: str, what: str, argument: str) -> InputError:
    """Make the error for a text that exceeds a limit."""
    return InputError(
        f"{name} {what}, the limit.\nIf it is meant to be so large, pass limits=ReadLimits({argument}=...) with a "
        "larger number, or with None."
    )


def check_local(path: str) -> None:
    """Refuse a name that is an address: no reader goes to the network."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path):
        raise InputError(
            f"{path} looks like an address on a network, but Espalier reads only local files. Fetch the file first, "
            "and pass its path."
        )
