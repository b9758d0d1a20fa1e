"""Words as vectors: similarities by cosine, from arrays, files or a function."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from espalier.errors import InputError
from espalier.kernels.similarity import Floats, Similarity, digest_of, places, places_of
from espalier.kernels.stored import written
from espalier.kernels.vector_columns import unit_vectors
from espalier.storage import State, require
from espalier.structures.columns import refuse_masked
from espalier.structures.limits import check_local
from espalier.structures.numbers import float_array, number_in_text, truth_value, whole_number

_COUNTS = re.compile("[0-9]{1,9} [0-9]{1,9}")  # of words and of dimensions
_ONLY_NUMBERS = re.compile(r"[0-9+.eE-]*")


@dataclass(eq=False, repr=False)
class Embedding(Similarity):
    """The cosine of two words' vectors, clipped at 0.

    Words without a vector match only themselves.

    Parameters
    ----------
    vectors
        A mapping from words to vectors, or a function that returns a word's vector, or None if it has none. See also
        :meth:`from_arrays` and :meth:`read`.
    clip
        Whether negative cosines count as 0. Clipped cosines of many words are seldom a kernel; the error then offers
        the nearest one. Cosines as they are (False) are always a kernel.
    power
        Raise the cosine to this power: larger powers make weak similarities weaker. Even powers are never negative, and
        always a kernel.
    normalize
        False takes vectors as they are, and products instead of cosines; no vector may be longer than 1.

    Examples
    --------
    >>> animals = Embedding({"cat": [1.0, 0.2], "dog": [0.9, 0.5], "tax": [-0.1, 1.0]})
    >>> animals(["cat"], ["dog", "tax", "unheard"]).round(2)
    array([[0.95, 0.1 , 0.  ]])
    """

    vectors: InitVar[Mapping[str, Any] | Callable[[str], Any]]
    _: KW_ONLY
    clip: bool = True
    power: int = 1
    normalize: bool = True

    _advice = ", or clip=False, the cosines as they are, or an even power"

    def __post_init__(self, vectors: Mapping[str, Any] | Callable[[str], Any]) -> None:
        self.clip, self.normalize = truth_value("clip", self.clip), truth_value("normalize", self.normalize)
        self.power = whole_number("power", self.power)
        self._function: Callable[[str], object] | None = None
        if isinstance(vectors, Mapping):
            words = list(vectors)
            self._set(words, _scaled(words, _stacked(vectors), normalize=self.normalize))
        elif callable(vectors):
            self._set([], np.zeros((0, 0)))
            self._function = vectors
        else:
            raise TypeError(
                "vectors must map words to vectors, or be a function of a word; for arrays use "
                f"Embedding.from_arrays(words, array), for a file Embedding.read(path). Got {type(vectors).__name__}."
            )

    def _set(self, words: list[str], vectors: Floats) -> None:
        self._place, self._vectors, self._digest = places_of(words), vectors, digest_of(words, vectors)

    @classmethod
    def from_arrays(cls, words: Sequence[str], vectors: Any, **options: Any) -> Embedding:
        """Make an embedding from words and an array with a row for each; options are those of the class."""
        refuse_masked(vectors, "vectors")
        array = float_array(vectors, "vectors")
        places_of(words)
        if array.ndim != 2 or len(array) != len(words):
            raise InputError(f"{len(words):,} words need an array with {len(words):,} rows, got {array.shape}.")
        return cls(dict(zip(words, array, strict=True)), **options)

    @classmethod
    def read(cls, path: str | Path, words: Collection[str] | None = None, **options: Any) -> Embedding:
        """Read vectors from a text file of word2vec (whose first line has two counts) or GloVe.

        Parameters
        ----------
        path
            One word on a line, before its numbers, with single spaces in between.
        words
            Keep only these words; those of a corpus need far less memory than all of a large file.
        options
            As for the class.
        """
        check_local(os.fspath(path))
        return cls(_read(Path(path), None if words is None else frozenset(words)), **options)

    @property
    def is_positive(self) -> bool:
        return not self.clip or self.power % 2 == 0

    def __len__(self) -> int:
        return len(self._place)

    def compared(self, a: list[str], b: list[str]) -> Floats:
        if self._function is not None:
            found = {word: vector for word in dict.fromkeys([*a, *b]) if (vector := self._function(word)) is not None}
            return Embedding(found, **self._options()).compared(a, b)
        values: Floats = self._rows(a) @ self._rows(b).T
        np.minimum(values, 1.0, out=values)  # rounding may lift a cosine above 1
        return np.maximum(values, 0.0, out=values) if self.clip and self.power % 2 else values

    def _rows(self, words: list[str]) -> Floats:
        found = places(self._place, words)
        if len(self._vectors) == 0:
            return np.zeros((len(words), 1))
        rows: Floats = self._vectors[found]
        rows[found < 0] = 0.0
        return rows

    def to_state(self) -> dict[str, object]:
        if self._function is not None:
            raise InputError(
                "An Embedding of a function cannot be saved: a file holds no code. Make one from the words' vectors, "
                "Embedding({word: function(word) for word in words})."
            )
        return {"words": list(self._place), "vectors": self._vectors, **self._options()}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the similarity that a file holds; its vectors are taken as they are."""
        made = cls({}, clip=state.truth("clip"), power=state.whole("power", 1), normalize=state.truth("normalize"))
        words, vectors = state.texts("words"), state.array("vectors", np.float64, 2)
        require(len(words) == len(vectors) and np.isfinite(vectors).all(), "every word needs a vector")
        _scaled(words, vectors, normalize=False)
        made._set(words, vectors)
        return made

    def _options(self) -> dict[str, Any]:
        return {"clip": self.clip, "power": self.power, "normalize": self.normalize}

    def content(self) -> Hashable:
        return (self._function or self._digest, *self._options().values())

    def __repr__(self) -> str:
        what = f"<{len(self):,} words, {self._vectors.shape[1]} dimensions>" if len(self) else repr(self._function)
        return written(self, what)


