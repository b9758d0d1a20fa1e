"""All subsequences of some sequences, length by length: each extends a shorter one by one symbol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.sequences import Sequences
from espalier.kernels.order_weights import SubsequenceWeights
from espalier.spaces.codes import Integers
from espalier.spaces.space import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Entries = tuple[Integers, Integers, Floats]  # keys, positions and values
PAIRS = 1 << 20  # how many pairs of an occurrence and a later symbol are processed at once
BYTES = 64  # of one pair


@dataclass(frozen=True, eq=False)
class Level:
    """The subsequences of one length, and where they end."""

    key: Integers  # one number for each feature, ascending: its beginning among the shorter ones, and its last symbol
    code: NDArray[np.int32]  # the symbols of each feature
    feature: Integers  # for each feature and each position at which it ends:
    position: Integers
    value: Floats  # the value of its occurrences that end there
    row: Integers  # the sequence of each position, among all positions

    def matrix(self, n_rows: int) -> csr_matrix:
        """One row for each sequence, one column for each feature."""
        from scipy.sparse import csr_matrix

        entries = (self.value, (self.row[self.position], self.feature))
        return csr_matrix(entries, shape=(n_rows, len(self.key)))


class Growth:
    """Sequences and the values of their symbols, prepared for the search.

    ``memory`` is the most bytes for the features of one length; a MemoryError if they take more. Keys are numbers to
    the base ``base``, which is more than any symbol.
    """

    def __init__(self, sequences: Sequences, weights: SubsequenceWeights, memory: int, base: int) -> None:
        symbol, start = sequences.arrays
        sizes = np.diff(start)
        self._symbol, self._weights, self._memory, self._base = symbol.astype(np.int64), weights, memory, base
        self._row = np.repeat(np.arange(len(sequences)), sizes)
        self._end = np.repeat(start[1:], sizes)
        # Sums up to each position: of the logarithms of gap weights, and of the positions that cannot be skipped.
        gap = weights.gap[symbol]
        self._log = np.concatenate([[0.0], np.cumsum(np.log(np.where(gap == 0, 1.0, gap)))])
        self._n_zeros = np.concatenate([[0], np.cumsum(gap == 0)])

    def levels(self, longest: int, known: Sequence[Integers] | None = None) -> Iterator[Level]:
        """Yield the features of at most ``longest`` symbols, length by length; values without the weight of the length.

        ``known`` are, for each length, the keys of the features to find; all features if None.
        """
        level: Level | None = None
        for length in range(longest):
            own = None if known is None else known[length]
            level = self._first(own) if level is None else self._longer(level, own)
            yield level
            if not len(level.key):
                return

    def _first(self, known: Integers | None) -> Level:
        """The symbols alone."""
        value = self._weights.match[self._symbol]
        if self._weights.binary:
            held = self._row * self._base + self._symbol
            _, which, count = np.unique(held, return_inverse=True, return_counts=True)
            value = value / count[which.reshape(-1)]
        whole = np.empty((1, 0), np.int32)  # the empty beginning of all single symbols
        return self._merged(self._kept(self._symbol, np.arange(len(value)), value, known), known, whole)

    def _longer(self, level: Level, known: Integers | None) -> Level:
        """The features that are one symbol longer."""
        n_next = self._end[level.position] - level.position - 1
        if not self._weights.has_gaps:
            n_next = np.minimum(n_next, 1)
        needed = int(n_next.sum()) * BYTES + level.code.nbytes
        if known is None and needed > self._memory:
            raise MemoryError
        parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        for first, last in _chunks(n_next):
            sizes = n_next[first:last]
            entry = np.repeat(np.arange(first, last), sizes)
            begin = level.position[entry] + 1
            position = begin + np.arange(len(entry)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            value = level.value[entry] * self._weights.match[self._symbol[position]]
            value *= np.exp(self._log[position] - self._log[begin])
            value[self._n_zeros[position] != self._n_zeros[begin]] = 0.0
            parts.append(self._kept(level.feature[entry] * self._base + self._symbol[position], position, value, known))
        key, position, value = (np.concatenate(own) for own in zip(*parts, strict=True))
        return self._merged((key, position, value), known, level.code)

    def _kept(self, key: Integers, position: Integers, value: Floats, known: Integers | None) -> Entries:
        """The entries that count and are to be found."""
        kept = value != 0
        if known is not None:
            kept &= known[np.minimum(np.searchsorted(known, key), len(known) - 1)] == key if len(known) else False
        return key[kept], position[kept], value[kept]

    def _merged(self, entries: Entries, known: Integers | None, beginnings: NDArray[np.int32]) -> Level:
        """The level of these entries: occurrences that end at one position are added up."""
        key, position, value = entries
        listed = np.unique(key) if known is None else known
        n_positions = len(self._row) + 1
        ends, number = np.unique(np.searchsorted(listed, key) * n_positions + position, return_inverse=True)
        total: Floats = np.asarray(np.bincount(number.reshape(-1), value, len(ends)), np.float64)
        last = (listed % self._base)[:, None].astype(np.int32)
        code = np.concatenate([beginnings[listed // self._base], last], axis=1)
        return Level(listed, code, ends // n_positions, ends % n_positions, total, self._row)


def keys_of(code: Sequence[Integers], base: int) -> tuple[list[Integers], list[tuple[int, int]]]:
    """The keys of some features and of their beginnings, by length; and the place of each feature among them."""
    nodes = [0] * len(code)
    places = [(0, 0)] * len(code)
    out = []
    for length in range(1, max(map(len, code), default=0) + 1):
        rows = [k for k, own in enumerate(code) if len(own) >= length]
        own_keys = np.array([nodes[k] * base + int(code[k][length - 1]) for k in rows], np.int64)
        keys, number = np.unique(own_keys, return_inverse=True)
        out.append(keys)
        for k, node in zip(rows, number.reshape(-1).tolist(), strict=True):
            nodes[k], places[k] = node, (length, node)
    return out, places


def _chunks(n_pairs: Integers) -> Iterator[tuple[int, int]]:
    """Runs of entries with at most ``PAIRS`` pairs, or of one entry."""
    total = np.cumsum(n_pairs)
    first = 0
    while first < len(n_pairs):
        done = int(total[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + PAIRS, side="right")))
        yield first, last
        first = last
