"""The weights of fragments in a model, with intervals, and what fragments add to the scores of examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from espalier.blas import blas_threads
from espalier.errors import MemoryBudgetError
from espalier.explanations.explanation import Reason
from espalier.gram.forms import DualForm, PrimalForm
from espalier.jobs.memory import show_bytes
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.spaces.codes import Codes
from espalier.spaces.space import Floats, Local, Wanted
from espalier.spaces.terms import Term, parts_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_95_PERCENT = 1.959963984540054


class Part(NamedTuple):
    """What one kernel with listable features adds to a score, and the features that add it."""

    term: Term
    local: Local
    reasons: list[Reason]


class Apart(NamedTuple):
    """A score, or the difference of two, taken apart; ``elsewhere`` is what kernels without listable features add."""

    value: float
    parts: list[Part]
    elsewhere: float = 0.0
    variance: float | None = None
    left_out: tuple[str, ...] = ()


@blas_threads()
def taken_apart(dual: DualForm, k: int, examples: Inputs, signs: Sequence[float], wanted: Wanted) -> Apart:
    """Take apart the sum of one score of several examples, each times its sign."""
    options = wanted.schedule.options
    cross: Floats = dual.kernel(dual.inputs, examples, **options) @ np.asarray(signs)
    intercept = float(dual.intercepts[k]) * sum(signs)
    value = float(dual.coefficients[k] @ cross) + intercept
    terms, others = parts_of(dual.kernel)
    # The constant part is uncertain, too, and correlated with the rest, because rows and examples share it.
    constant = dual.constant_variance * sum(signs)
    whole = cross + constant
    parts = [_part(term, dual, k, examples, signs, whole, wanted) for term in terms]
    elsewhere = value - intercept - sum(own.local.total for own in parts) if others else 0.0
    variance = None
    if dual.solve is not None:
        prior = float(signs @ dual.kernel(examples, **options) @ np.asarray(signs)) + constant * sum(signs)
        variance = dual.unit**2 * max(0.0, prior - float(whole @ dual.solve(whole[:, None])[:, 0]))
    return Apart(value, parts, elsewhere, variance, tuple(map(repr, others)))


def listed_scores(primal: PrimalForm, inputs: Inputs, schedule: Schedule) -> Floats:
    """One row of scores of a model in primal form for each item, without the intercepts."""
    out: Floats = np.zeros((len(inputs), len(primal.names)))
    for part in primal.parts:
        plain = replace(part.term, scale=1.0)  # as the weights have it
        out += plain.weighed(part.features, inputs, "kernel", part.weights, **schedule.options)
    return out


def listed_apart(primal: PrimalForm, k: int, examples: Inputs, wanted: Wanted) -> Apart:
    """Take apart one score of an example, in a model in primal form: what listed features add to it."""
    parts = []
    for part in primal.parts:
        weights = part.weights[:, k]
        factors = 1.0 / part.term.norm(examples, **wanted.schedule.options)
        own = part.term.space.local_listed(part.features, weights, examples, factors, wanted)
        weight = dict(zip(part.features.names(), weights.tolist(), strict=True))
        added = zip(own.features, own.features.names(), own.contributions.tolist(), strict=True)
        reasons = [
            Reason(primal.names[k], part.term.column, feature, weight[name], None, None, None, share)
            for feature, name, share in added
        ]
        parts.append(Part(part.term, own, reasons))
    return Apart(float(primal.intercepts[k]) + sum(own.local.total for own in parts), parts)


@blas_threads()
def evidence(term: Term, listed: Codes[Any], dual: DualForm, schedule: Schedule) -> tuple[csr_matrix, Floats | None]:
    """The value of each fragment in each training tree; and for a Gaussian process, the deviations of the weights."""
    held = _held(term, listed, dual.inputs, schedule)
    if dual.solve is None:
        return held, None
    dense = held.toarray()
    known = (dense * dual.solve(dense)).sum(axis=0)
    return held, dual.unit * np.sqrt(np.maximum(term.scale - term.scale**2 * known, 0.0))


def intervals(weights: Floats, deviations: Floats | None) -> list[tuple[float | None, float | None]]:
    """The intervals in which weights lie with a probability of 95 %, if their deviations are known."""
    if deviations is None:
        return [(None, None)] * len(weights)
    ends = _95_PERCENT * deviations
    return list(zip((weights - ends).tolist(), (weights + ends).tolist(), strict=True))


def _part(
    term: Term, dual: DualForm, k: int, examples: Inputs, signs: Sequence[float], whole: Floats, wanted: Wanted
) -> Part:
    """What one kernel adds to the sum of one score of several examples, each times its sign.

    ``whole`` are the prior covariances of the training rows with the examples, the constant part included.
    """
    schedule = wanted.schedule
    beta = term.scale * dual.coefficients[k] / term.norm(dual.inputs, **schedule.options)
    factors = np.asarray(signs) / term.norm(examples, **schedule.options)  # 0 for an item without features
    try:
        own = term.space.local(dual.inputs, beta, examples, factors, wanted)
    except MemoryError:
        raise MemoryBudgetError(
            f"Explaining with {term.kernel!r} needs more than {show_bytes(schedule.memory)}. Ask for fewer or "
            "smaller fragments with n and max_size, or raise memory."
        ) from None
    held, deviations = evidence(term, own.features, dual, schedule)
    weights = term.scale * np.asarray(held.T @ dual.coefficients[k]).ravel()
    n_trees = np.bincount(held.indices, minlength=len(own.features))
    variances: list[float | None] = [None] * len(weights)
    if dual.solve is not None:
        # The covariance of weight and prediction, times the feature; summed over all fragments it is the variance. The
        # feature is not computed from contribution and weight, because the weight may be 0.
        values = np.asarray(signs) @ _held(term, own.features, examples, schedule).toarray()
        known = np.asarray(held.T @ dual.solve(whole[:, None])).ravel()
        variances = (dual.unit**2 * term.scale * values * (values - known)).tolist()
    ends, added = intervals(weights, deviations), own.contributions.tolist()
    columns = zip(own.features, weights.tolist(), ends, n_trees.tolist(), added, variances, strict=True)
    reasons = [
        Reason(dual.names[k], term.column, feature, weight, low, high, n, share, variance)
        for feature, weight, (low, high), n, share, variance in columns
    ]
    return Part(term, own, reasons)


def _held(term: Term, listed: Codes[Any], inputs: Inputs, schedule: Schedule) -> csr_matrix:
    """The features of items, for a kernel without its scale."""
    plain = replace(term, scale=1.0)
    return plain.features(listed, inputs, "kernel", **schedule.options)
