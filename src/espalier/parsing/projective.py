"""Crossing arcs for a parser that cannot produce them: arcs are lifted until none cross, and relations say where from.

Nivre and Nilsson (2005), with their encoding of paths: a lifted arc is marked as lifted on its relation, and every arc
over which it was lifted is marked as a path. To undo it, a lifted word goes down along arcs with that mark. Two paths
below one head look alike, so some arcs are not restored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree

LIFTED, PATH = "↑", "↓"


def crossing(heads: Sequence[int]) -> list[int]:
    """Return the words whose arc spans a word that is not below its head, the shortest such arc first.

    Examples
    --------
    >>> crossing([3, 4, 0, 3])
    [2]
    """
    found = []
    for word, head in enumerate(heads, 1):
        between = range(min(word, head) + 1, max(word, head))
        if head > 0 and not all(_is_below(heads, other, head) for other in between):
            found.append(word)
    return sorted(found, key=lambda word: abs(word - heads[word - 1]))


def projectivized(tree: DependencyTree) -> DependencyTree:
    """Return the tree without crossing arcs, with marks on the relations that tell how to restore them.

    Examples
    --------
    >>> tree = DependencyTree(["a", "b", "c", "d"], ["W", "X", "Y", "Z"], [3, 4, 0, 3], ["p", "q", "root", "s"])
    >>> lifted = projectivized(tree)
    >>> lifted.heads, lifted.relations
    ((3, 3, 0, 3), ('p', 'q↑', 'root', 's↓'))
    >>> restored(lifted) == tree
    True
    """
    check_signs(tree)
    heads, lifted, path = _lifted(tree.heads)
    marks = [LIFTED * (word in lifted) + PATH * (word in path) for word in range(1, len(tree) + 1)]
    relations = [relation + mark for relation, mark in zip(tree.relations, marks, strict=True)]
    return replace(tree, heads=heads, relations=relations) if lifted else tree


def lifted_heads(heads: Sequence[int]) -> list[int]:
    """Return the heads after all lifting."""
    return _lifted(heads)[0]


def check_signs(tree: DependencyTree) -> None:
    """Refuse a tree whose relations have a sign that marks lifted arcs."""
    for word, relation in enumerate(tree.relations, 1):
        if LIFTED in relation or PATH in relation:
            raise InputError(
                f"The relation {relation!r} of word {word} has one of the signs {LIFTED} and {PATH}, which mark lifted "
                "arcs. Rename the relation, or pass pseudo_projective=False."
            )


def _lifted(heads: Sequence[int]) -> tuple[list[int], set[int], set[int]]:
    """The heads after all lifting, the words that were lifted, and those over whose arcs they were."""
    heads = list(heads)
    lifted, path = set(), set()
    while found := crossing(heads):
        word = found[0]
        above = heads[word - 1]
        lifted.add(word)
        path.add(above)
        heads[word - 1] = heads[above - 1]
    return heads, lifted, path


def restored(tree: DependencyTree) -> DependencyTree:
    """Return the tree with lifted arcs back in their place, as far as the marks tell, and without marks."""
    if not any(relation.endswith((LIFTED, PATH)) for relation in tree.relations):
        return tree
    heads, relations = list(tree.heads), list(tree.relations)
    for word in _from_the_root(heads):
        if LIFTED not in relations[word - 1]:
            continue
        heads[word - 1] = _lowest_on_path(heads, relations, word)
    return replace(tree, heads=heads, relations=[without_marks(relation) for relation in relations])


def without_marks(relation: str) -> str:
    """Return a relation without the marks of lifting."""
    return relation.rstrip(LIFTED + PATH)


def _lowest_on_path(heads: Sequence[int], relations: Sequence[str], lifted: int) -> int:
    """The first end of a path below the head of a lifted word, level by level; the head itself if there is no path."""
    waiting = deque([heads[lifted - 1]])
    while waiting:
        own = waiting.popleft()
        below = [
            word for word, head in enumerate(heads, 1) if head == own and word != lifted and PATH in relations[word - 1]
        ]
        if not below:
            return own
        waiting.extend(below)
    raise AssertionError("A tree has an end on every path.")


def _from_the_root(heads: Sequence[int]) -> list[int]:
    """All words, each after its head."""
    below: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, 1):
        below[head].append(word)
    order = list(below[0])
    for word in order:
        order.extend(below[word])
    return order


def _is_below(heads: Sequence[int], word: int, above: int) -> bool:
    while word not in (0, above):
        word = heads[word - 1]
    return word == above
