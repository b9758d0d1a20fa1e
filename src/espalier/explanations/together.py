"""What features add together that are about the same arcs, or the same run of tags, of a candidate.

A model may have hundreds of features of one subtree, each with other templates, and each adds little. A reader wants to
know which arcs decided, and how much all that is known of them adds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from espalier.explanations.explanation import Reason
from espalier.spaces.grown import Places
from espalier.structures.dependency import DependencyTree
from espalier.structures.sequence import TaggedSequence

Key = tuple[tuple[int, int | str], ...]  # what a candidate has at some places


@dataclass(frozen=True)
class Together(Reason):
    """Features of the same arcs, or of the same run of tags, and what they add together.

    Its ``fragment`` says which arcs, such as ``saw → with → telescope``; its contribution is the sum.

    Attributes
    ----------
    parts
        The features with the largest contributions to it, each with what it adds here: a feature that occurs at several
        places adds something at each.
    n_parts
        How many features there are in all.
    """

    parts: tuple[Reason, ...] = ()
    n_parts: int = 0

    @property
    def rest(self) -> float:
        """What the features add that are not among the parts."""
        return self.effect - math.fsum(reason.effect for reason in self.parts)


def told_reason(reason: Reason) -> str:
    """A reason as text: what its features are about, and the heaviest of them, which says its template."""
    if not isinstance(reason, Together) or not reason.parts:
        return str(reason.fragment)
    more = f", {reason.n_parts - 1:,} more" if reason.n_parts > 1 else ""
    return f"{reason.fragment}: {reason.parts[0].fragment}{more}"


class Sums:
    """Sums of what features add, by what a candidate has at their places."""

    def __init__(self) -> None:
        self._added: dict[Key, dict[int, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, key: Key, feature: int, value: float) -> None:
        """Add what one occurrence of a feature adds to the lead."""
        self._added[key][feature] += value

    def heaviest(self, n: int) -> Iterable[tuple[Key, float, list[tuple[int, float]]]]:
        """The n largest sums, each with its features, the largest first; what both candidates have cancels."""
        found = []
        for key, added in self._added.items():
            parts = sorted(((k, value) for k, value in added.items() if value), key=lambda own: -abs(own[1]))
            if parts:
                found.append((key, math.fsum(value for _, value in parts), parts))
        return sorted(found, key=lambda own: -abs(own[1]))[:n]


@dataclass(frozen=True)
class PlaceNames:
    """What a candidate has at some places: as a key that another candidate may have too, and as text."""

    key: Callable[[Places], Key]
    text: Callable[[Places], str]


def names_of_arcs(tree: DependencyTree) -> PlaceNames:
    """Arcs by head and modifier: ``saw → with → telescope``, with a comma before an arc that begins elsewhere.

    Examples
    --------
    >>> tree = DependencyTree(["we", "saw", "it"], ["P", "V", "P"], [2, 0, 2], ["s", "r", "o"])
    >>> names_of_arcs(tree).text((1, 2, 3))
    'ROOT → saw → we, saw → it'
    """
    heads = tree.heads
    words = ("ROOT", *tree.words)

    def text(places: Places) -> str:
        tokens = set(places)
        below: dict[int, list[int]] = defaultdict(list)
        for token in sorted(tokens, reverse=True):
            below[heads[token - 1]].append(token)
        left = [token for token in sorted(tokens, reverse=True) if heads[token - 1] not in tokens]
        told, last = "", -1
        while left:
            token = left.pop()
            head = heads[token - 1]
            told += f" → {words[token]}" if head == last else f"{', ' if told else ''}{words[head]} → {words[token]}"
            last = token
            left += below[token]
        return told

    return PlaceNames(lambda places: tuple((token, heads[token - 1]) for token in sorted(set(places))), text)


def names_of_tags(tagged: TaggedSequence) -> PlaceNames:
    """Tags with their words: ``D/the N/dog``, with dots where a subsequence leaves words out."""

    def text(places: Sequence[int]) -> str:
        told = ""
        for number, place in enumerate(places):
            between = "" if number == 0 else " " if place == places[number - 1] + 1 else " ... "
            told += f"{between}{tagged.tags[place]}/{tagged.words[place]}"
        return told

    return PlaceNames(lambda places: tuple((place, tagged.tags[place]) for place in places), text)
