"""A kernel of your own in one method: it has gradients, and is combined and checked like any other."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

import espalier as es
from espalier.kernels.hyperparameters import Number, hyperparameter, number_of
from espalier.testing import check_kernel


@dataclass(frozen=True, repr=False)
class SameLength(es.Kernel):
    """Sentences are similar if they have about the same number of words."""

    width: Number = hyperparameter(2.0, (1e-2, 1e2))

    def pair(self, x: Any, y: Any) -> float:
        difference = len(es.as_tree(x).words()) - len(es.as_tree(y).words())
        return exp(-((difference / number_of(self.width)) ** 2))


def main() -> None:
    trees = [
        "(S (NP (D the) (N cat)) (VP (V sleeps)))",
        "(S (NP (D the) (N dog)) (VP (V sleeps)))",
        "(S (NP (D the) (N dog)) (VP (V chases) (NP (D the) (N cat))))",
    ]
    check_kernel(SameLength(), trees)
    print("SameLength keeps the laws of kernels.\n")

    kernel = es.Normalized(es.SubsetTree(decay=0.4)) * SameLength()
    matrix, pull_back = kernel.vjp(trees)
    print(kernel)
    print(matrix.round(3))
    print("\nSlopes of the sum of all values:")
    for path, slope in pull_back(np.ones_like(matrix)).items():
        print(f"{path:22} {slope:8.4f}")


if __name__ == "__main__":
    main()
