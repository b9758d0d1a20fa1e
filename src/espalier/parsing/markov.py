"""Rules of treebank trees: counted, annotated with parents, and cut with a short memory of siblings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from espalier.parsing.grammar import MAX_UNARY, Grammar
from espalier.structures.tree import Tree

Symbol = tuple[str, ...]  # a label and those of its ancestors that count


def count_rules(trees: Iterable[Tree], root: str, vertical: int) -> Counter[tuple[Symbol, tuple[Symbol, ...]]]:
    """How often each rule occurs; nodes that only repeat their one child are left out.

    Every symbol remembers ``vertical - 1`` ancestors; tags remember none.
    """
    counts: Counter[tuple[Symbol, tuple[Symbol, ...]]] = Counter()
    for tree in trees:
        counts[(root,), ((tree.label, root)[:vertical],)] += 1
        stack = [(tree, (tree.label, root)[:vertical])]
        while stack:
            node, symbol = stack.pop()
            while len(node.children) == 1 and node.children[0].label == node.label and not node.is_preterminal:
                node = node.children[0]
            if node.is_preterminal or node.is_leaf:
                continue
            children = [
                (child.label,) if child.is_preterminal else (child.label, *symbol)[:vertical] for child in node.children
            ]
            counts[symbol, tuple(children)] += 1
            stack.extend(zip(node.children, children, strict=True))
    return counts


def markov_grammar(
    counts: Counter[tuple[Symbol, tuple[Symbol, ...]]],
    root: str,
    horizontal: int | None,
    *,
    max_unary: int = MAX_UNARY,
) -> Grammar:
    """Estimate a grammar by relative frequencies; a cut rule remembers ``horizontal`` siblings, all where None."""
    if horizontal is None:
        total: Counter[Symbol] = Counter()
        for (parent, _), count in counts.items():
            total[parent] += count
        rules = {
            (spelled(parent), tuple(map(spelled, children))): count / total[parent]
            for (parent, children), count in counts.items()
        }
        return Grammar.from_rules(rules, root, max_unary=max_unary)
    parts: Counter[tuple[Any, tuple[Any, ...]]] = Counter()
    for (parent, children), count in counts.items():
        names = tuple(map(spelled, children))
        above: Any = spelled(parent)
        for end in range(len(names) - 1, 1, -1):
            prefix = (spelled(parent), *names[max(0, end - horizontal) : end])
            parts[above, (prefix, names[end])] += count
            above = prefix
        parts[above, names[:2]] += count
    sums: Counter[Any] = Counter()
    for (above, _), count in parts.items():
        sums[above] += count
    listed = [(above, below, math.log(count / sums[above])) for (above, below), count in parts.items()]
    return Grammar.from_parts(listed, root, max_unary=max_unary)


def spelled(symbol: Symbol) -> str:
    """A symbol as one text."""
    return "^".join(symbol)
