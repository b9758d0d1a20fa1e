"""Plans of tree kernels: two forests, cut into tiles of trees where Delta would not fit its memory.

A tree kernel says how the compiled core is made and called, in :class:`TreeKernel`; everything else about
plans is the same for all of them and stands here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.jobs.budget import pair_too_large
from espalier.jobs.schedule import Schedule
from espalier.jobs.tiles import Tile, most_needed
from espalier.kept import kept
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback, Reads
from espalier.kernels.checks import check_cotangent, check_finite
from espalier.kernels.inputs import Inputs

_TABLES = 1 << 26
_ENTRY = 8  # bytes that a pattern takes while it is made for each distinct subtree of each tree, at least

Gradients = list[NDArray[np.float64]]


@dataclass(frozen=True, repr=False)
class TreeKernel(Kernel):
    """A kernel over trees that the compiled core computes.

    ``_label_settings`` names the hyperparameters that the core takes as one value per label, in its order.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, setting in self._settings():
            if isinstance(setting, hyper.PerDimension):
                raise TypeError(f"{name} belongs to labels, not dimensions: use PerLabel, got {setting!r}.")

    def reads(self) -> Reads:
        return "trees"

    def _when_too_large(self) -> str:
        """What to do where a value overflows."""
        return "Use a smaller decay, or limit max_depth."

    def _native_plan(self, a: Forest, b: Forest | None, *, per_tree: bool) -> Any:
        raise NotImplementedError

    def _fill_self_values(self, forest: Forest, schedule: Schedule, out: Matrix) -> bool:
        """Fill in the value of each tree with itself where that needs no plan; False where it does."""
        return False

    def _native_arguments(self, native: Any) -> tuple[Any, ...]:
        """Arguments of the core's ``matrix`` and ``pull_back`` beside the values per label."""
        raise NotImplementedError

    def _bytes_needed(self, native: Any, memory: int, *, pulling_back: bool) -> int:
        """What the core will hold at once; any number beyond ``memory`` will do where it is more."""
        arguments = self._native_arguments(native)
        return int((native.pull_back_bytes if pulling_back else native.matrix_bytes)(*arguments))

    def _label_settings(self) -> list[tuple[str, Any]]:
        return list(self._settings())

    def _other_settings(self) -> list[tuple[str, Any]]:
        """Single numbers whose gradients the core gives behind those by label."""
        return []

    def _has_leaf_value(self) -> bool:
        """True where leaves take part in the kernel with hyperparameters of their own."""
        raise NotImplementedError

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule) -> Plan:
        on = self._column()
        return TreePlan(self, a.forest(on), None if b is None else b.forest(on), schedule)

    def _make_diagonal_plan(self, a: Inputs, schedule: Schedule) -> Plan:
        return TreePlan(self, a.forest(self._column()), None, schedule, per_tree=True)


