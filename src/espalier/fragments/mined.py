"""What mining returns: fragments with weights, and a certificate of what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from espalier.jobs.progress import Progress
from espalier.kernels.base import Kernel
from espalier.spaces.codes import Codes
from espalier.spaces.space import Feature
from espalier.spaces.terms import Term
from espalier.structures.frames import frame_of

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class MiningProgress(Progress):
    """How far mining has come, over all terms of all scores, and what the search of one of them has seen."""

    name: str
    term: Term
    n_visited: int
    n_kept: int
    threshold: float  # the magnitude that a new fragment must reach


@dataclass(frozen=True, eq=False)
class MinedTerm:
    """The fragments of one term of a kernel that weigh most in one score of a model.

    Attributes
    ----------
    name
        What a large score indicates: a class, or the prediction.
    term
        The tree kernel, with its scale and norms.
    fragments, weights
        The fragments and their weights, those of the largest magnitude first.
    proven
        Whether no fragment that was left out weighs more than the last one listed.
    bound
        No fragment that was left out weighs more than this; it is the weight of the last one listed if that is proven,
        and infinite if nothing is known.
    n_visited, n_pruned
        Fragments that were weighed, and those whose extensions were ruled out by a bound.
    max_size
        The most productions (for partial trees, nodes) of the fragments that were considered; None without a limit.
    """

    name: str
    term: Term
    fragments: Codes[Any]
    weights: NDArray[np.float64]
    proven: bool
    bound: float
    n_visited: int
    n_pruned: int
    max_size: int | None = None

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[tuple[Feature, float]]:
        return zip(self.fragments, self.weights.tolist(), strict=True)

    def __repr__(self) -> str:
        kind = "proven" if self.proven else "not proven"
        return f"<{len(self):,} {self.fragments.kind}s of {self.term.kernel!r} for {self.name}, {kind}>"


class MinedFragments(tuple[MinedTerm, ...]):
    """The fragments of a model, term by term and score by score.

    Parts of the kernel that have no fragments, such as kernels on vectors, are ``left_out``.
    """

    left_out: tuple[Kernel, ...]

    def __new__(cls, parts: Iterable[MinedTerm] = (), left_out: Iterable[Kernel] = ()) -> Self:
        mined = super().__new__(cls, parts)
        mined.left_out = tuple(left_out)
        return mined

    @property
    def proven(self) -> bool:
        """Whether every term's list is proven to hold the heaviest fragments."""
        return all(part.proven for part in self)

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each fragment: score, term, column, fragment, weight."""
        rows = [
            (part.name, part.term.path, part.term.column, name, weight)
            for part in self
            for name, weight in zip(part.fragments.names(), part.weights.tolist(), strict=True)
        ]
        return frame_of(rows, ["score", "term", "column", "fragment", "weight"])

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))
