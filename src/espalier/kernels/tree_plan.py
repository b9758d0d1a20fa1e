"""What kernels over trees share: forests, cut into tiles of trees if Delta would not fit the memory.

A tree kernel defines how the compiled core is made and called. The loop over tiles is in ``block_plan``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.jobs.schedule import Schedule
from espalier.jobs.tiles import Tile
from espalier.kernels.base import Matrix, Reads
from espalier.kernels.block_plan import Block, BlockKernel, Corpora, Floats, Sums
from espalier.kernels.inputs import Inputs

_ENTRY = 8  # the least bytes that making a pattern takes for each distinct subtree of each tree


@dataclass(frozen=True, repr=False)
class TreeKernel(BlockKernel):
    """A kernel over trees that the compiled core computes."""

    _item: ClassVar = "tree"
    _when_too_large: ClassVar = "Use a smaller decay, or limit max_depth."

    def reads(self) -> Reads:
        return "trees"

    def _native_plan(self, a: Forest, b: Forest | None, *, per_tree: bool) -> Any:
        raise NotImplementedError

    def _native_arguments(self, native: object) -> tuple[object, ...]:
        """Arguments of the core's ``matrix`` and ``pull_back`` beside the values per label."""
        return ()

    def _bytes_needed(self, native: Any, memory: int, *, pulling_back: bool) -> int:
        """The bytes that the core will hold at once; if more than ``memory``, any number above ``memory``."""
        arguments = self._native_arguments(native)
        return int((native.pull_back_bytes if pulling_back else native.matrix_bytes)(*arguments))

    def _corpora(self, inputs: Inputs) -> Corpora:
        return (inputs.forest(self._column()),)

    def _block(self, a: Corpora, b: Corpora | None, *, diagonal: bool) -> Block:
        return TreeBlock(self, a[0], None if b is None else b[0], per_tree=diagonal)

    def _least_bytes(self, a: Corpora, b: Corpora | None, tile: Tile) -> int:
        if max(tile.n_rows, tile.n_columns) == 1:
            return 0
        n_entries = _n_entries(a[0], tile.rows)
        if not tile.on_diagonal:
            n_entries += _n_entries((a if b is None else b)[0], tile.columns)
        return _ENTRY * n_entries

    def _labels_of(self, a: Corpora, b: Corpora | None) -> list[str]:
        (first,), (second,) = a, a if b is None else b
        vocabulary = check_same_vocabulary(first.vocabulary, second.vocabulary)
        numbers = node_labels(first)
        if b is not None:
            numbers = numbers[np.isin(numbers, node_labels(second))]
        return [vocabulary[number] for number in numbers.tolist()]


class TreeBlock(Block):
    """The compiled plan of one forest or two; its labels are those of inner nodes that can match."""

    def __init__(self, kernel: TreeKernel, a: Forest, b: Forest | None, *, per_tree: bool) -> None:
        vocabulary = a.vocabulary if b is None else check_same_vocabulary(a.vocabulary, b.vocabulary)
        self.native = kernel._native_plan(a, b, per_tree=per_tree)
        self.labels = [vocabulary[number] for number in self.native.labels]

    def n_bytes(self, kernel: TreeKernel, memory: int, *, pulling_back: bool) -> int:
        pattern = int(self.native.pattern_bytes)
        return pattern + kernel._bytes_needed(self.native, max(1, memory - pattern), pulling_back=pulling_back)

    def fill(self, kernel: TreeKernel, schedule: Schedule, out: Matrix) -> bool:
        given = out.reshape(self.native.shape)
        return bool(self.native.matrix(*self._arguments(kernel), schedule.n_threads, schedule.tell, given))

    def pull_back(self, kernel: TreeKernel, schedule: Schedule, cotangent: Floats, sums: Sums) -> None:
        given, options = cotangent.reshape(self.native.shape), (schedule.n_threads, schedule.tell)
        self.native.pull_back(*self._arguments(kernel), given, *options, *sums[0], *sums[1])

    def _arguments(self, kernel: TreeKernel) -> tuple[object, ...]:
        return (*self._by_label(kernel), *kernel._native_arguments(self.native))


def _n_entries(forest: Forest, rows: slice) -> int:
    start = forest.arrays["tree_start"]
    return int(start[rows.stop] - start[rows.start])


def node_labels(forest: Forest, *, leaves: bool = False) -> NDArray[np.int32]:
    """The labels of the inner nodes of a forest, or of its leaves, in the order of its subtrees."""
    arrays = forest.arrays
    used = np.zeros(len(arrays["label"]), bool)
    used[arrays["tree_subtree"]] = True
    labels: NDArray[np.int32] = arrays["label"][used & ((arrays["height"] == 0) == leaves)]
    _, first = np.unique(labels, return_index=True)
    return labels[np.sort(first)]