class TreePlan(Plan):
    """A tree kernel over one forest or two (or, ``per_tree``, only each tree with itself)."""

    def __init__(
        self, kernel: TreeKernel, a: Forest, b: Forest | None, schedule: Schedule, *, per_tree: bool = False
    ) -> None:
        self._forests = (a, b)
        self._per_tree = per_tree
        self._schedule = schedule
        self._needed: dict[bool, int] = {}  # for all at once, with and without gradients
        self._vocabulary = a.vocabulary if b is None else check_same_vocabulary(a.vocabulary, b.vocabulary)
        self._make_native = partial(kernel._native_plan, a, b, per_tree=per_tree)
        if not per_tree and self._least(self._whole) <= schedule.memory:
            _ = self._native  # what takes time is done now; a diagonal may never need it

    @kept
    def _native(self) -> Any:
        return self._make_native()

    @kept
    def _labels(self) -> list[str]:
        if self._least(self._whole) <= self._schedule.memory:
            return [self._vocabulary[number] for number in self._native.labels]
        a, b = self._forests
        numbers = _inner_labels(a)
        if b is not None:
            numbers = numbers[np.isin(numbers, _inner_labels(b))]
        return [self._vocabulary[number] for number in numbers.tolist()]

    @property
    def n_pairs(self) -> int:
        """How many pairs of distinct subtrees can match."""
        return int(self._native.n_pairs)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix, or of the diagonal."""
        a, b = self._forests
        return (len(a),) if self._per_tree else (len(a), len(a if b is None else b))

    @property
    def labels(self) -> list[str]:
        """The labels of inner nodes that both sides have, and that can match where the pattern tells."""
        return list(self._labels)

    def bind(self, kernel: TreeKernel) -> TreeKernel:
        leaves = kernel._has_leaf_value()
        changes = {
            name: hyper.bind_labels(setting, self._labels, leaves=leaves) for name, setting in kernel._settings()
        }
        return replace(kernel, **changes)

    def matrix(self, kernel: TreeKernel) -> Matrix:
        out = np.empty(self.shape)
        if self._per_tree and kernel._fill_self_values(self._forests[0], self._schedule, out):
            check_finite(out, item="tree", advice=kernel._when_too_large())
            return out
        all_finite = True
        for native, labels, tile, schedule in self._work(kernel, pulling_back=False):
            block = out.reshape(native.shape) if tile == self._whole else np.empty(native.shape)
            finite = native.matrix(
                *(hyper.label_values(setting, labels) for _, setting in kernel._label_settings()),
                *kernel._native_arguments(native),
                schedule.n_threads,
                schedule.tell,
                block,
            )
            schedule.done()
            all_finite = all_finite and finite
            if tile == self._whole:
                continue
            tile.put(block, out)
        if not all_finite:
            check_finite(out, item="tree", advice=kernel._when_too_large())
        return out

    def vjp(self, kernel: TreeKernel) -> tuple[Matrix, Pullback]:
        values = self.matrix(kernel)
        return values, lambda cotangent: self._pull_back(kernel, cotangent)

    def _pull_back(self, kernel: TreeKernel, cotangent: Matrix) -> dict[str, float]:
        cotangent = check_cotangent(cotangent, self.shape)
        settings = kernel._label_settings()
        totals = [np.zeros(len(self._labels) + 1) for _ in settings]
        others = [np.zeros(1) for _ in kernel._other_settings()]
        place = {label: k for k, label in enumerate(self._labels)}
        for native, labels, tile, schedule in self._work(kernel, pulling_back=True):
            gradients = [np.zeros(len(labels) + 1) for _ in settings]
            native.pull_back(
                *(hyper.label_values(setting, labels) for _, setting in settings),
                *kernel._native_arguments(native),
                np.ascontiguousarray(tile.take(cotangent)).reshape(native.shape),
                schedule.n_threads,
                schedule.tell,
                *gradients,
                *others,
            )
            schedule.done()
            slots = [*(place[label] for label in labels), len(self._labels)]  # the last is the leaves'
            for total, gradient in zip(totals, gradients, strict=True):
                total[slots] += gradient
        out: dict[str, float] = {}
        for (name, setting), total in zip(settings, totals, strict=True):
            out.update(hyper.label_gradients(name, setting, self._labels, total, leaves=kernel._has_leaf_value()))
        for (name, setting), total in zip(kernel._other_settings(), others, strict=True):
            out.update({} if hyper.is_fixed(setting) else {name: float(total[0])})
        return out

    @property
    def _whole(self) -> Tile:
        a, b = self._forests
        rows, columns = slice(0, len(a)), slice(0, len(a if b is None else b))
        return Tile(rows, columns, on_diagonal=b is None, only_diagonal=self._per_tree)

    def _work(self, kernel: TreeKernel, *, pulling_back: bool) -> Iterator[tuple[Any, list[str], Tile, Schedule]]:
        """The tiles to compute, each with its compiled plan: one where Delta fits its memory, else many."""
        whole = self._whole
        needed = self._needed.get(pulling_back)
        if needed is None:
            needed = self._least(whole)  # what is too large is not made to find out by how much
            if needed <= self._schedule.memory:
                needed = self._bytes(kernel, self._native, pulling_back=pulling_back)
            self._needed[pulling_back] = needed
        if needed <= self._schedule.memory:
            yield self._native, self._labels, whole, self._schedule
            return
        _ = self._labels
        self.__dict__.pop("_native", None)  # the pattern of all trees would stand beside those of the tiles
        todo, done = self._cut(whole, needed), 0.0
        while todo:
            tile = todo.pop()
            if (least := self._least(tile)) > self._schedule.memory:
                todo.extend(self._cut(tile, least))
                continue
            native = self._native_of(kernel, tile)
            needed = self._bytes(kernel, native, pulling_back=pulling_back)
            if needed > self._schedule.memory:
                todo.extend(self._cut(tile, needed))
                continue
            labels = [self._vocabulary[number] for number in native.labels]
            yield (
                native,
                labels,
                tile,
                self._schedule.between(done / whole.area, (done + tile.area) / whole.area),
            )
            done += tile.area

    def _bytes(self, kernel: TreeKernel, native: Any, memory: int | None = None, *, pulling_back: bool) -> int:
        """What a compiled plan takes: its pattern, and what the core will hold at once."""
        left = (self._schedule.memory if memory is None else memory) - native.pattern_bytes
        return int(native.pattern_bytes) + kernel._bytes_needed(native, max(1, left), pulling_back=pulling_back)

    def _least(self, tile: Tile) -> int:
        """What the pattern of a tile takes while it is made, at least; 0 for one pair, which cannot be cut."""
        if max(tile.n_rows, tile.n_columns) == 1:
            return 0
        a, b = self._forests
        n_entries = _n_entries(a, tile.rows)
        if not tile.on_diagonal:
            n_entries += _n_entries(a if b is None else b, tile.columns)
        return _ENTRY * n_entries

    def _memory_needed(self, kernel: TreeKernel, *, pulling_back: bool) -> int:
        # Tables of similar words that are larger are not made to find out what stands beside them.
        most = max(self._schedule.memory, _TABLES)

        def needed(tile: Tile) -> int:
            if (least := self._least(tile)) > most:
                return least
            return self._bytes(kernel, self._native_of(kernel, tile), most, pulling_back=pulling_back)

        return most_needed(self._whole, needed) * self._schedule.shares

    def _native_of(self, kernel: TreeKernel, tile: Tile) -> Any:
        a, b = self._forests
        if tile.on_diagonal:
            return kernel._native_plan(a[tile.rows], None, per_tree=tile.only_diagonal)
        return kernel._native_plan(a[tile.rows], (a if b is None else b)[tile.columns], per_tree=False)

    def _cut(self, tile: Tile, needed: int) -> list[Tile]:
        if max(tile.n_rows, tile.n_columns) == 1:
            pair = f"Tree {tile.rows.start} with tree {tile.columns.start}"
            raise pair_too_large(pair, "tree", needed, self._schedule)
        return tile.cut(max(2, math.ceil(needed / self._schedule.memory)))


def _n_entries(forest: Forest, rows: slice) -> int:
    start = forest.arrays["tree_start"]
    return int(start[rows.stop] - start[rows.start])


def _inner_labels(forest: Forest) -> NDArray[np.int32]:
    """The labels of the inner nodes of a forest, in the order of its subtrees."""
    arrays = forest.arrays
    used = np.zeros(len(arrays["label"]), bool)
    used[arrays["tree_subtree"]] = True
    labels = arrays["label"][used & (arrays["height"] > 0)]
    _, first = np.unique(labels, return_index=True)
    found: NDArray[np.int32] = labels[np.sort(first)]
    return found
