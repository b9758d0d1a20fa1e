"""Plans of tree kernels: two forests, cut into tiles of trees where Delta would not fit its memory.

A tree kernel says how the compiled core is made and called, in :class:`TreeKernel`; everything else about
plans is the same for all of them and stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.errors import MemoryBudgetError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback
from espalier.kernels.checks import check_cotangent, check_finite
from espalier.kernels.inputs import Inputs
from espalier.kernels.schedule import Schedule, show_bytes

Gradients = list[NDArray[np.float64]]


@dataclass(frozen=True, repr=False)
class TreeKernel(Kernel):
    """A kernel over trees that the compiled core computes.

    ``_label_settings`` names the hyperparameters that the core takes as one value per label, in its order.
    """

    def _native_plan(self, a: Forest, b: Forest | None, *, per_tree: bool) -> Any:
        raise NotImplementedError

    def _native_arguments(self, native: Any) -> tuple[Any, ...]:
        """Arguments of the core's ``matrix`` and ``pull_back`` beside the values per label."""
        raise NotImplementedError

    def _label_settings(self) -> list[tuple[str, Any]]:
        return list(self._settings())

    def _has_leaf_value(self) -> bool:
        """True where leaves take part in the kernel with hyperparameters of their own."""
        raise NotImplementedError

    def _column(self) -> str | None:
        return getattr(self, "on", None)

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule) -> Plan:
        on = self._column()
        return TreePlan(self, a.forest(on), None if b is None else b.forest(on), schedule)

    def _make_diagonal_plan(self, a: Inputs, schedule: Schedule) -> Plan:
        return TreePlan(self, a.forest(self._column()), None, schedule, per_tree=True)


@dataclass(frozen=True)
class Tile:
    """Rows and columns of the matrix that are computed together."""

    rows: slice
    columns: slice
    mirrored: bool  # the transposed tile holds the same values


