"""Spaces of combined features from their definition: list every feature of an item, up to an order.

A feature is a hashable value, and its order is the number of its atoms. The components of a feature are the features of
the same space that it becomes if it loses one atom; an item that has a feature has all of its components.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

from espalier.structures import DependencyTree, Tree

Feature = Any


class Space(NamedTuple):
    """The order of a feature, and its components, each of them one order lower."""

    order: Callable[[Feature], int]
    components: Callable[[Feature], set[Feature]]


# Dependency trees. A feature is a tuple of (atom, what is chosen below the modifier), one for each chosen child.

SHORT_NAMES = {"words": "head word, word", "tags": "head tag, tag"}
PAIRS_AND_TRIPLES = (
    *("head word, word", "head tag, tag", "head word, tag", "head tag, word"),
    *("head tag -1, tag", "head tag -1, word", "head tag, tag -1", "head word, tag -1"),
    *("head tag +1, tag", "head tag +1, word", "head tag, tag +1", "head word, tag +1"),
    *("head tag -1, head tag, tag", "head tag, head tag +1, tag", "head tag, tag -1, tag", "head tag, tag, tag +1"),
)
TABLE_1 = (
    *PAIRS_AND_TRIPLES,
    *(f"{template}, length, direction" for template in PAIRS_AND_TRIPLES),
    "head tag, between tag, tag",
)


def tag_at(tree: DependencyTree, position: int) -> str:
    """The tag of a position: that of ROOT at 0, those of the words from 1 on, and none outside."""
    if position == 0:
        return "ROOT"
    return tree.tags[position - 1] if 1 <= position <= len(tree.words) else ""


def length_class(distance: int) -> str:
    """The distance of two positions; long ones are put together."""
    if distance <= 5:
        return str(distance)
    return "6-10" if distance <= 10 else "11-"


def atoms(tree: DependencyTree, modifier: int, templates: Sequence[str]) -> set[Feature]:
    """The atoms of the arc to a modifier, whose position counts from 1: (template, values...)."""
    head = tree.heads[modifier - 1]
    between = {tag_at(tree, position) for position in range(min(head, modifier) + 1, max(head, modifier))}
    values = {
        "head word": tree.words[head - 1] if head else "ROOT",
        "head tag": tag_at(tree, head),
        "head tag -1": tag_at(tree, head - 1),
        "head tag +1": tag_at(tree, head + 1),
        "word": tree.words[modifier - 1],
        "tag": tag_at(tree, modifier),
        "tag -1": tag_at(tree, modifier - 1),
        "tag +1": tag_at(tree, modifier + 1),
        "length": length_class(abs(head - modifier)),
        "direction": "left" if modifier < head else "right",
    }
    found = set()
    for template in templates:
        parts = SHORT_NAMES.get(template, template).split(", ")
        for tag in between if "between tag" in parts else {""}:
            found.add((template, *(tag if part == "between tag" else values[part] for part in parts)))
    return found


def dependency_subtrees(tree: DependencyTree, root: bool) -> list[Any]:
    """Every subtree, of every size: for each chosen child of the top node, (position, what is chosen below it)."""

    def below(head: int) -> list[Any]:
        children = [k for k in range(1, len(tree.words) + 1) if tree.heads[k - 1] == head]
        found = []
        for first, last in combinations(range(len(children) + 1), 2):
            run = children[first:last]
            found += [tuple(zip(run, parts, strict=True)) for parts in product(*([(), *below(k)] for k in run))]
        return found

    return [subtree for top in range(0 if root else 1, len(tree.words) + 1) for subtree in below(top)]


def dependency_occurrences(
    tree: DependencyTree, templates: Sequence[str], max_order: int, root: bool = False
) -> Counter[Feature]:
    """How many times each sub feature tree occurs: each subtree with each choice of one atom for each of its arcs."""

    def labelled(subtree: Any) -> list[Feature]:
        parts = [list(product(atoms(tree, k, templates), labelled(below))) for k, below in subtree]
        return list(product(*parts))

    return Counter(
        feature
        for subtree in dependency_subtrees(tree, root)
        if dependency_order(subtree) <= max_order
        for feature in labelled(subtree)
    )


def dependency_features(
    tree: DependencyTree, templates: Sequence[str], max_order: int, root: bool = False
) -> set[Feature]:
    """The sub feature trees of a dependency tree."""
    return set(dependency_occurrences(tree, templates, max_order, root))


def dependency_order(feature: Feature) -> int:
    """The number of arcs."""
    return sum(1 + dependency_order(below) for _, below in feature)


def dependency_components(feature: Feature) -> set[Feature]:
    """What is left without the top arc, if it is the only one at the top, or without the arc of an outer leaf.

    A leaf between two siblings must stay, because the others would no longer be neighbours.
    """
    found = set(_without_outer_leaf(feature))
    if len(feature) == 1:
        found.add(feature[0][1])
    return found - {()}


def _without_outer_leaf(feature: Feature) -> list[Feature]:
    found = []
    for index, (atom, below) in enumerate(feature):
        before, after = feature[:index], feature[index + 1 :]
        found += [(*before, (atom, smaller), *after) for smaller in _without_outer_leaf(below)]
        if below == () and (before == () or after == ()):
            found.append((*before, *after))
    return found


DEPENDENCIES = Space(dependency_order, dependency_components)


# Sets of basic features. A feature is a frozenset of some of them.


def polynomial_features(item: Collection[int], max_order: int) -> set[Feature]:
    """The sets of at most ``max_order`` basic features of an item."""
    return {frozenset(chosen) for order in range(1, max_order + 1) for chosen in combinations(set(item), order)}


def polynomial_components(feature: Feature) -> set[Feature]:
    """The sets without one of the basic features."""
    return {feature - {basic} for basic in feature} - {frozenset()}


POLYNOMIAL = Space(len, polynomial_components)


# Sequences. A feature is a tuple of tokens.


def ngrams(tokens: Sequence[Any], max_order: int) -> set[Feature]:
    """The runs of at most ``max_order`` consecutive tokens."""
    return subsequences(tokens, max_order, max_gap=0)


def subsequences(tokens: Sequence[Any], max_order: int, max_gap: int | None = None) -> set[Feature]:
    """At most ``max_order`` tokens in their order, with at most ``max_gap`` skipped tokens between first and last."""
    found = set()
    for order in range(1, max_order + 1):
        for places in combinations(range(len(tokens)), order):
            n_skipped = places[-1] - places[0] + 1 - order
            if max_gap is None or n_skipped <= max_gap:
                found.add(tuple(tokens[place] for place in places))
    return found


def subsequence_space(max_gap: int | None) -> Space:
    """Subsequences: with a limit on gaps only an outer token can go, because an inner one would leave a gap."""

    def components(feature: Feature) -> set[Feature]:
        places = range(len(feature)) if max_gap is None else (0, len(feature) - 1)
        return {(*feature[:place], *feature[place + 1 :]) for place in places} - {()}

    return Space(len, components)


NGRAMS = subsequence_space(0)


# Trees. A feature is (label, parts); a part is a word, the label of an unexpanded node alone in a tuple, or a fragment.


def fragments(tree: Tree, max_order: int) -> set[Feature]:
    """The fragments of at most ``max_order`` productions, in which every node keeps all of its children or none."""

    def rooted_at(node: Tree) -> list[Feature]:
        options: list[list[Any]] = []
        for child in node.children:
            options.append([(child.label,), *rooted_at(child)] if child.children else [child.label])
        return [(node.label, parts) for parts in product(*options)]

    found = {fragment for node in tree if node.children for fragment in rooted_at(node)}
    return {fragment for fragment in found if fragment_order(fragment) <= max_order}


def is_fragment(part: Any) -> bool:
    """Whether a part of a fragment has productions: neither a word nor an unexpanded node."""
    return isinstance(part, tuple) and len(part) == 2


def fragment_order(fragment: Feature) -> int:
    """The number of productions."""
    return 1 + sum(fragment_order(part) for part in fragment[1] if is_fragment(part))


def fragment_components(fragment: Feature) -> set[Feature]:
    """What is left without a lowest production, or without the top one, if one child alone has productions."""
    found = set(_without_lowest_production(fragment))
    expanded = [part for part in fragment[1] if is_fragment(part)]
    if len(expanded) == 1:
        found.add(expanded[0])
    return {part for part in found if is_fragment(part)}


def _without_lowest_production(fragment: Feature) -> list[Feature]:
    label, parts = fragment
    if not any(is_fragment(part) for part in parts):
        return [(label,)]
    found = []
    for index, part in enumerate(parts):
        if is_fragment(part):
            before, after = parts[:index], parts[index + 1 :]
            found += [(label, (*before, smaller, *after)) for smaller in _without_lowest_production(part)]
    return found


FRAGMENTS = Space(fragment_order, fragment_components)
