"""Changes to trees: what treebanks add and kernels may not want, and normal forms.

Each function takes a tree and returns a tree, the same object if nothing changes; none is recursive.
``Tree`` offers them as methods. Rules on labels change only inner nodes, rules on words only leaves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from espalier.errors import InputError
from espalier.structures.numbers import check_choice

if TYPE_CHECKING:
    from espalier.structures.tree import Tree

TRACE = "-NONE-"  # the tag of words that are not there

_INDICES = re.compile(r"(?<=.)(?:[-=][0-9]+)+\Z", re.DOTALL)
_FUNCTION = re.compile(r"(?<=.)[-=].*\Z", re.DOTALL)
_FRAMED = re.compile(r"(-[^-=]+-)(?:[-=].*)?", re.DOTALL)  # -LRB- and its kin, which may have functions too
_BRACKET_NAMES = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"}
_BRACKETS = {bracket: name for name, bracket in _BRACKET_NAMES.items()}
_NAMED_BRACKET = re.compile("|".join(_BRACKET_NAMES))
_MARK = "|<"
_MOST_NAMED = 5000  # labels that name all siblings take memory that grows with the square of these


def _renewed(node: Tree, label: str, children: list[Tree]) -> Tree:
    """Return a node with these parts: the node itself if it has them already, so that subtrees stay shared."""
    same = label == node.label and len(children) == len(node.children)
    if same and all(new is old for new, old in zip(children, node.children, strict=True)):
        return node
    return type(node)(label, children)


def _with_words(tree: Tree, change: Callable[[str], str]) -> Tree:
    return tree.fold(
        lambda node, children: _renewed(node, change(node.label) if node.is_leaf else node.label, children)
    )


def strip_function_tags(tree: Tree) -> Tree:
    """Cut the labels of inner nodes at the first ``-`` or ``=``: ``NP-SBJ-1`` becomes ``NP``.

    Labels between marks, such as ``-LRB-`` and ``-NONE-``, lose what follows them: ``-RRB--1``
    becomes ``-RRB-``. Other labels that start with a mark, and words, do not change.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> tree = Tree.from_brackets("(S (NP-SBJ-1 (PRP$ its)) (VP=2 (-LRB- -LRB-)))")
    >>> print(tree.without_function_tags())
    (S (NP (PRP$ its)) (VP (-LRB- -LRB-)))
    """

    def cut(node: Tree, children: list[Tree]) -> Tree:
        if node.is_leaf:
            return node
        if node.label.startswith("-"):
            framed = _FRAMED.fullmatch(node.label)
            return _renewed(node, framed[1] if framed else node.label, children)
        return _renewed(node, _FUNCTION.sub("", node.label), children)

    return tree.fold(cut)


def strip_indices(tree: Tree) -> Tree:
    """Remove co-indexing and gapping numbers: ``NP-SBJ-1`` becomes ``NP-SBJ``, ``NP=2`` ``NP``.

    The words of traces lose them too (``*T*-1`` below ``-NONE-`` becomes ``*T*``); others stay.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> print(Tree.from_brackets("(NP-SBJ-1 (-NONE- *-2) (CD 1-2))").without_indices())
    (NP-SBJ (-NONE- *) (CD 1-2))
    """

    def cut(node: Tree, children: list[Tree]) -> Tree:
        if node.is_leaf:
            return node
        if node.label == TRACE:
            children = [
                _renewed(child, _INDICES.sub("", child.label), []) if child.is_leaf else child for child in children
            ]
        return _renewed(node, _INDICES.sub("", node.label), children)

    return tree.fold(cut)


def strip_traces(tree: Tree) -> Tree | None:
    """Remove ``-NONE-`` nodes and every constituent that they leave without words; None if nothing is left.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> tree = Tree.from_brackets("(S (NP (-NONE- *)) (VP (TO to) (VP (VB go))))")
    >>> print(tree.without_traces())
    (S (VP (TO to) (VP (VB go))))
    """

    def keep(node: Tree, children: list[Tree | None]) -> Tree | None:
        if node.is_leaf:
            return node
        kept = [child for child in children if child is not None]
        return _renewed(node, node.label, kept) if kept and node.label != TRACE else None

    return tree.fold(keep)


def drop_outer(tree: Tree, labels: Collection[str] = ("", "ROOT", "TOP")) -> Tree:
    """Remove the outer nodes that treebanks put around a sentence.

    An outer node is dropped if its label is one of ``labels`` and it has exactly one child, which
    is not a leaf; otherwise the tree stays as it is. Some parsers write ``S1``: name it to drop it.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> print(Tree.from_brackets("( (S (NP cats) (VP sleep)))").without_outer())
    (S (NP cats) (VP sleep))
    """
    if isinstance(labels, str):
        raise TypeError(f"labels must be a collection of labels, got the str {labels!r}.")
    while tree.label in labels and len(tree.children) == 1 and tree.children[0].children:
        tree = tree.children[0]
    return tree


def lower_case_leaves(tree: Tree) -> Tree:
    """Write every word in lower case.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> print(Tree.from_brackets("(NP (DT The) (NNP Hague))").with_lower_case_leaves())
    (NP (DT the) (NNP hague))
    """
    return _with_words(tree, str.lower)


def replace_words_by_tags(tree: Tree) -> Tree:
    """Replace each word by its tag if the tag has no other child; other leaves do not change.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> print(Tree.from_brackets("(NP (DT The) (NNP Hague))").with_tags_for_words())
    (NP DT NNP)
    """
    return tree.fold(lambda node, children: _renewed(node, node.label, [] if node.is_preterminal else children))


def unescape_brackets(tree: Tree) -> Tree:
    """Turn ``-LRB- -RRB- -LCB- -RCB- -LSB- -RSB-`` in words into the brackets they stand for.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> Tree.from_brackets("(X (-LRB- -LRB-) (NFP :-RRB-))").unescaped().words()
    ['(', ':)']
    """
    return _with_words(tree, lambda word: _NAMED_BRACKET.sub(lambda match: _BRACKET_NAMES[match[0]], word))


def escape_brackets(tree: Tree) -> Tree:
    """Turn the brackets in words into ``-LRB-`` and its kin, as treebanks write them.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> Tree("X", ["(", ":)", "[b]"]).escaped().words()
    ['-LRB-', ':-RRB-', '-LSB-b-RSB-']
    """
    table = str.maketrans(_BRACKETS)
    return _with_words(tree, lambda word: word.translate(table))


def collapse_unaries(tree: Tree, separator: str = "+", *, preterminals: bool = False) -> Tree:
    """Join each chain of inner nodes with a single inner child into one node.

    A node with an empty label joins no chain, so that ``expand_unaries`` can undo the change.

    Parameters
    ----------
    tree
        The tree; no label of its inner nodes may contain ``separator``.
    separator
        The text between the labels of a chain.
    preterminals
        Whether the tag above a word joins the chain too.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> tree = Tree.from_brackets("(S (VP (VP (VB go) (ADV now))))")
    >>> print(tree.collapsed())
    (S+VP+VP (VB go) (ADV now))
    >>> tree.collapsed().expanded() == tree
    True
    """
    _check_free_of(separator, tree, "separator")

    def finish(chain: _Chain) -> Tree:
        names: list[str] = []
        rest = chain.above
        while rest is not None:
            names.append(rest[0])
            rest = rest[1]
        bottom = chain.bottom
        joined = separator.join([*names, bottom.label])
        if names and _parts(joined, separator) != [*names, bottom.label]:
            raise InputError(
                f"The labels of a chain would be confused with the separator {separator!r}, so {joined!r} could not be "
                "expanded again. Choose another separator."
            )
        return _renewed(bottom, joined, list(bottom.children))

    def join(node: Tree, below: list[_Chain]) -> _Chain:
        joins = len(below) == 1 and not node.is_preterminal
        joins = joins and node.label != "" and node.children[0].label != ""
        if joins and (preterminals or not node.children[0].is_preterminal):
            return _Chain((node.label, below[0].above), below[0].bottom)
        return _Chain(None, _renewed(node, node.label, [finish(chain) for chain in below]))

    return finish(tree.fold(join))


class _Chain(NamedTuple):
    """A chain being joined: its labels as nested pairs, each shared with the chains below it."""

    above: Any
    bottom: Tree


def expand_unaries(tree: Tree, separator: str = "+") -> Tree:
    """Undo ``collapse_unaries``: split the labels of inner nodes at ``separator`` into chains.

    A label that would leave a node without one, such as the tag ``+`` or ``+A``, stays as it is.
    """
    if not separator:
        raise ValueError("The separator must not be empty.")

    def split(node: Tree, children: list[Tree]) -> Tree:
        if node.is_leaf:
            return node
        *above, bottom = _parts(node.label, separator)
        chain = _renewed(node, bottom, children)
        for label in reversed(above):
            chain = type(node)(label, [chain])
        return chain

    return tree.fold(split)


def _parts(label: str, separator: str) -> list[str]:
    """The labels of a chain that was joined; the label itself where it cannot come of one."""
    parts = label.split(separator)
    return parts if all(parts) else [label]


def binarize(tree: Tree, branching: Literal["right", "left"] = "right", *, order: int | None = None) -> Tree:
    """Give every node at most two children by inserting new nodes.

    A new node below ``A`` is labelled ``A|<B-C>``: the labels of the children it covers, from the
    side of its sibling on.

    Parameters
    ----------
    tree
        The tree; no label of its inner nodes may contain ``|<``.
    branching
        Which of two children is the new node.
    order
        How many covered children a new label names (horizontal markovization); all by default.

    Examples
    --------
    >>> from espalier.structures import Tree
    >>> tree = Tree.from_brackets("(NP (D the) (J old) (J grey) (N cat))")
    >>> print(tree.binarized(order=1))
    (NP (D the) (NP|<J> (J old) (NP|<J> (J grey) (N cat))))
    >>> print(tree.binarized("left"))
    (NP (NP|<J-J-D> (NP|<J-D> (D the) (J old)) (J grey)) (N cat))
    >>> tree.binarized("left").unbinarized() == tree
    True
    """
    check_choice("branching", branching, "right", "left")
    if order is not None and order < 0:
        raise ValueError(f"order must be at least 0 or None, got {order}.")
    _check_free_of(_MARK, tree, "mark of binarized nodes")

    def split(node: Tree, children: list[Tree]) -> Tree:
        # Children in the order in which they leave the covered part, then the last two.
        outward = children if branching == "right" else children[::-1]
        if len(outward) <= 2:
            return _renewed(node, node.label, children)
        if order is None and len(outward) > _MOST_NAMED:
            raise InputError(
                f"A node {node.label!r} has {len(outward)} children, and labels that name them all "
                "would be very long. Pass order=2 to name only the next two."
            )
        names = [child.label for child in outward]
        covered = outward[-1]
        for k in range(len(outward) - 2, 0, -1):
            stop = None if order is None else k + order
            pair = [outward[k], covered] if branching == "right" else [covered, outward[k]]
            covered = type(node)(f"{node.label}{_MARK}{'-'.join(names[k:stop])}>", pair)
        pair = [outward[0], covered] if branching == "right" else [covered, outward[0]]
        return type(node)(node.label, pair)

    return tree.fold(split)


def unbinarize(tree: Tree) -> Tree:
    """Undo ``binarize`` exactly: replace every node labelled with ``|<`` by its children."""

    def splice(node: Tree, below: list[Any]) -> object:
        if not node.is_leaf and _MARK in node.label:
            return below  # nested lists: only the node that receives them flattens, once
        children: list[Tree] = []
        stack = below[::-1]
        while stack:
            part = stack.pop()
            if isinstance(part, list):
                stack.extend(reversed(part))
            else:
                children.append(part)
        return _renewed(node, node.label, children)

    whole: Tree | list[Any] = tree.fold(splice)
    if isinstance(whole, list):
        raise InputError(
            f"The root's label {tree.label!r} shows that binarize made it, so no node above it could "
            "take its children. Pass the whole tree."
        )
    return whole


def _check_free_of(mark: str, tree: Tree, what: str) -> None:
    if not mark:
        raise ValueError(f"The {what} must not be empty.")

    def check(node: Tree, _: list[None]) -> None:
        if node.children and mark in node.label:
            raise InputError(
                f"The label {node.label!r} contains {mark!r}, the {what}, so the change could not "
                "be undone. Rename the label" + (" or choose another separator." if what == "separator" else ".")
            )

    tree.fold(check)
