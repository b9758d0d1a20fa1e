"""``explain``: take a fitted model apart, or one of its decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from espalier.errors import InputError
from espalier.explain.explanation import Example, Explanation, Reason, TreeShares
from espalier.fragments.features import features
from espalier.fragments.local import LocalTerm, local_term
from espalier.fragments.mining import check_count, mine_fragments
from espalier.fragments.terms import Floats, Term, tree_terms
from espalier.gram.dual import DualForm
from espalier.kernels.inputs import Inputs
from espalier.kernels.schedule import Schedule
from espalier.structures.tree import Tree

_95_PERCENT = 1.959963984540054


def explain(
    model: Any,
    example: Any = None,
    *,
    n: int = 20,
    score: str | None = None,
    max_size: int | None = None,
    n_threads: int | None = None,
    memory: int | str | None = None,
) -> Explanation:
    """Say which fragments decide: in a model as a whole, or for one example.

    Parameters
    ----------
    model
        A fitted ``KernelSVC``, ``KernelSVR``, ``GPRegressor`` or anything with a method ``dual_form()``, over tree
        kernels alone, normalised, with scales and in sums, also with other kernels.
    example
        A tree, its brackets, or a table or dict of one row; a whole model is explained where None.
    n
        How many fragments to list, for each score and each tree kernel.
    score
        Which score of a classifier to explain for an example; that of the predicted class where None.
    max_size
        The largest fragments to look at, in productions; of partial trees in nodes, 8 where None.
    n_threads, memory
        As for kernels.

    Returns
    -------
    Explanation
        For a model, the fragments of the largest weights, proven. For an example, the fragments that add most to its
        score, and the share of every node in it: these add up to the score.

    Examples
    --------
    >>> from espalier import KernelSVC, SubsetTree
    >>> trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    >>> machine = KernelSVC(SubsetTree(0.5)).fit(trees, ["yes", "yes", "no", "no"])
    >>> for reason in explain(machine, n=2):
    ...     print(reason.score, round(reason.weight, 2), reason.fragment, reason.n_trees)
    yes 0.87 (A a) 2
    yes -0.87 (A c) 2
    >>> why = explain(machine, "(S (A a) (B d))", n=2)
    >>> [(str(reason.fragment), round(reason.contribution, 2)) for reason in why]
    [('(A a)', 0.62), ('(S (A a) (B))', 0.31)]
    """
    check_count("n", n)
    if max_size is not None:
        check_count("max_size", max_size, " or None")
    if not hasattr(model, "dual_form"):
        raise TypeError(
            "A model is explained by its coefficients on training rows: fit a KernelSVC, KernelSVR or GPRegressor, or "
            f"give a model with a method dual_form(); got {type(model).__name__}."
        )
    dual: DualForm = model.dual_form()
    schedule = Schedule.of(n_threads, memory)
    if example is None:
        return _of_model(model, dual, n, max_size, schedule)
    return _of_example(dual, example, n, score, max_size, schedule)


def _of_model(model: Any, dual: DualForm, n: int, max_size: int | None, schedule: Schedule) -> Explanation:
    mined = mine_fragments(model, n=n, max_size=max_size, n_threads=schedule.n_threads, memory=schedule.memory)
    reasons = []
    for part in mined:
        held, deviations = _evidence(part.term, part.fragments, dual, schedule)
        for k, (fragment, weight) in enumerate(part):
            rows = held[:, [k]].tocoo().row
            pull = dual.coefficients[dual.names.index(part.name)][rows] * weight
            where = _example(part.term, dual.inputs, fragment, rows[np.argsort(-pull, kind="stable")])
            ends = _interval(weight, _at(deviations, k))
            reasons.append(Reason(part.name, part.term.column, fragment, weight, *ends, len(rows), None, None, where))
    return Explanation(tuple(reasons), left_out=tuple(map(repr, mined.left_out)))


def _of_example(
    dual: DualForm, example: Any, n: int, score: str | None, max_size: int | None, schedule: Schedule
) -> Explanation:
    inputs = _one(example, dual.inputs)
    options = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    cross = dual.kernel(dual.inputs, inputs, **options)[:, 0]
    values = dual.coefficients @ cross + dual.intercepts
    k = _chosen(dual, values, score)
    terms, others = tree_terms(dual.kernel)
    local = [local_term(term, dual, k, inputs, n, schedule, max_size=max_size) for term in terms]
    reasons: list[Reason] = []
    for own in local:
        reasons += _local_reasons(own, dual, k, inputs, cross, schedule)
    reasons.sort(key=lambda reason: -abs(reason.contribution or 0.0))
    trees = tuple(
        TreeShares(own.term.column, own.tree, own.total, own.shares, own.split) for own in local if own.tree is not None
    )
    value, intercept = float(values[k]), float(dual.intercepts[k])
    elsewhere = value - intercept - sum(own.total for own in local) if others else 0.0
    variance = None
    if dual.solve is not None:
        prior = float(dual.kernel.diagonal(inputs, **options)[0])
        variance = dual.unit**2 * max(0.0, prior - float(cross @ dual.solve(cross[:, None])[:, 0]))
    names = tuple(map(repr, others))
    return Explanation(tuple(reasons), value, intercept, elsewhere, variance, trees, names)


def _local_reasons(
    own: LocalTerm, dual: DualForm, k: int, inputs: Inputs, cross: Floats, schedule: Schedule
) -> list[Reason]:
    """The fragments of one tree, with their weights in the model."""
    term = own.term
    held, deviations = _evidence(term, own.fragments, dual, schedule)
    weights = term.scale * np.asarray(held.T @ dual.coefficients[k]).ravel()
    n_trees = np.bincount(held.indices, minlength=len(own.fragments))
    variances = None
    if dual.solve is not None:
        # How the weight moves with the prediction, times the feature: over all fragments, the variance. The feature is
        # asked for, and not made of contribution and weight: the weight may be 0.
        values = _held(term, own.fragments, inputs, schedule).toarray()[0]
        known = np.asarray(held.T @ dual.solve(cross[:, None])).ravel()
        variances = dual.unit**2 * term.scale * values * (values - known)
    return [
        Reason(
            dual.names[k],
            term.column,
            fragment,
            float(weights[j]),
            *_interval(weights[j], _at(deviations, j)),
            int(n_trees[j]),
            float(own.contributions[j]),
            _at(variances, j),
        )
        for j, fragment in enumerate(own.fragments)
    ]


def _evidence(term: Term, fragments: Any, dual: DualForm, schedule: Schedule) -> tuple[Any, Floats | None]:
    """What each tree of a model holds of each fragment; and for a Gaussian process, how far the weights may lie off."""
    held = _held(term, fragments, dual.inputs, schedule)
    if dual.solve is None:
        return held, None
    dense = held.toarray()
    known = (dense * dual.solve(dense)).sum(axis=0)
    return held, dual.unit * np.sqrt(np.maximum(term.scale - term.scale**2 * known, 0.0))


def _held(term: Term, fragments: Any, inputs: Inputs, schedule: Schedule) -> Any:
    """The features of trees, for a kernel without its scale."""
    plain = Term(term.path, term.kernel, 1.0, term.norms)
    return features(plain, fragments, inputs, "kernel", n_threads=schedule.n_threads, memory=schedule.memory)


def _interval(weight: float, deviation: float | None) -> tuple[float | None, float | None]:
    if deviation is None:
        return None, None
    return float(weight) - _95_PERCENT * deviation, float(weight) + _95_PERCENT * deviation


def _at(values: Floats | None, k: int) -> float | None:
    return None if values is None else float(values[k])


def _example(term: Term, inputs: Inputs, fragment: Any, rows: Any) -> Example | None:
    """The smallest tree that holds a fragment whole, among the first of some rows: those that pull its way most."""
    forest = term.forest(inputs)
    best: Example | None = None
    for row in rows.tolist()[:10]:
        tree = forest[int(row)]
        if best is not None and tree.size >= best.tree.size:
            continue
        places = fragment.occurrences(tree)
        if places:
            best = Example(int(row), tree, places[0])
    return best


def _one(example: Any, like: Inputs) -> Inputs:
    if isinstance(example, str | Tree):
        example = [example]
    elif isinstance(example, Mapping) and all(isinstance(value, str | Tree) for value in example.values()):
        example = {name: [value] for name, value in example.items()}
    inputs = Inputs.of(example, like=like, translates=True)
    if len(inputs) != 1:
        raise InputError(f"One example is explained at a time, got {len(inputs):,}. Take one row: example[3:4].")
    return inputs


def _chosen(dual: DualForm, values: Floats, score: str | None) -> int:
    if score is None:
        return int(values.argmax()) if len(values) > 1 else 0
    if score not in dual.names:
        raise InputError(f"The model has no score {score!r}; it has {', '.join(map(repr, dual.names))}.")
    return dual.names.index(score)
