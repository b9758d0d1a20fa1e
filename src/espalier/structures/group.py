"""``Group``: candidates to choose from, such as the k best parses of a sentence, with the parser's scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from espalier.errors import InputError, TreeSyntaxError
from espalier.structures.dependency import DependencyTree
from espalier.structures.interop import as_tree
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Known, Tree, tree_from_text

Candidate = Tree | TaggedSequence | DependencyTree

LARGEST_SCORE = 1e100  # of larger ones sums and squares overflow
_KINDS = {Tree: "trees", TaggedSequence: "tagged sequences", DependencyTree: "dependency trees"}
KINDS = tuple(_KINDS.values())


class CandidateError(InputError):
    """A candidate that does not fit. Its number counts from 0, and from 1 in errors that name a file."""

    def __init__(self, before: str, place: int, after: str) -> None:
        super().__init__(f"{before} {place} {after}")
        self.in_file = f"{before} {place + 1} {after}"


@dataclass(frozen=True, repr=False)
class Group:
    """The candidates of one sentence.

    Parameters
    ----------
    candidates
        All of one kind and over the same words: trees, or what converts to them; tagged sequences; dependency trees.
    scores
        The parser's score of each, such as the logarithm of its probability. None means 0 for all.
    gold
        The right one, if it is known. It need not be among the candidates.
    name
        The name of the sentence, if it has one. It plays no part in the comparison of groups.
    more_scores
        Further scores by name, each a list with a number for each candidate, such as those of a tagger. A
        :class:`~espalier.FeatureReranker` learns how much each counts; other learners leave them aside.
    gold_added
        Whether the gold tree was added as the last candidate because the parser had not found it. It is learned from,
        but weights of scores are not chosen by it: no list of a new sentence has such a candidate.

    Examples
    --------
    >>> group = Group(["(S (N cats))", "(X (N cats))"], scores=[-1.5, -2.0], gold="(S (N cats))")
    >>> len(group), group.best
    (2, 0)
    """

    candidates: Sequence[Any]
    scores: Sequence[float] | None = None
    gold: Any = None
    name: str | None = field(default=None, kw_only=True, compare=False)
    more_scores: Mapping[str, Sequence[float]] = field(default_factory=dict, kw_only=True, hash=False)
    gold_added: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.candidates, str | bytes):
            raise TypeError(f"candidates must be a list, got the text {self.candidates[:60]!r}. Write [tree].")
        if not isinstance(self.candidates, Iterable):
            raise TypeError(f"candidates must be a list, got {self.candidates!r}. Write [tree].")
        if not isinstance(self.name, str | None):
            raise TypeError(f"name must be a text, got {self.name!r} of type {type(self.name).__name__}.")
        known: Known = {}  # candidates of one sentence have most of their subtrees in common, each kept once
        listed = tuple(as_candidate(candidate, known) for candidate in self.candidates)
        if not listed:
            raise InputError("A group needs at least one candidate.")
        scores = (0.0,) * len(listed) if self.scores is None else _as_scores(self.scores)
        if not isinstance(self.more_scores, Mapping) or not all(isinstance(own, str) for own in self.more_scores):
            raise TypeError(f"more_scores must be lists of numbers by name, got {self.more_scores!r:.80}.")
        more = {name: _as_scores(own, f"{name!r} ") for name, own in self.more_scores.items()}
        for name, own in (("scores", scores), *((f"scores {name!r}", own) for name, own in more.items())):
            if len(own) != len(listed):
                raise InputError(f"{len(listed)} candidates need as many {name}, got {len(own)}.")
        gold = None if self.gold is None else as_candidate(self.gold, known)
        if not isinstance(self.gold_added, bool):
            raise TypeError(f"gold_added must be True or False, got {self.gold_added!r}.")
        if self.gold_added and (gold is None or len(listed) < 2):
            raise InputError("gold_added needs a gold tree, and another candidate before it.")
        words = words_of(listed[0])
        for place, candidate in enumerate(listed[1:], 1):
            if difference := _difference(candidate, "the first candidate", listed[0], words):
                raise CandidateError("Candidate", place, difference)
        if gold is not None and (difference := _difference(gold, "the candidates", listed[0], words)):
            what = "The gold sequence" if isinstance(gold, TaggedSequence) else "The gold tree"
            raise InputError(f"{what} {difference}")
        for name, value in (("candidates", listed), ("scores", scores), ("gold", gold), ("more_scores", more)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.candidates)

    def __repr__(self) -> str:
        named = "" if self.name is None else f", name={self.name!r}"
        more = f", more_scores={self.more_scores!r}" if self.more_scores else ""
        more += ", gold_added=True" if self.gold_added else ""
        return f"Group(candidates={self.candidates!r}, scores={self.scores!r}, gold={self.gold!r}{named}{more})"

    @property
    def words(self) -> list[str]:
        """The words that all candidates have."""
        return words_of(self.candidates[0])

    @property
    def kind(self) -> str:
        """What the candidates are, in words: trees, tagged sequences or dependency trees."""
        return _KINDS[type(self.candidates[0])]

    def as_proposed(self) -> Group:
        """The group without a gold tree that was added to the candidates."""
        if not self.gold_added:
            return self
        more = {name: own[:-1] for name, own in self.more_scores.items()}
        scores = self.scores[:-1] if self.scores is not None else None
        return replace(self, candidates=self.candidates[:-1], scores=scores, more_scores=more, gold_added=False)

    @property
    def best(self) -> int:
        """The candidate with the largest score; the first of equals."""
        assert self.scores is not None
        return max(range(len(self)), key=self.scores.__getitem__)


def as_candidate(item: object, known: Known | None = None) -> Candidate:
    """Return tagged sequences and dependency trees unchanged, and other items as trees that share subtrees."""
    if isinstance(item, str):
        return tree_from_text(item, {} if known is None else known)
    return item if isinstance(item, TaggedSequence | DependencyTree) else as_tree(item)


def group_at(
    place: str,
    candidates: Any,
    scores: Any,
    gold: object,
    name: str | None,
    more_scores: Mapping[str, Sequence[float]] | None = None,
) -> Group:
    """Make a group that was read from a file; errors name the place."""
    known: Known = {}
    listed: list[Candidate] = []
    what = ""
    try:
        for rank, candidate in enumerate(candidates, 1):
            what = f"candidate {rank}"
            listed.append(as_candidate(candidate, known))
        what = "the gold tree"
        right = None if gold is None else as_candidate(gold, known)
        return Group(listed, scores, right, name=name, more_scores=more_scores or {})
    except TreeSyntaxError as error:
        named = TreeSyntaxError(error.message, source=f"{place}, {what}", text=error.text, position=error.position)
        raise InputError(str(named)) from None
    except CandidateError as error:
        raise InputError(f"{place}: {error.in_file}") from None
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{place}: {error}") from None


def rows_by_sentence(sentences: Iterable[Sequence[str]]) -> list[list[int]]:
    """Return the rows of each sentence, by first occurrence. Sentences with equal words are one sentence."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for row, words in enumerate(sentences):
        alike.setdefault(tuple(words), []).append(row)
    return list(alike.values())


