"""The perceptron for ranking of Collins and Duffy (2001, figure 3) from its definition."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def perceptrons(matrix: Floats, start: Sequence[int], epochs: int, updates: str) -> Iterator[Floats]:
    """The coefficients of all items after each step.

    ``matrix`` is the kernel of all items; the first item of each group, which starts at ``start``, is to win. With
    ``"all"`` a step is one rival: it is added where the target does not score higher than it does at that time. With
    ``"best"`` a step is a group, of which only the rival that scores highest is looked at, the first of equals.
    """
    alpha = dict.fromkeys(((first, rival) for first, last in groups(start) for rival in range(first + 1, last)), 0)

    def score(item: int) -> float:
        return sum(n * (matrix[target, item] - matrix[rival, item]) for (target, rival), n in alpha.items() if n)

    for _ in range(epochs):
        for first, last in groups(start):
            rivals = range(first + 1, last)
            for rival in rivals if updates == "all" else [max(rivals, key=lambda item: (score(item), -item))]:
                if not score(first) > score(rival):
                    alpha[first, rival] += 1
                coefficients = np.zeros(len(matrix))
                for (target, other), n in alpha.items():
                    coefficients[target] += n
                    coefficients[other] -= n
                yield coefficients


def groups(start: Sequence[int]) -> list[tuple[int, int]]:
    """Where each group begins and ends."""
    return list(itertools.pairwise(start))
