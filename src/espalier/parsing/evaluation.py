"""How good parses are: labelled brackets counted like ``evalb``, and the score of Collins and Duffy (2001)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from espalier.errors import InputError
from espalier.parsing.attachment import Attachment, attachment_oracle, share
from espalier.structures.dependency import DependencyTree
from espalier.structures.interop import as_tree
from espalier.structures.transforms import TRACE
from espalier.structures.tree import Tree

PUNCTUATION = frozenset({",", ":", "``", "''", "."})
ROOTS = frozenset({"", "TOP", "ROOT", "S1"})
EQUIVALENT: Mapping[str, str] = {"PRT": "ADVP"}

Brackets = Counter[tuple[str, int, int]]
_Row = tuple[int, int, int, bool, int, int]  # what an evaluation says about one sentence


@dataclass(frozen=True)
class Evaluation:
    """The agreement between parses and gold trees, over all sentences.

    Parameters
    ----------
    matched, gold, parsed
        By sentence: constituents that both have, that the gold tree has, and that the parse has.
    exact
        By sentence, whether all constituents are right.
    tags_right, tags
        By sentence: words with the right tag, and all words that count.
    skipped
        Numbers of sentences that are excluded from all these.
    rules
        The names and values of the options by which they were counted, if they are known.
    """

    matched: tuple[int, ...]
    gold: tuple[int, ...]
    parsed: tuple[int, ...]
    exact: tuple[bool, ...]
    tags_right: tuple[int, ...]
    tags: tuple[int, ...]
    skipped: tuple[int, ...] = ()
    rules: tuple[tuple[str, object], ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def precision(self) -> float:
        """The share of the parses' constituents that is right, in per cent."""
        return share(*map(sum, self.ratios["precision"]))

    @property
    def recall(self) -> float:
        """The share of the gold constituents that was found, in per cent."""
        return share(*map(sum, self.ratios["recall"]))

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return share(*map(sum, self.ratios["f1"]))

    @property
    def exact_match(self) -> float:
        """The share of sentences without a mistake, in per cent."""
        return share(*map(sum, self.ratios["exact_match"]))

    @property
    def tagging(self) -> float:
        """The share of words with the right tag, in per cent."""
        return share(sum(self.tags_right), sum(self.tags))

    @property
    def score(self) -> float:
        """The mean of precision and recall of each sentence, weighed by the size of its gold tree (Collins, Duffy)."""
        means = [
            g * (share(m, p) + share(m, g)) / 2 for m, g, p in zip(self.matched, self.gold, self.parsed, strict=True)
        ]
        return sum(means) / sum(self.gold) if sum(self.gold) else 0.0

    @property
    def ratios(self) -> Mapping[str, tuple[Sequence[int], Sequence[int]]]:
        """For each measure, what it counts in each sentence, and of how many; the measure divides their sums."""
        found: dict[str, tuple[Sequence[int], Sequence[int]]] = {
            "f1": ([2 * n for n in self.matched], [g + p for g, p in zip(self.gold, self.parsed, strict=True)]),
            "precision": (self.matched, self.parsed),
            "recall": (self.matched, self.gold),
            "exact_match": (self.exact, (1,) * len(self)),
        }
        # Of choices among candidates, tags are not counted.
        return found | {"tagging": (self.tags_right, self.tags)} if len(self.tags) == len(self) else found

    @property
    def sizes(self) -> Mapping[int, int]:
        """The number of gold constituents, by the number of the sentence."""
        skipped = set(self.skipped)
        rows = (row for row in range(len(self) + len(skipped)) if row not in skipped)
        return dict(zip(rows, self.gold, strict=True))

    def improvement(self, baseline: Evaluation) -> float:
        """The relative reduction of the error ``100 - score``, in per cent; of no error at all, 0 or minus infinity."""
        if baseline.score == 100.0:
            return 0.0 if self.score == 100.0 else -math.inf
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
    skip: bool = False,
) -> Evaluation:
    """Compare parses with gold trees, like ``evalb`` with the rules of Collins.

    Parameters
    ----------
    gold, parsed
        Trees of the same sentences in one order. Traces, which are tagged ``-NONE-``, are left out of both; function
        tags are part of a label, see ``Tree.without_function_tags``.
    punctuation
        Tags whose words are left out before brackets are counted, as the gold tree has them; empty to keep all.
    roots
        Labels of constituents that do not count.
    equivalent
        Labels that count as another.
    skip
        Whether to exclude sentences whose parse has different words, like ``evalb``; otherwise they are an error.

    Raises
    ------
    InputError
        If a parse has different words from its gold tree, and is not skipped.
    """
    count = _Counter(punctuation, roots, equivalent)
    golds, parses = _trees(gold, "gold"), _trees(parsed, "parsed")
    if len(golds) != len(parses):
        raise InputError(
            f"There are {len(golds):,} gold trees and {len(parses):,} parses; each parse needs its gold tree."
        )
    found, skipped = [], []
    for row, (tree, parse) in enumerate(zip(golds, parses, strict=True)):
        try:
            found += count.compare(f"Sentence {row}: the parse", tree, [parse])
        except InputError:
            if not skip:
                raise
            skipped.append(row)
    return count.evaluation(found, skipped)


