"""How good parses are: labelled brackets as ``evalb`` counts them, and the score of Collins and Duffy (2001)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from espalier.errors import InputError
from espalier.structures.interop import as_tree
from espalier.structures.tree import Tree

PUNCTUATION = frozenset({",", ":", "``", "''", "."})
ROOTS = frozenset({"", "TOP", "ROOT", "S1"})
EQUIVALENT: Mapping[str, str] = {"PRT": "ADVP"}

Brackets = Counter[tuple[str, int, int]]


@dataclass(frozen=True)
class Evaluation:
    """What parses have in common with gold trees, over all sentences.

    Parameters
    ----------
    matched, gold, parsed
        By sentence: constituents that both have, that the gold tree has, and that the parse has.
    exact
        By sentence, whether all constituents are right.
    tags_right, tags
        By sentence: words with the right tag, and all that count.
    """

    matched: tuple[int, ...]
    gold: tuple[int, ...]
    parsed: tuple[int, ...]
    exact: tuple[bool, ...]
    tags_right: tuple[int, ...]
    tags: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def precision(self) -> float:
        """The share of the parses' constituents that is right, in per cent."""
        return _share(sum(self.matched), sum(self.parsed))

    @property
    def recall(self) -> float:
        """The share of the gold constituents that was found, in per cent."""
        return _share(sum(self.matched), sum(self.gold))

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _share(2 * sum(self.matched), sum(self.parsed) + sum(self.gold))

    @property
    def exact_match(self) -> float:
        """The share of sentences without a mistake, in per cent."""
        return _share(sum(self.exact), len(self.exact))

    @property
    def tagging(self) -> float:
        """The share of words with the right tag, in per cent."""
        return _share(sum(self.tags_right), sum(self.tags))

    @property
    def score(self) -> float:
        """The mean of precision and recall of each sentence, weighed by the size of its gold tree (Collins, Duffy)."""
        means = [
            g * (_share(m, p) + _share(m, g)) / 2 for m, g, p in zip(self.matched, self.gold, self.parsed, strict=True)
        ]
        return sum(means) / sum(self.gold) if sum(self.gold) else 0.0

    def improvement(self, baseline: Evaluation) -> float:
        """The relative reduction of the error ``100 - score``, in per cent."""
        if baseline.score == 100.0:
            return 0.0
        return 100.0 * (self.score - baseline.score) / (100.0 - baseline.score)

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {len(self):,} sentences: precision {self.precision:.2f}, recall {self.recall:.2f}, "
            f"F1 {self.f1:.2f}, exact {self.exact_match:.2f}>"
        )


def evaluate(
    gold: Iterable[Any],
    parsed: Iterable[Any],
    *,
    punctuation: Collection[str] = PUNCTUATION,
    roots: Collection[str] = ROOTS,
    equivalent: Mapping[str, str] = EQUIVALENT,
) -> Evaluation:
    """Compare parses with gold trees, as ``evalb`` does with the rules of Collins.

    Parameters
    ----------
    gold, parsed
        Trees of the same sentences in one order.
    punctuation
        Tags whose words are left out before brackets are counted; empty to keep all.
    roots
        Labels of constituents that do not count.
    equivalent
        Labels that count as another.

    Raises
    ------
    InputError
        If a parse has other words than its gold tree.
    """
    count = _Counter(frozenset(punctuation), frozenset(roots), dict(equivalent))
    pairs = list(zip(map(as_tree, gold), map(as_tree, parsed), strict=True))
    found = [count.compare(row, g, p) for row, (g, p) in enumerate(pairs)]
    columns = list(zip(*found, strict=True)) if found else [()] * 6
    return Evaluation(*columns)


def oracle(gold: Iterable[Any], candidates: Iterable[Sequence[Any]], **options: Any) -> tuple[list[int], Evaluation]:
    """The candidate of each sentence that has most in common with its gold tree, and how good these are together."""
    golds = [as_tree(tree) for tree in gold]
    best, trees = [], []
    for row, (tree, group) in enumerate(zip(golds, candidates, strict=True)):
        listed = [as_tree(candidate) for candidate in group]
        if not listed:
            raise InputError(f"Sentence {row} has no candidates.")
        one = [evaluate([tree], [candidate], **options).f1 for candidate in listed]
        best.append(max(range(len(one)), key=one.__getitem__))
        trees.append(listed[best[-1]])
    return best, evaluate(golds, trees, **options)


class _Counter:
    """Counts the brackets of trees by one set of rules."""

    def __init__(self, punctuation: frozenset[str], roots: frozenset[str], equivalent: dict[str, str]) -> None:
        self._punctuation, self._roots, self._equivalent = punctuation, roots, equivalent

    def compare(self, row: int, gold: Tree, parsed: Tree) -> tuple[int, int, int, bool, int, int]:
        """All that is counted of one sentence."""
        words = [tree.words() for tree in (gold, parsed)]
        if words[0] != words[1]:
            raise InputError(
                f"Sentence {row}: the parse has other words than the gold tree, {' '.join(words[1])[:60]!r} for "
                f"{' '.join(words[0])[:60]!r}."
            )
        # Which words count is said by the gold tree.
        tags = [_tags(tree) for tree in (gold, parsed)]
        kept = [tag not in self._punctuation for tag in tags[0]]
        of_gold, of_parse = (self.brackets(tree, kept) for tree in (gold, parsed))
        matched = sum((of_gold & of_parse).values())
        n_gold, n_parsed = sum(of_gold.values()), sum(of_parse.values())
        right = sum(k and x == y for k, x, y in zip(kept, *tags, strict=True))
        return matched, n_gold, n_parsed, matched == n_gold == n_parsed, right, sum(kept)

    def brackets(self, tree: Tree, kept: list[bool]) -> Brackets:
        """The constituents by label, start and end among the words that count."""
        place = [0]
        for keep in kept:
            place.append(place[-1] + keep)
        found: Brackets = Counter()
        stack: list[tuple[Tree, int]] = [(tree, -1)]  # nodes, and where those began that are left again
        position = 0
        while stack:
            node, start = stack.pop()
            if node.is_leaf:
                position += 1
            elif node.is_preterminal:
                stack.append((node.children[0], -1))
            elif start < 0:
                stack.append((node, position))
                stack.extend((child, -1) for child in reversed(node.children))
            elif node.label not in self._roots and place[position] > place[start]:
                label = self._equivalent.get(node.label, node.label)
                found[label, place[start], place[position]] += 1
        return found


def _tags(tree: Tree) -> list[str]:
    """The label above each word."""
    return [node.label for node in tree if not node.is_leaf for child in node.children if child.is_leaf]


def _share(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0
