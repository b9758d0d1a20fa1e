"""Treebanks prepared for grammars: trees without the annotators' additions, and words below their tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from espalier.errors import InputError, warn_user
from espalier.structures.dependency import DependencyTree
from espalier.structures.interop import as_tree
from espalier.structures.sequence import TaggedSequence
from espalier.structures.transforms import TRACE, drop_outer, strip_function_tags, strip_traces
from espalier.structures.tree import Tree


def plain(tree: object) -> Tree | None:
    """Return a tree without traces, function tags, indices and an outer label; None if nothing is left."""
    found = drop_outer(as_tree(tree))
    # Most trees of most treebanks have neither: to see that is cheaper than to build them anew.
    labels = {node.label for node in found if node.children}
    if TRACE in labels:
        stripped = strip_traces(found)
        if stripped is None:
            return None
        found = stripped
    return strip_function_tags(found) if any("-" in label[1:] or "=" in label[1:] for label in labels) else found


def has_bare_word(tree: Tree) -> bool:
    """Say whether a word has no tag above it."""
    return tree.is_leaf or any(c.is_leaf for node in tree if not node.is_preterminal for c in node.children)


def is_tagged(tree: Tree) -> bool:
    """Say whether every node has a label and every word a tag, so that a grammar can be learned from the tree."""
    return not has_bare_word(tree) and all(node.label for node in tree)


def tagged_sentence(row: int, sentence: Any) -> TaggedSequence:
    """The words and tags of a sentence of any kind."""
    if isinstance(sentence, TaggedSequence):
        return sentence
    if isinstance(sentence, DependencyTree):
        return sentence.tagged()
    is_list = isinstance(sentence, list | tuple) and not hasattr(sentence, "label")
    if is_list and all(isinstance(item, list | tuple) and len(item) == 2 for item in sentence):
        return TaggedSequence([word for word, _ in sentence], [tag for _, tag in sentence])
    tree = plain(sentence)
    if tree is None:
        return TaggedSequence([], [])
    if has_bare_word(tree):
        raise InputError(f"Sentence {row} has a word without a tag above it: {str(tree)[:80]}")
    above = [node for node in tree if node.is_preterminal]
    return TaggedSequence([node.children[0].label for node in above], [node.label for node in above])


def warn_of_chains(chains: Mapping[int, int], max_unary: int) -> None:
    """Warn how many trees no parse can equal, because their chains of unary rules are too long."""
    beyond = sum(count for length, count in chains.items() if length > max_unary)
    if beyond:
        warn_user(
            f"{beyond:,} of {sum(chains.values()):,} trees have up to {max(chains)} rules with one child one on top of "
            f"the other, the root's included: no parse can equal them. Pass max_unary={max(chains)}."
        )
