"""Sentences of a text file, one per line. A line without words holds no sentence, and keeps its number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.cli.reporting import say
from espalier.errors import InputError
from espalier.structures.conllu import is_conllu
from espalier.structures.files import read_text
from espalier.structures.notation import BLANKS, split_words

STAY, NAMED = "stay empty", "are left out, and the others are named by their lines"


@dataclass(frozen=True)
class TextLines:
    """The words, or pairs of word and tag, of the lines that have words.

    Parameters
    ----------
    listed
        The words of each sentence.
    numbers
        The line of each sentence, counted from 1.
    """

    listed: list[list[Any]]
    numbers: list[int]

    @property
    def names(self) -> list[str]:
        """The number of each sentence's line, as its name."""
        return list(map(str, self.numbers))

    def spread(self, lines: Iterable[str]) -> Iterator[str]:
        """Put the line of each sentence where the sentence stood, with empty lines where there was none."""
        at = 0
        for number, line in zip(self.numbers, lines, strict=True):
            yield from [""] * (number - at - 1)
            yield line
            at = number

    def tell_empty(self, what: str) -> None:
        """Say how many lines have no words, if there are any, and what becomes of them."""
        n_lines = self.numbers[-1]
        if n_empty := n_lines - len(self.numbers):
            say(f"{n_empty:,} of {n_lines:,} lines have no words: they {what}.")


def check_format(form: str | None, other: str) -> None:
    """Refuse a ``--format`` other than text and one more."""
    if form not in (None, "text", other):
        raise InputError(f"--format must be one of text, {other}, got {form!r}.")


def read_sentences(
    file: Path, form: str | None, encoding: str, *, other: str, tagged: bool = False, text: str | None = None
) -> TextLines:
    """Read the sentences of a text file, one per line; empty lines hold none.

    Unless ``form`` says that it is text, what looks like something else is refused; ``other`` is what else ``--format``
    takes. ``text`` is what the file holds, if it was read already.
    """
    text = (read_text(file, encoding=encoding) if text is None else text).replace("\r\n", "\n")
    if form is None:
        _check_text(file, text, other)
    found = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip(BLANKS):
            found[number] = _words(file, number, line, tagged=tagged)
    if not found:
        raise InputError(f"{file} contains no sentence.")
    return TextLines(list(found.values()), list(found))


def _check_text(file: Path, text: str, other: str) -> None:
    """Refuse a text that does not look like sentences, and say how to read it."""
    looks = {
        "brackets": ("trees", _holds_trees),
        "conllu": ("CoNLL-U", is_conllu),
        "groups": ("groups of candidates", holds_groups),
    }
    for form, (what, is_it) in looks.items():
        if is_it(text):
            way = ", but sentences are needed, one per line; pass"
            if form == other:
                way = f": pass --format {form}, or"
            elif form == "conllu":
                way = ", but sentences are needed, one per line. Learn a dependency parser to parse it, or pass"
            raise InputError(f"{file} looks like {what}{way} --format text if these are words.")


def _words(file: Path, number: int, line: str, *, tagged: bool) -> list[Any]:
    words = split_words(line)
    if not tagged:
        return words
    pairs = [(word.rpartition("/")[0], word.rpartition("/")[2]) for word in words]
    for given, pair in zip(words, pairs, strict=True):
        if not all(pair):
            raise InputError(f"{file}, line {number}: with --tagged each word is written word/TAG, got {given!r}.")
    return list(pairs)


def _holds_trees(text: str) -> bool:
    return re.match(r"\s*\(\S*\s+\(", text, re.ASCII) is not None


def holds_groups(text: str) -> bool:
    """Whether a text begins like JSON Lines of groups, or like a count, a score and a tree."""
    return re.match(r"\s*(\{[^\n]*\"candidates\"\s*:|\d+[^\n]*\n\s*[-+]?\d[\d.eE+-]*\s+\()", text, re.ASCII) is not None
