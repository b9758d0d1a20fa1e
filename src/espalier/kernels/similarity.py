"""How similar symbols are, so that unequal ones can match: what all similarities share.

A similarity is a value, fitted beforehand or given: two are equal if they give the same numbers. A symbol's similarity
with itself is 1. Kernels need a matrix of similarities without negative eigenvalues. If nothing guarantees that, it is
checked on the symbols that are compared, and the error offers the nearest similarity that qualifies.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.checks import check_one_number, symmetric_matrix
from espalier.kernels.nearest_correlation import nearest_vectors
from espalier.kernels.stored import StorableFields, written
from espalier.structures.numbers import whole_number

if TYPE_CHECKING:
    from espalier.kernels.embedding import Embedding

Floats = NDArray[np.float64]

MAX_CHECKED = 1_500  # symbols on which eigenvalues are checked; of more, an even selection
TOLERANCE = 1e-9  # how far eigenvalues may be below 0, as a share of the largest


class Similarity(StorableFields, ABC):
    """How similar two symbols are: 1 for equal ones, at most 1 for others.

    One of your own defines :meth:`compared` and :meth:`content`.
    """

    power: int = 1
    _advice: ClassVar[str] = ""  # what else helps if there is a negative eigenvalue

    @blas_threads()
    def __call__(self, a: Sequence[str], b: Sequence[str] | None = None) -> Floats:
        """Return the similarities of some symbols with others, or with each other.

        Examples
        --------
        >>> Exact()(["cat", "dog"], ["dog"])
        array([[0.],
               [1.]])
        """
        a, b = list(a), list(a if b is None else b)
        values = self.compared(a, b)
        if self.power != 1:
            values **= self.power
        place: dict[str, list[int]] = {}
        for column, symbol in enumerate(b):
            place.setdefault(symbol, []).append(column)
        for row, symbol in enumerate(a):
            values[row, place.get(symbol, [])] = 1.0
        return values

    @property
    def is_positive(self) -> bool:
        """Whether the similarities of any set of symbols are free of negative eigenvalues."""
        return False

    @blas_threads()
    def check(self, symbols: Sequence[str]) -> None:
        """Refuse symbols whose similarities have a negative eigenvalue."""
        if self.is_positive:
            return
        chosen = [symbols[k] for k in np.linspace(0, len(symbols) - 1, min(len(symbols), MAX_CHECKED)).astype(int)]
        values = self(chosen)
        if is_positive_semidefinite(values):
            return
        raise InputError(
            f"This similarity is not a kernel: on {len(chosen):,} of the symbols its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(values)[0]:.3g}. Use similarity.nearest(symbols), the nearest without negative "
            f"eigenvalues{self._advice}."
        )

    def nearest(self, symbols: Sequence[str], rank: int | None = None) -> Embedding:
        """Return the nearest similarity without negative eigenvalues over some symbols.

        Symbols beyond these then match only themselves.

        Parameters
        ----------
        symbols
            The symbols that may match others, such as those of the training data.
        rank
            The most dimensions that it may have; None for any number.

        Notes
        -----
        Without a rank it is the nearest in squared error of all matrices that have no negative eigenvalue and 1 on
        their diagonal, the nearest correlation matrix (Higham 2002); that takes 10 to 50 eigenvalue problems over the
        symbols. With a rank the largest eigenvalues are kept, rows longer than 1 are scaled to length 1, and equal
        symbols match with 1; the result is near, but seldom the nearest of that rank.
        """
        names = list(dict.fromkeys(symbols))
        if not names:
            raise InputError("The nearest similarity needs some symbols.")
        return _nearest(names, self(names), rank)

    @abstractmethod
    def compared(self, a: list[str], b: list[str]) -> Floats:
        """Similarities of unequal symbols, in a new array; entries of equal symbols are not used."""

    @abstractmethod
    def content(self) -> Hashable:
        """What identifies it: two similarities with equal content are equal."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.content() == other.content()

    def __hash__(self) -> int:
        return hash((type(self), self.content()))


@dataclass(eq=False)
class Exact(Similarity):
    """Only equal symbols match.

    Examples
    --------
    >>> Exact()(["cat", "dog"])
    array([[1., 0.],
           [0., 1.]])
    """

    is_positive = True

    def compared(self, a: list[str], b: list[str]) -> Floats:
        return np.zeros((len(a), len(b)))

    def content(self) -> Hashable:
        return None


@dataclass(eq=False, repr=False)
class SimilarityTable(Similarity):
    """Similarities given as a matrix over some symbols.

    Other symbols match only themselves.

    Parameters
    ----------
    symbols
        Each once.
    matrix
        A symmetric matrix of finite numbers without negative eigenvalues, with 1 on its diagonal.

    Examples
    --------
    >>> SimilarityTable(["cat", "dog"], [[1.0, 0.6], [0.6, 1.0]])(["dog"], ["cat", "dog", "fish"])
    array([[0.6, 1. , 0. ]])
    """

    symbols: Sequence[str]
    matrix: Any

    is_positive = True

    def __post_init__(self) -> None:
        self.symbols = tuple(self.symbols)
        self.matrix = _checked(self.symbols, self.matrix)
        if not is_positive_semidefinite(self.matrix):
            raise InputError(
                f"The matrix has a negative eigenvalue, {np.linalg.eigvalsh(self.matrix)[0]:.3g}. "
                "Use SimilarityTable.nearest_to(symbols, matrix), the nearest without."
            )
        self._place = places_of(self.symbols)
        self._digest = digest_of(self.symbols, self.matrix)

    @staticmethod
    def nearest_to(symbols: Sequence[str], matrix: object, rank: int | None = None) -> Embedding:
        """Return the nearest similarity without negative eigenvalues; see :meth:`Similarity.nearest`.

        Examples
        --------
        >>> wrong = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]]
        >>> SimilarityTable.nearest_to("abc", wrong)("abc").round(2)
        array([[1.  , 0.74, 0.11],
               [0.74, 1.  , 0.74],
               [0.11, 0.74, 1.  ]])
        """
        return _nearest(symbols, _checked(symbols, matrix), rank)

    def compared(self, a: list[str], b: list[str]) -> Floats:
        rows, columns = places(self._place, a), places(self._place, b)
        values: Floats = self.matrix[np.ix_(rows, columns)]  # unknown symbols are last, or wrong
        values[rows < 0] = 0.0
        values[:, columns < 0] = 0.0
        return values

    def content(self) -> Hashable:
        return self._digest

    def __repr__(self) -> str:
        return f"SimilarityTable(<{len(self.symbols):,} symbols>)"


