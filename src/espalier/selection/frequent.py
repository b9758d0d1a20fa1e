"""Frequent mining, for comparison: the features that more than C outputs have, right or wrong, of all examples."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from espalier import _core
from espalier.jobs.schedule import Schedule
from espalier.selection.examples import classified, ranked
from espalier.selection.grown_features import Grown
from espalier.selection.selector import KernelSpaceSelector, largest_order
from espalier.spaces.grown import space_for


def frequent_counts(selector: KernelSpaceSelector, X: Any, y: Any = None) -> list[int]:
    """Return how many features of each order more than C outputs have, with the settings of a selector.

    Every candidate of a group is an output, or every item. Gradient mining never selects more (proposition 1 of Qian
    and Liu 2015).

    Examples
    --------
    >>> from espalier.kernels import Polynomial
    >>> X = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]] * 5)
    >>> frequent_counts(KernelSpaceSelector(Polynomial(2), C=2.0), X, [1, 0, 0, 1] * 5)
    [3, 3]
    """
    space = space_for(selector.kernel)
    schedule = Schedule.of(selector.n_threads, selector.memory, selector.progress, what="counting frequent features")
    examples = ranked(X, selector.kernel, "zero-one", 0.0) if y is None else classified(X, y)
    # A feature may be in more than C candidates of a single group.
    atoms = space.learned(examples.inputs, examples.bounds, 0.0, schedule.between(0.0, 0.1))
    graphs = space.graphs(examples.inputs, examples.bounds, atoms, schedule.between(0.1, 0.2))
    grown = Grown.empty(space, len(atoms), atoms.top, 1, 1)
    opened = np.zeros(1, np.uint8)
    counts = []
    n_orders = largest_order(space, selector.max_order)
    for order in range(1, n_orders + 1):
        part = schedule.between(0.2 + 0.8 * (order - 1) / n_orders, 0.2 + 0.8 * order / n_orders)
        found = _core.count_frequent(
            graphs,
            grown.trie,
            grown.n_atoms,
            grown.first(opened),
            opened,
            order,
            float(selector.C),
            max(1 << 26, schedule.memory - grown.n_bytes - graphs.n_bytes),
            tempfile.gettempdir() if selector.folder is None else str(selector.folder),
            part.n_threads,
            part.tell,
        )
        nodes = grown.insert(found["key"], order)
        opened = np.concatenate([opened, np.zeros(len(grown.weight) - len(opened), np.uint8)])
        opened[nodes] = 1
        counts.append(len(nodes))
    return counts
