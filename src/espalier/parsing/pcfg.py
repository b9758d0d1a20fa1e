"""``PCFG``: a probabilistic context-free grammar read off a treebank, and its k best parses of any sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from espalier import _core
from espalier.errors import InputError
from espalier.parsing.grammar import MAX_UNARY, Grammar
from espalier.parsing.lexicon import Lexicon
from espalier.parsing.markov import count_rules, markov_grammar, spelled
from espalier.structures.interop import as_tree
from espalier.structures.transforms import drop_outer, strip_function_tags, strip_traces
from espalier.structures.tree import Tree, trees_from_arrays

Progress = Callable[[float], object]


class Parse(NamedTuple):
    """A tree and the logarithm of its probability."""

    tree: Tree
    score: float


@dataclass(frozen=True)
class Parses(Sequence[Parse]):
    """The best parses of a sentence, the most probable first.

    Parameters
    ----------
    parses
        Distinct trees with their scores.
    complete
        False where the grammar covers no more than parts of the sentence: these then stand side by side below the
        root, in a single tree.
    """

    parses: tuple[Parse, ...]
    complete: bool = True

    def __len__(self) -> int:
        return len(self.parses)

    @overload
    def __getitem__(self, rank: int) -> Parse: ...
    @overload
    def __getitem__(self, rank: slice) -> tuple[Parse, ...]: ...
    def __getitem__(self, rank: Any) -> Any:
        return self.parses[rank]

    def __iter__(self) -> Iterator[Parse]:
        return iter(self.parses)

    @property
    def trees(self) -> list[Tree]:
        """The trees alone."""
        return [parse.tree for parse in self.parses]


class PCFG:
    """A probabilistic context-free grammar with a lexicon; make one with :meth:`from_treebank`.

    Examples
    --------
    >>> trees = ["(S (NP (N cats)) (VP (V sleep)))", "(S (NP (D the) (N dog)) (VP (V saw) (NP (N cats))))"]
    >>> grammar = PCFG.from_treebank(trees)
    >>> print(grammar.parse(["the", "cats", "saw", "cats"])[0].tree)
    (S (NP (D the) (N cats)) (VP (V saw) (NP (N cats))))
    """

    def __init__(
        self, grammar: Grammar, lexicon: Lexicon, labels: Sequence[str] | None = None, *, hides_root: bool = False
    ) -> None:
        self.grammar, self.lexicon, self.hides_root = grammar, lexicon, hides_root
        self.labels = tuple(grammar.symbols if labels is None else labels)
        self._number = {name: k for k, name in enumerate(grammar.symbols)}

    @staticmethod
    def from_treebank(
        trees: Iterable[Any],
        *,
        markov: tuple[int, int | None] | None = None,
        unknown: int = 2,
        smoothing: float = 1.0,
        max_unary: int = MAX_UNARY,
        root: str = "TOP",
    ) -> PCFG:
        """Estimate a grammar by relative frequencies.

        Traces, function tags, indices and an outer label such as ``ROOT`` are left out first.

        Parameters
        ----------
        trees
            Trees, or what converts to them, with a tag above each word.
        markov
            How many ancestors a constituent remembers, itself included, and how many siblings a long rule does: ``(2,
            2)``. None is ``(1, None)``: rules as they stand in the treebank.
        unknown
            Words seen at most so often also stand for their class of rare words.
        smoothing
            How many observations that class is worth beside those of a word itself.
        max_unary
            How many rules with one child may stand one on top of the other.
        root
            The name of the symbol above all sentences; it is no part of parses.
        """
        vertical, horizontal = markov or (1, None)
        if vertical < 1 or (horizontal is not None and horizontal < 0):
            raise ValueError(f"markov must be (ancestors >= 1, siblings >= 0 or None), got {markov!r}.")
        kept = [tree for tree in map(plain, trees) if tree is not None]
        for row, tree in enumerate(kept):
            if (
                any(child.is_leaf for node in tree if not node.is_preterminal for child in node.children)
                or tree.is_leaf
            ):
                raise InputError(f"Tree {row} has a word without a tag above it: {str(tree)[:80]}")
        if not kept:
            raise InputError("A grammar needs at least one tree that is not empty.")
        counts = count_rules(kept, root, vertical)
        grammar = markov_grammar(counts, root, horizontal, max_unary=max_unary)
        label = {spelled(symbol): symbol[0] for rule in counts for symbol in (rule[0], *rule[1])}
        sentences = ([(n.children[0].label, n.label) for n in tree if n.is_preterminal] for tree in kept)
        lexicon = Lexicon.from_sentences(sentences, rare=unknown, smoothing=smoothing)
        return PCFG(grammar, lexicon, [label[name] for name in grammar.symbols], hides_root=True)

    def parse(self, words: Sequence[str], k: int = 100, **options: Any) -> Parses:
        """The ``k`` best parses of one sentence; options are those of :meth:`parse_all`."""
        return self.parse_all([words], k, **options)[0]

    def parse_all(
        self,
        sentences: Iterable[Sequence[Any]],
        k: int = 100,
        *,
        beam: float | None = None,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Parses]:
        """The ``k`` best parses of each sentence.

        Parameters
        ----------
        sentences
            Lists of words, or of pairs of a word and its tag, which is then kept; for a tag that the grammar does not
            have, the word has the tags that the lexicon gives it.
        k
            How many parses at most.
        beam
            How much less probable than the best over the same words a constituent may be, as a difference of
            logarithms; None leaves nothing out, and the parses are exactly the best.
        n_threads, progress
            As everywhere.
        """
        listed = [_checked(row, sentence) for row, sentence in enumerate(sentences)]
        tags: list[int] = []
        weights: list[float] = []
        word_start, sentence_start = [0], [0]
        for words, given in listed:
            for found in self._tags_of(words, given):
                tags += found
                weights += found.values()
                word_start.append(len(tags))
            sentence_start.append(len(word_start) - 1)
        arrays = _core.parse_sentences(
            self.grammar.arrays,
            np.array(sentence_start, np.int64),
            np.array(word_start, np.int64),
            np.array(tags, np.int32),
            np.array(weights, np.float64),
            np.inf if beam is None else float(beam),
            np.zeros(len(self.grammar.symbols) + self.grammar.n_prefixes),
            k,
            n_threads,
            progress,
        )
        return [self._parses(arrays, s, words) for s, (words, _) in enumerate(listed)]

    def save(self, path: str | Path) -> None:
        """Write the grammar to one file (safetensors with a JSON header); nothing is left half-written."""
        from espalier.parsing.storage import save_pcfg

        save_pcfg(self, path)

    @staticmethod
    def load(path: str | Path) -> PCFG:
        """Read a grammar written by :meth:`save`."""
        from espalier.parsing.storage import load_pcfg

        return load_pcfg(path)

    def _tags_of(self, words: list[str], given: list[str] | None) -> Iterator[dict[int, float]]:
        for position, found in enumerate(self.lexicon.weights(words)):
            tag = None if given is None else given[position]
            if tag in self._number:
                yield {self._number[tag]: 0.0}
            else:
                yield {self._number[tag]: weight for tag, weight in found.items() if tag in self._number}

    def _parses(self, arrays: dict[str, Any], s: int, words: list[str]) -> Parses:
        first, last = arrays["sentence_start"][s : s + 2].tolist()
        start = arrays["parse_start"][first : last + 1]
        symbol = arrays["symbol"][start[0] : start[-1]]
        # Words follow the symbols: -1 stands for the first.
        numbers = np.where(symbol < 0, len(self.labels) - 1 - symbol, symbol)
        labels = [*self.labels, *words]
        trees = trees_from_arrays((labels, numbers, arrays["n_children"][start[0] : start[-1]], start[1:]))
        scores = arrays["weight"][first:last].tolist()
        found = (Parse(self._top(tree), score) for tree, score in zip(trees, scores, strict=True))
        return Parses(tuple(found), complete=bool(arrays["complete"][s]))

    def _top(self, tree: Tree) -> Tree:
        return tree.children[0] if self.hides_root and len(tree.children) == 1 else tree

    def __repr__(self) -> str:
        return f"<PCFG: {self.grammar!r}, {len(self.lexicon.word_counts):,} words>"


def plain(tree: Any) -> Tree | None:
    """A tree without traces, function tags, indices and an outer label; None where nothing is left."""
    stripped = strip_traces(drop_outer(as_tree(tree)))
    return None if stripped is None else strip_function_tags(stripped)


def _checked(row: int, sentence: Sequence[Any]) -> tuple[list[str], list[str] | None]:
    """The words, and the tags where they are given."""
    if isinstance(sentence, str):
        raise TypeError(f"Sentence {row} must be a list of words, got the text {sentence[:40]!r}. Use text.split().")
    items = list(sentence)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        return [word for word, _ in items], [tag for _, tag in items]
    for item in items:
        if not isinstance(item, str) or not item:
            raise InputError(f"Sentence {row} must hold words, or pairs of a word and a tag, got {item!r}.")
    return items, None