def words_of(candidate: Candidate) -> list[str]:
    """The words of a candidate of any kind."""
    return candidate.words() if isinstance(candidate, Tree) else list(candidate.words)


def _as_scores(scores: object, name: str = "") -> tuple[float, ...]:
    if isinstance(scores, str | bytes) or not isinstance(scores, Iterable):
        raise InputError(f"scores {name}must be a list of numbers, one for each candidate, got {scores!r:.80}.")
    out = []
    for place, score in enumerate(scores):
        try:
            # Texts that spell a number and truth values would be taken for one.
            out.append(math.nan if isinstance(score, str | bytes | bool | np.bool_) else float(score))
        except (TypeError, ValueError, OverflowError):
            out.append(math.nan)
        if not abs(out[-1]) <= LARGEST_SCORE:
            rule = f"a score is a finite number of at most {LARGEST_SCORE:g} in size."
            raise CandidateError(f"The score {name}of candidate", place, f"is {_shown(score)}; {rule}")
    return tuple(out)


def _shown(score: object) -> str:
    """Show a value in an error; integers of thousands of digits cannot be written out."""
    if isinstance(score, str | bytes):
        return f"the text {score!r:.60}"
    return "too large" if isinstance(score, int) and not isinstance(score, bool) else f"{score!s:.60}"


def _difference(own: Candidate, other: str, first: Candidate, words: list[str]) -> str:
    """How a candidate differs in kind or in words from another; an empty text if it does not."""
    if type(own) is not type(first):
        return f"is a {type(own).__name__}, and {other} a {type(first).__name__}."
    if own is first or words_of(own) == words:
        return ""
    found, wanted = (" ".join(listed)[:60] for listed in (words_of(own), words))
    return f"has different words from {other}: {found!r}, not {wanted!r}."
