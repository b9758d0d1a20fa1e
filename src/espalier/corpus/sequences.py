"""``Sequences``: words, characters or tags in order, as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.selection import chosen_rows, not_unicode, ranges
from espalier.corpus.soundness import check_sequences, refuse, stored, taken
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError
from espalier.storage import State, Storable, require
from espalier.structures.columns import read_only
from espalier.structures.dependency import DependencyTree
from espalier.structures.notation import split_words
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree

Unit = Literal["words", "characters", "tags"]
UNITS = ("words", "characters", "tags")


class Sequences(Storable):
    """A corpus of sequences of symbols, interned: read-only, and cheap to select from.

    Make one with :meth:`from_items`. A kernel makes its own if it is given plain lists.

    Examples
    --------
    >>> corpus = Sequences.from_items(["the cat sleeps", ["the", "dog"]])
    >>> len(corpus), corpus[0], corpus[[1]][0]
    (2, ('the', 'cat', 'sleeps'), ('the', 'dog'))
    """

    __slots__ = ("_start", "_symbol", "_vocabulary", "of")

    def __init__(
        self, symbol: NDArray[np.int32], start: NDArray[np.int64], vocabulary: Vocabulary, of: Unit = "words"
    ) -> None:
        check_unit(of)
        require = refuse("corpus of sequences", "Make one with Sequences.from_items.")
        arrays = taken({"symbol": symbol, "start": start}, ("symbol", "start"), vocabulary, require)
        check_sequences(arrays, len(vocabulary), require)
        self._symbol, self._start, self._vocabulary, self.of = arrays["symbol"], arrays["start"], vocabulary, of

    @classmethod
    def _of(cls, symbol: NDArray[np.int32], start: NDArray[np.int64], vocabulary: Vocabulary, of: Unit) -> Sequences:
        """Make sequences from arrays that the library made or checked."""
        made = cls.__new__(cls)
        made._symbol, made._start, made._vocabulary, made.of = read_only(symbol), read_only(start), vocabulary, of
        return made

    @staticmethod
    def from_items(items: Iterable[Any], of: Unit = "words", *, vocabulary: Vocabulary | None = None) -> Sequences:
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
        return Sequences._of(np.array(symbol, np.int32), np.array(start, np.int64), vocabulary, of)

    @property
    def vocabulary(self) -> Vocabulary:
        """The symbols, which every corpus compared with this one must share."""
        return self._vocabulary

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The numbers of all symbols, one sequence after the other, and where each sequence starts."""
        return self._symbol, self._start

    @property
    def shape(self) -> tuple[int]:
        """The number of sequences; scikit-learn's splitters look for it, and then select."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self._start) - 1

    @overload
    def __getitem__(self, rows: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, rows: Any) -> Sequences: ...
    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, int | np.integer):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"Row {rows} is out of range: the corpus has {len(self):,} sequences.")
            row = int(rows) % len(self)
            numbers = self._symbol[self._start[row] : self._start[row + 1]].tolist()
            return tuple(self._vocabulary[number] for number in numbers)
        entries, start = ranges(self._start, chosen_rows(rows, len(self)))
        return Sequences._of(self._symbol[entries], start, self._vocabulary, self.of)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (self[row] for row in range(len(self)))

    def with_vocabulary(self, vocabulary: Vocabulary) -> Sequences:
        """Return the same sequences over another vocabulary, which grows by the symbols that it lacks."""
        used = np.unique(self._symbol)
        number = np.zeros(len(self._vocabulary), np.int32)
        number[used] = [vocabulary._native.add(self._vocabulary[k]) for k in used.tolist()]
        return Sequences._of(number[self._symbol], self._start.copy(), vocabulary, self.of)

    def to_state(self) -> dict[str, Any]:
        """Return the arrays, the vocabulary, and what the symbols are."""
        return {"of": self.of, "vocabulary": self._vocabulary, "symbol": self._symbol, "start": self._start}

    @classmethod
    def from_state(cls, state: State) -> Sequences:
        """Make sequences from the contents of a file."""
        of: Any = state.text("of", *UNITS)
        vocabulary, arrays = state.object("vocabulary", Vocabulary), stored(state, ("symbol", "start"))
        check_sequences(arrays, len(vocabulary), require)
        return cls._of(arrays["symbol"], arrays["start"], vocabulary, of)

    def trained_on(self) -> dict[str, Any]:
        """How many sequences there are."""
        return {"rows": len(self), "items": self.of}

    def __repr__(self) -> str:
        return f"<Sequences: {len(self):,} with {len(self._symbol):,} symbols>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sequences, (self._symbol, self._start, self._vocabulary, self.of))


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


def _symbols(item: Any, of: Unit, row: int) -> Iterable[str]:
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
