"""``Group``: candidates to choose from, such as the k best parses of a sentence, with the parser's scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.interop import as_tree
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree

Candidate = Tree | TaggedSequence | DependencyTree


@dataclass(frozen=True)
class Group:
    """The candidates of one sentence.

    Parameters
    ----------
    candidates
        All of one kind and over the same words: trees, or what converts to them; tagged sequences; dependency trees.
    scores
        What the parser says of each, such as the logarithm of its probability; 0 for all where None.
    gold
        The right one, where it is known. It need not be among the candidates.

    Examples
    --------
    >>> group = Group(["(S (N cats))", "(X (N cats))"], scores=[-1.5, -2.0], gold="(S (N cats))")
    >>> len(group), group.best
    (2, 0)
    """

    candidates: Sequence[Any]
    scores: Sequence[float] | None = None
    gold: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.candidates, str | bytes):
            raise TypeError(f"candidates must be a list, got the text {self.candidates[:60]!r}. Write [tree].")
        listed = tuple(as_candidate(candidate) for candidate in self.candidates)
        if not listed:
            raise InputError("A group needs at least one candidate.")
        scores = (0.0,) * len(listed) if self.scores is None else tuple(float(score) for score in self.scores)
        if len(scores) != len(listed):
            raise InputError(f"{len(listed)} candidates need as many scores, got {len(scores)}.")
        for place, score in enumerate(scores):
            if not math.isfinite(score):
                raise InputError(f"The score of candidate {place} is {score}; a score is a finite number.")
        gold = None if self.gold is None else as_candidate(self.gold)
        words = words_of(listed[0])
        for place, candidate in enumerate(listed):
            _check_like(f"Candidate {place}", candidate, "candidate 0", listed[0], words)
        if gold is not None:
            what = "The gold sequence" if isinstance(gold, TaggedSequence) else "The gold tree"
            _check_like(what, gold, "the candidates", listed[0], words)
        for name, value in (("candidates", listed), ("scores", scores), ("gold", gold)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def words(self) -> list[str]:
        """The words that all candidates have."""
        return words_of(self.candidates[0])

    @property
    def best(self) -> int:
        """The candidate with the largest score; the first of equals."""
        assert self.scores is not None
        return max(range(len(self)), key=self.scores.__getitem__)


def as_candidate(item: Any) -> Candidate:
    """A tagged sequence or a dependency tree as it is; anything else as a tree."""
    return item if isinstance(item, TaggedSequence | DependencyTree) else as_tree(item)


def words_of(candidate: Candidate) -> list[str]:
    """The words of a candidate of any kind."""
    return candidate.words() if isinstance(candidate, Tree) else list(candidate.words)


def _check_like(what: str, own: Candidate, other: str, first: Candidate, words: list[str]) -> None:
    if type(own) is not type(first):
        raise InputError(f"{what} is a {type(own).__name__}, and {other} a {type(first).__name__}.")
    if (found := words_of(own)) != words:
        raise InputError(
            f"{what} has other words than {other}: {' '.join(found)[:60]!r}, not {' '.join(words)[:60]!r}."
        )
