"""Words and tags as the numbers from which a dependency parser makes its features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.storage import State, require
from espalier.structures.sequence import TaggedSequence

JOINT = "|"  # between the coarse tag and the fine tag of a joint tag
ROOT, UNKNOWN, FIRST = 0, 1, 2
# The fields of a token, in the order of the core.
_COLUMNS = ("words", "tags", "coarse", "suffixes", "prefixes", "endings", "shapes")


def coarse_tag(tag: str) -> str:
    """The coarse part of a joint tag; any other tag is its own coarse tag.

    Examples
    --------
    >>> coarse_tag("NOUN|NNS"), coarse_tag("NNS")
    ('NOUN', 'NNS')
    """
    return tag.partition(JOINT)[0] or tag


def word_shape(word: str) -> str:
    """The word with X for capital and x for small letters, and 9 for digits; runs of one kind are shortened to two.

    Examples
    --------
    >>> word_shape("McDonald's"), word_shape("1990-91")
    ("XxXxx'x", '99-99')
    """
    shape = ""
    for c in word:
        kind = "X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c
        if shape[-2:] != 2 * kind:
            shape += kind
    return shape


def _texts(word: str, tag: str) -> tuple[str, ...]:
    """The fields of a token, in the order of the columns."""
    lower, fine = word.lower(), tag.partition(JOINT)[2] or tag
    return lower, fine, coarse_tag(tag), lower[-3:], lower[:3], lower[-2:], word_shape(word)


@dataclass(frozen=True, eq=False, repr=False)
class TokenNumbers:
    """The words, tags and parts of words that a parser knows; all others count as one unknown item.

    Parameters
    ----------
    words
        In lower case.
    tags, coarse
        Tags and coarse tags.
    suffixes, prefixes, endings
        The last three, the first three and the last two characters of words in lower case.
    shapes
        Kinds of characters in order; see :func:`word_shape`.
    """

    words: Sequence[str]
    tags: Sequence[str]
    coarse: Sequence[str]
    suffixes: Sequence[str]
    prefixes: Sequence[str]
    endings: Sequence[str]
    shapes: Sequence[str]

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            numbers = {text: number for number, text in enumerate(getattr(self, name), FIRST)}
            object.__setattr__(self, f"_{name}", numbers)

    @staticmethod
    def of(sentences: Iterable[TaggedSequence], rare: int) -> TokenNumbers:
        """Number what the sentences contain; words seen at most ``rare`` times are unknown."""
        words: Counter[str] = Counter()
        seen: dict[tuple[str, str], None] = {}
        for sentence in sentences:
            words.update(word.lower() for word in sentence.words)
            seen.update(dict.fromkeys(zip(sentence.words, sentence.tags, strict=True)))
        columns = [list(dict.fromkeys(texts)) for texts in zip(*(_texts(*pair) for pair in seen), strict=True)]
        columns[0] = [word for word in columns[0] if words[word] > rare]
        return TokenNumbers(*columns)

    def rows(self, sentences: Sequence[TaggedSequence]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where sentences start among all tokens, and the numbers of each; a root begins each sentence."""
        root = (ROOT,) * len(_COLUMNS)
        known: dict[tuple[str, str], tuple[int, ...]] = {}
        rows: list[tuple[int, ...]] = []
        for sentence in sentences:
            rows.append(root)
            for pair in zip(sentence.words, sentence.tags, strict=True):
                found = known.get(pair)
                if found is None:
                    found = known[pair] = self._of(*pair)
                rows.append(found)
        start = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)], dtype=np.int64)
        token = np.array(rows, np.int32).reshape(len(rows), len(_COLUMNS))
        assert token.shape[1] == _core.N_TOKEN_FIELDS
        return start, token.reshape(-1)

    def _of(self, word: str, tag: str) -> tuple[int, ...]:
        pairs = zip(_COLUMNS, _texts(word, tag), strict=True)
        return tuple(getattr(self, f"_{name}").get(text, UNKNOWN) for name, text in pairs)

    def to_state(self) -> dict[str, object]:
        """Return the lists of texts."""
        return {name: list(getattr(self, name)) for name in _COLUMNS}

    @classmethod
    def from_part(cls, state: State) -> TokenNumbers:
        """Read the lists from a part of a file."""
        listed = [state.texts(name) for name in _COLUMNS]
        require(all(len(set(texts)) == len(texts) for texts in listed), "a word or tag is listed twice")
        return cls(*listed)
