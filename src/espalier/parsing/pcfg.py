"""``PCFG``: a probabilistic context-free grammar learned from a treebank, and its k best parses of any sentence."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import InputError, warn_user
from espalier.jobs.memory import show_bytes
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.kept import kept
from espalier.parsing.coarse import coarse_grammar, expected_counts
from espalier.parsing.grammar import MAX_UNARY, RULES, Grammar
from espalier.parsing.kbest import KBest, Parse, on_grid
from espalier.parsing.lexicon import Lexicon
from espalier.parsing.markov import count_rules, markov_grammar, shorten, spelled
from espalier.parsing.requests import HOW_MANY, SPLIT, Sentence, distance, memory_of, words_and_tags
from espalier.parsing.treebank import warn_of_chains
from espalier.storage import State, Storable, require
from espalier.structures.numbers import whole_number
from espalier.structures.tree import trees_from_arrays

_Words = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


@dataclass(frozen=True, eq=False, repr=False)
class PCFG(Storable):
    """A probabilistic context-free grammar with a lexicon; make one with :meth:`from_treebank`.

    Of equally probable parses over the same words, that comes first which has no rule with one child on top, or the
    earlier of these rules in the grammar; then that with the longer last child; then by the numbers of the symbols,
    which are those of ``grammar.symbols``; then that with the more probable part before the last child, and with the
    more probable last child, by the same rule.

    Parameters
    ----------
    grammar
        The rules.
    lexicon
        The words below tags.
    labels
        The label in parses of each symbol of the grammar; by default its name.
    hides_root
        Whether parses lack the root of the grammar, if it has one child there.

    Examples
    --------
    >>> trees = ["(S (NP (N cats)) (VP (V sleep)))", "(S (NP (D the) (N dog)) (VP (V saw) (NP (N cats))))"]
    >>> grammar = PCFG.from_treebank(trees)
    >>> print(grammar.parse(["the", "cats", "saw", "cats"])[0].tree)
    (S (NP (D the) (N cats)) (VP (V saw) (NP (N cats))))
    """

    grammar: Grammar
    lexicon: Lexicon
    labels: Sequence[str] = ()
    hides_root: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        n_symbols = len(self.grammar.symbols)
        object.__setattr__(self, "labels", tuple(self.labels or self.grammar.symbols))
        if len(self.labels) != n_symbols:
            raise InputError(f"{len(self.labels)} labels do not fit {n_symbols} symbols: give one for each.")

    @staticmethod
    def from_treebank(
        trees: Iterable[Any],
        *,
        markov: tuple[int, int | None] | None = None,
        split_tags: bool = False,
        least: int = 0,
        unknown: int = 2,
        smoothing: float = 1.0,
        max_unary: int = MAX_UNARY,
        root: str = "TOP",
    ) -> PCFG:
        """Estimate a grammar by relative frequencies.

        Traces, function tags, indices, an outer label such as ``ROOT``, and nodes whose only child has their own label
        are left out first.

        Parameters
        ----------
        trees
            Trees, or what converts to them, with a tag above each word.
        markov
            How many ancestors a constituent remembers, itself included, and how many siblings a long rule does: ``(2,
            2)``. None is ``(1, None)``: the plain rules of the treebank.
        split_tags
            Whether a tag remembers its parent, so that a preposition below ``PP`` differs from one below ``SBAR``.
            The parses still have the tags of the treebank.
        least
            Ancestors and siblings are remembered only if they were seen together at least this many times.
        unknown
            Words seen at most this many times also train their class of rare words.
        smoothing
            The weight of that class, as a number of observations beside those of the word itself.
        max_unary
            The longest chain of unary rules, including that of the root.
        root
            The name of the symbol above all sentences; it is not part of parses.
        """
        if isinstance(trees, str):
            raise TypeError(f"Trees must be a list, got the text {trees[:40]!r}. Write [tree].")
        vertical, horizontal = memory_of(markov)
        least = whole_number("least", least, 0, wanted="a number of observations")
        counts = count_rules(trees, root, vertical, split_tags=split_tags)
        if not counts.rules:
            raise InputError("A grammar needs at least one tree that is not empty.")
        if least > 1:
            counts = shorten(counts, least)
        grammar = markov_grammar(counts, horizontal, least=least, max_unary=max_unary)
        warn_of_chains(counts.chains, max_unary)
        label = {spelled(symbol): symbol[0] for rule in counts.rules for symbol in (rule[0], *rule[1])}
        label[counts.root] = root
        lexicon = Lexicon.from_counts(counts.words, rare=unknown, smoothing=smoothing, split_tags=split_tags)
        return PCFG(grammar, lexicon, [label[name] for name in grammar.symbols], hides_root=True)

    def parse(self, words: Sequence[str], k: int = 100, **options: Any) -> KBest[Parse]:
        """Return the ``k`` best parses of one sentence; the options are those of :meth:`parse_all`."""
        return self.parse_all([words], k, **options)[0]

    def parse_all(
        self,
        sentences: Iterable[Sequence[Any]],
        k: int = 100,
        *,
        beam: float | None = None,
        coarse: float | None = None,
        chart_memory: int | float | str | None = "1 GiB",
        n_threads: int | None = None,
        progress: Report | None = None,
    ) -> list[KBest[Parse]]:
        """Return the ``k`` best parses of each sentence, in order; a sentence without words has none.

        If nothing is left out (no ``beam``, no ``coarse``, enough memory), they are exactly the best. If pruning
        leaves no parse, the limits are raised to twice and then four times their value.

        Parameters
        ----------
        sentences
            Lists of words, or of pairs of a word and its tag, which is then kept; for a tag that the grammar does not
            have, or None, the word gets the tags of the lexicon.
        k
            The largest number of parses.
        beam
            How much less probable than the best over the same words a constituent may be, as a difference of
            logarithms, each with its label's own probability. 12 changes hardly any parse; 8 is faster.
        coarse
            Parse first with a grammar of plain labels, and keep a label over a span only if the best coarse parse with
            it is at most this much less probable than the best of all, as a difference of logarithms.
        chart_memory
            How much the search of one sentence may take; every thread has one. Exactly, the chart of n words has
            entries of at most 12 n (n + 1) bytes for each symbol of the grammar, prefixes included. A search that needs
            more is repeated with ever narrower beams, ``exact`` is then False, and one warning says of how many
            sentences. None is a quarter of what the process may use. Trees that are found come on top.
        n_threads, progress
            As for every :class:`Proposer`.
        """
        if isinstance(sentences, str):
            raise TypeError(f"Sentences must be lists of words, got the text {sentences[:40]!r}. Use [{SPLIT}].")
        listed = [words_and_tags(row, sentence) for row, sentence in enumerate(sentences)]
        schedule = Schedule.of(n_threads, chart_memory, progress, what="parsing")
        found = _core.parse_sentences(
            self.grammar.arrays,
            *self._words(listed),
            distance("beam", beam),
            self._prior,
            distance("coarse", coarse),
            None if coarse is None else self._coarse,
            schedule.memory,
            whole_number("k", k, wanted=HOW_MANY),
            schedule.n_threads,
            schedule.tell,
        )
        narrowed = np.flatnonzero(found["narrowed"])
        if len(narrowed):
            first = int(narrowed[0])
            warn_user(
                f"{len(narrowed)} of {len(listed)} sentences need more memory than {show_bytes(schedule.memory)}, the "
                f"first is sentence {first} with {len(listed[first])} words: their parses are not exactly the best. "
                "Pass a larger chart_memory, or a beam of your own, such as 10."
            )
        return [self._parses(found, s, sentence) for s, sentence in enumerate(listed)]

    def propose(self, sentences: Iterable[Sequence[Any]], k: int = 100, **options: Any) -> list[KBest[Parse]]:
        """Call :meth:`parse_all`; all proposers have this method."""
        return self.parse_all(sentences, k, **options)

    def to_state(self) -> dict[str, object]:
        """Return the rules, the labels of symbols, and the lexicon."""
        grammar = self.grammar
        return {
            "symbols": grammar.symbols,
            "labels": self.labels,
            "n_prefixes": grammar.n_prefixes,
            "root": grammar.root,
            "max_unary": grammar.max_unary,
            "hides_root": self.hides_root,
            "lexicon": self.lexicon.to_state(),
            **{name: getattr(grammar, name) for name in RULES},
        }

    @classmethod
    def from_state(cls, state: State) -> PCFG:
        """Make a parser from the contents of a file."""
        symbols, labels = state.texts("symbols"), state.texts("labels")
        require(len(symbols) == len(labels) == len(set(symbols)) > 0, "each symbol needs one label")
        own: dict[str, Any] = {name: state.whole(name) for name in ("n_prefixes", "root", "max_unary")}
        own |= {name: state.array(name, kind, 1 if name.endswith("weight") else 2) for name, kind in RULES.items()}
        grammar = Grammar(tuple(symbols), **own)
        return cls(grammar, Lexicon.from_state(state.part("lexicon")), labels, hides_root=state.truth("hides_root"))

    def trained_on(self) -> dict[str, object]:
        """Facts about the treebank."""
        return {"items": "trees", "words": sum(self.lexicon.tag_counts.values())}

    def __reduce__(self) -> tuple[object, ...]:
        make = functools.partial(PCFG, hides_root=self.hides_root)
        return make, (self.grammar, self.lexicon, self.labels)

    @kept
    def _number(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.grammar.symbols)}

    @kept
    def _coarse(self) -> dict[str, object]:
        return coarse_grammar(self.grammar, self.labels)

    @kept
    def _prior(self) -> NDArray[np.float64]:
        usage = expected_counts(self.grammar)
        prior: NDArray[np.float64] = np.log(usage / usage.sum())
        return prior

    def _words(self, listed: list[Sentence]) -> _Words:
        """Where sentences and words start, and the tags that each word may have with their weights."""
        found = [tags for sentence in listed for tags in self._tags_of(sentence)]
        sentence_start = np.cumsum([0, *map(len, listed)], dtype=np.int64)
        word_start = np.cumsum([0, *map(len, found)], dtype=np.int64)
        tags = np.array([tag for own in found for tag in own], np.int32)
        weights = np.array([weight for own in found for weight in own.values()], np.float64)
        return sentence_start, word_start, tags, on_grid(weights)

    def _tags_of(self, sentence: Sentence) -> Iterator[dict[int, float]]:
        weights = self.lexicon.weights([word for word, _ in sentence])
        for (word, tag), found in zip(sentence, weights, strict=True):
            own: dict[int, float] = {}
            if tag is not None and tag in self.lexicon.tag_counts:  # the label of a constituent is no tag
                own = self._known(self.lexicon.split(word, tag))
            yield own or self._known(found)

    def _known(self, weights: dict[str, float]) -> dict[int, float]:
        return {self._number[tag]: weight for tag, weight in weights.items() if tag in self._number}

    def _parses(self, arrays: dict[str, Any], s: int, sentence: Sentence) -> KBest[Parse]:
        first, last = arrays["sentence_start"][s : s + 2].tolist()
        start = arrays["parse_start"][first : last + 1]
        symbol = arrays["symbol"][start[0] : start[-1]]
        # Words follow the symbols: -1 stands for the first.
        numbers = np.where(symbol < 0, len(self.labels) - 1 - symbol, symbol)
        labels = [*self.labels, *(word for word, _ in sentence)]
        trees = trees_from_arrays((labels, numbers, arrays["n_children"][start[0] : start[-1]], start[1:]))
        scores = arrays["weight"][first:last].tolist()
        if self.hides_root:
            trees = [tree.children[0] if len(tree.children) == 1 else tree for tree in trees]
        complete, exact, narrowed = (bool(arrays[name][s]) for name in ("complete", "exact", "narrowed"))
        return KBest(tuple(map(Parse, trees, scores)), complete, exact, narrowed, int(arrays["bytes"][s]))

    def __repr__(self) -> str:
        return f"<PCFG: {self.grammar!r}, {len(self.lexicon.word_counts):,} words>"
