"""The laws that every kernel keeps, and one function that checks them all: :func:`check_kernel`.

It serves the kernels of this library and a user's own. Each law is a function of its own in ``laws``; its
name and its message say what does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from espalier.kernels.base import Kernel
from espalier.structures.tree import Tree
from espalier.testing import laws
from espalier.testing.features import check_features, check_space
from espalier.testing.items import are_trees, length
from espalier.testing.laws import Rename, check_gradients

__all__ = ["check_gradients", "check_kernel", "check_space", "rename_labels"]


def check_kernel(
    kernel: object,
    items: object,
    *,
    rename: Rename | None = None,
    trees: bool | None = None,
    prints: bool = True,
    gradient_tolerance: float = 1e-6,
    seed: int = 0,
) -> None:
    """Check that a kernel keeps the laws of kernels on some items; an AssertionError says which it breaks.

    Parameters
    ----------
    kernel
        The kernel.
    items
        At least three items of the kind that it takes: a list, an array, a Forest, a table or a dict of
        columns.
    rename
        A function that renames the labels of one item, two different ones never alike. If given, renaming
        must change no value. :func:`rename_labels` does so for trees.
    trees
        Whether to try extreme trees too: a lone leaf, a chain 3,000 deep, nodes with 3,000 different leaves
        and with 3,000 equal children. They must work, or raise KernelOverflowError. Where None, if the items
        are trees.
    prints
        Whether ``eval(repr(kernel))`` gives the kernel back; False for kernels that hold fitted arrays.
    gradient_tolerance
        The relative error allowed between a gradient and differences of values.
    seed
        The seed of the cotangents and permutations.

    Notes
    -----
    Values must be exactly symmetric, bit-equal for any number of threads, equal to 1e-12 in tiles, and equal
    to 1e-10 where only the order of the items differs. A class that is defined inside a function cannot be
    pickled by Python itself, so pickling is left out for it. If a kernel names its feature space and its items are
    small, the features must multiply to its values: :func:`check_space`.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import SubsetTree
    >>> check_kernel(SubsetTree(), ["(S (A a) (B b))", "(S (A a) (B c))", "(A a)"], rename=rename_labels)
    """
    rng = np.random.default_rng(seed)
    n = length(items)
    if n < 3:
        raise ValueError(f"check_kernel needs at least three items, got {n}.")
    laws.check_value_object(kernel, prints=prints)
    laws.check_parameters(kernel)
    laws.check_inputs_unchanged(kernel, items)
    laws.check_stateless(kernel, items)
    laws.check_symmetry(kernel, items)
    laws.check_positive_semidefinite(kernel, items)
    laws.check_diagonal(kernel, items)
    laws.check_transposition(kernel, items)
    laws.check_blocks(kernel, items)
    laws.check_permutation(kernel, items, rng)
    laws.check_single_pair(kernel, items)
    laws.check_empty(kernel, items)
    laws.check_threads(kernel, items, rng)
    laws.check_tiles(kernel, items, rng)
    laws.check_reports(kernel, items)
    laws.check_gradients(kernel, items, rng, tolerance=gradient_tolerance)
    if isinstance(kernel, Kernel):
        check_features(kernel, items)
    if rename is not None:
        laws.check_renaming(kernel, items, rename)
    if trees if trees is not None else are_trees(items):
        laws.check_extreme_trees(kernel, as_objects=isinstance(items, list) and isinstance(items[0], Tree))


def rename_labels(item: object) -> object:
    """Rename every label of a tree (or of each tree in a row of a table), different ones never alike.

    Examples
    --------
    >>> rename_labels("(NP (D the) (N cat))")
    '(<PN> (<D> <eht>) (<N> <tac>))'
    """
    if isinstance(item, str):
        return _renamed(Tree.from_brackets(item)).to_brackets()
    if isinstance(item, Tree):
        return _renamed(item)
    if isinstance(item, Mapping):
        is_tree = {name: isinstance(value, Tree | str) for name, value in item.items()}
        return {name: rename_labels(value) if is_tree[name] else value for name, value in item.items()}
    raise TypeError(f"rename_labels renames trees, got {type(item).__name__}.")


def _renamed(tree: Tree) -> Tree:
    return tree.fold(lambda node, below: Tree(f"<{node.label[::-1]}>", below))
