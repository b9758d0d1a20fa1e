"""The explicit features of a tree in the space of a kernel, for the fragments of a dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from espalier import _core
from espalier.fragments.dictionary import FragmentDictionary
from espalier.fragments.partial import PartialDictionary
from espalier.fragments.terms import Floats, Term
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.inputs import Inputs
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.tree_plan import TreeKernel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Values = Literal["kernel", "count", "binary"]


def fragment_values(fragments: FragmentDictionary, kernel: TreeKernel) -> Floats:
    """What one occurrence of each fragment counts for in the space of a kernel: the square root of its weight.

    Examples
    --------
    >>> from espalier.kernels import SubsetTree
    >>> dictionary = FragmentDictionary.from_fragments(["(NP (D the) (N))", "(D the)"])
    >>> fragment_values(dictionary, SubsetTree(decay=0.25, frontier=4.0))
    array([0.5, 0.5])
    """
    if not len(fragments):
        return np.zeros(0)
    if kernel not in fragments._values:
        fragments._values.clear()
        fragments._values[kernel] = _values(fragments, kernel)
    return fragments._values[kernel]


def _values(fragments: FragmentDictionary, kernel: TreeKernel) -> Floats:
    decay, frontier = (hyper.label_values(setting, fragments.labels) for _, setting in kernel._label_settings())
    code = fragments.code
    arrays = (fragments.production_start, fragments.production_part, fragments.start, code)
    head = fragments.production_part[fragments.production_start[:-1]]
    decay_of = np.where(head < 0, decay[-1], decay[np.maximum(head, 0)])  # by production
    frontier_of = frontier[np.maximum(head, 0)]
    parents = _core.code_parents(*arrays)
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(code >= 0, decay_of[code], frontier_of[code[parents]]))
    out: Floats = np.exp(0.5 * np.add.reduceat(logs, fragments.start[:-1]))
    out.flags.writeable = False
    return out


def features(
    term: Term,
    fragments: FragmentDictionary | PartialDictionary,
    inputs: Inputs,
    values: Values,
    *,
    n_threads: int | None,
    memory: Any,
) -> csr_matrix:
    """One row of features for each row of the inputs: as the kernel counts them, plain counts, or 0 and 1."""
    from scipy.sparse import csr_matrix, diags_array

    forest = term.forest(inputs)
    if isinstance(fragments, PartialDictionary):
        counts = fragments.features(forest, _counting(term.kernel, values), n_threads=n_threads)
    else:
        counts = fragments.counts(forest, n_threads=n_threads)
    if values == "count":
        return counts
    if values == "binary":
        counts.data[:] = 1.0
        return counts
    scale = np.sqrt(term.scale) / term.norm(inputs, n_threads=n_threads, memory=memory)
    if not isinstance(fragments, PartialDictionary):
        counts = csr_matrix(counts @ diags_array(fragment_values(fragments, term.kernel)))
    return csr_matrix(diags_array(scale) @ counts)


def weighed(
    term: Term,
    fragments: FragmentDictionary | PartialDictionary,
    inputs: Inputs,
    values: Values,
    weights: Floats,
    *,
    n_threads: int | None,
    memory: Any,
) -> Floats:
    """``features(...) @ weights``, without the features where each distinct subtree can be weighed once."""
    if isinstance(fragments, PartialDictionary) or values == "binary":
        out = features(term, fragments, inputs, values, n_threads=n_threads, memory=memory) @ weights
        return np.asarray(out, np.float64)
    forest = term.forest(inputs)
    if values == "count":
        return fragments.weighed(forest, weights, n_threads=n_threads)
    own = fragment_values(fragments, term.kernel)[:, None] * weights
    scale: Floats = np.sqrt(term.scale) / term.norm(inputs, n_threads=n_threads, memory=memory)
    return fragments.weighed(forest, own, n_threads=n_threads) * scale[:, None]


def _counting(kernel: Any, values: Values) -> Any:
    """A kernel whose features are plain counts, unless its own values are asked for."""
    return kernel if values == "kernel" else PartialTree(decay=1.0, depth_decay=1.0)
