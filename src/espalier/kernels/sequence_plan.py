"""Plans of kernels over sequences: which symbols occur, and the pairs that the compiled core computes.

A kernel says which sequences it reads of an item (words, or tags and words), which of its hyperparameters have one
value for each symbol of the first of them, and how the core is called; the rest is the same for all and stands here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.sequences import Sequences, Unit
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.errors import InputError
from espalier.jobs.budget import pair_too_large
from espalier.jobs.schedule import Schedule
from espalier.jobs.tiles import Tile, most_needed
from espalier.kept import kept
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback
from espalier.kernels.checks import check_cotangent, check_finite
from espalier.kernels.hyperparameters import PerDimension
from espalier.kernels.inputs import Inputs
from espalier.kernels.sequence_memory import ALL, DIAGONAL, SYMMETRIC, needed_for_one
from espalier.kernels.similarity import Similarity

DECAY_BOUNDS = (1e-6, 1.0)
Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class SequenceKernel(Kernel):
    """A kernel over sequences that the compiled core computes."""

    _per_symbol: ClassVar[tuple[str, ...]]  # hyperparameters with one value for each symbol, in the core's order
    _takes_similarity: ClassVar[bool] = False  # whether the core's functions take similarities, or None for them

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self._per_symbol:
            if isinstance(getattr(self, name), PerDimension):
                raise TypeError(f"{name} belongs to symbols, not dimensions: use PerLabel.")

    def _units(self) -> tuple[Unit, ...]:
        """What is read of each item; the first has the symbols that hyperparameters belong to."""
        raise NotImplementedError

    def _others(self) -> list[tuple[str, Floats]]:
        """Other hyperparameters as arrays, in the core's order, behind those of symbols."""
        return []

    def _similarity(self) -> Similarity | None:
        """How similar unequal symbols are; None where only equal ones match."""
        return None

    def _threads(self, a: Sequences, b: Sequences, pairs: int, schedule: Schedule, *, pulling_back: bool) -> int:
        """How many threads fit the memory, by the first of what is read; MemoryBudgetError where a pair does not."""
        return schedule.n_threads

    def _native(self) -> tuple[Any, Any]:
        """The core's functions for values and for pulling back."""
        raise NotImplementedError

    def _when_too_large(self) -> str:
        """What to do where a value overflows."""
        raise NotImplementedError

    def _sequences(self, inputs: Inputs) -> tuple[Sequences, ...]:
        found = tuple(inputs.sequences(getattr(self, "on", None), unit) for unit in self._units())
        for other in found[1:]:
            sizes = [np.diff(corpus.arrays[1]) for corpus in (found[0], other)]
            if not np.array_equal(sizes[0], sizes[1]):
                row = int(np.flatnonzero(sizes[0] != sizes[1])[0])
                counts = [f"{size[row]} {unit}" for size, unit in zip(sizes, self._units(), strict=False)]
                on = getattr(self, "on", None)
                place = "" if on is None else f"Column {on!r}: "
                raise InputError(f"{place}Row {row} has {' and '.join(counts)}: every word needs one tag.")
        return found

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule) -> Plan:
        others = None if b is None else self._sequences(b)
        return SequencePlan(self._sequences(a), others, schedule, similarity=self._similarity())

    def _make_diagonal_plan(self, a: Inputs, schedule: Schedule) -> Plan:
        return SequencePlan(self._sequences(a), None, schedule, diagonal=True, similarity=self._similarity())


