"""Rules of treebank trees: counted, annotated with parents, and binarized with a short memory of siblings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from espalier.errors import InputError
from espalier.parsing.grammar import Grammar
from espalier.parsing.treebank import plain
from espalier.structures.tree import Tree

Symbol = tuple[str, ...]  # a label and those of its ancestors that count
Rules = Counter[tuple[Symbol, tuple[Symbol, ...]]]
SeenWord = tuple[str, Symbol, bool]  # a word, its tag, and whether it begins its sentence

_MARK = "^"
_ABOVE = "\0"  # stands above all sentences while labels are not known


class TreebankCounts(NamedTuple):
    """The counts of a treebank.

    Attributes
    ----------
    rules, words
        How often each rule occurs, and each word below its tag.
    chains
        By the length of the longest chain of unary rules in a tree, how many trees have it.
    root
        The symbol above all sentences.
    """

    rules: Rules
    words: Counter[SeenWord]
    chains: Counter[int]
    root: str


def count_rules(trees: Iterable[object], root: str, vertical: int, *, split_tags: bool = False) -> TreebankCounts:
    """Count rules and words of trees, without what :func:`plain` and nodes that only repeat their child leave out.

    Every constituent remembers ``vertical - 1`` ancestors; tags remember their parent or nothing. If a label is
    spelled like the root, the root gets another name, so that no tree is its own parent.

    Raises
    ------
    InputError
        If a word has no tag above it, or a label has the mark of ancestors where these are remembered.
    """
    counts = TreebankCounts(Counter(), Counter(), Counter(), _ABOVE)
    for row, given in enumerate(trees):
        tree = plain(given)
        fault = None if tree is None else _count_tree(tree, (vertical, 2 if split_tags else 1), counts)
        if fault is not None:
            raise UntaggedWordError(row, f"{fault} without a tag above it: {str(given)[:80]}")
    labels = {child[0] for _, children in counts.rules for child in children}
    if vertical > 1 or split_tags:
        marked = sorted(label for label in labels if _MARK in label)
        if marked:
            raise InputError(
                f"The label {marked[0]!r} has a {_MARK}, which stands before ancestors that are remembered. Rename it, "
                "or let nothing be remembered: markov=None, split_tags=False."
            )
    while root in labels:
        root += "'"
    renamed = _with_symbols(counts, lambda symbol: (*symbol[:-1], root) if symbol[-1] == _ABOVE else symbol)
    return renamed._replace(root=root)


def _with_symbols(counts: TreebankCounts, change: Callable[[Symbol], Symbol]) -> TreebankCounts:
    """Return counts with other symbols; those that become equal are counted together."""
    rules: Rules = Counter()
    for (parent, children), count in counts.rules.items():
        rules[change(parent), tuple([change(child) for child in children])] += count
    words: Counter[SeenWord] = Counter()
    for (word, tag, is_first), count in counts.words.items():
        words[word, change(tag), is_first] += count
    return counts._replace(rules=rules, words=words)


class UntaggedWordError(InputError):
    """A tree to learn from has a word without a tag; its number in the list can be told from the rest of the message.

    So a caller who passed a part of a longer list can name the tree by its number there.
    """

    def __init__(self, row: int, fault: str) -> None:
        super().__init__(row, fault)
        self.row, self.fault = row, fault

    def __str__(self) -> str:
        return f"Tree {self.row}, counted from 0, {self.fault}"

    def in_list(self, rows: Sequence[int]) -> UntaggedWordError:
        """The error with the number that the tree has in a longer list, of which these rows were given."""
        return UntaggedWordError(rows[self.row], self.fault)


def _count_tree(tree: Tree, memory: tuple[int, int], counts: TreebankCounts) -> str | None:
    """Count the rules and words of a tree; return what is wrong if there is a word in the place of a tag."""
    vertical, of_tags = memory
    top = _without_repeats(tree)
    symbol: Symbol = (top.label, _ABOVE)[: of_tags if top.is_preterminal else vertical]
    counts.rules[(_ABOVE,), (symbol,)] += 1
    stack: list[tuple[Tree, Symbol, Symbol, int]] = [(top, symbol, (top.label, _ABOVE), 1)]
    is_first, longest = True, 1
    while stack:
        node, symbol, line, chain = stack.pop()
        longest = max(longest, chain)
        if node.is_preterminal:
            counts.words[node.children[0].label, symbol, is_first] += 1
            is_first = False
            continue
        found = []
        for each in node.children:
            if not each.children:
                return f"has the word {each.label!r:.60}"
            child = _without_repeats(each)
            below = (child.label, *line)
            own = below[: of_tags if child.is_preterminal else vertical]
            found.append((child, own, below[: vertical + 1], chain + 1 if len(node.children) == 1 else 0))
        if not found:
            return "is a word"
        counts.rules[symbol, tuple([part[1] for part in found])] += 1
        stack.extend(reversed(found))
    counts.chains[longest] += 1
    return None


def _without_repeats(node: Tree) -> Tree:
    """The lowest node of a chain in which each only repeats the label of the one above."""
    children = node.children
    while len(children) == 1 and children[0].label == node.label and children[0].children:
        node = children[0]
        children = node.children
    return node


def shorten(counts: TreebankCounts, least: int) -> TreebankCounts:
    """Shorten the ancestors of symbols that were seen fewer than ``least`` times, starting with the furthest.

    Whoever remembers an ancestor remembers it by way of those between, which were seen as often below it: else one tree
    could be derived in several ways.
    """
    seen: Counter[Symbol] = Counter()
    for (_, children), count in counts.rules.items():
        for symbol in children:
            for end in range(1, len(symbol) + 1):
                seen[symbol[:end]] += count
    short: dict[Symbol, Symbol] = {}
    for symbol in seen:
        kept = symbol
        while any(seen[kept[start:]] < least for start in range(len(kept) - 1)):
            kept = kept[:-1]
        short[symbol] = kept
    return _with_symbols(counts, lambda symbol: short.get(symbol, symbol))


def markov_grammar(counts: TreebankCounts, horizontal: int | None, *, least: int, max_unary: int) -> Grammar:
    """Estimate a grammar by relative frequencies; a cut rule remembers ``horizontal`` siblings, all where None.

    Of siblings that were seen together fewer than ``least`` times, only the last is remembered.
    """
    rules, root = counts.rules, counts.root
    names = {symbol: spelled(symbol) for rule in rules for symbol in (rule[0], *rule[1])}
    if horizontal is None:
        weighed = {
            (names[parent], tuple([names[child] for child in children])): share
            for (parent, children), share in _shares(rules).items()
        }
        return Grammar.from_rules(weighed, root, max_unary=max_unary)
    seen: Counter[tuple[Symbol, tuple[Symbol, ...]]] = Counter()
    if least > 1:
        for (parent, children), count in rules.items():
            for end in range(2, len(children)):
                for start in range(max(0, end - horizontal), end):
                    seen[parent, children[start:end]] += count
    parts: Counter[tuple[object, tuple[object, ...]]] = Counter()
    for (parent, children), count in rules.items():
        named = [names[child] for child in children]
        above: object = names[parent]
        for end in range(len(named) - 1, 1, -1):
            start = max(0, end - horizontal)
            # The last sibling is never forgotten: without it, one tree could be derived in several ways.
            while least > 1 and start < end - 1 and seen[parent, children[start:end]] < least:
                start += 1
            prefix = (names[parent], *named[start:end])
            parts[above, (prefix, named[end])] += count
            above = prefix
        parts[above, tuple(named[:2])] += count
    listed = [(above, below, math.log(share)) for (above, below), share in _shares(parts).items()]
    return Grammar.from_parts(listed, root, max_unary=max_unary)


def _shares(counts: Mapping[tuple[Any, Any], int]) -> dict[tuple[Any, Any], float]:
    """The share of each rule among those with the same parent."""
    total: Counter[Any] = Counter()
    for (above, _), count in counts.items():
        total[above] += count
    return {rule: count / total[rule[0]] for rule, count in counts.items()}


def spelled(symbol: Symbol) -> str:
    """Return a symbol as one text."""
    return _MARK.join(symbol)
