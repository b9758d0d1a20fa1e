"""Similarities of words, for trees whose labels say more than the word."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import Similarity

LEXICAL = "LEX##"


class Lexical(Similarity):
    """The similarity of the words inside labels such as ``LEX##city::n``, KeLP's form; other labels match themselves.

    Parameters
    ----------
    words
        How similar words are.

    Examples
    --------
    >>> from espalier.kernels import SimilarityTable
    >>> places = Lexical(SimilarityTable(["city", "town"], [[1.0, 0.8], [0.8, 1.0]]))
    >>> places(["LEX##city::n", "POS##NN"], ["LEX##town::n", "POS##NN", "town"])
    array([[0.8, 0. , 0. ],
           [0. , 1. , 0. ]])
    """

    def __init__(self, words: Similarity) -> None:
        self.words = words

    @property
    def is_positive(self) -> bool:
        return self.words.is_positive

    def compared(self, a: list[str], b: list[str]) -> NDArray[np.float64]:
        values = np.zeros((len(a), len(b)))
        rows, columns = ([k for k, label in enumerate(side) if label.startswith(LEXICAL)] for side in (a, b))
        if rows and columns:
            values[np.ix_(rows, columns)] = self.words(_words(a, rows), _words(b, columns))
        return values

    def content(self) -> Hashable:
        return self.words

    def __repr__(self) -> str:
        return f"Lexical({self.words!r})"


def _words(labels: Sequence[str], places: Sequence[int]) -> list[str]:
    return [labels[place].removeprefix(LEXICAL).rsplit("::", 1)[0] for place in places]
