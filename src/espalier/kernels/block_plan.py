"""Plans of kernels that the compiled core computes block by block: trees, sequences and dependency trees.

A kernel reads corpora from its inputs, prepares a block of rows and columns, and calls the core. This module does what
is the same for all of these kernels: it cuts the matrix into tiles whose blocks fit the memory, runs them here or by an
executor, and adds up gradients by label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.jobs.executor import run_jobs
from espalier.jobs.schedule import Schedule
from espalier.jobs.tiles import Items, Tile, cut_to_fit, most_needed
from espalier.kept import kept
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel
from espalier.kernels.checks import check_finite
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Labels, Matrix, Plan
from espalier.kernels.sequence_memory import NO_GRIDS, Grids, threads_within, which_pairs

DECAY_BOUNDS = (1e-6, 1.0)
_TABLES = 1 << 26

Floats = NDArray[np.float64]
Native = Callable[..., object]  # a function of the core
Sums = tuple[list[Floats], list[Floats]]  # gradients of each setting by label (the last for leaves), and of others
Corpora = tuple[Any, ...]  # what a kernel reads from one side: forests, sequences or arcs, which can be indexed


class Block:
    """Some rows and columns, prepared for the core at any hyperparameters."""

    labels: list[str]  # of the rows and columns; hyperparameters may belong to them

    def n_bytes(self, kernel: Any, memory: int, *, pulling_back: bool) -> int:
        """The bytes that the core will hold at once; if more than ``memory``, any number above ``memory``."""
        return 0

    def fill(self, kernel: Any, schedule: Schedule, out: Matrix) -> bool:
        """Fill in the values; True if all of them are known to be finite."""
        raise NotImplementedError

    def pull_back(self, kernel: Any, schedule: Schedule, cotangent: Floats, sums: Sums) -> None:
        """Add the gradients of each setting by label, and those of other settings, to the sums."""
        raise NotImplementedError

    def _by_label(self, kernel: BlockKernel) -> list[Floats]:
        """The values of each setting by label, the last for leaves."""
        return [hyper.label_values(setting, self.labels) for _, setting in kernel._label_settings()]


class PairBlock(Block):
    """Rows and columns whose pairs the core computes one by one, by the two functions that a kernel's _native gives."""

    def fill(self, kernel: Any, schedule: Schedule, out: Matrix) -> bool:
        kernel._native()[0](*self._arguments(kernel, schedule), out.reshape(-1))
        return False

    def pull_back(self, kernel: Any, schedule: Schedule, cotangent: Floats, sums: Sums) -> None:
        kernel._native()[1](*self._arguments(kernel, schedule), cotangent.reshape(-1), *sums[0], *sums[1])

    def _arguments(self, kernel: Any, schedule: Schedule) -> tuple[object, ...]:
        """What the core's functions take before the matrix."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class BlockKernel(Kernel):
    """A kernel that the compiled core computes over corpora."""

    _item: ClassVar[str]  # what a row is, in messages
    _when_too_large: ClassVar[str]  # what the user should do if a value overflows
    _unlabelled: ClassVar[tuple[str, ...]] = ()  # hyperparameters that belong to no label
    _labelled: ClassVar[str] = "labels"  # what hyperparameters may belong to, in messages

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, setting in self._label_settings():
            if isinstance(setting, hyper.PerDimension):
                raise TypeError(f"{name} belongs to {self._labelled}, not dimensions: use PerLabel, got {setting!r}.")

    def _corpora(self, inputs: Inputs) -> Corpora:
        """What the kernel reads from one side."""
        raise NotImplementedError

    def _block(self, a: Corpora, b: Corpora | None, *, diagonal: bool) -> Block:
        """Prepare all rows with all columns, or each row with itself."""
        raise NotImplementedError

    def _label_settings(self) -> list[tuple[str, Any]]:
        """The hyperparameters that the core takes as one value per label, in its order."""
        return [(name, setting) for name, setting in self._settings() if name not in self._unlabelled]

    def _others(self) -> list[tuple[str, Floats]]:
        """The unlabelled hyperparameters as arrays, in the core's order, after those of labels."""
        return []

    def _least_bytes(self, a: Corpora, b: Corpora | None, tile: Tile) -> int:
        """The least number of bytes to prepare the block of a tile; 0 for one pair, which cannot be cut."""
        return 0

    def _labels_of(self, a: Corpora, b: Corpora | None) -> list[str]:
        """The labels of all rows and columns, if no block holds them all."""
        raise NotImplementedError

    def _fill_diagonal(self, a: Corpora, schedule: Schedule, out: Matrix) -> bool:
        """Fill in the value of each item with itself if that needs no block; False if it does."""
        return False

    def _grids(self, a: Corpora, b: Corpora, *, pulling_back: bool) -> Grids:
        """The grids that the core needs for pairs, as far as their memory must be counted."""
        return NO_GRIDS

    def _native(self) -> tuple[Native, Native]:
        """The core's functions for values and for pulling back, if it computes pair by pair."""
        raise NotImplementedError

    def _check(self, plan: BlockPlan) -> None:
        """Raise if the values would not be a kernel on these corpora."""

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        plan = BlockPlan(self, self._corpora(a), None if b is None else self._corpora(b), schedule, diagonal=diagonal)
        self._check(plan)
        return plan


