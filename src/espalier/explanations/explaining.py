"""``explain``: take a fitted model apart, or one of its decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.explanations.by_features import compare_features, heaviest_features
from espalier.explanations.comparing import compare_candidates
from espalier.explanations.explanation import Example, Explanation, Reason, TreeShares
from espalier.explanations.weighing import Apart, evidence, intervals, listed_apart, listed_scores, taken_apart
from espalier.fragments.linearized import primal_form
from espalier.fragments.mining import mine_fragments
from espalier.gram.forms import DualForm, PrimalForm
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.rerank.features import FeatureReranker
from espalier.rerank.reranker import Reranker
from espalier.selection.selector import KernelSpaceSelector
from espalier.spaces.space import Feature, Floats, Wanted
from espalier.spaces.terms import Term, listable_terms
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Group
from espalier.structures.numbers import whole_number
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree


def explain(
    model: Any,
    example: object = None,
    *,
    n: int = 20,
    score: str | None = None,
    winner: int | Literal["gold"] | None = None,
    loser: int | Literal["gold"] | None = None,
    max_size: int | None = None,
    n_threads: int | None = None,
    memory: int | str | None = None,
) -> Explanation:
    """Find the fragments that decide: in a model as a whole, for one example, or between two candidates.

    Parameters
    ----------
    model
        A fitted ``KernelSVC``, ``KernelSVR``, ``GPRegressor``, ``GPClassifier``, ``GPOrdinal``, ``Reranker``,
        ``LinearizedTreeClassifier``, a pipeline of a ``FragmentVectorizer`` and a linear model, or anything with a
        method ``dual_form()`` or ``primal_form()``. Its kernel is one of trees or words, alone, normalised, scaled, or
        in a sum, also with other kernels. Also a ``FeatureReranker``, and, as a whole, a ``KernelSpaceSelector``.
    example
        A tree, its brackets, a text, or a table or dict of one row; the whole model is explained if None. For rerankers
        and their choosers also a ``Group``: then two of its candidates are compared.
    n
        How many fragments to list, for each score and each kernel.
    score
        Which score of a classifier to explain for an example; the score of the predicted class if None.
    winner, loser
        Which candidates of a group to compare: their numbers, or ``"gold"``. If None, the winner is the chosen one, and
        the loser is the parser's own choice, or, if that is the winner, the candidate with the next largest value.
    max_size
        The size of the largest fragments to consider, in productions; for partial trees in nodes, 8 if None. Of
        selected features, the largest order to list.
    n_threads, memory
        As for kernels.

    Returns
    -------
    Explanation
        For a model, the fragments proven to have the largest weights. For an example, the fragments that add most to
        its score, and the share of every node in it; the shares add up to the score. For a group, a
        :class:`Comparison`: the fragments proven to add most to the difference of the two values, and the shares of the
        nodes of both trees; for kernels on tags, the shares of tags. A ``FeatureReranker`` or a ``KernelSpaceSelector``
        lists the features with the largest weights, or those that add most.

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
    whole_number("n", n)
    if max_size is not None:
        whole_number("max_size", max_size, none=True)
    wanted = Wanted(n, max_size, Schedule.of(n_threads, memory))
    if isinstance(example, list | tuple) and any(isinstance(own, Group) for own in example):
        raise TypeError("Only one group can be explained at a time. Write explain(reranker, groups[0]).")
    if not isinstance(example, Group) and (winner is not None or loser is not None):
        raise ValueError("winner and loser are candidates of a group; give one: explain(reranker, group).")
    if isinstance(model, Reranker) and isinstance(chooser := getattr(model, "chooser_", None), FeatureReranker):
        model = chooser
    if isinstance(model, FeatureReranker | KernelSpaceSelector):
        check_is_fitted(model, "features_")
        if example is None:
            return heaviest_features(model.features_, wanted)
        if not isinstance(model, FeatureReranker) or not isinstance(example, Group):
            raise TypeError(
                "Selected features are explained as a whole, explain(model), or between two candidates of a group, "
                f"explain(feature_reranker, group); got a {type(model).__name__} and a {type(example).__name__}."
            )
        return compare_features(model, example, winner, loser, wanted)
    primal = primal_form(model)
    if primal is None and not hasattr(model, "dual_form"):
        raise TypeError(
            "Explaining a model needs its coefficients of training rows or its weights of features: fit a KernelSVC, "
            "KernelSVR, GPRegressor, GPClassifier, GPOrdinal, Reranker, FeatureReranker, KernelSpaceSelector or "
            "LinearizedTreeClassifier, or give a model with a method dual_form() or primal_form(); got "
            f"{type(model).__name__}."
        )
    if isinstance(example, Group):
        return compare_candidates(model, example, winner, loser, wanted)
    if primal is not None:
        return _of_linear_model(model, n) if example is None else _of_listed(primal, example, score, wanted)
    dual: DualForm = model.dual_form()
    if example is None:
        return _of_model(model, dual, wanted)
    return _of_example(dual, example, score, wanted)


