"""Checks of the sentences and options that a caller passes to a parser, before any work is done."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from operator import index
from typing import Any

from espalier.errors import InputError
from espalier.structures.numbers import LARGEST, as_float, shown

# str.split() without an argument would also part words at no-break spaces, which belong to them.
SPLIT = "text.split(' ')"
HOW_MANY = f"a positive integer, at most {LARGEST:,}"  # what k must be

Sentence = list[tuple[str, str | None]]  # words, and their tags where they are given


def distance(name: str, value: float | None) -> float:
    """Return a difference of logarithms; None means no limit."""
    if value is None:
        return math.inf
    number = as_float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    too_large = isinstance(value, int) and math.isinf(number)
    if too_large or not number > 0:
        raise ValueError(
            f"{name} must be a positive difference of logarithms that a float64 can hold, or None, got {shown(value)}."
        )
    return number


def words_and_tags(row: int, sentence: object, *, pairs: bool = True) -> Sentence:
    """Return each word with its tag, which is None if it is not given; only ``pairs`` allows tags."""
    if isinstance(sentence, str):
        raise TypeError(f"Sentence {row} must be a list of words, got the text {sentence[:40]!r}. Use {SPLIT}.")
    if not isinstance(sentence, Iterable):
        raise TypeError(f"Sentence {row} must be a list of words, got {sentence!r}.")
    items = list(sentence)
    are_pairs = [pairs and isinstance(item, tuple | list) and len(item) == 2 for item in items]
    found = []
    for item, is_pair in zip(items, are_pairs, strict=True):
        word, tag = item if is_pair else (item, None)
        if is_pair != are_pairs[0] or not isinstance(word, str) or not word or not isinstance(tag, str | None):
            what = "words, or pairs of a word and a tag" if pairs else "words"
            raise InputError(f"Sentence {row} must contain {what}, got {item!r}.")
        found.append((word, tag))
    return found


def check_unicode(row: int, **columns: Iterable[str]) -> None:
    """Refuse texts to learn from that are not valid Unicode, by what they are: no file could hold them."""
    for name, texts in columns.items():
        for text in texts:
            if not text.isascii():
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise InputError(
                        f"Sentence {row} has the {name} {text!r} with half of a surrogate pair, which is not valid "
                        "Unicode: no saved model could hold it. Replace it, or read the text in its own encoding."
                    ) from None


def memory_of(markov: Any) -> tuple[int, int | None]:
    """Return how many ancestors and siblings are remembered; None means all siblings."""
    if markov is None:
        return 1, None
    try:
        vertical, horizontal = index(markov[0]), None if markov[1] is None else index(markov[1])
        if len(markov) == 2 and vertical >= 1 and (horizontal is None or horizontal >= 0):
            return vertical, horizontal
    except (TypeError, LookupError):
        pass
    raise ValueError(f"markov must be (ancestors >= 1, siblings >= 0 or None), got {markov!r}.")
