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
        The largest fragments of partial trees to look at, in nodes.
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
    if not hasattr(model, "dual_form"):
        raise TypeError(
            "A model is explained by its coefficients on training rows: fit a KernelSVC, KernelSVR or GPRegressor, or "
            f"give a model with a method dual_form(); got {type(model).__name__}."
        )
    dual: DualForm = model.dual_form()
    schedule = Schedule.of(n_threads, memory)
    if example is None:
        return _of_model(model, dual, n, max_size, schedule)
    return _of_example(model, dual, example, n, score, schedule)


def _of_model(model: Any, dual: DualForm, n: int, max_size: int | None, schedule: Schedule) -> Explanation:
    mined = mine_fragments(model, n=n, max_size=max_size, n_threads=schedule.n_threads, memory=schedule.memory)
    reasons = []
    for part in mined:
        held, low, high = _evidence(part.term, part.fragments, part.weights, dual, schedule)
        for k, (fragment, weight) in enumerate(part):
            rows = held[:, [k]].tocoo().row
            pull = dual.coefficients[dual.names.index(part.name)][rows] * weight
            where = _example(part.term, dual.inputs, fragment, rows[np.argsort(-pull, kind="stable")])
            ends = (_at(low, k), _at(high, k))
            reasons.append(Reason(part.name, part.term.column, fragment, weight, *ends, len(rows), None, None, where))
    return Explanation(tuple(reasons), left_out=tuple(map(repr, mined.left_out)))


def _of_example(model: Any, dual: DualForm, example: Any, n: int, score: str | None, schedule: Schedule) -> Explanation:
    inputs = _one(example, dual.inputs)
    options = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    cross = dual.kernel(dual.inputs, inputs, **options)[:, 0]
    values = dual.coefficients @ cross + dual.intercepts
    k = _chosen(dual, values, score)
    terms, others = tree_terms(dual.kernel)
    local = [local_term(term, dual, k, inputs, n, schedule) for term in terms]
    reasons: list[Reason] = []
    for own in local:
        reasons += _local_reasons(own, dual, k, cross, schedule)
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


def _local_reasons(own: LocalTerm, dual: DualForm, k: int, cross: Floats, schedule: Schedule) -> list[Reason]:
    """The fragments of one tree, with their weights in the model."""
    term = own.term
    plain = Term(term.path, term.kernel, 1.0, term.norms)
    options: Any = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    held = features(plain, own.fragments, dual.inputs, "kernel", **options)
    weights = term.scale * np.asarray(held.T @ dual.coefficients[k]).ravel()
    counts, low, high = _evidence(term, own.fragments, weights, dual, schedule)
    out = []
    for j, fragment in enumerate(own.fragments):
        contribution = float(own.contributions[j])
        value = contribution / weights[j] if weights[j] else 0.0  # the fragment's feature in this tree
        variance = None
        if dual.solve is not None:
            # How the weight moves with the prediction, times the feature: over all fragments, the variance.
            prior = term.scale * value
            known = term.scale * float((held[:, [j]].T @ dual.solve(cross[:, None]))[0, 0])
            variance = dual.unit**2 * value * (prior - known)
        out.append(
            Reason(
                dual.names[k],
                term.column,
                fragment,
                float(weights[j]),
                _at(low, j),
                _at(high, j),
                int(counts[:, [j]].nnz),
                contribution,
                variance,
            )
        )
    return out


def _evidence(
    term: Term, fragments: Any, weights: Floats, dual: DualForm, schedule: Schedule
) -> tuple[Any, Floats | None, Floats | None]:
    """Which trees of a model hold each fragment; and for a Gaussian process, between what the weights lie."""
    plain = Term(term.path, term.kernel, 1.0, term.norms)
    held = features(plain, fragments, dual.inputs, "kernel", n_threads=schedule.n_threads, memory=schedule.memory)
    if dual.solve is None:
        return held, None, None
    dense = held.toarray()
    known = (dense * dual.solve(dense)).sum(axis=0)
    deviation = dual.unit * np.sqrt(np.maximum(term.scale - term.scale**2 * known, 0.0))
    return held, weights - _95_PERCENT * deviation, weights + _95_PERCENT * deviation


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