class BlockPlan(Plan):
    """A kernel over the corpora of one side or two, or over each item with itself."""

    def __init__(
        self,
        kernel: BlockKernel,
        a: Corpora,
        b: Corpora | None,
        schedule: Schedule,
        *,
        diagonal: bool = False,
        items: Items | None = None,
    ) -> None:
        self._sides = (a, b)
        self._schedule = schedule
        self._kernel = kernel
        self._items = Items(kernel._item) if items is None else items
        rows, columns = slice(0, len(a[0])), slice(0, len((a if b is None else b)[0]))
        self._whole = Tile(rows, columns, on_diagonal=b is None, only_diagonal=diagonal)
        self._pairs = which_pairs(b is None, diagonal)
        self._describe(len(a[0]), None if b is None else len(b[0]), diagonal=diagonal)
        self._needed: dict[tuple[int, bool], int] = {}  # bytes for all at once, by memory, with and without gradients
        if self._fits and not diagonal and schedule.executor is None:
            _ = self._all  # prepare now, which takes time; a diagonal may never need it

    @kept
    def _fits(self) -> bool:
        """Whether preparing all rows and columns at once may fit the memory."""
        return self._kernel._least_bytes(*self._sides, self._whole) <= self._schedule.memory

    @kept
    def _all(self) -> Block:
        return self._kernel._block(*self._sides, diagonal=self._whole.only_diagonal)

    @kept
    def labels(self) -> list[str]:
        """The labels of both sides that hyperparameters may belong to."""
        if self._fits and self._schedule.executor is None:
            return self._all.labels
        return self._kernel._labels_of(*self._sides)

    def _labels(self) -> Labels:
        return Labels(self.labels)

    def _values(self, kernel: BlockKernel) -> Matrix:
        out = np.empty(self.shape)
        if not self._fill(kernel, out):
            check_finite(out, item=kernel._item, advice=kernel._when_too_large)
        return out

    def _fill(self, kernel: BlockKernel, out: Matrix) -> bool:
        """Fill in the values; True if all of them are known to be finite."""
        if self._whole.only_diagonal and kernel._fill_diagonal(self._sides[0], self._schedule, out):
            return False
        if jobs := self._jobs(kernel):
            for job, values in zip(jobs, run_jobs(jobs, self._schedule.executor, self._schedule.tell), strict=True):
                job.tile.put(values, out)
            return False
        all_finite = True
        for block, tile, schedule in self._blocks(kernel, pulling_back=False):
            values = out if tile == self._whole else np.empty(tile.shape)
            all_finite &= block.fill(kernel, schedule, values)
            schedule.done()
            if tile != self._whole:
                tile.put(values, out)
        return all_finite

    def _pull_back(self, kernel: BlockKernel, cotangent: Matrix) -> dict[str, float]:
        totals, others = self._sums(kernel, cotangent)
        found: dict[str, dict[str, float]] = {}  # by setting
        for (name, setting), total in zip(kernel._label_settings(), totals, strict=True):
            found[name] = hyper.label_gradients(name, setting, self.labels, total, leaves=kernel._has_leaf_value())
        for (name, _), gradient in zip(kernel._others(), others, strict=True):
            setting = getattr(kernel, name)
            if isinstance(setting, hyper.PerDimension):
                found[name] = hyper.dimension_gradients(name, setting, gradient)
            elif not hyper.is_fixed(setting):
                found[name] = {name: float(gradient.sum())}
        return {path: value for name, _ in kernel._settings() for path, value in found.get(name, {}).items()}

    def _sums(self, kernel: BlockKernel, cotangent: Matrix) -> Sums:
        """The gradients of each setting by label (the last for leaves), and those of other settings."""
        totals = [np.zeros(len(self.labels) + 1) for _ in kernel._label_settings()]
        others = [np.zeros(len(values)) for _, values in kernel._others()]
        place = {label: k for k, label in enumerate(self.labels)}

        def add(labels: list[str], gradients: list[Floats]) -> None:
            slots = [*(place[label] for label in labels), len(self.labels)]
            for total, gradient in zip(totals, gradients, strict=True):
                total[slots] += gradient

        if jobs := self._jobs(kernel, cotangent):
            for labels, gradients, more in run_jobs(jobs, self._schedule.executor, self._schedule.tell):
                add(labels, gradients)
                for other, gradient in zip(others, more, strict=True):
                    other += gradient
            return totals, others
        for block, tile, schedule in self._blocks(kernel, pulling_back=True):
            gradients = [np.zeros(len(block.labels) + 1) for _ in totals]
            given = np.ascontiguousarray(tile.take(cotangent))
            block.pull_back(kernel, schedule, given, (gradients, others))
            schedule.done()
            add(block.labels, gradients)
        return totals, others

    def _blocks(self, kernel: BlockKernel, *, pulling_back: bool) -> Iterator[tuple[Block, Tile, Schedule]]:
        """The blocks to compute: one if all fits the memory, else one for each tile."""
        limited = replace(self._schedule, n_threads=self._threads(kernel, pulling_back=pulling_back))
        memory, area = self._schedule.memory, self._whole.area or 1.0
        todo, done = [self._whole], 0.0
        while todo:
            tile = todo.pop()
            needed, block = self._prepared(kernel, tile, memory, pulling_back=pulling_back)
            if block is None:
                if tile == self._whole:
                    _ = self.labels
                    self.__dict__.pop("_all", None)  # free it before the blocks of the tiles are made
                todo.extend(cut_to_fit(tile, needed, self._items, self._schedule))
                continue
            yield block, tile, limited.between(done / area, (done + tile.area) / area)
            done += tile.area

    def _prepared(
        self, kernel: BlockKernel, tile: Tile, memory: int, *, pulling_back: bool
    ) -> tuple[int, Block | None]:
        """The bytes that the block of a tile needs, and the block; None if these are too many."""
        is_whole, key = tile == self._whole, (memory, pulling_back)
        known = self._needed.get(key) if is_whole else None
        needed = self._kernel._least_bytes(*self._sides, tile) if known is None else known
        if needed > memory:
            return needed, None
        block = self._block_of(tile)
        if known is None:
            needed = block.n_bytes(kernel, memory, pulling_back=pulling_back)
        if is_whole:
            self._needed[key] = needed
        return needed, block if needed <= memory else None

    def _grids(self, kernel: BlockKernel, *, pulling_back: bool) -> Grids:
        a, b = self._sides
        return kernel._grids(a, a if b is None else b, pulling_back=pulling_back)

    def _threads(self, kernel: BlockKernel, *, pulling_back: bool) -> int:
        """How many threads fit the memory; MemoryBudgetError if a pair does not."""
        grids = self._grids(kernel, pulling_back=pulling_back)
        return threads_within(self._schedule, grids, self._pairs, self._items)

    def _memory_needed(self, kernel: BlockKernel, *, pulling_back: bool) -> int:
        # Do not make tables of similar words that are larger only to learn what else is needed.
        most = max(self._schedule.memory, _TABLES)

        def needed(tile: Tile) -> int:
            return self._prepared(kernel, tile, most, pulling_back=pulling_back)[0]

        of_grid, _, _ = self._grids(kernel, pulling_back=pulling_back).largest(self._pairs)
        return max(1, most_needed(self._whole, needed), of_grid) * self._schedule.shares

    def _rows(self, tile: Tile) -> tuple[Corpora, Corpora | None]:
        """The corpora of a tile's rows and columns."""
        a, b = self._sides
        rows = tuple(corpus[tile.rows] for corpus in a)
        return rows, None if tile.on_diagonal else tuple(corpus[tile.columns] for corpus in (a if b is None else b))

    def _block_of(self, tile: Tile) -> Block:
        if tile == self._whole:
            return self._all
        return self._kernel._block(*self._rows(tile), diagonal=tile.only_diagonal)

    def _jobs(self, kernel: BlockKernel, cotangent: Matrix | None = None) -> list[BlockJob]:
        """The jobs for the executor; none if there is no executor or the matrix is too small to be cut."""
        tiles = [] if self._schedule.executor is None else self._whole.for_jobs()
        if not tiles:
            return []
        # Find a pair that is too large here, so that the error gives its number in the whole matrix.
        self._threads(kernel, pulling_back=cotangent is not None)
        schedule = self._schedule.of_job()
        return [
            BlockJob(kernel, *self._rows(tile), tile, schedule, None if cotangent is None else tile.take(cotangent))
            for tile in tiles
        ]


@dataclass(frozen=True, eq=False)
class BlockJob:
    """One block of a matrix, to be computed anywhere: the kernel, and the corpora of its rows and columns only.

    The result is the values of the block; with gradient weights, it is the labels of the block, the gradients by label,
    and those of other settings.
    """

    kernel: BlockKernel
    a: Corpora
    b: Corpora | None
    tile: Tile
    schedule: Schedule
    cotangent: Matrix | None = None

    @property
    def cost(self) -> float:
        """The share of the matrix."""
        return self.tile.area

    def __call__(self) -> Any:
        first = Items(self.kernel._item, self.tile.rows.start, self.tile.columns.start)
        plan = BlockPlan(self.kernel, self.a, self.b, self.schedule, diagonal=self.tile.only_diagonal, items=first)
        if self.cotangent is not None:
            return (plan.labels, *plan._sums(self.kernel, self.cotangent))
        values = np.empty(plan.shape)
        plan._fill(self.kernel, values)
        return values
