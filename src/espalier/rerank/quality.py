"""How good candidates are: what they share with the gold tree or sequence, for each kind of candidate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.parsing.evaluation import Evaluation, evaluate_candidates
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Candidate, Group
from espalier.structures.sequence import TaggedSequence

Measured = NDArray[np.int64]


def quality(group: Group) -> Measured:
    """For each candidate, three counts: what it shares with the gold one, what the gold one has, and what it has.

    Trees are compared by constituents, as :func:`~espalier.parsing.evaluate` does, tagged sequences by tags, dependency
    trees by heads; :func:`~espalier.parsing.evaluate_attachment` compares relations, too.

    Examples
    --------
    >>> quality(Group(["(S (NP (N cats)) (V sleep))", "(S (N cats) (V sleep))"], gold="(S (N cats) (V sleep))"))
    array([[1, 1],
           [1, 1],
           [2, 1]])
    """
    gold = group.gold
    if gold is None:
        raise InputError("The group has no gold tree to measure by.")
    if isinstance(gold, TaggedSequence):
        return _equal(group, lambda own: own.tags)
    if isinstance(gold, DependencyTree):
        return _equal(group, lambda own: own.heads)
    found = evaluate_candidates(gold, group.candidates)
    return np.array([found.matched, found.gold, found.parsed], np.int64)


def alike(candidate: Candidate, other: Candidate) -> bool:
    """Say whether two candidates are the same choice: they are equal, or dependency trees with the same heads."""
    if isinstance(candidate, DependencyTree) and isinstance(other, DependencyTree):
        return candidate.heads == other.heads
    return candidate == other


def best_candidate(group: Group) -> int:
    """The candidate that is most like the gold one; the first of equals."""
    return int(np.argmax(f1(quality(group))))


def f1(counts: Measured) -> NDArray[np.float64]:
    """The harmonic mean of precision and recall, from 0 to 1; 1 if neither has anything to count."""
    matched, gold, parsed = counts
    both = gold + parsed
    return np.where(both > 0, 2.0 * matched / np.maximum(both, 1), 1.0)


def chosen_f1(counts: Sequence[Measured], chosen: Sequence[int]) -> float:
    """The F1 of the candidates that were chosen in many groups, counted together."""
    columns = [own[:, k] for own, k in zip(counts, chosen, strict=True)]
    return float(f1(np.array(columns, np.int64).sum(axis=0))) if columns else 0.0


def evaluate_choices(counts: Sequence[Measured], chosen: Sequence[int]) -> Evaluation:
    """How good the chosen candidates of many groups are together, given the counts of :func:`quality` for each group.

    Examples
    --------
    >>> groups = [Group(["(S (NP (N cats)) (V sleep))", "(S (N cats) (V sleep))"], gold="(S (N cats) (V sleep))")]
    >>> evaluate_choices([quality(group) for group in groups], [1])
    <Evaluation of 1 sentences: precision 100.00, recall 100.00, F1 100.00, exact 100.00>
    """
    columns = [own[:, k] for own, k in zip(counts, chosen, strict=True)]
    matched, gold, parsed = (tuple(row) for row in np.array(columns, np.int64).reshape(-1, 3).T.tolist())
    exact = tuple(m == g == p for m, g, p in zip(matched, gold, parsed, strict=True))
    return Evaluation(matched, gold, parsed, exact, (), ())


def _equal(group: Group, parts: Callable[[Any], Sequence[object]]) -> Measured:
    gold = parts(group.gold)
    shared = [sum(x == y for x, y in zip(parts(own), gold, strict=True)) for own in group.candidates]
    return np.array([shared, [len(gold)] * len(group), [len(gold)] * len(group)], np.int64)
