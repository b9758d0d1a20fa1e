"""Functions that learners build tree by tree: compressed where the kernel allows it, else a list of trees."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.kernels.base import Kernel
from espalier.kernels.normalized import Normalized
from espalier.kernels.subset_tree import SubsetTree
from espalier.rerank.compressed import CompressedModel

Floats = NDArray[np.float64]


class Combination(Protocol):
    """A sum of kernels of trees, each with a coefficient."""

    def add(self, forest: Forest, row: int, coefficient: float) -> None:
        """Add ``coefficient`` times a tree."""

    def __call__(self, forest: Forest, first: int = 0, last: int | None = None) -> Floats:
        """The values at trees of a corpus."""


class SupportTrees:
    """A sum over trees that are all kept: for any kernel of trees."""

    def __init__(self, kernel: Kernel, forest: Forest) -> None:
        self._kernel, self._forest = kernel, forest
        self._coefficient: dict[int, float] = {}

    def add(self, forest: Forest, row: int, coefficient: float) -> None:
        if forest is not self._forest:
            raise ValueError("Support trees come from one corpus.")
        self._coefficient[row] = self._coefficient.get(row, 0.0) + coefficient

    def __call__(self, forest: Forest, first: int = 0, last: int | None = None) -> Floats:
        rows = forest[first : len(forest) if last is None else last]
        kept = {row: value for row, value in self._coefficient.items() if value != 0.0}
        if not kept or not len(rows):
            return np.zeros(len(rows))
        values: Floats = self._kernel(rows, self._forest[list(kept)]) @ np.array(list(kept.values()))
        return values


def combination(kernel: Kernel, forest: Forest, *, compress: bool = True) -> Combination:
    """An empty sum over trees of a corpus."""
    inner = kernel.kernel if isinstance(kernel, Normalized) else kernel
    if compress and isinstance(inner, SubsetTree):
        return CompressedModel(kernel, forest)
    return SupportTrees(kernel, forest)
