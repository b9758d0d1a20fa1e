"""The law of feature spaces: what a space lists of a kernel's items multiplies to the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.spaces.terms import Term, parts_of
from espalier.testing.items import length

_MOST_FEATURES = 20_000
_MOST_PARTS = 1_000  # nodes, productions or words of one feature
_CLOSE = 1e-9  # relative


def check_space(kernel: Kernel, items: Any) -> None:
    """Check that the features that a kernel's space lists multiply to the kernel's values.

    A space computes the weight of each feature itself, from the hyperparameters that it asks the kernel for. If the
    kernel weighs features in another way, mined weights and explanations do not add up to its scores.

    Every kernel in the expression that names its ``feature_space()`` is checked, on some small items of its kind.

    Examples
    --------
    >>> from espalier.kernels import SubsetTree
    >>> check_space(SubsetTree(), ["(S (A a) (B b))", "(S (A a) (B c))"])
    """
    terms, _ = parts_of(kernel)
    if not terms:
        raise ValueError(f"{kernel!r} names no feature space, so there are no features to check.")
    for term in terms:
        if not _holds(term, items):
            raise ValueError(
                f"{term.kernel!r} has more than {_MOST_FEATURES:,} features in these items. Use smaller ones."
            )


def check_features(kernel: Kernel, items: Any) -> None:
    """Check each kernel that names its space, unless the items have too many features to list."""
    for term in parts_of(kernel)[0]:
        _holds(term, items)


def _holds(term: Term, items: Any) -> bool:
    """Check one kernel; False if its features are too many."""
    space, kernel = term.space, term.kernel
    corpus = space.corpus(Inputs.of(items))
    search = space.search(corpus, _MOST_PARTS)
    try:
        found = search.exact(np.ones(length(items)), _MOST_FEATURES, _MOST_FEATURES, Schedule.of(1), None)
    except MemoryError:
        return False
    if not found.proven or len(found.features) == _MOST_FEATURES:
        return False
    rows = space.features(found.features, corpus, "kernel", n_threads=1)
    listed, values = (rows @ rows.T).toarray(), kernel(items)
    size = float(np.abs(values).max(initial=0.0))
    bad = np.argwhere(~(np.abs(listed - values) <= _CLOSE * np.maximum(np.abs(values), 1e-6 * size)))
    if len(bad):
        place = tuple(bad[0].tolist())
        raise AssertionError(
            f"the features that the space {space.name!r} lists do not multiply to the kernel: k{place} "
            f"is {values[place]:.6g}, and the features give {listed[place]:.6g}. The space computes the weights of "
            f"features itself; the docstring of {type(space).__module__} says from what."
        )
    return True
