"""A text in which some words are marked: where a feature is in an item, for people to read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

_AROUND = {" ": 8, "": 24}  # how many words, or characters, are shown around one that is marked


def marked_words(words: Sequence[str], marked: Collection[int], blank: str = " ") -> str:
    """The words with stars around those that are marked; what is far from these is left out.

    Examples
    --------
    >>> marked_words(["it", "is", "not", "good", "at", "all"], {2, 3, 5})
    'it is *not good* at *all*'
    >>> marked_words("abacus", {1, 2}, "")
    'a*ba*cus'
    """
    around = _AROUND[blank]
    near = {k for place in marked for k in range(place - around, place + around + 1)}
    out = []
    for (is_near, is_marked), run in groupby(range(len(words)), lambda k: (k in near, k in marked)):
        text = blank.join(words[k] for k in run)
        out.append(f"*{text}*" if is_marked else text if is_near else "…")
    return blank.join(out)