class TreePlan(Plan):
    """A tree kernel over one forest or two (or, ``per_tree``, only each tree with itself)."""

    def __init__(
        self, kernel: TreeKernel, a: Forest, b: Forest | None, schedule: Schedule, *, per_tree: bool = False
    ) -> None:
        self._forests = (a, b)
        self._per_tree = per_tree
        self._schedule = schedule
        self._vocabulary = a.vocabulary if b is None else check_same_vocabulary(a.vocabulary, b.vocabulary)
        self._native: Any = kernel._native_plan(a, b, per_tree=per_tree)
        self.n_pairs: int = self._native.n_pairs
        self._labels = [self._vocabulary[number] for number in self._native.labels]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix, or of the diagonal."""
        a, b = self._forests
        return (len(a),) if self._per_tree else (len(a), len(a if b is None else b))

    @property
    def labels(self) -> list[str]:
        """The labels of inner nodes that both sides have."""
        return list(self._labels)

    def bind(self, kernel: TreeKernel) -> TreeKernel:
        leaves = kernel._has_leaf_value()
        changes = {
            name: hyper.bind_labels(setting, self._labels, leaves=leaves)
            for name, setting in kernel._settings()
        }
        return replace(kernel, **changes)

    def matrix(self, kernel: TreeKernel) -> Matrix:
        out = np.empty(self.shape)
        tiles = self._tiles(kernel, pulling_back=False)
        for k, (native, tile) in enumerate(tiles):
            self._compute(kernel, native, tile, out, self._schedule.part(k, len(tiles)))
        check_finite(out, item="tree", advice="Use a smaller decay, or limit max_depth.")
        return out

    def vjp(self, kernel: TreeKernel) -> tuple[Matrix, Pullback]:
        values = self.matrix(kernel)
        return values, lambda cotangent: self._pull_back(kernel, cotangent)

    def _compute(self, kernel: TreeKernel, native: Any, tile: Tile, out: Matrix, schedule: Schedule) -> None:
        native = self._made(kernel, native, tile)
        whole = tile.rows == slice(None)
        block = out.reshape(native.shape) if whole else np.empty(native.shape)
        native.matrix(
            *(hyper.label_values(setting, self._labels_of(native)) for _, setting in kernel._label_settings()),
            *kernel._native_arguments(native),
            schedule.n_threads,
            schedule.progress,
            block,
        )
        if whole:
            return
        if self._per_tree:
            out[tile.rows] = block[:, 0]
            return
        out[tile.rows, tile.columns] = block
        if tile.mirrored:
            out[tile.columns, tile.rows] = block.T

    def _pull_back(self, kernel: TreeKernel, cotangent: Matrix) -> dict[str, float]:
        cotangent = check_cotangent(cotangent, self.shape)
        settings = kernel._label_settings()
        totals = {name: hyper.label_gradients(name, setting, self._labels, np.zeros(len(self._labels) + 1),
                                              leaves=kernel._has_leaf_value())
                  for name, setting in settings}  # fmt: skip
        tiles = self._tiles(kernel, pulling_back=True)
        for k, (native, tile) in enumerate(tiles):
            schedule = self._schedule.part(k, len(tiles))
            native = self._made(kernel, native, tile)
            labels = self._labels_of(native)
            if tile.rows == slice(None) or self._per_tree:
                block = cotangent[tile.rows]
            else:
                block = cotangent[tile.rows, tile.columns]
                if tile.mirrored:
                    block = block + cotangent[tile.columns, tile.rows].T
            gradients = [np.zeros(len(labels) + 1) for _ in settings]
            native.pull_back(
                *(hyper.label_values(setting, labels) for _, setting in settings),
                *kernel._native_arguments(native),
                np.ascontiguousarray(block).reshape(native.shape),
                schedule.n_threads,
                schedule.progress,
                *gradients,
            )
            for (name, setting), gradient in zip(settings, gradients, strict=True):
                leaves = kernel._has_leaf_value()
                for path, value in hyper.label_gradients(name, setting, labels, gradient, leaves=leaves).items():
                    totals[name][path] = totals[name].get(path, 0.0) + value
        return {path: value for part in totals.values() for path, value in part.items()}

    # Tiles.

    def _labels_of(self, native: Any) -> list[str]:
        if native is self._native:
            return self._labels
        return [self._vocabulary[number] for number in native.labels]

    def _made(self, kernel: TreeKernel, native: Any, tile: Tile) -> Any:
        return native if native is not None else self._native_of(kernel, tile)

    def _native_of(self, kernel: TreeKernel, tile: Tile) -> Any:
        a, b = self._forests
        if tile.rows == tile.columns and b is None:
            return kernel._native_plan(a[tile.rows], None, per_tree=self._per_tree)
        return kernel._native_plan(a[tile.rows], (a if b is None else b)[tile.columns], per_tree=False)

    def _bytes(self, kernel: TreeKernel, native: Any, *, pulling_back: bool) -> int:
        arguments = kernel._native_arguments(native)
        return int((native.pull_back_bytes if pulling_back else native.matrix_bytes)(*arguments))

    def _tiles(self, kernel: TreeKernel, *, pulling_back: bool) -> list[tuple[Any, Tile]]:
        whole = Tile(slice(None), slice(None), False)
        needed = self._bytes(kernel, self._native, pulling_back=pulling_back)
        if needed <= self._schedule.memory:
            return [(self._native, whole)]
        self._native.release()
        a, b = self._forests
        rows = _halves(len(a))
        todo: list[Tile] = []
        if self._per_tree:
            todo = [Tile(part, part, False) for part in rows]
        elif b is None:
            todo = [Tile(r, c, r != c) for i, r in enumerate(rows) for c in rows[: i + 1]]
        else:
            todo = [Tile(r, c, False) for r in rows for c in _halves(len(b))]
        tiles: list[tuple[Any, Tile]] = []
        while todo:
            tile = todo.pop()
            native = self._native_of(kernel, tile)
            needed = self._bytes(kernel, native, pulling_back=pulling_back)
            if needed <= self._schedule.memory:
                tiles.append((None, tile))
                continue
            todo.extend(self._split(tile, needed))
        return tiles

    def _split(self, tile: Tile, needed: int) -> list[Tile]:
        n_rows, n_columns = tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start
        on_diagonal = tile.rows == tile.columns and self._forests[1] is None
        if max(n_rows, n_columns) == 1:
            raise MemoryBudgetError(
                f"Tree {tile.rows.start} with tree {tile.columns.start} alone needs {show_bytes(needed)} "
                f"of memory, and the budget is {show_bytes(self._schedule.memory)}. "
                f"Pass memory={needed} or more, or cut the tree."
            )
        rows, columns = _halves(n_rows, tile.rows.start), _halves(n_columns, tile.columns.start)
        if on_diagonal and self._per_tree:
            return [Tile(part, part, False) for part in rows]
        if on_diagonal:
            return [Tile(r, c, r != c) for i, r in enumerate(rows) for c in rows[: i + 1]]
        if n_rows >= n_columns:
            return [Tile(r, tile.columns, tile.mirrored) for r in rows]
        return [Tile(tile.rows, c, tile.mirrored) for c in columns]


def _halves(n: int, start: int = 0) -> list[slice]:
    middle = start + (n + 1) // 2
    parts = [slice(start, middle), slice(middle, start + n)]
    return [part for part in parts if part.stop > part.start]
