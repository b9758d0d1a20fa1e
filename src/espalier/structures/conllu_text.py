"""``ConlluText``: a CoNLL-U file as it is written, whose columns of tags or arcs are replaced and all else is kept.

What is to be tagged or parsed needs neither tags nor heads, so nothing but the words is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from espalier.errors import InputError
from espalier.structures.conllu import JOINT, TagColumn, tag_columns
from espalier.structures.dependency import DependencyTree
from espalier.structures.limits import shortened
from espalier.structures.notation import BLANKS
from espalier.structures.sequence import TaggedSequence

N_COLUMNS = 10
FORM, UPOS, XPOS, HEAD, DEPREL, DEPS = 1, 3, 4, 6, 7, 8
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_WORD = re.compile(r"[0-9]+")
_OTHER = re.compile(r"[0-9]+[-.][0-9]+")  # a range of words, or an empty node


@dataclass(frozen=True)
class ConlluText:
    r"""The lines of a file, and which of them are the words of each sentence.

    Parameters
    ----------
    name
        The name of the file, for errors.
    lines
        All lines with their ends.
    words, others
        For each sentence, the numbers of the lines of its words, and of its ranges and empty nodes.
    names
        The ``sent_id`` of each sentence, or None.

    Examples
    --------
    >>> text = ConlluText.of("# a comment\n1\tCats\t_\t_\t_\t_\t_\t_\t_\t_\n")
    >>> text.forms()
    [['Cats']]
    >>> print(text.replaced([{UPOS: ["NOUN"]}]).replace("\t", " "), end="")
    # a comment
    1 Cats _ NOUN _ _ _ _ _ _
    """

    name: str
    lines: Sequence[str]
    words: Sequence[Sequence[int]]
    others: Sequence[Sequence[int]]
    names: Sequence[str | None]

    @staticmethod
    def of(text: str, name: str = "<text>") -> ConlluText:
        """Find the sentences of a text; one without words, or a line without ten columns, is an error."""
        lines = _LINE.findall(text)
        words: list[list[int]] = []
        others: list[list[int]] = []
        names: list[str | None] = []
        inside, label = False, None
        for number, line in enumerate([*lines, ""]):
            if line.startswith("#"):
                key, _, value = line.partition("=")
                label = value.strip() if key.lstrip("#").strip() == "sent_id" else label
            elif not line.strip(BLANKS):
                if inside and not words[-1]:
                    raise InputError(f"{name}, sentence {len(words)}: it has no word.")
                inside, label = False, None
            else:
                if not inside:
                    words.append([])
                    others.append([])
                    names.append(None)
                inside = True
                reason = _fault(line, len(words[-1]) + 1)
                if reason is not None:
                    raise InputError(f"{name}, sentence {len(words)}, line {number + 1}: {reason}")
                is_word = _WORD.fullmatch(line.split("\t", 1)[0]) is not None
                (words if is_word else others)[-1].append(number)
            if inside:
                names[-1] = label
        return ConlluText(name, lines, words, others, names)

    def __len__(self) -> int:
        return len(self.words)

    def column(self, column: int) -> list[list[str]]:
        """What stands in a column, counted from 0, for the words of each sentence."""
        return [[_fields(self.lines[number])[column] for number in own] for own in self.words]

    def forms(self) -> list[list[str]]:
        """The words of each sentence."""
        return self.column(FORM)

    def tagged(self, tags: TagColumn) -> list[TaggedSequence]:
        """The words with their tags, as :func:`read_conllu` reads them; a word without one is an error."""
        first = self.column(XPOS if tags == "xpos" else UPOS)
        second = self.column(XPOS)
        out = []
        for row, (words, own) in enumerate(zip(self.forms(), first, strict=True)):
            if tags == "joint":
                own = [a if b == "_" else f"{a}{JOINT}{b}" for a, b in zip(own, second[row], strict=True)]
            for place, (word, tag) in enumerate(zip(words, own, strict=True)):
                if tag == "_" != word:
                    what = "tag" if tags == "joint" else f"{tags.upper()} tag"
                    raise InputError(
                        f"{self.name}, sentence {row + 1}, line {self.words[row][place] + 1}: the word "
                        f"{shortened(word)!r} has no {what}."
                    )
            out.append(TaggedSequence(words, own))
        return out

    def trees(self, tagged: Sequence[TaggedSequence]) -> list[DependencyTree | None]:
        """The trees of the file with other tags; None for a sentence in which a head is missing."""
        found: list[DependencyTree | None] = []
        columns = zip(self.column(HEAD), self.column(DEPREL), tagged, strict=True)
        for row, (heads, relations, own) in enumerate(columns):
            if "_" in heads:
                found.append(None)
                continue
            try:
                if wrong := [head for head in heads if not re.fullmatch(r"[0-9]{1,18}", head)]:
                    raise InputError(f"{shortened(wrong[0])!r} is no head: a number, or _ where it is not known.")
                found.append(DependencyTree(own.words, own.tags, [int(head) for head in heads], relations))
            except InputError as error:
                raise InputError(f"{self.name}, sentence {row + 1}, line {self.words[row][0] + 1}: {error}") from None
        return found

    def sentence(self, row: int) -> ConlluText:
        """One sentence, with the comments that stand directly above and below it."""
        numbers = sorted([*self.words[row], *self.others[row]])
        first, end = numbers[0], numbers[-1] + 1
        while first > 0 and self.lines[first - 1].startswith("#"):
            first -= 1
        while end < len(self.lines) and self.lines[end].startswith("#"):
            end += 1
        words, others = ([number - first for number in own[row]] for own in (self.words, self.others))
        return ConlluText(self.name, self.lines[first:end], [words], [others], [self.names[row]])

    def replaced(
        self, columns: Sequence[Mapping[int, Sequence[str]]], *, other: Mapping[int, str] | None = None
    ) -> str:
        """Return the text with other values in some columns of the words of each sentence.

        ``other`` has what then stands in columns of ranges and empty nodes.
        """
        lines = list(self.lines)
        for numbers, aside, own in zip(self.words, self.others, columns, strict=True):
            for place, number in enumerate(numbers):
                lines[number] = _changed(lines[number], {column: values[place] for column, values in own.items()})
            for number in aside if other else ():
                lines[number] = _changed(lines[number], other or {})
        return "".join(lines)


def columns_of_tags(tags: Sequence[str], column: TagColumn) -> dict[int, Sequence[str]]:
    """What tags put into the columns of CoNLL-U; joint ones into two."""
    if column != "joint":
        return {XPOS if column == "xpos" else UPOS: tags}
    upos, xpos = zip(*map(tag_columns, tags), strict=True) if tags else ((), ())
    return {UPOS: upos, XPOS: xpos}


def _fields(line: str) -> list[str]:
    return line.rstrip("\r\n").split("\t")


def _changed(line: str, values: Mapping[int, str]) -> str:
    body = line.rstrip("\r\n")
    fields = body.split("\t")
    for column, value in values.items():
        if not value or any(sign in value for sign in "\t\r\n"):
            raise InputError(f"{value!r} cannot be written into a column of CoNLL-U.")
        fields[column] = value
    return "\t".join(fields) + line[len(body) :]


def _fault(line: str, expected: int) -> str | None:
    """Say what is wrong with a line of columns; ``expected`` is the number of the next word."""
    fields = _fields(line)
    if len(fields) != N_COLUMNS:
        return (
            f"CoNLL-U has ten columns with tabs between them, and {shortened(line.rstrip(BLANKS))!r} has {len(fields)}."
        )
    if _OTHER.fullmatch(fields[0]):
        return None
    if not _WORD.fullmatch(fields[0]):
        return (
            f"{shortened(fields[0])!r} is not a valid ID: a number, a range such as 1-2, or an empty node such as 1.1."
        )
    if fields[0] != str(expected):
        return f"word {expected} has the id {shortened(fields[0])}; ids must count the words from 1."
    return None if fields[FORM] else f"word {expected} is empty."
