"""Treebanks prepared for grammars: trees without the annotators' additions, and words below their tags."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping

from espalier.parsing.lexicon import Lexicon
from espalier.parsing.markov import SeenWord, spelled
from espalier.structures.interop import as_tree
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


def is_tagged(tree: Tree) -> bool:
    """Say whether every node has a label and every word a tag, so that a grammar can be learned from the tree."""
    return not tree.is_leaf and all(
        node.label and (node.is_leaf or node.is_preterminal or not any(child.is_leaf for child in node.children))
        for node in tree
    )


def lexicon_of(words: Mapping[SeenWord, int], rare: int, smoothing: float, *, split_tags: bool) -> Lexicon:
    """The lexicon of counted words, whose tags may remember their parents."""
    seen: Counter[tuple[str, str, bool]] = Counter()
    parts: Counter[tuple[str, str, str]] = Counter()
    for (word, symbol, is_first), count in words.items():
        seen[word, symbol[0], is_first] += count
        parts[word, symbol[0], spelled(symbol)] += count
    lexicon = Lexicon.from_counts(seen, rare=rare, smoothing=smoothing)
    return lexicon.with_parts(parts) if split_tags else lexicon


def warn_of_chains(chains: Mapping[int, int], max_unary: int) -> None:
    """Warn how many trees no parse can equal, because their chains of unary rules are too long."""
    beyond = sum(count for length, count in chains.items() if length > max_unary)
    if beyond:
        warnings.warn(
            f"{beyond:,} of {sum(chains.values()):,} trees have up to {max(chains)} rules with one child one on top of "
            f"the other, the root's included: no parse can equal them. Pass max_unary={max(chains)}.",
            stacklevel=3,
        )
