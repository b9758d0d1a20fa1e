"""Bags of words and n-grams: kernels with features that can be written down."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.sequences import Sequences, Unit, as_sequences, check_unit
from espalier.corpus.texts import check_words
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.feature_plan import FeatureKernel, Features, counts
from espalier.kernels.hyperparameters import Fixed, Hyperparameter, PerDimension, hyperparameter
from espalier.kernels.order_weights import order_values, weights_by_length
from espalier.structures.numbers import LARGEST, whole_number


@dataclass(frozen=True)
class Idf:
    """Inverse document frequencies: how rare each symbol is, fitted on a corpus of its own.

    Two are equal where they say the same. Symbols that the corpus did not have are as rare as can be.

    Examples
    --------
    >>> idf = Idf.fit(["a b", "a c", "a"])
    >>> round(idf("a"), 2), round(idf("b"), 2), round(idf("unseen"), 2)
    (1.0, 1.69, 2.39)
    """

    n_items: int
    n_holding: Mapping[str, int] = field(repr=False)

    @staticmethod
    def fit(corpus: Any, of: Unit = "words") -> Idf:
        """Count in how many items each symbol stands."""
        sequences = as_sequences(check_words(corpus), of)
        symbol, start = sequences.arrays
        row = np.repeat(np.arange(len(sequences)), np.diff(start))
        found, holding = np.unique(np.unique(np.stack([row, symbol]), axis=1)[1], return_counts=True)
        names = [sequences.vocabulary[number] for number in found.tolist()]
        return Idf(len(sequences), dict(zip(names, holding.tolist(), strict=True)))

    def __call__(self, symbol: str) -> float:
        """``1 + log((1 + items) / (1 + items that hold the symbol))``, as scikit-learn has it."""
        return float(1.0 + np.log((1 + self.n_items) / (1 + self.n_holding.get(symbol, 0))))

    def __hash__(self) -> int:
        listed = repr((self.n_items, sorted(self.n_holding.items()))).encode()
        return int.from_bytes(hashlib.blake2b(listed, digest_size=8).digest(), "big") >> 1


@dataclass(frozen=True, repr=False)
class BagOfWords(FeatureKernel):
    r"""Count the symbols two sequences share, whatever their order.

    .. math:: K(s, t) = \sum_x w_x \, f_s(x) \, f_t(x)

    where :math:`f(x)` is how often the symbol stands there, or whether, times its inverse document frequency.

    Parameters
    ----------
    values
        ``"count"``, or ``"binary"``: whether a symbol stands there at all.
    idf
        Inverse document frequencies, ``Idf.fit(corpus)``, by which values are multiplied; none where None.
    weight
        :math:`w`: what a symbol weighs. ``PerLabel(1.0)`` learns one for each.
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
    weight: Hyperparameter = hyperparameter(Fixed(1.0))  # type: ignore[arg-type]
    of: Unit = "words"
    on: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_unit(self.of)
        if self.values not in ("count", "binary"):
            raise ValueError(f"values must be 'count' or 'binary', got {self.values!r}.")
        if self.idf is not None and not isinstance(self.idf, Idf):
            raise TypeError(f"idf must be Idf.fit(corpus) or None, got {self.idf!r}.")
        if isinstance(self.weight, PerDimension):
            raise TypeError("weight belongs to symbols, not dimensions: use PerLabel.")

    def _features(self, a: Sequences, b: Sequences | None) -> Features:
        sides = (a,) if b is None else (a, b)
        used = np.unique(np.concatenate([side.arrays[0] for side in sides]))
        vocabulary = max((side.vocabulary for side in sides), key=len)
        names = [vocabulary[number] for number in used.tolist()]
        idf = np.ones(len(names)) if self.idf is None else np.array([self.idf(name) for name in names])
        found = []
        for side in sides:
            symbol, start = side.arrays
            row = np.repeat(np.arange(len(side)), np.diff(start))
            rows = counts(np.searchsorted(used, symbol), row, (len(side), len(used)))
            if self.values == "binary":
                rows.data[:] = 1.0
            rows.data *= idf[rows.indices]
            found.append(rows)
        return Features((found[0], found[-1]), tuple((name,) for name in names), np.arange(len(names)), names)

    def _part_weights(self, features: Features) -> NDArray[np.float64]:
        return hyper.label_values(self.weight, features.labels)[:-1]

    def _part_gradients(self, features: Features, gradient: NDArray[np.float64]) -> dict[str, float]:
        whole = np.append(gradient, 0.0)  # the last would be the leaves'
        return hyper.label_gradients("weight", self.weight, features.labels, whole, leaves=False)

    def _bound(self, labels: list[str]) -> BagOfWords:
        return replace(self, weight=hyper.bind_labels(self.weight, labels, leaves=False))


