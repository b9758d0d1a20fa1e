"""Groups prepared for learning: all candidates in one list, and which of each group should win."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.kernels.base import Kernel, Reads
from espalier.rerank.quality import alike, best_candidate
from espalier.structures.group import Group

Target = Literal["gold", "best"]

# The kinds of candidates from which some kernels can read something. Dependency trees can be written as trees.
_READABLE: dict[Reads, tuple[str, ...]] = {
    "trees": ("trees", "dependency trees"),
    "arcs": ("dependency trees",),
    "vectors": (),
}
_SUITABLE = {"trees": "SubsetTree", "tagged sequences": "Tagging", "dependency trees": "DependencySubtree"}


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The candidates of many groups in one list.

    Parameters
    ----------
    items
        All candidates, group after group; the first of each group is its target.
    start
        Where each group starts.
    scores
        The parser's score of each; nan for a gold tree that is not a candidate.
    """

    items: list[object]
    start: NDArray[np.int64]
    scores: NDArray[np.float64]

    @staticmethod
    def of(groups: Sequence[Group], target: Target, sample: int | None, rng: np.random.Generator) -> TrainingSet:
        """Draw candidates and put the target first: the gold one, or the candidate that is most like it.

        Dependency trees with the same heads are the same: a parser chooses relations once it has the heads. Groups in
        which only the target is left teach nothing, and are left out.
        """
        items: list[object] = []
        scores: list[float] = []
        start = [0]
        for group in groups:
            wanted = group.gold if target == "gold" else group.candidates[best_candidate(group)]
            chosen: Iterable[int] = range(len(group))
            if sample is not None and len(group) > sample:
                chosen = np.sort(rng.choice(len(group), sample, replace=False)).tolist()
            right = [k for k, candidate in enumerate(group.candidates) if alike(candidate, wanted)]
            rivals = [k for k in chosen if k not in right]
            if not rivals:
                continue
            own = group.scores or ()
            known = [own[k] for k in right]
            # A dependency tree with the right heads may have other relations, which a parser gave it as it gave the
            # rivals theirs.
            wanted = group.candidates[right[0]] if right else wanted
            items += [wanted, *(group.candidates[k] for k in rivals)]
            scores += [known[0] if known else np.nan, *(own[k] for k in rivals)]
            start.append(len(items))
        if not items:
            raise InputError("No group has a candidate beside its target: there is nothing to learn.")
        return TrainingSet(items, np.array(start, np.int64), np.array(scores))

    def __len__(self) -> int:
        return len(self.start) - 1

    def blocks(self, n_items: int | None) -> Iterator[range]:
        """Runs of groups with at most ``n_items`` items together, or of a single group; one run of all if None."""
        first = 0
        while first < len(self):
            last = len(self)
            if n_items is not None:
                last = int(np.searchsorted(self.start, self.start[first] + n_items, side="right")) - 1
            yield range(first, max(last, first + 1))
            first = max(last, first + 1)


def checked(groups: Iterable[Group], purpose: str, *, gold: str | None = None) -> list[Group]:
    """Groups as a list; raise if one is something else, or has no gold tree though ``gold`` says what it is for."""
    if isinstance(groups, Group):
        raise TypeError(f"Only groups can be {purpose}, got a single one. Write [group].")
    if not isinstance(groups, Iterable):
        raise TypeError(f"Only groups can be {purpose}, got {groups!r}.")
    listed = list(groups)
    for row, group in enumerate(listed):
        if not isinstance(group, Group):
            kind = type(group).__name__
            raise TypeError(f"Only groups can be {purpose}, got {kind} at {row}. Write Group(candidates).")
        if gold is not None and group.gold is None:
            raise InputError(f"Group {row} has no gold tree {gold}.")
    check_kind(listed, "Group 0 holds", listed)
    return listed


def check_kind(groups: Sequence[Group], what: str, others: Sequence[Group], name: str = "group") -> None:
    """Raise if candidates are of another kind than those of the first of ``others``, which ``what`` introduces."""
    for row, group in enumerate(groups if others else ()):
        if group.kind != others[0].kind:
            raise InputError(f"{what} {others[0].kind}, but {name} {row} holds {group.kind}.")


def check_readable(kernel: Kernel, groups: Sequence[Group]) -> None:
    """Raise if a kernel cannot read the candidates of groups, which are all of one kind."""
    for part in kernel._every_kernel() if groups else ():
        reads, kind = part.reads(), groups[0].kind
        if part._children() or reads not in _READABLE or kind in _READABLE[reads]:
            continue
        meant = _READABLE[reads][:1]
        give = f"Give groups of {meant[0]}, or use" if meant else "Use"
        raise InputError(
            f"{part!r} is a kernel of {meant[0] if meant else reads}, and the groups hold {kind}. "
            f"{give} a kernel of {kind}, such as {_SUITABLE[kind]}."
        )


def check_learned_kind(learned: str | None, groups: Sequence[Group], name: str = "It") -> None:
    """Raise if groups are of another kind than those that were learned from; None if this is not known."""
    if learned is not None and groups and groups[0].kind != learned:
        raise InputError(f"{name} has learned from {learned}, but group 0 holds {groups[0].kind}.")


def runs(groups: Sequence[Group], n_candidates: int) -> Iterator[list[Group]]:
    """Groups in runs of about ``n_candidates`` candidates."""
    total = np.cumsum([0, *map(len, groups)])[:-1] // n_candidates
    for _, run in itertools.groupby(zip(total.tolist(), groups, strict=True), key=lambda pair: pair[0]):
        yield [group for _, group in run]
