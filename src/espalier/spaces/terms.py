"""The parts of a kernel whose features can be listed: kernels with a space inside sums and multiples.

A model's score is a sum of such parts, each a sum over training rows. For one part,
``sum_i coefficient_i scale k(x_i, x) / (norm(x_i) norm(x))`` is the product of two explicit vectors: the features
of ``x`` divided by its norm, and the weights ``sum_i coefficient_i scale features(x_i) / norm(x_i)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.errors import InputError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.algebra import Scaled, Sum
from espalier.kernels.base import Kernel
from espalier.kernels.expressions import kernel_classes
from espalier.kernels.inputs import Inputs
from espalier.kernels.normalized import Normalized
from espalier.kernels.underflow import without_fragment
from espalier.spaces.codes import Codes
from espalier.spaces.partial import PartialSpace
from espalier.spaces.space import Floats, Space, Values
from espalier.spaces.subsequences import SequenceSpace
from espalier.spaces.subset import SubsetSpace

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SPACES: dict[str, type[Space[Any]]] = {space.name: space for space in (SubsetSpace, PartialSpace, SequenceSpace)}


@dataclass(frozen=True)
class Term:
    """A kernel inside a kernel.

    Attributes
    ----------
    path
        Its place, as in the paths of hyperparameters: ``terms[0]``; empty if it is the whole kernel.
    kernel, scale
        The kernel, and the number by which it is multiplied.
    norms
        Kernels that normalise: an item's features are divided by the square root of its value with itself.
    """

    path: str
    kernel: Kernel
    scale: float = 1.0
    norms: tuple[Kernel, ...] = ()

    @property
    def space(self) -> Space[Any]:
        """The space that the kernel names."""
        name = str(self.kernel.feature_space())
        if name not in SPACES:
            known = ", ".join(map(repr, SPACES))
            raise ValueError(
                f"{self.kernel!r} names the feature space {name!r}, and the known ones are {known}. Let "
                "feature_space() return one of these or None, or add the space to SPACES in espalier/spaces/terms.py."
            )
        return SPACES[name](self.kernel)

    @property
    def column(self) -> str | None:
        """The column that the kernel reads, if it names one."""
        return self.kernel._column()

    def norm(self, inputs: Inputs, **options: object) -> Floats:
        """The divisor of the features of each row; infinite for a row without any feature."""
        out = np.ones(len(inputs))
        for kernel in self.norms:
            diagonal = kernel.diagonal(inputs, **options)
            without_fragment(kernel, inputs, diagonal)
            out *= np.sqrt(diagonal)
        out[out == 0] = np.inf
        return out

    def features(
        self, listed: Codes[Any], inputs: Inputs, values: Values, *, n_threads: int | None, memory: Any
    ) -> csr_matrix:
        """One row of features for each row of the inputs: as the kernel counts them, plain counts, or 0 and 1."""
        from scipy.sparse import csr_matrix, diags_array

        space = self.space
        found = space.features(listed, space.corpus(inputs), values, n_threads=n_threads)
        if values == "kernel":
            scale = np.sqrt(self.scale) / self.norm(inputs, n_threads=n_threads, memory=memory)
            return csr_matrix(diags_array(scale) @ found)
        if values == "binary":
            found.data[:] = 1.0
        return found

    def weighed(
        self, listed: Codes[Any], inputs: Inputs, values: Values, weights: Floats, *, n_threads: int | None, memory: Any
    ) -> Floats:
        """``features(...) @ weights``, without computing the features if the space allows it."""
        space = self.space
        found = space.weighed(listed, space.corpus(inputs), values, weights, n_threads=n_threads)
        if found is None:
            rows = self.features(listed, inputs, values, n_threads=n_threads, memory=memory)
            return np.asarray(rows @ weights, np.float64)
        if values != "kernel":
            return found
        scale: Floats = np.sqrt(self.scale) / self.norm(inputs, n_threads=n_threads, memory=memory)
        return found * scale[:, None]


def listable_terms(kernel: Kernel) -> tuple[list[Term], list[Kernel]]:
    """The kernels inside a kernel whose features can be listed, and its other parts; an InputError if there are none.

    Examples
    --------
    >>> from espalier.kernels import RBF, SubsetTree
    >>> terms, others = listable_terms(2.0 * Normalized(SubsetTree(on="tree")) + RBF(on="x"))
    >>> [(term.path, term.column, term.scale) for term in terms], others
    ([('terms[0]', 'tree', 2.0)], [RBF(on='x')])
    """
    terms, others = parts_of(kernel)
    if not terms:
        raise InputError(
            f"The fragments of {kernel!r} cannot be listed. Those of {_listable_names()} (of Subsequence only without "
            "a similarity) can, alone, normalised, multiplied by numbers and in sums; not those of products, powers "
            "and radial kernels."
        )
    return terms, others


def _listable_names() -> str:
    """The kernels of the library that name a space, by their defaults."""
    named = []
    for name, kind in kernel_classes().items():
        required = [own for own in fields(kind) if own.default is MISSING and own.default_factory is MISSING]
        if not required and kind().feature_space() is not None:
            named.append(name)
    return f"{', '.join(named[:-1])} and {named[-1]}"


def is_listable(kernel: Kernel) -> bool:
    """Whether the features of a kernel can be listed."""
    return kernel.feature_space() is not None


def parts_of(kernel: Kernel, wanted: Callable[[Kernel], bool] = is_listable) -> tuple[list[Term], list[Kernel]]:
    """The kernels of one kind inside a kernel, if there are any, and its other parts."""
    terms: list[Term] = []
    others: list[Kernel] = []
    for term in _parts("", kernel, 1.0, ()):
        if wanted(term.kernel):
            terms.append(term)
        else:
            others.append(term.kernel)
    return terms, others


def _parts(path: str, kernel: Kernel, scale: float, norms: tuple[Kernel, ...]) -> Iterator[Term]:
    if isinstance(kernel, Sum):
        for prefix, term in kernel._children():
            yield from _parts(f"{path}.{prefix}".strip("."), term, scale, norms)
    elif isinstance(kernel, Scaled):
        yield from _parts(path, kernel.kernel, scale * hyper.number_of(kernel.scale), norms)
    elif isinstance(kernel, Normalized):
        yield from _parts(path, kernel.kernel, scale, (*norms, kernel.kernel))
    else:
        yield Term(path, kernel, scale, norms)
