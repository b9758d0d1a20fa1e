"""What fragments weigh in a model and how surely, and what they add to the scores of examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.blas import blas_threads
from espalier.explanations.explanation import Reason
from espalier.fragments.features import features
from espalier.fragments.local import LocalTerm, local_term
from espalier.fragments.terms import Floats, Term, parts_of
from espalier.gram.dual import DualForm
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs

_95_PERCENT = 1.959963984540054


@dataclass(frozen=True, eq=False)
class Parts:
    """A score, or the difference of two, taken apart.

    Attributes
    ----------
    value
        The score, its constant part included.
    terms, reasons
        For each tree kernel, what it adds, and the fragments that do.
    elsewhere
        What the other parts of the kernel add.
    variance
        Of the value, for Gaussian processes.
    left_out
        The other parts of the kernel.
    """

    value: float
    terms: tuple[LocalTerm, ...]
    reasons: tuple[list[Reason], ...]
    elsewhere: float
    variance: float | None
    left_out: tuple[str, ...]


@blas_threads()
def taken_apart(
    dual: DualForm,
    k: int,
    examples: Inputs,
    signs: Sequence[float],
    n: int,
    max_size: int | None,
    schedule: Schedule,
) -> Parts:
    """Take apart the sum of one score of several examples, each times its sign."""
    options = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    cross: Floats = dual.kernel(dual.inputs, examples, **options) @ np.asarray(signs)
    intercept = float(dual.intercepts[k]) * sum(signs)
    value = float(dual.coefficients[k] @ cross) + intercept
    terms, others = parts_of(dual.kernel)
    local = [local_term(term, dual, k, examples, n, schedule, signs=signs, max_size=max_size) for term in terms]
    # The constant part is uncertain too, and shares some of that with the rest: rows and examples have it in common.
    constant = dual.constant_variance * sum(signs)
    whole = cross + constant
    reasons = [_local_reasons(own, dual, k, examples, signs, whole, schedule) for own in local]
    elsewhere = value - intercept - sum(own.total for own in local) if others else 0.0
    variance = None
    if dual.solve is not None:
        prior = float(signs @ dual.kernel(examples, **options) @ np.asarray(signs)) + constant * sum(signs)
        variance = dual.unit**2 * max(0.0, prior - float(whole @ dual.solve(whole[:, None])[:, 0]))
    return Parts(value, tuple(local), tuple(reasons), elsewhere, variance, tuple(map(repr, others)))


@blas_threads()
def evidence(term: Term, fragments: Any, dual: DualForm, schedule: Schedule) -> tuple[Any, Floats | None]:
    """What each tree of a model holds of each fragment; and for a Gaussian process, how far the weights may lie off."""
    held = _held(term, fragments, dual.inputs, schedule)
    if dual.solve is None:
        return held, None
    dense = held.toarray()
    known = (dense * dual.solve(dense)).sum(axis=0)
    return held, dual.unit * np.sqrt(np.maximum(term.scale - term.scale**2 * known, 0.0))


def interval(weight: float, deviation: float | None) -> tuple[float | None, float | None]:
    """Between what the weight lies with a probability of 95 %."""
    if deviation is None:
        return None, None
    return float(weight) - _95_PERCENT * deviation, float(weight) + _95_PERCENT * deviation


def at(values: Floats | None, k: int) -> float | None:
    """One of some values, where there are any."""
    return None if values is None else float(values[k])


def _local_reasons(
    own: LocalTerm,
    dual: DualForm,
    k: int,
    examples: Inputs,
    signs: Sequence[float],
    whole: Floats,
    schedule: Schedule,
) -> list[Reason]:
    """The fragments of some trees, with their weights in the model.

    ``whole`` are the prior covariances of the training rows with the examples, the constant part included.
    """
    term = own.term
    held, deviations = evidence(term, own.fragments, dual, schedule)
    weights = term.scale * np.asarray(held.T @ dual.coefficients[k]).ravel()
    n_trees = np.bincount(held.indices, minlength=len(own.fragments))
    variances = None
    if dual.solve is not None:
        # How the weight moves with the prediction, times the feature: over all fragments, the variance. The feature is
        # asked for, and not made of contribution and weight: the weight may be 0.
        values = np.asarray(signs) @ _held(term, own.fragments, examples, schedule).toarray()
        known = np.asarray(held.T @ dual.solve(whole[:, None])).ravel()
        variances = dual.unit**2 * term.scale * values * (values - known)
    return [
        Reason(
            dual.names[k],
            term.column,
            fragment,
            float(weights[j]),
            *interval(weights[j], at(deviations, j)),
            int(n_trees[j]),
            float(own.contributions[j]),
            at(variances, j),
        )
        for j, fragment in enumerate(own.fragments)
    ]


def _held(term: Term, fragments: Any, inputs: Inputs, schedule: Schedule) -> Any:
    """The features of trees, for a kernel without its scale."""
    plain = Term(term.path, term.kernel, 1.0, term.norms)
    return features(plain, fragments, inputs, "kernel", n_threads=schedule.n_threads, memory=schedule.memory)
