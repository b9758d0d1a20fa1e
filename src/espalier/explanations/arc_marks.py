"""Two dependency trees of a comparison as arcs over their words: which arcs and words are marked, which stand back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from espalier.explanations.by_features import WrittenFeature
from espalier.explanations.comparison import Comparison
from espalier.explanations.explanation import heaviest_shares
from espalier.explanations.word_shares import together
from espalier.structures.arc_elements import arc_elements
from espalier.structures.dependency import DependencyTree
from espalier.structures.palette import AGAINST, BLUE, FOR
from espalier.structures.tree_elements import MARK

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def arcs_of_both(
    comparison: Comparison, numbers: Mapping[int, int], rivals: Sequence[DependencyTree]
) -> list[tuple[str, int, int]]:
    """Return both trees as elements of a picture; ``numbers`` says which reasons are marked, and how they are called.

    The arcs of what is marked have the colour of the candidate, with the number at the first. If nothing can be marked,
    words with the largest shares are. An arc that both trees have, with its relation, stands back.
    """
    arcs_of = [list(zip(own.heads, own.relations, strict=True)) for own in rivals]
    same = [token for token, (one, other) in enumerate(zip(*arcs_of, strict=True), 1) if one == other]
    words = {}
    if comparison.trees and not numbers:
        shares = together(comparison.trees, rivals)
        words = {k + 1: FOR if shares[k] > 0 else AGAINST for k in heaviest_shares(shares)}
    out = []
    for which, (tree, colour) in enumerate(zip(rivals, (BLUE, MARK), strict=True)):
        arcs: dict[int, str] = {}
        at: dict[int, list[str]] = {}
        for k, number in numbers.items():
            reason = comparison.shown[k]
            here, there = (reason.in_winner, reason.in_loser)[:: 1 if which == 0 else -1]
            if len(here) <= len(there) or not isinstance(reason.fragment, WrittenFeature):
                continue
            for places in reason.fragment.places[which]:
                arcs |= dict.fromkeys(places, colour)
                at.setdefault(places[0], []).append(str(number).translate(RAISED))
        notes = {token: " ".join(own) for token, own in at.items()}
        out.append(arc_elements(tree, arcs, words, same, notes))
    return out
