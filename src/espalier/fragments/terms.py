"""The parts of a kernel whose spaces can be listed fragment by fragment: tree kernels inside sums and multiples.

A model's score is a sum of such parts, each a sum over training rows. For one part,
``sum_i coefficient_i scale k(x_i, x) / (norm(x_i) norm(x))`` is the product of two explicit vectors: the features
of ``x`` divided by its norm, and the weights ``sum_i coefficient_i scale features(x_i) / norm(x_i)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.errors import InputError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.algebra import Scaled, Sum
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.normalized import Normalized
from espalier.kernels.smoothed_partial_tree import SmoothedPartialTree
from espalier.kernels.tree_plan import TreeKernel
from espalier.kernels.underflow import without_fragment

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Term:
    """A tree kernel inside a kernel.

    Attributes
    ----------
    path
        Where it stands, as in the paths of hyperparameters: ``terms[0]``; empty where it stands alone.
    kernel
        The tree kernel.
    scale
        What it is multiplied by.
    norms
        Kernels whose value of an item with itself the item's features are divided by, after its root was taken.
    """

    path: str
    kernel: TreeKernel
    scale: float = 1.0
    norms: tuple[Kernel, ...] = ()

    @property
    def column(self) -> str | None:
        """The column that the kernel reads, if it names one."""
        return self.kernel._column()

    def forest(self, inputs: Inputs) -> Forest:
        """The trees that the kernel reads."""
        return inputs.forest(self.column)

    def norm(self, inputs: Inputs, **options: Any) -> Floats:
        """What the features of each row are divided by; infinite for a row without any fragment."""
        out = np.ones(len(inputs))
        for kernel in self.norms:
            diagonal = kernel.diagonal(inputs, **options)
            without_fragment(kernel, inputs, diagonal)
            out *= np.sqrt(diagonal)
        out[out == 0] = np.inf
        return out


def tree_terms(kernel: Kernel) -> tuple[list[Term], list[Kernel]]:
    """The tree kernels inside a kernel, and the parts of it that have no fragments.

    Raises
    ------
    InputError
        If there is no tree kernel whose fragments can be listed.

    Examples
    --------
    >>> from espalier.kernels import RBF, SubsetTree
    >>> terms, others = tree_terms(2.0 * Normalized(SubsetTree(on="tree")) + RBF(on="x"))
    >>> [(term.path, term.column, term.scale) for term in terms], others
    ([('terms[0]', 'tree', 2.0)], [RBF(on='x')])
    """
    terms, others = parts_of(kernel)
    if not terms:
        raise InputError(
            f"The fragments of {kernel!r} cannot be listed. Those of SubsetTree, Subtree and PartialTree can, alone, "
            "normalised, multiplied by numbers and in sums; not those of products, powers and radial kernels."
        )
    return terms, others


def parts_of(kernel: Kernel, kind: type[Any] = TreeKernel) -> tuple[list[Term], list[Kernel]]:
    """The kernels of one kind inside a kernel, where there are some, and the other parts of it."""
    terms: list[Term] = []
    others: list[Kernel] = []
    for found in _parts("", kernel, 1.0, (), kind):
        if isinstance(found, Term):
            terms.append(found)
        else:
            others.append(found)
    return terms, others


def _parts(
    path: str, kernel: Kernel, scale: float, norms: tuple[Kernel, ...], kind: type[Any]
) -> Iterator[Term | Kernel]:
    if isinstance(kernel, Sum):
        for prefix, term in kernel._children():
            yield from _parts(f"{path}.{prefix}".strip("."), term, scale, norms, kind)
    elif isinstance(kernel, Scaled):
        yield from _parts(path, kernel.kernel, scale * hyper.number_of(kernel.scale), norms, kind)
    elif isinstance(kernel, Normalized):
        yield from _parts(path, kernel.kernel, scale, (*norms, kernel.kernel), kind)
    elif isinstance(kernel, kind) and not isinstance(kernel, SmoothedPartialTree):
        yield Term(path, kernel, scale, norms)
    else:
        yield kernel


def masses(forest: Forest, coefficients: Floats) -> Floats:
    """For every distinct subtree, the sum of the coefficients of the trees that hold it, as often as they do."""
    arrays = forest.arrays
    by_entry = np.repeat(coefficients, np.diff(arrays["tree_start"])) * arrays["tree_count"]
    total = np.bincount(arrays["tree_subtree"], weights=by_entry, minlength=forest.n_subtrees)
    return np.asarray(total, np.float64)