class SequencePlan(Plan):
    """Sequences to compare: those of two sides, of one with itself, or each with itself.

    With a similarity the matrix is computed in tiles whose table of similar symbols fits the memory.
    """

    def __init__(
        self,
        a: tuple[Sequences, ...],
        b: tuple[Sequences, ...] | None,
        schedule: Schedule,
        *,
        diagonal: bool = False,
        similarity: Similarity | None = None,
    ) -> None:
        self._schedule = schedule
        self._sides = (a, a if b is None else b)
        n_rows, n_columns = (len(side[0]) for side in self._sides)
        self._whole = Tile(slice(0, n_rows), slice(0, n_columns), on_diagonal=b is None, only_diagonal=diagonal)
        self._similarity = similarity
        self._first = self._part_of(self._whole)
        if similarity is not None:
            similarity.check(self._first.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix, or of the diagonal."""
        whole = self._whole
        return (whole.n_rows,) if whole.only_diagonal else (whole.n_rows, whole.n_columns)

    @property
    def labels(self) -> list[str]:
        """The symbols of both sides."""
        return list(self._first.labels)

    def bind(self, kernel: SequenceKernel) -> SequenceKernel:
        names = kernel._per_symbol
        labels = self._first.labels
        return replace(
            kernel, **{name: hyper.bind_labels(getattr(kernel, name), labels, leaves=False) for name in names}
        )

    def matrix(self, kernel: SequenceKernel) -> Matrix:
        limited = self._limited(kernel, pulling_back=False)
        out = np.empty(self.shape)
        for part, schedule in self._parts(limited):
            tile = part.tile
            block = out if tile == self._whole else np.empty(tile.shape)
            kernel._native()[0](*part.arguments(kernel, schedule), block.reshape(-1))
            schedule.done()
            if tile != self._whole:
                tile.put(block, out)
        check_finite(out, item="sequence", advice=kernel._when_too_large())
        return out

    def vjp(self, kernel: SequenceKernel) -> tuple[Matrix, Pullback]:
        return self.matrix(kernel), lambda cotangent: self._pull_back(kernel, cotangent)

    def _pull_back(self, kernel: SequenceKernel, cotangent: Matrix) -> dict[str, float]:
        cotangent = check_cotangent(cotangent, self.shape)
        limited = self._limited(kernel, pulling_back=True)
        labels = self._first.labels
        totals = [np.zeros(len(labels) + 1) for _ in kernel._per_symbol]  # the last would be the leaves'
        others = [np.zeros(len(values)) for _, values in kernel._others()]
        for part, schedule in self._parts(limited):
            bars = [np.zeros(len(part.labels) + 1) for _ in totals]
            block = np.ascontiguousarray(part.tile.take(cotangent)).reshape(-1)
            kernel._native()[1](*part.arguments(kernel, schedule), block, *bars, *others)
            schedule.done()
            place = np.searchsorted(self._first.used, part.used)
            for total, bar in zip(totals, bars, strict=True):
                total[place] += bar[:-1]
        out: dict[str, float] = {}
        for name, total in zip(kernel._per_symbol, totals, strict=True):
            out.update(hyper.label_gradients(name, getattr(kernel, name), labels, total, leaves=False))
        for (name, _), bar in zip(kernel._others(), others, strict=True):
            setting = getattr(kernel, name)
            if isinstance(setting, PerDimension):
                out.update({f"{name}[{k}]": float(value) for k, value in enumerate(bar)})
            elif not hyper.is_fixed(setting):
                out[name] = float(bar.sum())
        return out

    def _limited(self, kernel: SequenceKernel, *, pulling_back: bool) -> Schedule:
        """The schedule with as many threads as fit the memory."""
        n_threads = self._threads(kernel, self._schedule, pulling_back=pulling_back)
        return replace(self._schedule, n_threads=n_threads)

    def _threads(self, kernel: SequenceKernel, schedule: Schedule, *, pulling_back: bool) -> int:
        whole, (a, b) = self._whole, self._sides
        pairs = DIAGONAL if whole.only_diagonal else SYMMETRIC if whole.on_diagonal else ALL
        return kernel._threads(a[0], b[0], pairs, schedule, pulling_back=pulling_back)

    def _memory_needed(self, kernel: SequenceKernel, *, pulling_back: bool) -> int:
        of_grids = needed_for_one(
            lambda schedule: self._threads(kernel, schedule, pulling_back=pulling_back), self._schedule
        )
        of_tables = most_needed(self._whole, lambda tile: self._part_of(tile).n_bytes)
        return max(of_grids, of_tables * self._schedule.shares)

    def _parts(self, limited: Schedule) -> Iterator[tuple[_Part, Schedule]]:
        """What is computed at once: all, or tiles whose tables fit the memory."""
        if self._first.n_bytes <= self._schedule.memory:
            yield self._first, limited
            return
        todo, done, area = self._cut(self._first), 0.0, self._whole.area
        while todo:
            tile = todo.pop()
            part = self._part_of(tile)
            if part.n_bytes > self._schedule.memory:
                todo.extend(self._cut(part))
                continue
            yield part, limited.between(done / area, (done + tile.area) / area)
            done += tile.area

    def _cut(self, part: _Part) -> list[Tile]:
        tile = part.tile
        if max(tile.n_rows, tile.n_columns) == 1:
            pair = f"Sequence {tile.rows.start} with sequence {tile.columns.start}"
            raise pair_too_large(pair, "sequence", part.n_bytes, self._schedule)
        return tile.cut(max(2, math.ceil(part.n_bytes / self._schedule.memory)))

    def _part_of(self, tile: Tile) -> _Part:
        rows, columns = tile.rows, tile.rows if tile.on_diagonal else tile.columns
        if tile == self._whole:
            return _Part(tile, self._sides, self._similarity)
        sides = [
            tuple(corpus[which] for corpus in side) for side, which in zip(self._sides, (rows, columns), strict=True)
        ]
        return _Part(tile, (sides[0], sides[1]), self._similarity)


class _Part:
    """The sequences of one tile by the numbers of their symbols among themselves."""

    def __init__(
        self, tile: Tile, sides: tuple[tuple[Sequences, ...], tuple[Sequences, ...]], similarity: Similarity | None
    ) -> None:
        self.tile, self._similarity = tile, similarity
        self.used, columns = _renumbered(sides[0][0], sides[1][0])
        vocabulary = check_same_vocabulary(sides[0][0].vocabulary, sides[1][0].vocabulary)
        self.labels = [vocabulary[number] for number in self.used.tolist()]
        symbols = [[column] for column in columns]
        for own, other in zip(sides[0][1:], sides[1][1:], strict=True):
            check_same_vocabulary(own.vocabulary, other.vocabulary)
            for side, symbol in zip(symbols, _renumbered(own, other)[1], strict=True):
                side.append(symbol)
        starts = [side[0].arrays[1] for side in sides]
        self._arrays = [array for side, start in zip(symbols, starts, strict=True) for array in (*side, start)]

    @property
    def n_bytes(self) -> int:
        """What the table of similar symbols takes."""
        return 0 if self._similarity is None else 8 * len(self.labels) ** 2

    @kept
    def _similar(self) -> dict[str, Any] | None:
        if self._similarity is None:
            return None
        n = len(self.labels)
        values = self._similarity(self.labels)
        return {"value": values.reshape(-1), "row": np.arange(n, dtype=np.int32), "width": n}

    def arguments(self, kernel: SequenceKernel, schedule: Schedule) -> tuple[Any, ...]:
        """What the core's functions take before the matrix."""
        pairs = DIAGONAL if self.tile.only_diagonal else SYMMETRIC if self.tile.on_diagonal else ALL
        by_symbol = [hyper.label_values(getattr(kernel, name), self.labels) for name in kernel._per_symbol]
        others = [values for _, values in kernel._others()]
        soft = (self._similar,) if kernel._takes_similarity else ()
        return (*self._arrays, pairs, *by_symbol, *others, *soft, schedule.n_threads, schedule.tell)


def _renumbered(a: Sequences, b: Sequences) -> tuple[NDArray[np.int32], list[NDArray[np.int32]]]:
    """The symbols that occur on either side, and both sides by their numbers among these."""
    used = np.unique(np.concatenate([side.arrays[0] for side in (a, b)]))
    return used, [np.searchsorted(used, side.arrays[0]).astype(np.int32) for side in (a, b)]
