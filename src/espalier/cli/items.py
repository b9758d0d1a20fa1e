"""The items of a file for a kernel: trees in brackets, lines of text, or CoNLL-U."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from espalier.corpus.forest import Forest
from espalier.corpus.texts import row_that_reads_as_a_tree
from espalier.errors import InputError
from espalier.kernels.base import Kernel, Reads
from espalier.kernels.inputs import Inputs
from espalier.structures.conllu import read_conllu
from espalier.structures.dependency import DependencyTree
from espalier.structures.files import read_text

FileItems = Forest | Inputs | list[DependencyTree] | list[str]


class Format(StrEnum):
    """The format of the items of a file; later formats carry more information."""

    TEXT = "text"
    BRACKETS = "brackets"
    CONLLU = "conllu"


_HOLDS = {Format.TEXT: "lines of text", Format.BRACKETS: "trees in brackets", Format.CONLLU: "CoNLL-U"}
# The format of files that a kernel is meant for, by what it reads. Brackets have all but arcs.
_NEEDED: dict[Reads, Format] = {
    "words": Format.TEXT,
    "characters": Format.TEXT,
    "trees": Format.BRACKETS,
    "tags": Format.CONLLU,
    "tagged words": Format.CONLLU,
    "graphs": Format.CONLLU,
    "arcs": Format.CONLLU,
}
_ITEM = {Format.TEXT: "line", Format.BRACKETS: "tree", Format.CONLLU: "sentence"}


def read_items(kernel: Kernel, file: Path, encoding: str, chosen: str | None) -> tuple[FileItems, str]:
    """Return the items of a file, in the chosen format or the one that the kernel needs, and the word for one item."""
    if chosen is not None and chosen not in list(Format):
        raise InputError(f"--format must be one of {', '.join(Format)}, got {chosen!r}.")
    innermost = [part for part in kernel._every_kernel() if not part._children()]
    parts = [(part, needed_format(part)) for part in innermost if part.reads() != "nothing"]
    if not parts:
        raise InputError(f"{kernel!r} reads nothing of its items. Add a kernel of trees or sequences.")
    # Whatever tells more also tells what the others need: trees have words, and CoNLL-U has tags and arcs too.
    part, needed = max(parts, key=lambda found: list(Format).index(found[1]))
    if chosen is not None:
        for part, own in parts:
            too_little = chosen == Format.TEXT and own is not Format.TEXT
            if too_little or (chosen == Format.BRACKETS and part.reads() == "arcs"):
                raise InputError(f"{part!r} cannot read {_HOLDS[Format(chosen)]}; pass --format {own}.")
    form = needed if chosen is None else Format(chosen)
    try:
        items = _read(file, form, encoding)
    except InputError as error:
        if form is Format.CONLLU and chosen is None and part.reads() != "arcs":
            raise InputError(
                f"{error}\nThis command reads CoNLL-U for {part!r}. "
                "If the file holds trees in brackets, pass --format brackets."
            ) from None
        raise
    if not len(items):
        raise InputError(f"{file} contains no {_ITEM[form]}.")
    if form is Format.TEXT:
        row = None if chosen is not None else row_that_reads_as_a_tree(items)
        if row is not None:
            raise InputError(
                f"{file}, line {row + 1} reads as a tree in brackets, and could be plain words too. "
                "Pass --format brackets if the file holds trees, whose words then count, or --format text."
            )
        items = Inputs.of(items).read_strings([None], "words")
    return items, _ITEM[form]


def needed_format(kernel: Kernel) -> Format:
    """Return the format of files that a kernel without inner kernels reads."""
    if kernel.reads() in _NEEDED:
        return _NEEDED[kernel.reads()]
    if kernel.reads() == "items":
        raise InputError(
            f"{kernel!r} does not say what it reads (its method reads() returns 'items'), and this command reads "
            "trees, texts and CoNLL-U."
        )
    raise InputError(f"{kernel!r} compares vectors, and this command reads trees, texts and CoNLL-U.")


def _read(file: Path, form: Format, encoding: str) -> FileItems:
    if form is Format.BRACKETS:
        return Forest.from_file(file, encoding=encoding)
    if form is Format.CONLLU:
        return read_conllu(file, encoding=encoding)
    lines = read_text(file, encoding=encoding).replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]  # a line ends with its newline
