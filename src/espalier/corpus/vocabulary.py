"""Labels as integers, shared by every corpus that is compared.

A vocabulary only grows. Corpora that are compared must share one, or one must extend the other: then equal
ids mean equal labels. Predicting interns new trees in an *extension*, so what was fitted never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from espalier import _core
from espalier.errors import VocabularyMismatchError
from espalier.storage import State, Storable, require


class Vocabulary(Storable):
    """The labels of a corpus, numbered from 0 in the order in which they were first seen.

    Examples
    --------
    >>> vocabulary = Vocabulary(["S", "NP"])
    >>> vocabulary.id("NP"), vocabulary[0], len(vocabulary), "VP" in vocabulary
    (1, 'S', 2, False)
    >>> wider = vocabulary.extended(["VP"])
    >>> len(vocabulary), len(wider), wider.extends(vocabulary)
    (2, 3, True)
    """

    __slots__ = ("_native",)

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self._native = _core.Vocabulary()
        for label in labels:
            self._native.add(label)

    def extended(self, labels: Iterable[str] = ()) -> Vocabulary:
        """Return a vocabulary that starts as this one and grows apart from it, at no cost."""
        wider = Vocabulary.__new__(Vocabulary)
        wider._native = _core.extend_vocabulary(self._native)
        for label in labels:
            wider._native.add(label)
        return wider

    def id(self, label: str) -> int:
        """Return the number of a label; raise KeyError if it is unknown."""
        number = self._native.find(label)
        if number < 0:
            raise KeyError(label)
        return number

    def extends(self, other: Vocabulary) -> bool:
        """Say whether every number of ``other`` means the same label here, however the two were made."""
        return self._native.extends(other._native)

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < len(self):
            raise IndexError(f"label number must be in 0..{len(self) - 1}, got {number}.")
        return self._native.label(number)

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and self._native.find(label) >= 0

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[str]:
        return (self._native.label(number) for number in range(len(self)))

    def to_state(self) -> dict[str, object]:
        """Return the labels in their order."""
        return {"labels": list(self)}

    @classmethod
    def from_state(cls, state: State) -> Vocabulary:
        """Make a vocabulary from the labels in a file."""
        labels = state.texts("labels")
        try:
            vocabulary = cls(labels)
        except UnicodeEncodeError:
            require(False, "a label is not valid Unicode")
        require(len(vocabulary) == len(labels), "a label is listed twice")
        return vocabulary

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self):,} labels>"

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[list[str]]]:
        return (Vocabulary, (list(self),))


def check_same_vocabulary(a: Vocabulary, b: Vocabulary) -> Vocabulary:
    """Return the wider of two vocabularies that agree, or raise."""
    if a.extends(b):
        return a
    if b.extends(a):
        return b
    raise VocabularyMismatchError(
        "These forests were interned with different vocabularies, so equal ids may mean different labels. "
        "Build the second with Forest.from_trees(..., vocabulary=first.vocabulary), or translate it with "
        "second.with_vocabulary(first.vocabulary.extended())."
    )