def _stacked(vectors: Mapping[str, object]) -> Floats:
    """The vectors as rows of one array, checked."""
    rows: dict[str, Floats] = {}
    for word, vector in vectors.items():
        refuse_masked(vector, f"The vector of {word!r}")
        row = rows[word] = float_array(vector, f"The vector of {word!r}")
        first, expected = next(iter(rows.items()))
        if row.ndim != 1 or row.shape != expected.shape:
            raise InputError(
                f"The vector of {word!r} has the shape {row.shape}, that of {first!r} {expected.shape}: "
                "all must be one-dimensional and of the same length."
            )
        if not np.isfinite(row).all():
            raise InputError(f"The vector of {word!r} holds {row[~np.isfinite(row)][0]}, not a finite number.")
    return np.stack(list(rows.values())) if rows else np.zeros((0, 0))


def _scaled(words: list[str], rows: Floats, *, normalize: bool) -> Floats:
    """Scale rows to length 1; or, if ``normalize`` is False, raise if one is longer."""
    rows = unit_vectors(rows) if normalize else rows  # so that no square overflows or underflows
    with np.errstate(over="ignore"):  # an infinite length is too long
        length = np.linalg.norm(rows, axis=1, keepdims=True)
    if normalize:
        return rows / np.where(length > 0.0, length, 1.0)
    if len(rows) and length.max() > 1.0 + 1e-9:
        raise InputError(
            f"With normalize=False no vector may be longer than 1, but that of {words[int(length.argmax())]!r} is "
            f"{length.max():.3g} long. Divide all by {length.max():.3g}."
        )
    return rows


def _read(path: Path, wanted: frozenset[str] | None) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    seen: dict[str, int] = {}
    n_numbers = None
    for line_number, line in _lines(path):
        fields = line.split(" ")
        if n_numbers is None:
            if line_number == 1 and _COUNTS.fullmatch(line):
                n_numbers = int(fields[1])  # the first line of word2vec has the numbers of words and dimensions
                continue
            n_numbers = len(fields) - 1
        # A word of GloVe may contain spaces; its numbers are the last fields.
        word = " ".join(fields[: len(fields) - n_numbers])
        place = f"{path}, line {line_number}"
        if len(fields) <= n_numbers or n_numbers < 1 or not word:
            raise InputError(f"{place}: a word and {n_numbers} numbers were expected here, got {line[:60]!r}.")
        if word in seen:
            raise InputError(f"{place}: the word {word!r} is already on line {seen[word]}. Remove one of them.")
        seen[word] = line_number
        if wanted is not None and word not in wanted:
            continue
        try:
            found[word] = _numbers(fields[len(fields) - n_numbers :])
        except ValueError:
            raise InputError(f"{place}: {n_numbers} numbers should follow the word {word!r}.") from None
        if not np.isfinite(found[word]).all():
            raise InputError(f"{place}: the vector of {word!r} contains a number that is not finite.")
    if not seen:
        raise InputError(f"{path} holds no vectors.")
    return found


def _numbers(fields: list[str]) -> Floats:
    """The numbers of a line; numpy reads them fast, but accepts everything that Python's ``float`` does."""
    if _ONLY_NUMBERS.fullmatch("".join(fields)) is None:
        return np.array([number_in_text(field) for field in fields])
    return np.array(fields, np.float64)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without blank ones; only a line feed ends a line, as words may contain other breaks."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip(" \t\r\n")
            except UnicodeDecodeError as error:
                raise InputError(f"{path}, line {number}: this is not UTF-8: {error.reason}.") from None
            if text:
                yield number, text
