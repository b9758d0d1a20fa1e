"""Functions drawn from Gaussian processes over real trees, whose hyperparameters are then to be found again.

Shared by the experiments of sections 4.1 and 4.2 (are they found?) and 4.3 (how fast?).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Forest
from espalier.kernels import Kernel, Normalized, PerLabel, SubsetTree
from espalier_experiments import data

N_TEST = 200
NOISE = 0.01
DECAY, FRONTIER = 0.001, 1.0
# The symbol-aware truth: sentences weigh more than all else.
SYMBOL_DECAY = {"S": 0.5, "other": 0.001}
SYMBOL_FRONTIER = {"S": 1.0, "other": 0.1}
START_DECAY, START_FRONTIER, START_NOISE = 0.03, 0.5, 0.1

TRUTHS = ("subset", "symbol-aware")


@cache
def trees(folder: Path, n: int, seed: int) -> Forest:
    """The trees of the experiments, drawn once per process."""
    return data.treebank_trees(folder, n, seed=seed)


def true_kernel(truth: str, forest: Forest, *, normalized: bool) -> Kernel:
    """The kernel that functions are drawn with."""
    if truth == "subset":
        return wrapped(SubsetTree(decay=DECAY, frontier=FRONTIER), normalized)
    groups = other_labels(forest)
    decay = PerLabel(SYMBOL_DECAY["other"], groups=groups, values=SYMBOL_DECAY)
    frontier = PerLabel(SYMBOL_FRONTIER["other"], groups=groups, values=SYMBOL_FRONTIER)
    return wrapped(SubsetTree(decay=decay, frontier=frontier), normalized)


def start_kernel(model: str, forest: Forest, *, normalized: bool) -> Kernel:
    """The kernel to learn, away from the truth."""
    if model == "subset":
        return wrapped(SubsetTree(decay=START_DECAY, frontier=START_FRONTIER), normalized)
    groups = other_labels(forest)
    decay = PerLabel(START_DECAY, groups=groups, prior=None)
    frontier = PerLabel(START_FRONTIER, groups=groups, prior=None)
    return wrapped(SubsetTree(decay=decay, frontier=frontier), normalized)


def wrapped(kernel: Kernel, normalized: bool) -> Kernel:
    """The kernel, normalised or as it is."""
    return Normalized(kernel) if normalized else kernel


def other_labels(forest: Forest, own: str = "S") -> dict[str, list[str]]:
    """One group of all labels but one, which keeps values of its own."""
    return {"other": [label for label in data.inner_labels(forest) if label != own]}


@dataclass(frozen=True, eq=False)
class Sample:
    """A function on trees, observed with noise: rows to learn from, and rows to be tested on."""

    forest: Forest
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    function: NDArray[np.float64]
    observed: NDArray[np.float64]

    def part(self, size: int) -> tuple[Forest, NDArray[np.float64]]:
        """The first training trees and what was observed of them."""
        rows = self.train[:size]
        return self.forest[rows], self.observed[rows]

    @property
    def held_out(self) -> Forest:
        """The test trees."""
        return self.forest[self.test]


def draw(
    folder: Path, truth: str, *, normalized: bool, n_trees: int, n_test: int, repetition: int, seed: int
) -> Sample:
    """Draw a function with the true kernel, and split the trees; the same for every model and training size."""
    forest = trees(folder, n_trees, seed)
    root = _root(folder, truth, normalized, n_trees, seed)
    rng = np.random.default_rng([seed, repetition, TRUTHS.index(truth)])
    order = rng.permutation(n_trees)
    function = root @ rng.standard_normal(n_trees)
    observed = function + np.sqrt(NOISE) * rng.standard_normal(n_trees)
    return Sample(forest, order[n_test:], order[:n_test], function, observed)


@cache
def _root(folder: Path, truth: str, normalized: bool, n_trees: int, seed: int) -> NDArray[np.float64]:
    """A root of the true matrix; by eigenvalues, because trees without common productions make it singular."""
    forest = trees(folder, n_trees, seed)
    matrix: Any = true_kernel(truth, forest, normalized=normalized)(forest)
    values, vectors = np.linalg.eigh(matrix)
    root: NDArray[np.float64] = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
