"""Comparing two candidates of a group: which fragments made one of them win."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.explanations.comparison import Comparison
from espalier.explanations.explanation import Reason, TreeShares
from espalier.explanations.weighing import Part, taken_apart
from espalier.explanations.word_shares import word_shares
from espalier.gram.forms import DualForm
from espalier.kernels.inputs import Inputs
from espalier.rerank.chooser import Chooser
from espalier.rerank.quality import alike
from espalier.rerank.reranker import Reranker
from espalier.spaces.space import Floats, Local, Wanted
from espalier.structures.group import Candidate, Group
from espalier.structures.numbers import is_whole

Which = int | Literal["gold"] | None


class Rival(NamedTuple):
    """One of the two candidates: its number, None for a gold tree that is not a candidate."""

    number: int | None
    candidate: Candidate


def compare_candidates(model: Any, group: Group, winner: Which, loser: Which, wanted: Wanted) -> Comparison:
    """Say why a model values one candidate of a group more than another."""
    chooser = _chooser_of(model)
    dual: DualForm = model.dual_form()
    values = chooser.decision_function([group])[0]
    rivals, names = rivals_of(group, values, winner, loser)
    first, second = rivals
    examples = Inputs.of([rival.candidate for rival in rivals], like=dual.inputs, translates=True)
    apart = taken_apart(dual, 0, examples, (1.0, -1.0), wanted)
    local = [part.local for part in apart.parts]
    trees = _shares(local)
    elsewhere = apart.elsewhere + sum(own.total for own in local if own.trees != local[0].trees)
    if not trees and (found := word_shares(dual, examples, [rival.candidate for rival in rivals], wanted.schedule)):
        trees, elsewhere = found, 0.0
    scored = np.zeros(2)  # what the parser's scores add; a gold tree that is not a candidate has none
    if first.number is not None and second.number is not None:
        scored = chooser.score_weight_ * np.asarray(group.scores)[[first.number, second.number]]
    from_score = float(scored[0] - scored[1])
    with blas_threads():
        cross = dual.kernel(dual.inputs, examples, **wanted.schedule.options)
        of_first, of_second = (dual.coefficients[0] @ cross + scored).tolist()
    reasons = [reason for part in apart.parts for reason in _placed(part)]
    return Comparison(
        reasons=tuple(sorted(reasons, key=lambda reason: -abs(reason.effect))),
        value=apart.value + from_score,
        intercept=0.0,
        elsewhere=elsewhere,
        variance=apart.variance,
        trees=trees,
        left_out=() if trees and not local else apart.left_out,
        winner=first.candidate,
        loser=second.candidate,
        names=names,
        values=(of_first, of_second),
        from_score=from_score,
    )


def rivals_of(group: Group, values: Floats, winner: Which, loser: Which) -> tuple[tuple[Rival, Rival], tuple[str, str]]:
    """The two candidates to compare, given the values of all; and what they are."""
    chosen = int(values.argmax())
    first = _rival("winner", winner, group) or Rival(chosen, group.candidates[chosen])
    second = _rival("loser", loser, group) or _other_than(first, group, values)
    return (first, second), (_name(first, group, chosen), _name(second, group, chosen))


def _chooser_of(model: object) -> Chooser:
    if isinstance(model, Reranker):
        check_is_fitted(model, "chooser_")
    chooser = model.chooser_ if isinstance(model, Reranker) else model
    if not isinstance(chooser, Chooser):
        raise TypeError(
            f"A group needs a model that chooses among candidates, such as a Reranker, got {type(model).__name__}. "
            "Give one tree or one row to explain a score."
        )
    if getattr(chooser, "vote", None) == "vote":
        raise InputError(
            "With vote='vote' there is no single function to explain. Fit with vote='average', whose choices are much "
            "the same."
        )
    return chooser


def _rival(name: str, given: Which, group: Group) -> Rival | None:
    """The candidate that was asked for."""
    if given is None:
        return None
    if isinstance(given, str) and given == "gold":
        if group.gold is None:
            raise InputError(f"{name} is 'gold', but the group has no gold tree.")
        number = next((k for k, candidate in enumerate(group.candidates) if alike(candidate, group.gold)), None)
        return Rival(number, group.gold if number is None else group.candidates[number])
    if not is_whole(given) or not 0 <= given < len(group):
        raise InputError(
            f"{name} must be the number of a candidate, 0 to {len(group) - 1} here, or 'gold'; got {given!r}."
        )
    return Rival(int(given), group.candidates[int(given)])


def _other_than(winner: Rival, group: Group, values: Floats) -> Rival:
    """The default loser: the parser's own choice, or else the best of the others."""
    others = [k for k in range(len(group)) if k != winner.number]
    if not others:
        raise InputError(
            "The group has one candidate, so there is nothing to compare it with. If its gold tree is another, compare "
            "with that: loser='gold'."
        )
    number = group.best if group.best != winner.number else max(others, key=lambda k: float(values[k]))
    return Rival(number, group.candidates[number])


def _shares(local: list[Local]) -> tuple[TreeShares, ...]:
    """The two candidates as trees, with the shares of all kernels whose items are drawn like those of the first."""
    alike = [own for own in local if own.trees == local[0].trees]
    splits = {own.split for own in alike}
    split = splits.pop() if len(splits) == 1 else "mixed"
    out = []
    for which in range(2 if alike else 0):
        tree = alike[0].trees[which]
        assert tree is not None
        shares = np.sum([own.shares[which] for own in alike], axis=0)
        out.append(TreeShares(None, tree, float(shares.sum()), shares, split))
    return tuple(out)


def _placed(part: Part) -> list[Reason]:
    """The fragments of one tree kernel, with their places in both trees."""
    winner, loser = part.local.trees
    locate = part.term.space.locate
    return [
        replace(reason, in_winner=locate(reason.fragment, winner), in_loser=locate(reason.fragment, loser))
        for reason in part.reasons
    ]


def _name(rival: Rival, group: Group, chosen: int) -> str:
    is_gold = group.gold is not None and alike(rival.candidate, group.gold)
    if rival.number is None:
        return "gold, no candidate"
    roles = [f"candidate {rival.number + 1}"]  # people read it, and count from 1
    roles += ["chosen"] * (rival.number == chosen) + ["the parser's choice"] * (rival.number == group.best)
    return ", ".join(roles + ["gold"] * is_gold)
