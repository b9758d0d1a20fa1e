"""Learning a sparse process: numbers from a pilot, then structures, then, if asked for, numbers by the bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gp.learning import Outcome, learn
from espalier.gp.objective import kernel_at
from espalier.gp.optimize import Settings
from espalier.gp.parameters import Vector
from espalier.gp.regression import Examples
from espalier.gp.sparse.choosing import Moments, Places, greedy, in_order, least_explained, medoids, moments
from espalier.gp.sparse.combining import combine
from espalier.gp.sparse.inducing import Inducing
from espalier.gp.sparse.regression import SparseExamples, SparseObjective, support_of
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs

PILOT = 1_000


@dataclass(frozen=True, eq=False)
class SparseTask:
    """Examples whose structures are not chosen yet."""

    examples: Examples
    inducing: Inducing
    options: Mapping[str, Any]  # of plans


def learn_sparsely(task: SparseTask, settings: Settings, rng: np.random.Generator) -> tuple[SparseObjective, Outcome]:
    """Learn numbers on a pilot, choose structures, and return the objective of all examples and what was found."""
    examples, inducing, options = task.examples, task.inducing, task.options
    n, size = len(examples.y), settings.pilot or PILOT
    some = examples if size >= n else examples.part(np.sort(rng.permutation(n)[:size]))
    found = learn(some.objective(**options), replace(settings, pilot=None), rng)
    learned = _at(examples, found.best.values)
    sparse = with_structures(learned, inducing, rng, **options)
    objective = sparse.objective(**options)
    if inducing.learn == "bound" and settings.learn and found.stop is None:
        first, own = found.restarts, replace(settings, pilot=None, restarts=0)
        found = replace(learn(objective, own, rng), pilot=first)
    return objective, found


def _at(examples: Examples, values: Mapping[str, float]) -> Examples:
    """The examples with other numbers declared for them."""
    return replace(
        examples,
        kernel=kernel_at(examples.kernel, values),
        likelihood=examples.likelihood.with_parameters(values),
        transform=examples.transform.with_parameters(values),
    )


def with_structures(examples: Examples, inducing: Inducing, rng: np.random.Generator, **options: Any) -> SparseExamples:
    """Choose structures at the declared numbers of some examples, and combine them if that is asked for."""
    likelihood, _, observed, _ = examples.modelled({})
    noise, columns = likelihood.variances(observed), examples.basis.columns

    def told(cross: Vector) -> Moments:
        return moments(cross, noise, observed.values, columns)

    rows, weights = structures_of(examples.kernel, examples.inputs, inducing, rng, told, options)
    return SparseExamples.among(examples, rows, weights, float(inducing.power))


@blas_threads()
def structures_of(
    kernel: Kernel,
    inputs: Inputs,
    inducing: Inducing,
    rng: np.random.Generator,
    told: Callable[[Vector], Moments],
    options: Mapping[str, Any],
) -> tuple[Places, Vector | None]:
    """The rows of the structures, and the weights of their combinations.

    ``told`` says what the data tell of structures with these covariances (rows) with them.
    """
    n = len(inputs)
    most = n if inducing.n_structures is None else min(inducing.n_structures, n)
    size = 2 * most if inducing.choose == "random" else max(most, inducing.candidates)
    rows = rng.permutation(n)[:size]
    if inducing.choose == "greedy":
        cross = kernel(support_of(inputs, rows), inputs, **options)
        least = inducing.least_gain if inducing.n is None else -np.inf
        places = greedy(cross[:, rows], told(cross), min(most, len(rows)), least)
        cross = cross[places]
    else:
        own = kernel(support_of(inputs, rows), **options)
        if inducing.choose == "random":
            places = in_order(own, np.arange(len(rows)), most)
        else:
            places = least_explained(own, most) if inducing.choose == "variance" else medoids(own, most, rng)
    rows = rows[places]
    if not len(rows):
        raise InputError(
            "No structure can be an inducing variable: by this kernel every one has a variance of 0. Use another "
            "kernel, or inducing=None."
        )
    weights = None
    if inducing.combine is not None and inducing.n is not None and len(rows) > inducing.n:
        if inducing.choose != "greedy":
            cross = kernel(support_of(inputs, rows), inputs, **options)
        weights = combine(cross[:, rows], told(cross), inducing.n, rng).weights
    return rows, weights