@dataclass(frozen=True, repr=False)
class Spectrum(FeatureKernel):
    r"""Count the n-grams two sequences share (Leslie et al., 2002).

    .. math:: K(s, t) = \sum_{p} w_p \sum_{|g| = p} c_s(g) \, c_t(g)

    over runs :math:`g` of :math:`p` symbols without gaps, counted by :math:`c`.

    Parameters
    ----------
    length
        How many symbols an n-gram has.
    shortest
        Also count shorter ones, down to this length; those of ``length`` alone where None.
    order_weights
        :math:`w`: one weight for each length, from the shortest: a tuple, or a number for all to start from, and then
        each is learned. Fixed at 1 where nobody says otherwise.
    of, on
        As for :class:`Subsequence`.

    Examples
    --------
    >>> Spectrum(2)(["a b a b", "b a b"])
    array([[5., 3.],
           [3., 2.]])
    """

    length: int = 3
    shortest: int | None = None
    order_weights: Any = hyperparameter(Fixed(1.0))  # type: ignore[arg-type]
    of: Unit = "words"
    on: str | None = None

    def __post_init__(self) -> None:
        check_unit(self.of)
        object.__setattr__(
            self, "length", whole_number("length", self.length, wanted=f"an integer from 1 to {LARGEST:,}")
        )
        if self.shortest is not None:
            wanted = f"an integer from 1 to length, {self.length:,},"
            shortest = whole_number("shortest", self.shortest, 1, self.length, wanted=wanted)
            object.__setattr__(self, "shortest", shortest)
        weights = weights_by_length(self.order_weights, self.length + 1 - self._first, self._first)
        object.__setattr__(self, "order_weights", weights)
        super().__post_init__()

    @property
    def _first(self) -> int:
        return self.length if self.shortest is None else self.shortest

    def _features(self, a: Sequences, b: Sequences | None) -> Features:
        sides = (a,) if b is None else (a, b)
        vocabulary = max((side.vocabulary for side in sides), key=len)
        columns: list[list[Any]] = [[] for _ in sides]
        names: list[tuple[str, ...]] = []
        part: list[NDArray[np.int64]] = []
        lengths = range(self._first, self.length + 1)
        for p in lengths:
            runs = [_runs(side, p) for side in sides]
            distinct, number = np.unique(np.concatenate([found for _, found in runs]), axis=0, return_inverse=True)
            first = 0
            for own, (row, found), side in zip(columns, runs, sides, strict=True):
                mine = number.reshape(-1)[first : first + len(found)]
                first += len(found)
                own.append(counts(mine, row, (len(side), len(distinct))))
            names += [tuple(vocabulary[k] for k in run) for run in distinct.tolist()]
            part.append(np.full(len(distinct), p - self._first))
        from scipy.sparse import hstack

        rows = [hstack(own).tocsr() for own in columns]
        return Features((rows[0], rows[-1]), tuple(names), np.concatenate(part), [str(p) for p in lengths])

    def _part_weights(self, features: Features) -> NDArray[np.float64]:
        return order_values(self.order_weights, len(features.labels))

    def _part_gradients(self, features: Features, gradient: NDArray[np.float64]) -> dict[str, float]:
        if hyper.is_fixed(self.order_weights):
            return {}
        return {f"order_weights[{p}]": float(value) for p, value in enumerate(gradient)}


def _runs(side: Sequences, length: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Every run of some symbols: its row, and its symbols."""
    symbol, start = side.arrays
    n_runs = np.maximum(np.diff(start) + 1 - length, 0)
    row = np.repeat(np.arange(len(side)), n_runs)
    first = np.arange(len(row)) + np.repeat(start[:-1] - np.cumsum(n_runs) + n_runs, n_runs)
    return row, symbol[first[:, None] + np.arange(length)]
