"""How much further scores of candidates count beside the parser's: weights that make few errors likely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from espalier.errors import InputError
from espalier.rerank.quality import quality
from espalier.rerank.training import checked
from espalier.structures.group import Group

Floats = NDArray[np.float64]

_SCALES = (1.0, 0.1)  # of the parser's score, where the search begins; relative to its spread
_MOST = 20.0  # of the logarithm of its scale


def score_weights(groups: Sequence[Group]) -> dict[str, float]:
    """Return the weight of each further score of groups, beside that of the parser's score, which is 1.

    If a candidate is chosen with a probability that grows with the weighted sum of its scores, the weights make the
    expected number of errors small. Each weight costs half its square, in errors and in units of the scores' spread,
    and so does the logarithm of how fast the probability grows: few groups give small weights. Gradients find the
    weights from fixed starts. Groups need gold trees.

    Examples
    --------
    >>> from espalier import Group
    >>> group = Group(["(S (A a))", "(S (B a))"], [0.0, 1.0], gold="(S (A a))", more_scores={"tags": [1.0, -1.0]})
    >>> list(score_weights([group]))
    ['tags']
    """
    groups = checked(groups, "learned from", gold="to learn from")
    names = names_of(groups)
    if not names:
        return {}
    bounds = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    row = np.repeat(np.arange(len(groups)), np.diff(bounds))
    scores = np.array([_columns(groups, name) for name in (None, *names)])
    scores -= scores[:, bounds[:-1]][:, row]  # only differences inside groups matter
    errors = np.concatenate([np.maximum(gold, parsed) - matched for matched, gold, parsed in map(quality, groups)])
    spread = scores.std(axis=1)
    spread[spread == 0] = 1.0
    first, *others = scores / spread[:, None]

    def risk(values: Floats) -> tuple[float, Floats]:
        """The expected errors per group and their gradient, in the logarithm of the scale and the other weights."""
        # Sums are taken column by column, not by products of matrices, whose digits depend on threads.
        scale = np.exp(values[0])
        sums = first + sum(weight * own for weight, own in zip(values[1:].tolist(), others, strict=True))
        total = scale * sums
        share = np.exp(total - np.maximum.reduceat(total, bounds[:-1])[row])
        share /= np.add.reduceat(share, bounds[:-1])[row]
        expected = np.add.reduceat(share * errors, bounds[:-1])
        by_total = share * (errors - expected[row])
        gradient = scale * np.array([(by_total * own).sum() for own in (sums, *others)])
        cost = float(expected.sum()) + 0.5 * float((values**2).sum())
        return cost / len(groups), (gradient + values) / len(groups)

    limits = [(-_MOST, _MOST), *[(None, None)] * len(names)]
    starts = [np.array([np.log(scale), *[0.0] * len(names)]) for scale in _SCALES]
    exact = {"ftol": 1e-13, "gtol": 1e-8, "maxiter": 1000}
    options: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "bounds": limits, "options": exact}
    found: Any = min((minimize(risk, start, **options) for start in starts), key=lambda own: float(own.fun))
    weights = found.x[1:] * spread[0] / spread[1:]
    return dict(zip(names, weights.tolist(), strict=True))


def summed_scores(groups: Sequence[Group], weights: Mapping[str, float]) -> list[Group]:
    """Return groups whose only score is the weighted sum of the parser's and all others."""
    if not weights:
        return list(groups)
    totals = total_scores(groups, weights)
    return [replace(own, scores=total.tolist(), more_scores={}) for own, total in zip(groups, totals, strict=True)]


def total_scores(groups: Sequence[Group], weights: Mapping[str, float]) -> list[Floats]:
    """For each group, the weighted sums of the parser's score and all others."""
    found = []
    for number, group in enumerate(groups):
        total = np.array(group.scores)
        for name, weight in weights.items():
            if name not in group.more_scores:
                known = ", ".join(map(repr, group.more_scores)) or "none"
                raise InputError(
                    f"Group {number} has no score {name!r}, which has a weight; its further scores: {known}."
                )
            total = total + weight * np.array(group.more_scores[name])
        found.append(total)
    return found


def names_of(groups: Sequence[Group]) -> list[str]:
    """The names of further scores, which all groups must have."""
    names = list(groups[0].more_scores) if groups else []
    for number, group in enumerate(groups):
        if group.more_scores.keys() != set(names):
            raise InputError(
                f"Group {number} has the further scores {sorted(group.more_scores)}, and group 0 has {sorted(names)}. "
                "All groups need the same ones."
            )
    return names


def _columns(groups: Sequence[Group], name: str | None) -> Floats:
    """The parser's score of all candidates, or a further one."""
    return np.concatenate([group.scores if name is None else group.more_scores[name] for group in groups])
