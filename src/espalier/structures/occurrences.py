"""Where fragments stand in a tree, also those of partial trees, whose nodes may lack children."""

from __future__ import annotations

from typing import TYPE_CHECKING

from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from espalier.structures.fragment import Fragment, Position


def partial_roots(fragment: Fragment, tree: Tree) -> tuple[Position, ...]:
    """The nodes at which a fragment of partial trees is rooted: by labels alone, and with children left out.

    Examples
    --------
    >>> from espalier import Fragment
    >>> tree = Tree.from_brackets("(NP (D the) (A old) (N cat))")
    >>> partial_roots(Fragment.from_brackets("(NP (D) (N cat))"), tree)
    ((),)
    """
    matched = _matches(fragment, tree)
    return tuple(position for position, node in zip(tree.positions(), tree, strict=True) if id(node) in matched[-1])


def nodes_of(fragment: Fragment, tree: Tree, root: Position) -> list[Position]:
    """The nodes of a tree that a fragment covers where it is rooted at one of them; of several ways, the leftmost.

    Examples
    --------
    >>> from espalier import Fragment
    >>> tree = Tree.from_brackets("(NP (D the) (A old) (N cat))")
    >>> nodes_of(Fragment.from_brackets("(NP (D) (N cat))"), tree, ())
    [(), (0,), (2,), (2, 0)]
    """
    parts = list(fragment.tree)
    place = {id(part): k for k, part in enumerate(reversed(parts))}
    matched = _matches(fragment, tree)
    out: list[Position] = []
    stack = [(parts[0], tree[root], root)]
    while stack:
        part, node, position = stack.pop()
        out.append(position)
        kept = _kept(part, node, place, matched) or []
        stack.extend((part.children[j], node.children[k], (*position, k)) for j, k in reversed(list(enumerate(kept))))
    return out


def _matches(fragment: Fragment, tree: Tree) -> list[set[int]]:
    """For every node of a fragment, from the last to the root, the nodes of the tree that it can stand at."""
    parts = list(fragment.tree)[::-1]
    place = {id(part): k for k, part in enumerate(parts)}
    nodes = list(tree)
    out: list[set[int]] = []
    for part in parts:  # children come before their parents
        alike = [node for node in nodes if node.label == part.label]
        out.append({id(node) for node in alike if _kept(part, node, place, out) is not None})
    return out


def _kept(part: Tree, node: Tree, place: dict[int, int], matched: list[set[int]]) -> list[int] | None:
    """Which children of a node stand for those of a fragment's, from the left; None where they do not all."""
    kept: list[int] = []
    k = 0
    for child in part.children:
        found = matched[place[id(child)]]
        while k < len(node.children) and id(node.children[k]) not in found:
            k += 1
        if k == len(node.children):
            return None
        kept.append(k)
        k += 1
    return kept
