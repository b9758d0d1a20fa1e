"""What kernels over sequences share: which symbols occur, and the pairs that the compiled core computes.

A kernel defines which sequences it reads from an item (words, or tags and words), which of its hyperparameters have one
value for each symbol of the first of them, and how the core is called. With a similarity the matrix is computed in
tiles whose table of similar symbols fits the memory; the loop over tiles is in ``block_plan``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.sequences import Sequences, Unit
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.jobs.schedule import Schedule
from espalier.kept import kept
from espalier.kernels.block_plan import Block, BlockKernel, BlockPlan, Corpora, PairBlock
from espalier.kernels.inputs import Inputs
from espalier.kernels.sequence_memory import which_pairs
from espalier.kernels.similarity import Similarity


@dataclass(frozen=True, repr=False)
class SequenceKernel(BlockKernel):
    """A kernel over sequences that the compiled core computes."""

    _item: ClassVar = "sequence"
    _labelled: ClassVar = "symbols"
    _takes_similarity: ClassVar[bool] = False  # whether the core's functions take similarities, or None for them

    def _units(self) -> tuple[Unit, ...]:
        """What is read from each item; the first has the symbols that hyperparameters belong to."""
        raise NotImplementedError

    def _similarity(self) -> Similarity | None:
        """How similar unequal symbols are; None if only equal ones match."""
        return getattr(self, "similarity", None)

    def _corpora(self, inputs: Inputs) -> Corpora:
        return tuple(inputs.sequences(self._column(), unit) for unit in self._units())

    def _check(self, plan: BlockPlan) -> None:
        if (similarity := self._similarity()) is not None:
            similarity.check(plan.labels)

    def _block(self, a: Corpora, b: Corpora | None, *, diagonal: bool) -> Block:
        return SequenceBlock(a, b, self._similarity(), diagonal=diagonal)

    def _labels_of(self, a: Corpora, b: Corpora | None) -> list[str]:
        return SequenceBlock(a, b, None, diagonal=False).labels


class SequenceBlock(PairBlock):
    """Sequences whose symbols are numbered among those that occur."""

    def __init__(self, a: Corpora, b: Corpora | None, similarity: Similarity | None, *, diagonal: bool) -> None:
        self._pairs = which_pairs(b is None, diagonal)
        self._similarity = similarity
        sides = (a, a if b is None else b)
        used, columns = _renumbered(sides[0][0], sides[1][0])
        vocabulary = check_same_vocabulary(sides[0][0].vocabulary, sides[1][0].vocabulary)
        self.labels = [vocabulary[number] for number in used.tolist()]
        symbols = [[column] for column in columns]
        for own, other in zip(sides[0][1:], sides[1][1:], strict=True):
            check_same_vocabulary(own.vocabulary, other.vocabulary)
            for side, symbol in zip(symbols, _renumbered(own, other)[1], strict=True):
                side.append(symbol)
        starts = [side[0].arrays[1] for side in sides]
        self._arrays = [array for side, start in zip(symbols, starts, strict=True) for array in (*side, start)]

    @kept
    def _similar(self) -> dict[str, object] | None:
        if self._similarity is None:
            return None
        n = len(self.labels)
        values = self._similarity(self.labels)
        return {"value": values.reshape(-1), "row": np.arange(n, dtype=np.int32), "width": n}

    def n_bytes(self, kernel: SequenceKernel, memory: int, *, pulling_back: bool) -> int:
        return 0 if self._similarity is None else 8 * len(self.labels) ** 2  # the table of similar symbols

    def _arguments(self, kernel: SequenceKernel, schedule: Schedule) -> tuple[object, ...]:
        values = [*self._by_label(kernel), *(other for _, other in kernel._others())]
        soft = (self._similar,) if kernel._takes_similarity else ()
        return (*self._arrays, self._pairs, *values, *soft, schedule.n_threads, schedule.tell)


def _renumbered(a: Sequences, b: Sequences) -> tuple[NDArray[np.int32], list[NDArray[np.int32]]]:
    """The symbols that occur on either side, and both sides with symbols numbered among these."""
    used = np.unique(np.concatenate([side.arrays[0] for side in (a, b)]))
    return used, [np.searchsorted(used, side.arrays[0]).astype(np.int32) for side in (a, b)]
