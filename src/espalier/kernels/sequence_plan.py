"""Plans of kernels over sequences: which symbols occur, and the pairs that the compiled core computes.

A kernel says which sequences it reads of an item (words, or tags and words), which of its hyperparameters have one
value for each symbol of the first of them, and how the core is called; the rest is the same for all and stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.sequences import Sequences, Unit
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.errors import InputError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback
from espalier.kernels.checks import check_cotangent, check_finite
from espalier.kernels.hyperparameters import PerDimension
from espalier.kernels.inputs import Inputs
from espalier.kernels.schedule import Schedule

DECAY_BOUNDS = (1e-6, 1.0)
ALL, SYMMETRIC, DIAGONAL = range(3)  # which pairs the core computes

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class SequenceKernel(Kernel):
    """A kernel over sequences that the compiled core computes."""

    _per_symbol: ClassVar[tuple[str, ...]]  # hyperparameters with one value for each symbol, in the core's order

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self._per_symbol:
            if isinstance(getattr(self, name), PerDimension):
                raise TypeError(f"{name} belongs to symbols, not dimensions: use PerLabel.")

    def _units(self) -> tuple[Unit, ...]:
        """What is read of each item; the first has the symbols that hyperparameters belong to."""
        raise NotImplementedError

    def _others(self) -> list[tuple[str, Floats]]:
        """Hyperparameters that are lists of numbers, in the core's order, behind those of symbols."""
        return []

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
                raise InputError(f"Row {row} has {' and '.join(counts)}: every word needs one tag.")
        return found

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule) -> Plan:
        return SequencePlan(self._sequences(a), None if b is None else self._sequences(b), schedule)

    def _make_diagonal_plan(self, a: Inputs, schedule: Schedule) -> Plan:
        return SequencePlan(self._sequences(a), None, schedule, diagonal=True)


class SequencePlan(Plan):
    """Sequences to compare: those of two sides, of one with itself, or each with itself."""

    def __init__(
        self,
        a: tuple[Sequences, ...],
        b: tuple[Sequences, ...] | None,
        schedule: Schedule,
        *,
        diagonal: bool = False,
    ) -> None:
        self._schedule = schedule
        self._pairs = DIAGONAL if diagonal else SYMMETRIC if b is None else ALL
        self._n_items = (len(a[0]), len(a[0] if b is None else b[0]))
        self._labels, columns = _renumbered(a[0], (a if b is None else b)[0])
        sides = [[symbol] for symbol in columns]
        for own, other in zip(a[1:], (a if b is None else b)[1:], strict=True):
            for side, symbol in zip(sides, _renumbered(own, other)[1], strict=True):
                side.append(symbol)
        starts = [side[0].arrays[1] for side in (a, a if b is None else b)]
        self._arrays = [array for side, start in zip(sides, starts, strict=True) for array in (*side, start)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix, or of the diagonal."""
        return self._n_items[:1] if self._pairs == DIAGONAL else self._n_items

    @property
    def labels(self) -> list[str]:
        """The symbols of both sides."""
        return list(self._labels)

    def bind(self, kernel: SequenceKernel) -> SequenceKernel:
        names = kernel._per_symbol
        changes = {name: hyper.bind_labels(getattr(kernel, name), self._labels, leaves=False) for name in names}
        return replace(kernel, **changes)

    def matrix(self, kernel: SequenceKernel) -> Matrix:
        out = np.empty(self.shape)
        kernel._native()[0](*self._arguments(kernel), out.reshape(-1))
        self._schedule.done()
        check_finite(out, item="sequence", advice=kernel._when_too_large())
        return out

    def vjp(self, kernel: SequenceKernel) -> tuple[Matrix, Pullback]:
        return self.matrix(kernel), lambda cotangent: self._pull_back(kernel, cotangent)

    def _pull_back(self, kernel: SequenceKernel, cotangent: Matrix) -> dict[str, float]:
        cotangent = np.ascontiguousarray(check_cotangent(cotangent, self.shape))
        n_symbols = len(self._labels) + 1  # the last would be the leaves'
        bars = [np.zeros(n_symbols) for _ in kernel._per_symbol]
        bars += [np.zeros(len(values)) for _, values in kernel._others()]
        kernel._native()[1](*self._arguments(kernel), cotangent.reshape(-1), *bars)
        self._schedule.done()
        out: dict[str, float] = {}
        for name, bar in zip(kernel._per_symbol, bars, strict=False):
            out.update(hyper.label_gradients(name, getattr(kernel, name), self._labels, bar, leaves=False))
        for (name, _), bar in zip(kernel._others(), bars[len(kernel._per_symbol) :], strict=True):
            if not hyper.is_fixed(getattr(kernel, name)):
                out.update({f"{name}[{k}]": float(value) for k, value in enumerate(bar)})
        return out

    def _arguments(self, kernel: SequenceKernel) -> tuple[Any, ...]:
        by_symbol = [hyper.label_values(getattr(kernel, name), self._labels) for name in kernel._per_symbol]
        others = [values for _, values in kernel._others()]
        schedule = self._schedule
        return (*self._arrays, self._pairs, *by_symbol, *others, schedule.n_threads, schedule.progress)


def _renumbered(a: Sequences, b: Sequences) -> tuple[list[str], Sequence[NDArray[np.int32]]]:
    """The symbols that occur on either side, and both sides by their numbers among these."""
    vocabulary = check_same_vocabulary(a.vocabulary, b.vocabulary)
    used = np.unique(np.concatenate([side.arrays[0] for side in (a, b)]))
    labels = [vocabulary[number] for number in used.tolist()]
    return labels, [np.searchsorted(used, side.arrays[0]).astype(np.int32) for side in (a, b)]