@overload
def oracle(
    gold: Iterable[DependencyTree], candidates: Iterable[Sequence[DependencyTree]], **options: Any
) -> tuple[list[int], Attachment]: ...
@overload
def oracle(
    gold: Iterable[Any], candidates: Iterable[Sequence[Any]], **options: Any
) -> tuple[list[int], Evaluation]: ...
def oracle(
    gold: Iterable[Any], candidates: Iterable[Sequence[Any]], **options: Any
) -> tuple[list[int], Evaluation | Attachment]:
    """Return the candidate of each sentence that agrees best with its gold tree, and the evaluation of all these.

    Of equally good candidates, the first is returned. Dependency trees are compared by heads, and those with equally
    many right heads by relations.

    Parameters
    ----------
    gold
        Trees or dependency trees.
    candidates
        A list of candidates for each gold tree.
    **options
        Those of :func:`evaluate`, or of :func:`evaluate_attachment` for dependency trees.
    """
    if isinstance(gold, str | Tree | DependencyTree):
        raise TypeError("gold must be several trees, got a single one. Write [tree].")
    golds, groups = list(gold), [_candidates(row, group) for row, group in enumerate(candidates)]
    if len(golds) != len(groups):
        raise InputError(f"There are {len(golds):,} gold trees and candidates of {len(groups):,} sentences.")
    if golds and isinstance(golds[0], DependencyTree):
        return attachment_oracle(golds, groups, **options)
    count = _Counter(**options)
    best, evaluated = [], []
    for row, (tree, group) in enumerate(zip(_trees(golds, "gold"), groups, strict=True)):
        listed = _trees(group, f"The list of sentence {row}")
        found = count.compare(f"Sentence {row}: a candidate", tree, listed)
        # Where neither has a constituent, nothing is missing.
        one = [share(2 * m, g + p) if g + p else 100.0 for m, g, p, *_ in found]
        best.append(max(range(len(one)), key=one.__getitem__))
        evaluated.append(found[best[-1]])
    return best, count.evaluation(evaluated)


def tag_accuracy(gold: Iterable[Any], tagged: Iterable[Any], *, among: Callable[[str], bool] | None = None) -> float:
    """The share of words with the right tag, in per cent.

    Parameters
    ----------
    gold, tagged
        Tagged sequences (or dependency trees) of the same sentences in one order.
    among
        A function that says whether a word counts; None counts all words.

    Examples
    --------
    >>> from espalier import TaggedSequence
    >>> gold, found = (TaggedSequence(["the", "saw"], ["D", tag]) for tag in "NV")
    >>> tag_accuracy([gold], [found]), tag_accuracy([gold], [found], among=lambda word: word == "the")
    (50.0, 100.0)
    """
    right = n_words = 0
    golds, found = list(gold), list(tagged)
    if len(golds) != len(found):
        raise InputError(f"There are {len(golds):,} gold sentences and {len(found):,} tagged ones.")
    for row, (g, t) in enumerate(zip(golds, found, strict=True)):
        if tuple(g.words) != tuple(t.words):
            raise InputError(
                f"Sentence {row}: the tagged words are others than the gold ones, {' '.join(t.words)[:60]!r} for "
                f"{' '.join(g.words)[:60]!r}."
            )
        for word, x, y in zip(g.words, g.tags, t.tags, strict=True):
            counts = among is None or among(word)
            n_words += counts
            right += counts and x == y
    return share(right, n_words)


