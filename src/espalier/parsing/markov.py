"""Rules of treebank trees: counted, annotated with parents, and binarized with a short memory of siblings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from espalier.errors import InputError
from espalier.parsing.grammar import MAX_UNARY, Grammar
from espalier.structures.tree import Tree

Symbol = tuple[str, ...]  # a label and those of its ancestors that count
Rules = Counter[tuple[Symbol, tuple[Symbol, ...]]]
SeenWord = tuple[str, Symbol, bool]  # a word, its tag, and whether it begins its sentence


_MARK = "^"
_ABOVE = "\0"  # stands above all sentences while labels are not known


class Counts(NamedTuple):
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


def count_rules(
    trees: Iterable[Tree | None],
    root: str,
    vertical: int,
    *,
    split_tags: bool = False,
    written: Sequence[object] | None = None,
) -> Counts:
    """Count rules and words. Nodes that only repeat their single child, and trees that are None, are left out.

    Errors show trees as they were ``written``, before anything was left out.

    Every constituent remembers ``vertical - 1`` ancestors; tags remember their parent or nothing. If a label is
    spelled like the root, the root gets another name, so that no tree is its own parent.

    Raises
    ------
    InputError
        If a word has no tag above it, or a label has the mark of ancestors where these are remembered.
    """
    counts = Counts(Counter(), Counter(), Counter(), _ABOVE)
    for row, tree in enumerate(trees):
        if tree is not None:
            try:
                _count_tree(tree, (vertical, 2 if split_tags else 1), counts)
            except _BareWordError as error:
                shown = str(tree if written is None else written[row])
                raise UntaggedWordError(row, f"{error} without a tag above it: {shown[:80]}") from None
    labels = {child[0] for _, children in counts.rules for child in children}
    if vertical > 1 or split_tags:
        for label in sorted(labels):
            if _MARK in label:
                raise InputError(
                    f"The label {label!r} has a {_MARK}, which stands before ancestors that are remembered. Rename it, "
                    "or let nothing be remembered: markov=None, split_tags=False."
                )
    while root in labels:
        root += "'"
    return _renamed(counts, root)


def _renamed(counts: Counts, root: str) -> Counts:
    """Return counts with another name for the root."""

    def named(symbol: Symbol) -> Symbol:
        return (*symbol[:-1], root) if symbol[-1] == _ABOVE else symbol

    rules: Rules = Counter()
    for (parent, children), count in counts.rules.items():
        rules[named(parent), tuple([named(child) for child in children])] = count
    words = Counter({(word, named(tag), is_first): count for (word, tag, is_first), count in counts.words.items()})
    return Counts(rules, words, counts.chains, root)


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


class _BareWordError(ValueError):
    """There is a word in the place of a tag."""


def _count_tree(tree: Tree, memory: tuple[int, int], counts: Counts) -> None:
    vertical, of_tags = memory
    top = _without_repeats(tree)
    symbol: Symbol = (top.label, _ABOVE)[: of_tags if _is_tag(top) else vertical]
    counts.rules[(_ABOVE,), (symbol,)] += 1
    stack: list[tuple[Tree, Symbol, Symbol, int]] = [(top, symbol, (top.label, _ABOVE), 1)]
    is_first, longest = True, 1
    while stack:
        node, symbol, line, chain = stack.pop()
        longest = max(longest, chain)
        if _is_tag(node):
            counts.words[node.children[0].label, symbol, is_first] += 1
            is_first = False
            continue
        found = []
        for each in node.children:
            if not each.children:
                raise _BareWordError(f"has the word {each.label!r:.60}")
            child = _without_repeats(each)
            below = (child.label, *line)
            own = below[: of_tags if _is_tag(child) else vertical]
            found.append((child, own, below[: vertical + 1], chain + 1 if len(node.children) == 1 else 0))
        if not found:
            raise _BareWordError("is a word")
        counts.rules[symbol, tuple([part[1] for part in found])] += 1
        stack.extend(reversed(found))
    counts.chains[longest] += 1


def _without_repeats(node: Tree) -> Tree:
    """The lowest node of a chain in which each only repeats the label of the one above."""
    children = node.children
    while len(children) == 1 and children[0].label == node.label and children[0].children:
        node = children[0]
        children = node.children
    return node


def _is_tag(node: Tree) -> bool:
    """Say whether a node is a tag above one word."""
    children = node.children
    return len(children) == 1 and not children[0].children


def shorten(counts: Counts, least: int) -> Counts:
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
    rules: Rules = Counter()
    for (parent, children), count in counts.rules.items():
        rules[short.get(parent, parent), tuple([short[child] for child in children])] += count
    words: Counter[SeenWord] = Counter()
    for (word, tag, is_first), count in counts.words.items():
        words[word, short[tag], is_first] += count
    return counts._replace(rules=rules, words=words)


def markov_grammar(
    rules: Rules, root: str, horizontal: int | None, *, least: int = 0, max_unary: int = MAX_UNARY
) -> Grammar:
    """Estimate a grammar by relative frequencies; a cut rule remembers ``horizontal`` siblings, all where None.

    Of siblings that were seen together fewer than ``least`` times, only the last is remembered.
    """
    names = {symbol: spelled(symbol) for rule in rules for symbol in (rule[0], *rule[1])}
    if horizontal is None:
        total: Counter[Symbol] = Counter()
        for (parent, _), count in rules.items():
            total[parent] += count
        weighed = {
            (names[parent], tuple([names[child] for child in children])): count / total[parent]
            for (parent, children), count in rules.items()
        }
        return Grammar.from_rules(weighed, root, max_unary=max_unary)
    parts: Counter[tuple[object, tuple[object, ...]]] = Counter()
    siblings = _Siblings(rules, horizontal, least)
    for (parent, children), count in rules.items():
        named = [names[child] for child in children]
        above: object = names[parent]
        for end in range(len(named) - 1, 1, -1):
            prefix = (names[parent], *named[siblings.start(parent, children, end) : end])
            parts[above, (prefix, named[end])] += count
            above = prefix
        parts[above, tuple(named[:2])] += count
    sums: Counter[object] = Counter()
    for (above, _), count in parts.items():
        sums[above] += count
    listed = [(above, below, math.log(count / sums[above])) for (above, below), count in parts.items()]
    return Grammar.from_parts(listed, root, max_unary=max_unary)


class _Siblings:
    """Which siblings a cut rule remembers."""

    def __init__(self, rules: Rules, horizontal: int, least: int) -> None:
        self._horizontal, self._least = horizontal, least
        self._seen: Counter[tuple[Symbol, tuple[Symbol, ...]]] = Counter()
        if least > 1:
            for (parent, children), count in rules.items():
                for end in range(2, len(children)):
                    for start in range(max(0, end - horizontal), end):
                        self._seen[parent, children[start:end]] += count

    def start(self, parent: Symbol, children: tuple[Symbol, ...], end: int) -> int:
        """The first of the siblings before ``end`` that is remembered."""
        start = max(0, end - self._horizontal)
        if self._least > 1:
            # The last is never forgotten: without it, one tree could be derived in several ways.
            while start < end - 1 and self._seen[parent, children[start:end]] < self._least:
                start += 1
        return start


def spelled(symbol: Symbol) -> str:
    """Return a symbol as one text."""
    return _MARK.join(symbol)
