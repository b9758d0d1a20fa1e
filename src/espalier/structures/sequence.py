"""``TaggedSequence``: words in order, each with its tag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from espalier.errors import InputError


@dataclass(frozen=True, slots=True)
class TaggedSequence:
    """A sequence of words and a tag for each; it may be empty.

    Examples
    --------
    >>> sentence = TaggedSequence(["cats", "sleep"], ["NNS", "VBP"])
    >>> len(sentence), sentence.tags
    (2, ('NNS', 'VBP'))
    """

    words: Sequence[str]
    tags: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", as_texts(self.words, "words"))
        object.__setattr__(self, "tags", as_texts(self.tags, "tags"))
        check_equal_lengths({"words": self.words, "tags": self.tags})

    def __len__(self) -> int:
        return len(self.words)


def as_texts(values: Iterable[str], name: str) -> tuple[str, ...]:
    """Return the values as a tuple of texts, or raise an error that names the first that is not a text."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of texts, got {values!r}.")
    texts = tuple(values)
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{index}] must be a str, got {text!r} of type {type(text).__name__}.")
    return texts


def check_equal_lengths(columns: dict[str, Sequence[object]]) -> None:
    """Refuse parallel sequences of different lengths."""
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{n} {name}" for name, n in lengths.items())
        raise InputError(f"Every token needs one value of each kind, got {found}.")
