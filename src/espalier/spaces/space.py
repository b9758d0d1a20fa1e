"""Feature spaces: the features that a kernel counts, with methods to search, list, name, locate and weigh them.

A kernel names its space (:meth:`espalier.kernels.base.Kernel.feature_space`), and a space is made for a kernel. Mining,
vectorizers and explanations use the space and never ask which kernel it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.jobs.progress import Tell
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.spaces.codes import Codes
from espalier.structures.fragment import Position
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
# The value of a feature: as the kernel counts it, how often it occurs, or whether it occurs.
Values = Literal["kernel", "count", "binary"]
SpaceCorpus = TypeVar("SpaceCorpus")


class Feature(Protocol):
    """One feature of a space; ``str`` gives a readable form."""

    kind: ClassVar[str]  # what it is called

    def __str__(self) -> str: ...

    def nodes(self, tree: Tree, root: Position) -> list[Position]:
        """The nodes of a tree that the feature covers if its root is ``root``."""


class Found(NamedTuple):
    """What a search found; the fields of :class:`espalier.fragments.MinedTerm` of the same names."""

    features: Codes[Any]
    weights: Floats
    proven: bool
    bound: float
    n_visited: int
    n_pruned: int
    max_size: int | None


class Seen(NamedTuple):
    """The state of a search: features visited, features kept, and the magnitude that a new one must reach."""

    n_visited: int = 0
    n_kept: int = 0
    threshold: float = 0.0


class Wanted(NamedTuple):
    """How many features to list, up to which size (one that suits the space where None), and how to compute."""

    n: int
    max_size: int | None
    schedule: Schedule


@dataclass(frozen=True, eq=False)
class Local:
    """What the features of a space add to the score of one item, or to a sum of scores with signs."""

    trees: tuple[Tree | None, ...]  # the items as trees to draw; None for an item that is not a tree
    features: Codes[Any]  # those that add or subtract most
    contributions: Floats
    shares: tuple[Floats, ...]  # by item, the share of each node of its tree (before its children) in what is added
    split: str  # how a feature is shared by its nodes: a key of ``espalier.explanations.page.SPLITS``

    @property
    def total(self) -> float:
        """What all features add, listed or not."""
        return float(sum(own.sum() for own in self.shares))


class Search(ABC):
    """The space of a kernel over one corpus, prepared for searches with any coefficients of its rows."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @abstractmethod
    def exact(self, coefficients: Floats, n: int, max_visits: int, schedule: Schedule, tell: Tell | None) -> Found:
        """The features that are proven to have the largest weights."""

    def greedy(self, coefficients: Floats, n: int, max_expansions: int, tell: Tell | None) -> Found:
        """Features of large weights, built from parts of large weights."""
        raise InputError(f"strategy='greedy' works for SubsetTree and Subtree, not for {self.kernel!r}; use 'exact'.")

    def seen(self) -> Seen:
        """The state of the search."""
        return Seen()


class Space(ABC, Generic[SpaceCorpus]):
    """The features of one kernel."""

    name: ClassVar[str]  # as kernels and files write it
    item: ClassVar[str] = "tree"  # what has these features
    needs: ClassVar[tuple[str, ...]] = ()  # names that a kernel must have to count these features
    listing: Any  # the class of Codes that holds many features
    can_be_hashed: ClassVar[bool] = False  # whether the space has ``hashed``

    def __init__(self, kernel: Any) -> None:
        missing = [name for name in self.needs if not hasattr(kernel, name)]
        if missing:
            raise TypeError(
                f"A kernel that counts {self.name} needs {', '.join(self.needs)}, but {type(kernel).__name__} has no "
                f"{', '.join(missing)}. The docstring of {type(self).__module__} says what they mean."
            )
        self.kernel = kernel

    @property
    def can_be_compressed(self) -> bool:
        """Whether a sum over items can be kept as one forest (``espalier.rerank.compressed``)."""
        return False

    @abstractmethod
    def corpus(self, inputs: Inputs) -> SpaceCorpus:
        """What the kernel reads from its inputs."""

    @abstractmethod
    def search(self, corpus: SpaceCorpus, max_size: int | None) -> Search:
        """Prepare to search features of at most ``max_size``; of a size that suits the space if None."""

    @abstractmethod
    def features(self, listed: Any, corpus: SpaceCorpus, values: Values, *, n_threads: int | None) -> csr_matrix:
        """One row for each item and one column for each listed feature: as the kernel counts it, or how often."""

    def weighed(
        self, listed: Any, corpus: SpaceCorpus, values: Values, weights: Floats, *, n_threads: int | None
    ) -> Floats | None:
        """Return ``features(...) @ weights`` if that needs no features, else None."""
        return None

    @abstractmethod
    def local(self, training: Inputs, coefficients: Floats, examples: Inputs, factors: Floats, wanted: Wanted) -> Local:
        """Take apart the scores of examples, each times its factor, in a model with coefficients of training rows.

        What a feature adds to the difference of two scores is its weight times the difference of its values.
        """

    @abstractmethod
    def local_listed(self, listed: Any, weights: Floats, examples: Inputs, factors: Floats, wanted: Wanted) -> Local:
        """Take apart the scores of examples, each times its factor, in a model with weights of listed features."""

    def _listed_contributions(
        self, listed: Any, weights: Floats, corpus: SpaceCorpus, factors: Floats, wanted: Wanted
    ) -> tuple[Any, Floats]:
        """The listed features that add most to the scores, or subtract most, and what they add."""
        rows = self.features(listed, corpus, "kernel", n_threads=wanted.schedule.n_threads)
        added = np.asarray(rows.T @ factors).ravel() * weights
        order = heaviest(added, wanted.n)
        return listed[order], added[order]

    def _scores(self, training: SpaceCorpus, coefficients: Floats, items: SpaceCorpus) -> Floats:
        """The sum over training rows of coefficient times kernel, for each item."""
        on, kernel = self.kernel._column(), self.kernel
        with blas_threads():
            cross = kernel(training, items) if on is None else kernel({on: training}, {on: items})
            return np.asarray(cross.T @ coefficients, np.float64)

    @abstractmethod
    def locate(self, feature: Any, tree: Tree | None) -> tuple[Position, ...]:
        """The nodes of a drawn item at which a feature occurs."""

    @abstractmethod
    def drawn(self, inputs: Inputs, row: int) -> Tree:
        """One item as a tree to draw."""

    def counting(self) -> Kernel:
        """The kernel whose features are plain counts: every weight that is not 0 is replaced by 1."""
        ones = {name: 1.0 for name, setting in self.kernel._settings() if hyper.default_of(setting) != 0}
        counting: Kernel = replace(self.kernel, **ones)
        return counting

    def hashed(self, corpus: SpaceCorpus, max_size: int, values: Values) -> tuple[Any, Any, Any]:
        """The hashes of all features up to a size and the value of each, by distinct part of a corpus."""
        raise NotImplementedError


def heaviest(weights: Floats, n: int) -> NDArray[np.intp]:
    """The places of the ``n`` weights of the largest magnitude, the largest first; none of a weight of 0."""
    order = np.argsort(-np.abs(weights), kind="stable")[:n]
    found: NDArray[np.intp] = order[weights[order] != 0]
    return found