def _of_model(model: object, dual: DualForm, wanted: Wanted) -> Explanation:
    n, max_size, schedule = wanted
    mined = mine_fragments(model, n=n, max_size=max_size, n_threads=schedule.n_threads, memory=schedule.memory)
    reasons = []
    for part in mined:
        held, deviations = evidence(part.term, part.fragments, dual, schedule)
        ends = intervals(part.weights, deviations)
        for k, (fragment, weight) in enumerate(part):
            rows = held[:, [k]].tocoo().row
            pull = dual.coefficients[dual.names.index(part.name)][rows] * weight
            where = _example(part.term, dual.inputs, fragment, rows[np.argsort(-pull, kind="stable")])
            reasons.append(
                Reason(part.name, part.term.column, fragment, weight, *ends[k], len(rows), None, None, where)
            )
    return Explanation(tuple(reasons), left_out=tuple(map(repr, mined.left_out)))


@blas_threads()
def _of_example(dual: DualForm, example: object, score: str | None, wanted: Wanted) -> Explanation:
    listable_terms(dual.kernel)  # raises if the kernel has no fragments
    inputs = _one(example, dual.inputs)
    k = 0
    if len(dual.names) > 1 or score is not None:
        cross = dual.kernel(dual.inputs, inputs, **wanted.schedule.options)[:, 0]
        values = dual.coefficients @ cross + dual.intercepts
        k = _chosen(dual.names, values, score)
    return _explanation(taken_apart(dual, k, inputs, (1.0,), wanted), float(dual.intercepts[k]))


def _of_linear_model(model: object, n: int) -> Explanation:
    """The features with the largest weights; a linear model keeps no training rows as examples of them."""
    reasons = [
        Reason(part.name, part.term.column, feature, weight, None, None, None)
        for part in mine_fragments(model, n=n)
        for feature, weight in part
    ]
    return Explanation(tuple(reasons))


@blas_threads()
def _of_listed(primal: PrimalForm, example: object, score: str | None, wanted: Wanted) -> Explanation:
    inputs = _one(example, None)
    for part in primal.parts:
        inputs.read_strings(part.term.kernel._tree_columns(), "trees")
    values = primal.intercepts + listed_scores(primal, inputs, wanted.schedule)[0]
    k = _chosen(primal.names, values, score)
    return _explanation(listed_apart(primal, k, inputs, wanted), float(primal.intercepts[k]))


def _explanation(apart: Apart, constant: float) -> Explanation:
    """The explanation of one example."""
    reasons = sorted((reason for own in apart.parts for reason in own.reasons), key=lambda own: -abs(own.effect))
    trees = [
        TreeShares(term.column, tree, own.total, own.shares[0], own.split, term.space.item)
        for term, own, _ in apart.parts
        if (tree := own.trees[0]) is not None
    ]
    return Explanation(
        tuple(reasons), apart.value, constant, apart.elsewhere, apart.variance, tuple(trees), apart.left_out
    )


def _example(term: Term, inputs: Inputs, feature: Feature, rows: NDArray[np.integer[Any]]) -> Example | None:
    """The smallest item that has a feature, among the first of ``rows``, which support its weight most."""
    space = term.space
    best: Example | None = None
    for row in rows.tolist()[:10]:
        tree = space.drawn(inputs, int(row))
        if best is not None and tree.size >= best.tree.size:
            continue
        places = space.locate(feature, tree)
        if places:
            best = Example(int(row), tree, places[0])
    return best


def _one(example: object, like: Inputs | None) -> Inputs:
    if isinstance(example, str | Tree | TaggedSequence | DependencyTree):
        example = [example]
    elif isinstance(example, Mapping) and all(isinstance(value, str | Tree) for value in example.values()):
        example = {name: [value] for name, value in example.items()}
    inputs = Inputs.of(example, like=like, translates=True)
    if len(inputs) != 1:
        raise InputError(f"Only one example can be explained at a time, got {len(inputs):,}. Take one: example[3:4].")
    return inputs


def _chosen(names: tuple[str, ...], values: Floats, score: str | None) -> int:
    if score is None:
        return int(values.argmax()) if len(values) > 1 else 0
    if score not in names:
        raise InputError(f"The model has no score {score!r}; it has {', '.join(map(repr, names))}.")
    return names.index(score)
