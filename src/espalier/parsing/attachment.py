"""How good dependency parses are: heads and relations, counted like the scorers of CoNLL."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.numbers import truth_value
from espalier.structures.tree import Tree

_Row = tuple[int, int, int, int]  # what is counted of one sentence


@dataclass(frozen=True)
class Attachment:
    """The agreement between dependency parses and gold trees, over all sentences.

    Parameters
    ----------
    heads_right, arcs_right, relations_right
        By sentence: tokens with the right head, with the right head and relation, and with the right relation.
    tokens
        By sentence, all tokens that count.
    rules
        The names and values of the options by which they were counted, if they are known.
    """

    heads_right: tuple[int, ...]
    arcs_right: tuple[int, ...]
    relations_right: tuple[int, ...]
    tokens: tuple[int, ...]
    rules: tuple[tuple[str, object], ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def uas(self) -> float:
        """The unlabelled attachment score: the share of tokens with the right head, in per cent."""
        return share(*map(sum, self.ratios["uas"]))

    @property
    def las(self) -> float:
        """The labelled attachment score: the share of tokens with the right head and relation, in per cent."""
        return share(*map(sum, self.ratios["las"]))

    @property
    def label_accuracy(self) -> float:
        """The share of tokens with the right relation, whatever their head is, in per cent."""
        return share(*map(sum, self.ratios["label_accuracy"]))

    @property
    def exact_match(self) -> float:
        """The share of sentences without a mistake in tokens that count, in per cent."""
        return share(*map(sum, self.ratios["exact_match"]))

    @property
    def exact_heads(self) -> float:
        """The share of sentences in which all heads are right, in per cent."""
        return share(*map(sum, self.ratios["exact_heads"]))

    @property
    def ratios(self) -> Mapping[str, tuple[Sequence[int], Sequence[int]]]:
        """For each measure, what it counts in each sentence, and of how many; the measure divides their sums."""
        ones = (1,) * len(self)
        return {
            "uas": (self.heads_right, self.tokens),
            "las": (self.arcs_right, self.tokens),
            "label_accuracy": (self.relations_right, self.tokens),
            "exact_match": ([int(n == m) for n, m in zip(self.arcs_right, self.tokens, strict=True)], ones),
            "exact_heads": ([int(n == m) for n, m in zip(self.heads_right, self.tokens, strict=True)], ones),
        }

    @property
    def sizes(self) -> Mapping[int, int]:
        """The number of tokens that count, by the number of the sentence."""
        return dict(enumerate(self.tokens))

    def __repr__(self) -> str:
        return (
            f"<Attachment of {len(self):,} sentences, {sum(self.tokens):,} tokens: UAS {self.uas:.2f}, "
            f"LAS {self.las:.2f}, labels {self.label_accuracy:.2f}, exact {self.exact_match:.2f}>"
        )


def evaluate_attachment(
    gold: Iterable[DependencyTree],
    parsed: Iterable[DependencyTree],
    *,
    punctuation: bool = True,
    subtypes: bool = True,
) -> Attachment:
    """Compare dependency parses with gold trees, like the scorers of CoNLL.

    The scorer of CoNLL-2007 counts with ``punctuation=False``, or with ``True`` if it is run with its option ``-p``.
    That of CoNLL-2018 counts with ``subtypes=False``.

    Parameters
    ----------
    gold, parsed
        Trees of the same sentences in the same order. Tags, lemmas and features are not compared.
    punctuation
        Whether to count tokens that are made only of punctuation, of a Unicode category P. Symbols such as ``$`` always
        count.
    subtypes
        Whether whole relations are compared; if False, only their universal part, which stands before the first colon.

    Raises
    ------
    InputError
        If a parse has different words from its gold tree.

    Examples
    --------
    >>> gold = DependencyTree(["cats", "sleep", "!"], ["N", "V", "Z"], [2, 0, 2], ["nsubj", "root", "punct"])
    >>> parse = DependencyTree(["cats", "sleep", "!"], ["N", "V", "Z"], [2, 0, 1], ["obj", "root", "punct"])
    >>> evaluate_attachment([gold], [parse], punctuation=False)
    <Attachment of 1 sentences, 2 tokens: UAS 100.00, LAS 50.00, labels 50.00, exact 0.00>
    """
    count = _Counter(punctuation=punctuation, subtypes=subtypes)
    golds, parses = _dependency_trees(gold, "gold"), _dependency_trees(parsed, "parsed")
    if len(golds) != len(parses):
        raise InputError(
            f"There are {len(golds):,} gold trees and {len(parses):,} parses; each parse needs its gold tree."
        )
    pairs = enumerate(zip(golds, parses, strict=True))
    return count.attachment([count.compare(f"Sentence {row}: the parse", *pair) for row, pair in pairs])


def attachment_oracle(
    golds: Sequence[DependencyTree],
    groups: Sequence[Sequence[DependencyTree]],
    *,
    punctuation: bool = True,
    subtypes: bool = True,
) -> tuple[list[int], Attachment]:
    """Return the candidate of each sentence with the most right heads; of these, with the most right relations."""
    count = _Counter(punctuation=punctuation, subtypes=subtypes)
    _dependency_trees(golds, "gold")
    best, evaluated = [], []
    for row, (tree, group) in enumerate(zip(golds, groups, strict=True)):
        listed = _dependency_trees(group, f"The list of sentence {row}")
        found = [count.compare(f"Sentence {row}: a candidate", tree, own) for own in listed]
        right = [counts[:2] for counts in found]
        best.append(right.index(max(right)))
        evaluated.append(found[best[-1]])
    return best, count.attachment(evaluated)


def share(part: float, whole: float) -> float:
    """The share of a part in the whole, in per cent; 0 of nothing."""
    return 100.0 * part / whole if whole else 0.0


def is_punctuation(word: str) -> bool:
    """Say whether all characters of a word are punctuation, as Unicode classifies them."""
    return bool(word) and all(unicodedata.category(character).startswith("P") for character in word)


class _Counter:
    """Counts what is right in a parse, by one set of rules."""

    def __init__(self, *, punctuation: bool, subtypes: bool) -> None:
        self._punctuation = truth_value("punctuation", punctuation)
        self._subtypes = truth_value("subtypes", subtypes)

    def compare(self, name: str, gold: DependencyTree, parse: DependencyTree) -> _Row:
        """Count everything for one parse; an error calls it ``name``."""
        if gold.words != parse.words:
            raise InputError(
                f"{name} has different words from the gold tree, "
                f"{' '.join(parse.words)[:60]!r} for {' '.join(gold.words)[:60]!r}."
            )
        heads = [x == y for x, y in zip(gold.heads, parse.heads, strict=True)]
        relations = [self._alike(x, y) for x, y in zip(gold.relations, parse.relations, strict=True)]
        both = [x and y for x, y in zip(heads, relations, strict=True)]
        if self._punctuation:
            return sum(heads), sum(both), sum(relations), len(gold)
        kept = [token for token, word in enumerate(gold.words) if not is_punctuation(word)]
        right, arcs, labels = (sum(column[token] for token in kept) for column in (heads, both, relations))
        return right, arcs, labels, len(kept)

    def attachment(self, rows: Sequence[_Row]) -> Attachment:
        """What was counted of all sentences."""
        columns = zip(*rows, strict=True) if rows else [()] * 4
        rules = ("punctuation", self._punctuation), ("subtypes", self._subtypes)
        return replace(Attachment(*columns), rules=rules)

    def _alike(self, x: str, y: str) -> bool:
        return x == y or (not self._subtypes and x.partition(":")[0] == y.partition(":")[0])


def _dependency_trees(trees: Iterable[object], name: str) -> list[DependencyTree]:
    if isinstance(trees, str | Tree | DependencyTree):
        raise TypeError(f"{name} must be several trees, got a single one. Write [tree].")
    listed = []
    for place, tree in enumerate(trees):
        if not isinstance(tree, DependencyTree):
            raise TypeError(f"{name} has a {type(tree).__name__} at {place}, and dependency trees are needed.")
        listed.append(tree)
    return listed
