"""The errors Espalier raises on purpose, each also the builtin a caller expects.

A message says what is wrong, where, and what to do about it. Everything here survives ``pickle``,
so that an error in a worker process arrives whole.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

__all__ = [
    "InputError",
    "KernelOverflowError",
    "MemoryBudgetError",
    "MissingDependencyError",
    "TreeSyntaxError",
    "VocabularyMismatchError",
]

_WINDOW = 80  # characters of the offending line that are shown around the caret


class TreeSyntaxError(ValueError):
    """Bracketed text is not a tree; the message shows the place with a caret.

    Parameters
    ----------
    message
        What is wrong, in words, without a final full stop.
    source
        The file or object the text came from.
    line, column
        The place, both counted from 1. ``column`` follows from ``position`` where it is not given.
    text
        The line in which the error stands.
    position
        Where in ``text`` the caret goes, counted from 0.

    Examples
    --------
    >>> print(TreeSyntaxError("this bracket is never closed", source="a.mrg", line=3,
    ...                       text="(S (NP the cat)", position=0))
    a.mrg, line 3, column 1: this bracket is never closed.
        (S (NP the cat)
        ^
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
        position: int | None = None,
    ) -> None:
        self.message = message
        self.source = source
        self.line = line
        self.column = position + 1 if column is None and position is not None else column
        self.text = text
        self.position = position
        super().__init__(self._describe())

    def _describe(self) -> str:
        place = [] if self.source is None else [self.source]
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.column is not None:
            place.append(f"column {self.column}")
        sentence = self.message if self.message.endswith((".", "!", "?")) else f"{self.message}."
        first = ": ".join([", ".join(place), sentence] if place else [sentence])
        if self.position is None or self.text is None or not self.text.strip():
            return first
        return "\n".join([first, *_excerpt(self.text, self.position)])

    def moved(self, source: str) -> TreeSyntaxError:
        """Return the same error with another source, such as the row of a corpus."""
        return TreeSyntaxError(self.message, **self._place() | {"source": source})

    def _place(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("source", "line", "column", "text", "position")}

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(TreeSyntaxError, **self._place()), (self.message,)


def _excerpt(text: str, position: int) -> tuple[str, str]:
    """The window of ``text`` around ``position``, and the caret under it."""
    start = max(0, min(position - _WINDOW // 2, len(text) - _WINDOW))
    stop = min(len(text), start + _WINDOW)
    # A tab or a control character would move the caret away from its place.
    shown = "".join(c if c.isprintable() else " " for c in text[start:stop])
    before, after = "..." if start else "", "..." if stop < len(text) else ""
    return f"    {before}{shown}{after}", " " * (4 + len(before) + position - start) + "^"


class InputError(ValueError):
    """A file, a table, a column, a row or a value cannot be used as it is."""


class VocabularyMismatchError(ValueError):
    """Two corpora have different vocabularies, so equal ids may mean different labels."""


class KernelOverflowError(OverflowError):
    """A kernel value is too large for a float64; a smaller decay keeps it finite."""


class MemoryBudgetError(MemoryError):
    """A computation cannot be cut into pieces that fit its memory, or a matrix exceeds what the process may use."""

    told: tuple[str, str, int] | None = None  # why, what else to do, and the budget that is named


class MissingDependencyError(ImportError):
    """An optional library is needed; the message names the extra that installs it.

    Parameters
    ----------
    library
        The library that is missing.
    extra
        The extra of Espalier that installs it.
    purpose
        What it is needed for.

    Examples
    --------
    >>> raise MissingDependencyError("polars", extra="tables", purpose="Reading Parquet")
    Traceback (most recent call last):
    espalier.errors.MissingDependencyError: Reading Parquet needs polars, which is not installed.
    Install it with: pip install "espalier[tables]"
    """

    def __init__(self, library: str, *, extra: str, purpose: str) -> None:
        self.library = library
        self.extra = extra
        self.purpose = purpose
        super().__init__(
            f'{purpose} needs {library}, which is not installed.\nInstall it with: pip install "espalier[{extra}]"',
            name=library,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(MissingDependencyError, extra=self.extra, purpose=self.purpose), (self.library,)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this library that called the kernel or the learner."""
    outermost, level, frame = 1, 1, inspect.currentframe()
    while frame is not None:  # to the end: an optimiser of another library may stand between a learner and a kernel
        if str(frame.f_globals.get("__name__", "")).startswith("espalier."):
            outermost = level
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=outermost + 1)
