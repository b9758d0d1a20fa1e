"""Bags of words and n-grams: kernels with explicit features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.sequences import Sequences, Unit, as_sequences, check_unit
from espalier.corpus.texts import check_words
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Reads
from espalier.kernels.feature_plan import FeatureKernel, Features, counts
from espalier.kernels.hyperparameters import Fixed, Hyperparameter, PerDimension, hyperparameter
from espalier.kernels.order_weights import SubsequenceWeights, order_values, weights_by_length
from espalier.storage import State, require
from espalier.structures.numbers import LARGEST, check_choice, whole_number


@dataclass(frozen=True)
class Idf:
    """Inverse document frequencies: how rare each symbol is in a corpus.

    Two are equal if they give the same numbers. Symbols that are not in the corpus count as the rarest.

    Examples
    --------
    >>> idf = Idf.fit(["a b", "a c", "a"])
    >>> round(idf("a"), 2), round(idf("b"), 2), round(idf("unseen"), 2)
    (1.0, 1.69, 2.39)
    """

    n_items: int
    n_holding: Mapping[str, int] = field(repr=False)

    @staticmethod
    def fit(corpus: object, of: Unit = "words") -> Idf:
        """Count the items that contain each symbol."""
        sequences = as_sequences(check_words(corpus), of)
        (table,), names = symbol_counts(sequences)
        return Idf(len(sequences), dict(zip(names, np.bincount(table.indices).tolist(), strict=True)))

    def __call__(self, symbol: str) -> float:
        """``1 + log((1 + items) / (1 + items that hold the symbol))``, as in scikit-learn."""
        return float(1.0 + np.log((1 + self.n_items) / (1 + self.n_holding.get(symbol, 0))))

    def to_state(self) -> dict[str, object]:
        counts = np.array(list(self.n_holding.values()), np.int64)
        return {"n_items": self.n_items, "symbols": list(self.n_holding), "counts": counts}

    @classmethod
    def from_state(cls, state: State) -> Idf:
        symbols, counts, n_items = state.texts("symbols"), state.array("counts", np.int64), state.whole("n_items")
        require(len(symbols) == len(set(symbols)) == len(counts), "every symbol needs one count")
        require(np.all((counts >= 0) & (counts <= n_items)), "a count is out of range")
        return cls(n_items, dict(zip(symbols, counts.tolist(), strict=True)))

    def __hash__(self) -> int:
        return hash((self.n_items, frozenset(self.n_holding.items())))


@dataclass(frozen=True, repr=False)
class BagOfWords(FeatureKernel):
    r"""Count the symbols two sequences share, whatever their order.

    .. math:: K(s, t) = \sum_x w_x \, f_s(x) \, f_t(x)

    where :math:`f(x)` is how often the symbol occurs, or whether it does, times its inverse document frequency.

    Parameters
    ----------
    values
        ``"count"``, or ``"binary"``: whether a symbol occurs at all.
    idf
        Inverse document frequencies, ``Idf.fit(corpus)``, which multiply the values; None for no such factor.
    weight
        :math:`w`: the weight of a symbol. ``PerLabel(1.0)`` learns one for each.
    of, on
        As for :class:`Subsequence`.

    Examples
    --------
    >>> BagOfWords()(["a b a", "b c"])
    array([[5., 1.],
           [1., 2.]])
    """

    values: Literal["count", "binary"] = "count"
    idf: Idf | None = None
    weight: Hyperparameter = hyperparameter(Fixed(1.0))
    of: Unit = "words"
    on: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_unit(self.of)
        check_choice("values", self.values, "count", "binary")
        if self.idf is not None and not isinstance(self.idf, Idf):
            raise TypeError(f"idf must be Idf.fit(corpus) or None, got {self.idf!r}.")
        if isinstance(self.weight, PerDimension):
            raise TypeError("weight belongs to symbols, not dimensions: use PerLabel.")

    def reads(self) -> Reads:
        return self.of

    def feature_space(self) -> str:
        return "subsequences"

    def _subsequence_weights(self, labels: list[str]) -> SubsequenceWeights:
        match = np.sqrt(hyper.label_values(self.weight, labels)[:-1])
        if self.idf is not None:
            match = match * np.array([self.idf(label) for label in labels])
        return SubsequenceWeights(match, np.zeros(len(labels)), np.ones(1), self.values == "binary")

    def _features(self, *sides: Sequences) -> Features:
        found, names = symbol_counts(*sides)
        idf = np.ones(len(names)) if self.idf is None else np.array([self.idf(name) for name in names])
        for rows in found:
            if self.values == "binary":
                rows.data[:] = 1.0
            rows.data *= idf[rows.indices]
        return Features((found[0], found[-1]), np.arange(len(names)), names)

    def _part_weights(self, features: Features) -> NDArray[np.float64]:
        return hyper.label_values(self.weight, features.labels)[:-1]

    def _part_gradients(self, features: Features, gradient: NDArray[np.float64]) -> dict[str, float]:
        whole = np.append(gradient, 0.0)  # the last entry is for leaves, which sequences do not have
        return hyper.label_gradients("weight", self.weight, features.labels, whole, leaves=False)


@dataclass(frozen=True, repr=False)
class Spectrum(FeatureKernel):
    r"""Count the n-grams two sequences share (Leslie et al., 2002).

    .. math:: K(s, t) = \sum_{p} w_p \sum_{|g| = p} c_s(g) \, c_t(g)

    over runs :math:`g` of :math:`p` symbols without gaps, counted by :math:`c`.

    Parameters
    ----------
    length
        The number of symbols in an n-gram.
    shortest
        Also count shorter n-grams, down to this length; only those of ``length`` if None.
    order_weights
        :math:`w`: one weight for each length, from the shortest: a tuple, or one number at which all start; each is
        then learned. Fixed at 1 by default.
    of, on
        As for :class:`Subsequence`.

    Notes
    -----
    Each length takes time in proportion to the number of symbols, plus a sort; lengths beyond the longest sequence take
    none.

    Examples
    --------
    >>> Spectrum(2)(["a b a b", "b a b"])
    array([[5., 3.],
           [3., 2.]])
    """

    length: int = 3
    shortest: int | None = None
    order_weights: Any = hyperparameter(Fixed(1.0))
    of: Unit = "words"
    on: str | None = None

    def __post_init__(self) -> None:
        check_unit(self.of)
        object.__setattr__(
            self, "length", whole_number("length", self.length, wanted=f"an integer from 1 to {LARGEST:,}")
        )
        if self.shortest is not None:
            wanted = f"an integer from 1 to length ({self.length:,})"
            shortest = whole_number("shortest", self.shortest, 1, self.length, wanted=wanted)
            object.__setattr__(self, "shortest", shortest)
        weights = weights_by_length(self.order_weights, self.length + 1 - self._first, self._first)
        object.__setattr__(self, "order_weights", weights)
        super().__post_init__()

    @property
    def _first(self) -> int:
        return self.length if self.shortest is None else self.shortest

    def reads(self) -> Reads:
        return self.of

    def feature_space(self) -> str:
        return "subsequences"

    def _subsequence_weights(self, labels: list[str]) -> SubsequenceWeights:
        order = np.sqrt(order_values(self.order_weights, self.length + 1 - self._first))
        shorter = np.zeros(self._first - 1)
        return SubsequenceWeights(np.ones(len(labels)), np.zeros(len(labels)), np.append(shorter, order))

    def _features(self, *sides: Sequences) -> Features:
        from scipy.sparse import csr_matrix, hstack

        # If there are no runs of one length, there are no longer ones either.
        longest = max((int(np.diff(side.arrays[1]).max(initial=0)) for side in sides), default=0)
        lengths = range(self._first, min(self.length, longest) + 1)
        columns: list[list[Any]] = [[csr_matrix((len(side), 0))] for side in sides]
        part: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        for p, (number, n_distinct) in zip(lengths, _numbered_runs(sides, lengths), strict=True):
            first = 0
            for own, side in zip(columns, sides, strict=True):
                row = _rows_of_runs(side, p)
                own.append(counts(number[first : first + len(row)], row, (len(side), n_distinct)))
                first += len(row)
            part.append(np.full(n_distinct, p - self._first))
        rows = [hstack(own).tocsr() for own in columns]
        return Features((rows[0], rows[-1]), np.concatenate(part), [str(p) for p in lengths])

    def _part_weights(self, features: Features) -> NDArray[np.float64]:
        return order_values(self.order_weights, len(features.labels))

    def _part_gradients(self, features: Features, gradient: NDArray[np.float64]) -> dict[str, float]:
        if hyper.is_fixed(self.order_weights):
            return {}
        absent = np.zeros(len(self.order_weights.values) - len(gradient))  # lengths that no sequence has
        return hyper.dimension_gradients("order_weights", self.order_weights, np.append(gradient, absent))


Numbers = NDArray[np.int64]


def symbol_counts(*sides: Sequences) -> tuple[list[Any], list[str]]:
    """How often each symbol is in each sequence, a sparse matrix for each side, and the symbols of all sides."""
    used = np.unique(np.concatenate([side.arrays[0] for side in sides]))
    vocabulary = max((side.vocabulary for side in sides), key=len)
    tables = [
        counts(np.searchsorted(used, side.arrays[0]), _rows_of_runs(side, 1), (len(side), len(used))) for side in sides
    ]
    return tables, [vocabulary[number] for number in used.tolist()]


def _numbered_runs(sides: tuple[Sequences, ...], lengths: range) -> Iterator[tuple[Numbers, int]]:
    """For each length, a number for each run, both sides in order, and how many different runs there are.

    Equal runs have equal numbers, in the order of their symbols. The number of a run comes from the numbers of two
    shorter runs, so a length takes one step for each run, however many symbols a run has.
    """
    if not lengths:
        return
    symbols = np.concatenate([side.arrays[0] for side in sides])
    sizes = np.concatenate([np.diff(side.arrays[1]) for side in sides])
    start = np.cumsum(sizes) - sizes
    _, one = np.unique(symbols, return_inverse=True)
    one = one.reshape(-1).astype(np.int64)

    def joined(first: tuple[Numbers, int], then: tuple[Numbers, int]) -> tuple[Numbers, int]:
        """Join runs of two lengths, one after the other, by position; positions without a run do not count."""
        (a, n), (b, m) = first, then
        has_run = np.flatnonzero(left_in >= n + m)
        key = a[has_run] * (int(b.max(initial=0)) + 1) + b[has_run + n]
        out = np.zeros(len(one), np.int64)
        out[has_run] = np.unique(key, return_inverse=True)[1].reshape(-1)
        return out, n + m

    left_in = np.repeat(start + sizes, sizes) - np.arange(len(symbols))  # symbols from a position to the sequence's end
    runs, powers = None, (one, 1)
    for bit in range(lengths.start.bit_length()):
        if lengths.start >> bit & 1:
            runs = powers if runs is None else joined(runs, powers)
        if lengths.start >> (bit + 1):
            powers = joined(powers, powers)
    assert runs is not None
    for p in lengths:
        if p > lengths.start:
            runs = joined(runs, (one, 1))
        numbers = runs[0][left_in >= p]
        yield numbers, int(numbers.max(initial=-1)) + 1


def _rows_of_runs(side: Sequences, length: int) -> Numbers:
    """The row of every run of ``length`` symbols."""
    return np.repeat(np.arange(len(side)), np.maximum(np.diff(side.arrays[1]) + 1 - length, 0))
