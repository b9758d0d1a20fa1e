"""The contents of a forest in numbers: counted, not sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from espalier import _core

if TYPE_CHECKING:
    from espalier.corpus.forest import Forest


@dataclass(frozen=True)
class ForestDescription:
    """Counts over the trees of a forest; a view counts only what its own trees contain.

    Attributes
    ----------
    trees, empty, nodes, leaves
        Trees, empty structures among them, and their nodes and leaves counted as often as they occur.
    distinct_trees, distinct_subtrees
        After equal ones are merged; leaves are subtrees too.
    productions, labels, words
        Distinct productions, labels of inner nodes, and labels of leaves.
    depth, widest
        Edges on the longest path to a leaf, and children of the widest node.
    compression
        Nodes for each distinct subtree.
    subset_tree_pairs, partial_tree_pairs
        Pairs of distinct subtrees that a symmetric matrix compares.
    subset_tree_bytes, partial_tree_bytes
        The memory that a kernel needs for them, in addition to the matrix; a gradient needs about twice that.
    """

    trees: int
    empty: int
    nodes: int
    leaves: int
    distinct_trees: int
    distinct_subtrees: int
    productions: int
    labels: int
    words: int
    depth: int
    widest: int
    compression: float
    subset_tree_pairs: int
    subset_tree_bytes: int
    partial_tree_pairs: int
    partial_tree_bytes: int

    def __str__(self) -> str:
        width = max(map(len, vars(self)))
        lines = []
        for name, value in vars(self).items():
            shown = f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
            lines.append(f"{name.replace('_', ' '):<{width}}  {shown:>15}")
        return "\n".join(lines)


def describe_forest(forest: Forest) -> ForestDescription:
    """Count the contents of the trees of a forest, and the pairs that its matrices would compare."""
    arrays = forest.arrays
    height, label = arrays["height"], arrays["label"]
    counts = np.bincount(arrays["tree_subtree"], weights=arrays["tree_count"], minlength=forest.n_subtrees).astype(
        np.int64
    )
    present = counts > 0
    inner, leaf = present & (height > 0), present & (height == 0)
    n_children = np.diff(arrays["child_start"])
    roots = arrays["root"][arrays["root"] >= 0]
    subset = _core.SubsetTreePlan(arrays, None, False, False, False)
    partial = _core.PartialTreePlan(arrays, None, False)
    n_distinct = int(present.sum())
    return ForestDescription(
        trees=len(forest),
        empty=len(forest) - len(roots),
        nodes=int(counts.sum()),
        leaves=int(counts[leaf].sum()),
        distinct_trees=len(np.unique(roots)),
        distinct_subtrees=n_distinct,
        productions=subset.n_buckets,
        labels=len(np.unique(label[inner])),
        words=len(np.unique(label[leaf])),
        depth=int(height[present].max(initial=0)),
        widest=int(n_children[present].max(initial=0)),
        compression=float(counts.sum()) / n_distinct if n_distinct else 1.0,
        subset_tree_pairs=subset.n_pairs,
        subset_tree_bytes=subset.matrix_bytes(0),
        partial_tree_pairs=partial.n_pairs,
        partial_tree_bytes=partial.matrix_bytes(),
    )
