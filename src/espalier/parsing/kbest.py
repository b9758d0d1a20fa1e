"""The best candidates of a sentence, their exact scores, and the protocol of everything that proposes candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from espalier.jobs.progress import Report
from espalier.structures.dependency import DependencyTree
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree

# Log probabilities are multiples of this. Sums of up to 131,072 in size, as of some ten thousand words, then need no
# rounding in 53 bits; each weight is rounded by 7.3e-12 at most.
GRID = 2.0**-36


class Parse(NamedTuple):
    """A tree and the logarithm of its probability, of which each rule and each word is rounded to 36 binary places."""

    tree: Tree
    score: float


class Tagged(NamedTuple):
    """A tagged sequence and the logarithm of its probability together with its words.

    Each probability of a tag and of a word has a logarithm that is rounded to 36 binary places.
    """

    sequence: TaggedSequence
    score: float


class DependencyParse(NamedTuple):
    """A dependency tree and its score, which is a sum of learned weights and no probability."""

    tree: DependencyTree
    score: float


Scored = TypeVar("Scored", bound="tuple[Any, float]", covariant=True)


@dataclass(frozen=True)
class KBest(Sequence[Scored]):
    """The best candidates of a sentence, the most probable first: parses or taggings, each with its score.

    Their order does not depend on ``k``: the best ``j`` are the first ``j`` of any longer list. :class:`PCFG` and
    :class:`Tagger` say how they order equally probable ones.

    Parameters
    ----------
    best
        Distinct candidates with their scores.
    complete
        False if the grammar covers only parts of the sentence: these are then side by side below the
        root, in a single tree.
    exact
        Whether these are the best of all: False if a beam, a coarse grammar or lack of memory left something out.
    narrowed
        Whether memory did not suffice and a narrower beam than requested was used.
    n_bytes
        The memory that the search took.
    more_scores
        Further scores of the candidates by name, for rerankers.
    """

    best: tuple[Scored, ...]
    complete: bool = True
    exact: bool = True
    narrowed: bool = False
    n_bytes: int = field(default=0, compare=False, repr=False)
    more_scores: Mapping[str, Sequence[float]] = field(default_factory=dict, hash=False, repr=False)

    def __len__(self) -> int:
        return len(self.best)

    @overload
    def __getitem__(self, rank: int) -> Scored: ...
    @overload
    def __getitem__(self, rank: slice) -> tuple[Scored, ...]: ...
    def __getitem__(self, rank: int | slice) -> Scored | tuple[Scored, ...]:
        return self.best[rank]

    @property
    def candidates(self) -> list[object]:
        """The trees or the tagged sequences alone."""
        return [candidate for candidate, _ in self.best]

    @property
    def scores(self) -> list[float]:
        """The scores alone."""
        return [score for _, score in self.best]


@runtime_checkable
class Proposer(Protocol):
    """Anything that proposes candidates for sentences: a parser, a tagger, or a class of your own with this method."""

    def propose(
        self,
        sentences: Iterable[Sequence[Any]],
        k: int,
        *,
        beam: float | None = None,
        n_threads: int | None = None,
        progress: Report | None = None,
    ) -> Sequence[Sequence[tuple[object, float]]]:
        """Return for each sentence at most ``k`` candidates with their scores, such as a :class:`KBest`.

        Parameters
        ----------
        sentences
            Lists of words, or of pairs of a word and its tag.
        k
            How many candidates at most.
        beam
            How much less probable than the best a part of a candidate may be, as a difference of logarithms; None
            leaves nothing out.
        n_threads
            Threads over sentences; None is one for each core. Results do not depend on it.
        progress
            Called now and then with a :class:`~espalier.jobs.Progress`.
        """


def on_grid(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest multiples of 2 to the power of -36.

    A parser adds the same weights in many orders: in its chart, in its search, with other constituents before them.
    With rounded sums, parses of equal probability would differ in their last digits, and so in rank.

    Examples
    --------
    >>> float(sum(on_grid(np.log([0.1, 0.2, 0.7]))) - sum(on_grid(np.log([0.7, 0.2, 0.1]))))
    0.0
    """
    return np.rint(weights / GRID) * GRID
