"""``Fragment``: a connected piece of a tree, as the subset-tree kernel counts them.

A fragment is written like a tree, with one difference: ``(X)`` is a node that was left unexpanded and a
bare ``X`` is a word. ``Fragment.from_brackets`` alone reads that notation; in a tree both are leaves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from espalier.structures import notation
from espalier.structures.tree import Tree

Position = tuple[int, ...]  # of a node: the indices of children on the way down from the root

_TOKEN = re.compile(r"[()]|(?:\\[() \t\n\r\v\f\\]|[^() \t\n\r\v\f])+")


@dataclass(frozen=True)
class Fragment:
    r"""A piece of a tree in which every node keeps all of its children or none of them.

    Parameters
    ----------
    tree
        The piece as a tree, in which unexpanded nodes are leaves.
    unexpanded
        Which leaves are unexpanded nodes, not words: their numbers from left to right, counted from 0. Of leaves with
        the empty label, brackets can only spell unexpanded ones.

    Examples
    --------
    >>> fragment = Fragment.from_brackets("(NP (D the) (N))")
    >>> fragment.unexpanded, fragment.n_productions
    ((1,), 2)
    >>> print(fragment)
    (NP (D the) (N))
    >>> fragment.occurrences(Tree.from_brackets("(S (NP (D the) (N cat)) (VP (V sat)))"))
    [(0,)]
    """

    tree: Tree
    unexpanded: tuple[int, ...] = ()

    kind: ClassVar = "fragment"

    def __post_init__(self) -> None:
        unexpanded = tuple(sorted(set(self.unexpanded)))
        n_leaves = sum(1 for node in self.tree if node.is_leaf)
        if unexpanded and not 0 <= unexpanded[0] <= unexpanded[-1] < n_leaves:
            raise ValueError(
                f"unexpanded must contain numbers of leaves, 0 to {n_leaves - 1} here, got {self.unexpanded!r}."
            )
        object.__setattr__(self, "unexpanded", unexpanded)

    @staticmethod
    def from_brackets(text: str) -> Fragment:
        """Read a fragment: ``(X)`` is an unexpanded node, ``X`` a word. A TreeSyntaxError shows what is wrong."""
        if "(" not in text and ")" not in text and len(words := _TOKEN.findall(text)) == 1:
            return Fragment(Tree.from_brackets(f"({words[0]})"))  # a word alone
        tree = Tree.from_brackets(text)  # refuses what is not well formed, so the scan below may trust it
        unexpanded: list[int] = []
        tokens = _TOKEN.findall(text)
        n_leaves = 0
        for k, token in enumerate(tokens):
            if token == "(":
                label = tokens[k + 1] not in "()"
                if tokens[k + 1 + label] == ")":
                    unexpanded.append(n_leaves)
                    n_leaves += 1
            elif token != ")" and tokens[k - 1] != "(":
                n_leaves += 1
        return Fragment(tree, tuple(unexpanded))

    def to_brackets(self) -> str:
        """Write the fragment on one line, with ``(X)`` for an unexpanded node and ``X`` for a word."""
        return notation.write(self.tree, None, unexpanded=set(self.unexpanded))

    @property
    def n_productions(self) -> int:
        """The number of nodes that keep their children."""
        return sum(1 for node in self.tree if node.children)

    def weight(self, decay: float, frontier: float = 1.0) -> float:
        """The weight of the fragment in ``SubsetTree(decay, frontier)``.

        Examples
        --------
        >>> Fragment.from_brackets("(NP (D the) (N))").weight(0.5)
        0.25
        """
        return float(decay**self.n_productions * frontier ** len(self.unexpanded))

    def matches(self, node: Tree) -> bool:
        """Say whether the fragment occurs at this node: its root here, and all its productions below."""
        unexpanded = set(self.unexpanded)
        n_leaves = 0
        stack = [(self.tree, node)]
        while stack:
            own, other = stack.pop()
            if own.label != other.label:
                return False
            if own.children:
                if len(own.children) != len(other.children):
                    return False
                stack.extend(reversed(list(zip(own.children, other.children, strict=True))))
            else:
                if (n_leaves in unexpanded) == other.is_leaf:
                    return False
                n_leaves += 1
        return True

    def occurrences(self, tree: Tree) -> list[Position]:
        """The positions in a tree at which the fragment is rooted, from left to right."""
        return [position for position, node in walk(tree) if self.matches(node)]

    def partial_roots(self, tree: Tree) -> tuple[Position, ...]:
        """The positions at which the fragment is rooted as a partial tree: by labels alone, with children left out.

        Examples
        --------
        >>> tree = Tree.from_brackets("(NP (D the) (A old) (N cat))")
        >>> Fragment.from_brackets("(NP (D) (N cat))").partial_roots(tree)
        ((),)
        """
        roots = _matches(self, tree)[id(self.tree)]
        return tuple(position for position, node in walk(tree) if id(node) in roots)

    def positions(self, root: Position = ()) -> Iterator[Position]:
        """The positions of all nodes of the fragment in a tree where it is rooted at ``root``."""
        return ((*root, *position) for position in self.tree.positions())

    def nodes(self, tree: Tree, root: Position) -> list[Position]:
        """The nodes of a tree that the fragment covers where it is rooted at one of them, also as a partial tree.

        If there are several ways, the leftmost counts.

        Examples
        --------
        >>> tree = Tree.from_brackets("(NP (D the) (A old) (N cat))")
        >>> Fragment.from_brackets("(NP (D) (N cat))").nodes(tree, ())
        [(), (0,), (2,), (2, 0)]
        """
        matched = _matches(self, tree)
        out: list[Position] = []
        stack = [(self.tree, tree[root], root)]
        while stack:
            part, node, position = stack.pop()
            out.append(position)
            kept = list(enumerate(_kept(part, node, matched) or []))
            stack.extend((part.children[j], node.children[k], (*position, k)) for j, k in reversed(kept))
        return out

    def _repr_svg_(self) -> str:
        from espalier.structures.drawing import UNEXPANDED, tree_svg

        leaves = [position for position in self.tree.positions() if self.tree[position].is_leaf]
        return tree_svg(self.tree, highlight={leaves[k]: UNEXPANDED for k in self.unexpanded})

    def __str__(self) -> str:
        return self.to_brackets()

    def __repr__(self) -> str:
        return f"Fragment.from_brackets({self.to_brackets()!r})"


def walk(tree: Tree) -> Iterator[tuple[Position, Tree]]:
    """All nodes with their positions, each before its children, from left to right."""
    return zip(tree.positions(), tree, strict=True)


def _matches(fragment: Fragment, tree: Tree) -> dict[int, set[int]]:
    """For every node of a fragment, by identity, the nodes of a tree that it can stand at as a partial tree."""
    nodes = list(tree)
    matched: dict[int, set[int]] = {}
    for part in reversed(list(fragment.tree)):  # children come before their parents
        alike = [node for node in nodes if node.label == part.label]
        matched[id(part)] = {id(node) for node in alike if _kept(part, node, matched) is not None}
    return matched


def _kept(part: Tree, node: Tree, matched: dict[int, set[int]]) -> list[int] | None:
    """Which children of a node stand for those of a fragment's, from the left; None where they do not all."""
    kept: list[int] = []
    k = 0
    for child in part.children:
        found = matched[id(child)]
        while k < len(node.children) and id(node.children[k]) not in found:
            k += 1
        if k == len(node.children):
            return None
        kept.append(k)
        k += 1
    return kept
