"""Small random trees whose fragments can be listed: chains, repeated labels, leaves spelled like nodes."""

from __future__ import annotations

import numpy as np

from espalier.structures import Tree

INNER = ["S", "NP", "VP", "N"]
WORDS = ["a", "b", "NP"]  # one is spelled like a label


def random_tree(rng: np.random.Generator, *, depth: int = 4, width: int = 3) -> Tree:
    """One tree of at most this depth, in edges; now and then a lone leaf."""
    if depth == 0 or rng.random() < 0.15:
        return Tree(str(rng.choice(WORDS)))
    n_children = int(rng.choice([1, 1, 2, width]))
    return Tree(str(rng.choice(INNER)), [random_tree(rng, depth=depth - 1, width=width) for _ in range(n_children)])


def random_trees(seed: int, n: int, *, max_size: int = 14, depth: int = 4) -> list[Tree]:
    """Trees that share much: some are equal, most hold pieces of others."""
    rng = np.random.default_rng(seed)
    trees: list[Tree] = []
    while len(trees) < n:
        tree = random_tree(rng, depth=depth)
        if trees and rng.random() < 0.3:
            tree = Tree("S", [trees[int(rng.integers(len(trees)))], tree])
        if trees and rng.random() < 0.1:
            tree = trees[int(rng.integers(len(trees)))]
        if tree.size <= max_size:
            trees.append(tree)
    return trees
