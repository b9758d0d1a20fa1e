"""``Sequences``: words, characters or tags in order, as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.interned import Corpus
from espalier.corpus.selection import Rows, chosen_rows, not_unicode, ranges
from espalier.corpus.soundness import check_sequences
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.notation import split_words
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree

Unit = Literal["words", "characters", "tags"]
UNITS = ("words", "characters", "tags")


class Sequences(Corpus):
    """A corpus of sequences of symbols, interned: read-only, and cheap to select from.

    Make one with :meth:`from_items`. A kernel makes its own if it is given plain lists.

    Examples
    --------
    >>> corpus = Sequences.from_items(["the cat sleeps", ["the", "dog"]])
    >>> len(corpus), corpus[0], corpus[[1]][0]
    (2, ('the', 'cat', 'sleeps'), ('the', 'dog'))
    """

    __slots__ = ("of",)

    of: Unit

    _refusal = ("corpus of sequences", "Make one with Sequences.from_items.")
    _stored = ("symbol", "start")
    _numbered = ("symbol",)
    _settings: ClassVar = {"of": "of"}
    _check = staticmethod(check_sequences)

    def __init__(
        self, symbol: NDArray[np.int32], start: NDArray[np.int64], vocabulary: Vocabulary, of: Unit = "words"
    ) -> None:
        self._take({"symbol": symbol, "start": start}, vocabulary, of)

    @classmethod
    def _checked_settings(cls, of: Any) -> tuple[object, ...]:
        check_unit(of)
        return (of,)

    @staticmethod
    def from_items(items: Iterable[object], of: Unit = "words", *, vocabulary: Vocabulary | None = None) -> Sequences:
        """Intern texts, lists of symbols, tagged sequences, trees or dependency trees.

        Parameters
        ----------
        items
            A text is split into words at ASCII white space (a no-break space is part of a word), or into characters;
            a list of texts is not split. Of trees and tagged sequences the words or the tags are used. A text is
            never read as a tree here, whatever brackets it has.
        of
            ``"words"``, ``"characters"`` or ``"tags"``.
        vocabulary
            Grow this vocabulary instead of a new one, so that the result can be compared with its corpora.
        """
        check_unit(of)
        if isinstance(items, str | bytes):
            raise TypeError("A corpus is a list of sequences, got one string. Write [text].")
        if not isinstance(items, Iterable):
            raise TypeError(f"A corpus is a list of sequences, got {type(items).__name__}.")
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        add, known = vocabulary._native.add, dict[str, int]()
        symbol, start = list[int](), [0]
        for row, item in enumerate(items):
            for text in _symbols(item, of, row):
                number = known.get(text)
                if number is None:
                    try:
                        number = known[text] = add(text)
                    except UnicodeEncodeError:
                        raise InputError(not_unicode(row)) from None
                symbol.append(number)
            start.append(len(symbol))
        arrays = {"symbol": np.array(symbol, np.int32), "start": np.array(start, np.int64)}
        return Sequences._of(arrays, vocabulary, of)

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The numbers of all symbols, one sequence after the other, and where each sequence starts."""
        return self._arrays["symbol"], self._arrays["start"]

    @overload
    def __getitem__(self, rows: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, rows: Rows) -> Sequences: ...
    def __getitem__(self, rows: int | Rows) -> tuple[str, ...] | Sequences:
        symbol, start = self.arrays
        if isinstance(rows, int | np.integer):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"Row {rows} is out of range: the corpus has {len(self):,} sequences.")
            row = int(rows) % len(self)
            numbers = symbol[start[row] : start[row + 1]].tolist()
            return tuple(self._vocabulary[number] for number in numbers)
        entries, start = ranges(start, chosen_rows(rows, len(self)))
        return self._like({"symbol": symbol[entries], "start": start})

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (self[row] for row in range(len(self)))

    def trained_on(self) -> dict[str, object]:
        """How many sequences there are."""
        return {"rows": len(self), "items": self.of}

    def __repr__(self) -> str:
        return f"<Sequences: {len(self):,} with {len(self.arrays[0]):,} symbols>"

    def __reduce__(self) -> tuple[object, ...]:
        return (Sequences, (*self.arrays, self._vocabulary, self.of))


def check_unit(of: object) -> None:
    """Refuse anything except a unit of sequences."""
    if of not in UNITS:
        raise ValueError(f"of must be one of {', '.join(map(repr, UNITS))}, got {of!r}.")


def as_sequences(column: Any, of: Unit, vocabulary: Vocabulary | None = None) -> Sequences:
    """Return ``column`` itself if it is interned; otherwise intern it."""
    if isinstance(column, Sequences):
        if column.of != of:
            raise InputError(
                f"These sequences contain {column.of}, but {of} are needed. Pass of={column.of!r}, or intern the items "
                f"again with Sequences.from_items(items, {of!r})."
            )
        return column
    return Sequences.from_items(column, of, vocabulary=vocabulary)


def _symbols(item: object, of: Unit, row: int) -> Iterable[str]:
    if isinstance(item, TaggedSequence | DependencyTree):
        found: Iterable[str] = item.tags if of == "tags" else item.words
        return "".join(found) if of == "characters" else found
    if isinstance(item, Tree):
        if of == "tags":
            return [node.label for node in item if node.is_preterminal]
        item = item.words() if of == "words" else " ".join(item.words())
    if isinstance(item, str):
        return item if of == "characters" else split_words(item)
    if isinstance(item, list | tuple) and all(isinstance(text, str) for text in item):
        return item
    shown = f"{item!r}"[:60]
    raise InputError(
        f"Row {row} must be a text, a list of texts, a tagged sequence or a tree, got {shown} of {type(item).__name__}."
    )
