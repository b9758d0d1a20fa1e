"""What spaces of sets and of sequences share: every position of an example has one atom and one slot.

A feature takes atoms of growing slots. Candidates of one group that have the same atom in the same slot share a
position, and a mask of bits tells which candidates have it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.spaces.grown import (
    SETS,
    Atoms,
    GrownSpace,
    Integers,
    check_atoms,
    check_candidates,
    in_enough_examples,
    masks_of,
)

Texts = Mapping[str, tuple[str, ...]]


class Occurrences(NamedTuple):
    """Atoms where they occur in the inputs; rows do not decrease."""

    row: Integers
    slot: Integers
    code: NDArray[np.uint64]


class SlotSpace(GrownSpace):
    """A space in which every position of an example has one atom and one slot."""

    @property
    def gap(self) -> int:
        """How many slots a feature may skip between its first and its last atom; sets do not look at it."""
        return 0

    def learned(self, inputs: Inputs, bounds: Integers, threshold: float, schedule: Schedule) -> Atoms:
        check_candidates(bounds)
        texts = self._texts(inputs)
        found = self._occurrences(inputs, texts)
        codes = in_enough_examples(found.code, _example_of(bounds)[found.row], threshold)
        check_atoms(codes, threshold)
        return Atoms(codes, texts)

    def graphs(self, inputs: Inputs, bounds: Integers, atoms: Atoms, schedule: Schedule) -> _core.SlotGraphs:
        check_candidates(bounds)
        found = self._occurrences(inputs, atoms.texts)
        atom = atoms.numbers(found.code)
        known = atom < len(atoms)
        row, slot, atom = found.row[known], found.slot[known], atom[known]
        example, bit = _example_of(bounds)[row], masks_of(bounds, row)
        order = np.lexsort((atom, slot, example))
        example, slot, atom, bit = example[order], slot[order], atom[order], bit[order]
        is_new = np.ones(len(order), bool)
        is_new[1:] = (np.diff(example) != 0) | (np.diff(slot) != 0) | (atom[1:] != atom[:-1])
        first = np.flatnonzero(is_new)
        sizes = np.bincount(example[first], minlength=len(bounds) - 1)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        own = slot[first] if self.kind != SETS else np.arange(len(first)) - np.repeat(start[:-1], sizes)
        arrays: dict[str, NDArray[Any]] = {
            "start": start,
            "n_starts": sizes.astype(np.int32),
            "n_candidates": np.diff(bounds).astype(np.int32),
            "slot": own.astype(np.int32),
            "atom": atom[first],
        }
        if len(row) and np.diff(bounds).max() > 1:
            arrays["mask"] = np.bitwise_or.reduceat(bit, first)
        return _core.SlotGraphs(self.kind, self.gap, arrays)

    def item_of(self, inputs: Inputs, row: int) -> Inputs:
        """One row as inputs of its own: of a table, it may be read from several columns."""
        return inputs.rows(np.array([row]))

    @abstractmethod
    def _texts(self, inputs: Inputs) -> Texts:
        """The texts that codes refer to."""

    @abstractmethod
    def _occurrences(self, inputs: Inputs, texts: Texts) -> Occurrences:
        """All atoms of the inputs whose texts are known."""


def one_row(item: Any) -> Inputs:
    """An item as inputs, which it may be already."""
    return item if isinstance(item, Inputs) else Inputs.of([item])


def _example_of(bounds: Integers) -> Integers:
    """The example of each row of the inputs."""
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