def evaluate_candidates(gold: Tree, candidates: Iterable[Tree]) -> Evaluation:
    """Like :func:`evaluate`, for many parses of one sentence."""
    count = _Counter()
    return count.evaluation(count.compare("A candidate", gold, candidates))


def _candidates(row: int, group: Iterable[Any]) -> list[Any]:
    if isinstance(group, str | Tree | DependencyTree):
        raise TypeError(f"Sentence {row} must have a list of candidates, got a single one. Write [tree].")
    listed = list(group)
    if not listed:
        raise InputError(f"Sentence {row} has no candidates.")
    return listed


def _trees(trees: Iterable[object], name: str) -> list[Tree]:
    if isinstance(trees, str | Tree):
        raise TypeError(f"{name} must be several trees, got a single one. Write [tree].")
    listed = []
    for place, tree in enumerate(trees):
        if isinstance(tree, DependencyTree):
            raise TypeError(
                f"{name} has a DependencyTree at {place}, which has no brackets. Use evaluate_attachment for heads and "
                "relations, or tree.grammatical_relation_tree() for brackets."
            )
        listed.append(as_tree(tree))
    return listed


class _Counter:
    """Counts the brackets of trees by one set of rules."""

    def __init__(
        self,
        punctuation: Collection[str] = PUNCTUATION,
        roots: Collection[str] = ROOTS,
        equivalent: Mapping[str, str] = EQUIVALENT,
    ) -> None:
        self._punctuation, self._roots, self._equivalent = frozenset(punctuation), frozenset(roots), equivalent

    def compare(self, name: str, gold: Tree, parses: Iterable[Tree]) -> list[_Row]:
        """Count everything for the parses of one sentence; errors call them ``name``."""
        words, gold_tags, spans = _read(gold)
        # Which words count is said by the gold tree.
        kept = [tag not in self._punctuation for tag in gold_tags]
        place = [0, *itertools.accumulate(map(int, kept))]
        of_gold = self._brackets(spans, place)
        n_gold = sum(of_gold.values())
        out = []
        for parsed in parses:
            found, tags, spans = _read(parsed)
            if found != words:
                raise InputError(
                    f"{name} has different words from the gold tree, "
                    f"{' '.join(found)[:60]!r} for {' '.join(words)[:60]!r}."
                )
            of_parse = self._brackets(spans, place)
            matched, n_parsed = sum((of_gold & of_parse).values()), sum(of_parse.values())
            right = sum(k and x == y for k, x, y in zip(kept, gold_tags, tags, strict=True))
            out.append((matched, n_gold, n_parsed, matched == n_gold == n_parsed, right, place[-1]))
        return out

    def evaluation(self, found: Sequence[_Row], skipped: Sequence[int] = ()) -> Evaluation:
        """What was counted of all sentences."""
        columns = zip(*found, strict=True) if found else [()] * 6
        rules = ("punctuation", self._punctuation), ("roots", self._roots), ("equivalent", dict(self._equivalent))
        return replace(Evaluation(*columns), skipped=tuple(skipped), rules=rules)

    def _brackets(self, spans: list[tuple[str, int, int]], place: list[int]) -> Brackets:
        """The constituents by label, start and end among the words that count."""
        return Counter(
            (self._equivalent.get(label, label), place[start], place[end])
            for label, start, end in spans
            if place[end] > place[start] and label not in self._roots
        )


def _read(tree: Tree) -> tuple[list[str], list[str], list[tuple[str, int, int]]]:
    """The words, the label above each, and every constituent above these with the words where it starts and ends.

    Traces are not words.
    """
    words: list[str] = []
    tags: list[str] = []
    spans: list[tuple[str, int, int]] = []
    stack: list[tuple[Tree, str, int]] = [(tree, tree.label, -1)]  # nodes, what is above, where those began left again
    while stack:
        node, above, start = stack.pop()
        if start >= 0:
            spans.append((node.label, start, len(words)))
        elif not node.children:
            if above != TRACE:
                words.append(node.label)
                tags.append(above)
        else:
            label = node.label
            if not node.is_preterminal:
                stack.append((node, label, len(words)))
            stack.extend((child, label, -1) for child in reversed(node.children))
    return words, tags, spans
