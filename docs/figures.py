"""Draws the pictures of the documents: ``python docs/figures.py``.

Fragments are listed here from their definitions, on their own, so that a picture and the kernel it explains
can be compared: the tests check that the kernel counts as many as are drawn.
"""

from __future__ import annotations

import sys
from itertools import combinations, product
from pathlib import Path

from espalier import Tree
from espalier.structures.drawing import side_by_side, tree_svg
from espalier.structures.files import write_text

FOLDER = Path(__file__).resolve().parent / "figures"
SENTENCE = Tree.from_brackets("(S (NP (D the) (N cat)) (VP (V sleeps)))")


def subtrees(tree: Tree) -> list[Tree]:
    """Every inner node with all that is below it."""
    return [node for node in tree if not node.is_leaf]


def subset_trees(tree: Tree, max_depth: int | None = None) -> list[Tree]:
    """Every connected piece in which a node keeps all of its children or none."""

    def rooted(node: Tree, depth: int) -> list[Tree]:
        if depth == 0:
            return []
        choices = [
            [child] if child.is_leaf else [Tree(child.label), *rooted(child, depth - 1)] for child in node.children
        ]
        return [Tree(node.label, children) for children in product(*choices)]

    depth = tree.size if max_depth is None else max_depth
    return [fragment for node in subtrees(tree) for fragment in rooted(node, depth)]


def partial_trees(tree: Tree) -> list[Tree]:
    """Every connected piece, some children of a node kept and others not."""

    def rooted(node: Tree) -> list[Tree]:
        out = [Tree(node.label)]
        for n in range(1, len(node.children) + 1):
            for kept in combinations(node.children, n):
                out += [Tree(node.label, children) for children in product(*(rooted(child) for child in kept))]
        return out

    return [fragment for node in tree for fragment in rooted(node)]


FIGURES = {
    "sentence": lambda: tree_svg(SENTENCE, title="The example sentence"),
    "subtree": lambda: side_by_side(subtrees(SENTENCE), width=760),
    "subset_tree": lambda: side_by_side(subset_trees(SENTENCE), width=760),
    "subset_tree_depth_1": lambda: side_by_side(subset_trees(SENTENCE, max_depth=1), width=760),
    "partial_tree": lambda: side_by_side(sorted(partial_trees(SENTENCE), key=lambda tree: tree.size), width=760),
}


def main() -> None:
    for name, draw in FIGURES.items():
        write_text(FOLDER / f"{name}.svg", draw())
        sys.stdout.write(f"{name}.svg\n")


if __name__ == "__main__":
    main()