@dataclass(eq=False, repr=False)
class Thresholded(Similarity):
    """A similarity whose values below a threshold count as 0.

    Examples
    --------
    >>> table = SimilarityTable(["cat", "dog", "tax"], [[1.0, 0.6, 0.1], [0.6, 1.0, 0.1], [0.1, 0.1, 1.0]])
    >>> Thresholded(table, 0.5)(["cat"], ["cat", "dog", "tax"])
    array([[1. , 0.6, 0. ]])
    """

    similarity: Similarity
    threshold: float

    _advice = ", with threshold=0, or the similarity as it is with threshold=0"

    def __post_init__(self) -> None:
        if not isinstance(self.similarity, Similarity):
            raise TypeError(f"similarity must be a Similarity, got {type(self.similarity).__name__}.")
        self.threshold = float(self.threshold)

    def compared(self, a: list[str], b: list[str]) -> Floats:
        values = self.similarity(a, b)
        values[values < self.threshold] = 0.0
        return values

    def content(self) -> Hashable:
        return (self.similarity, self.threshold)

    def __repr__(self) -> str:
        return written(self, repr(self.similarity), repr(self.threshold))


def check_similarity(similarity: object, mix: object) -> None:
    """Raise if this is not a similarity, or ``mix`` is not a share of exact matching."""
    if similarity is not None and not isinstance(similarity, Similarity):
        hint = " Write Embedding(vectors)." if isinstance(similarity, Mapping) or callable(similarity) else ""
        raise TypeError(f"similarity must be a Similarity or None, got {type(similarity).__name__}.{hint}")
    check_one_number("mix", mix)
    if not 0.0 <= hyper.number_of(mix) <= 1.0:
        raise ValueError(f"mix must lie between 0 and 1, got {mix!r:.60}.")
    if similarity is None and mix != hyper.fixed(0.0):
        raise ValueError(f"mix is the share of exact matching beside a similarity, but similarity is None, got {mix}.")


def places_of(symbols: Sequence[str]) -> Mapping[str, int]:
    """The index of each symbol; raise if one is not a string or occurs twice."""
    place: dict[str, int] = {}
    for number, symbol in enumerate(symbols):
        if not isinstance(symbol, str):
            raise TypeError(f"Symbols are texts, got {symbol!r} at {number}.")
        if place.setdefault(symbol, number) != number:
            raise InputError(f"The symbol {symbol!r} occurs twice, at {place[symbol]} and {number}.")
    return place


def places(place: Mapping[str, int], symbols: Sequence[str]) -> NDArray[np.int64]:
    """The index of each symbol; -1 for unknown ones."""
    return np.array([place.get(symbol, -1) for symbol in symbols], np.int64)


def digest_of(symbols: Sequence[str], values: Floats) -> str:
    """A hash of symbols and the numbers that belong to them."""
    found = hashlib.blake2b(digest_size=16)
    for symbol in symbols:
        text = symbol.encode("utf-8", "surrogatepass")
        found.update(len(text).to_bytes(8, "little") + text)
    found.update(repr(values.shape).encode() + np.ascontiguousarray(values).tobytes())
    return found.hexdigest()


@blas_threads()
def is_positive_semidefinite(values: Floats) -> bool:
    """Whether no eigenvalue is below 0 by more than rounding."""
    slack = TOLERANCE * max(1.0, float(np.abs(values).sum(axis=1).max(initial=0.0)))
    try:
        np.linalg.cholesky(values + slack * np.eye(len(values)))
    except np.linalg.LinAlgError:
        return False
    return True


def _nearest(symbols: Sequence[str], values: Floats, rank: int | None) -> Embedding:
    """The nearest similarity without negative eigenvalues to those in a matrix."""
    from espalier.kernels.embedding import Embedding

    vectors = nearest_vectors(values, None if rank is None else whole_number("rank", rank, none=True))
    return Embedding.from_arrays(symbols, vectors, normalize=False, clip=False)


def _checked(symbols: Sequence[str], matrix: Any) -> Floats:
    """A copy of a table of similarities that is square, finite, symmetric and 1 on its diagonal."""
    places_of(symbols)
    n = len(symbols)
    if np.shape(matrix) != (n, n):
        raise InputError(f"{n:,} symbols need a matrix of {n:,} rows and columns, got the shape {np.shape(matrix)}.")
    values = symmetric_matrix(matrix, lambda i, j: f"the similarity of {symbols[i]!r} and {symbols[j]!r}")
    if not np.allclose(values.diagonal(), 1.0, rtol=0.0, atol=1e-8):
        i = int(np.abs(values.diagonal() - 1.0).argmax())
        raise InputError(
            f"A symbol's similarity with itself must be 1, but that of {symbols[i]!r} is {values[i, i]:g}. "
            "Divide each entry by the square roots of both diagonal entries."
        )
    return values
