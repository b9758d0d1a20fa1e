"""``DependencyParser``: a graph-based parser learned from a treebank, and the k best trees of any tagged sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.parsing.arc_arrays import ArcArrays
from espalier.parsing.dependency_trees import checked_trees, merged, parses_of, tagged_sequence, taggings_of
from espalier.parsing.kbest import DependencyParse, KBest
from espalier.parsing.projective import lifted_heads, without_marks
from espalier.parsing.requests import HOW_MANY
from espalier.parsing.sparse_weights import SparseWeights
from espalier.parsing.token_numbers import TokenNumbers
from espalier.storage import State, Storable, require
from espalier.structures.columns import read_only
from espalier.structures.dependency import DependencyTree
from espalier.structures.numbers import check_choice, finite_number, whole_number

Order = Literal[1, 2, 3]
Learning = Literal["softmax", "mira"]

MAX_SEED = 2**62
LABEL_EPOCHS = 5


@dataclass(frozen=True, eq=False, repr=False)
class DependencyParser(Storable):
    """A parser that scores dependency trees by their parts; make one with :meth:`from_treebank`.

    A pruner first keeps a few likely heads for each word. Over these, the parser finds the best trees without crossing
    arcs exactly (Koo and Collins 2010, their model 1). A classifier then labels the arcs. If the treebank has crossing
    arcs, the labels tell where arcs were lifted, and parses get crossing arcs, too (Nivre and Nilsson 2005).

    Sentences must be tagged. Joint tags, written ``UPOS|XPOS``, are used as two: see ``read_conllu(tags="joint")``. For
    new sentences, tags come from a tagger, so learn from such tags as well: see :func:`jackknifed_tags`.

    Parameters
    ----------
    tokens
        The words and tags that it knows.
    relations
        The relations that it gives to arcs.
    pruner, weights
        Weights of the features of the pruner, and of trees; the length of each is a power of two.
    labels
        The classifier of relations.
    order
        Which parts are scored; see :meth:`from_treebank`.
    heads, ratio
        How the pruner decides; see :meth:`from_treebank`.
    several_roots
        Whether trees may have several roots, as some of the treebank had.
    restores
        Whether relations have marks by which crossing arcs are restored.
    n_sentences, n_words
        The size of the treebank.

    Examples
    --------
    >>> cats = DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"])
    >>> dogs = DependencyTree(["the", "dogs", "bark"], ["D", "N", "V"], [2, 3, 0], ["det", "nsubj", "root"])
    >>> parser = DependencyParser.from_treebank([cats, dogs])
    >>> parser.parse([("the", "D"), ("cats", "N"), ("bark", "V")])[0].tree.heads
    (2, 3, 0)
    """

    tokens: TokenNumbers
    relations: Sequence[str]
    pruner: NDArray[np.float32]
    weights: NDArray[np.float32]
    labels: SparseWeights
    order: Order
    heads: int
    ratio: float
    several_roots: bool
    restores: bool
    n_sentences: int
    n_words: int

    def __post_init__(self) -> None:
        for name in ("pruner", "weights"):
            object.__setattr__(self, name, read_only(_core.in_large_pages(getattr(self, name))))

    @staticmethod
    def from_treebank(
        trees: Iterable[DependencyTree],
        *,
        order: Order = 2,
        epochs: int = 6,
        learning: Learning = "softmax",
        rivals: int | None = None,
        step: float = 0.01,
        margin: float | None = None,
        heads: int = 16,
        ratio: float = 2.5e-3,
        rare: int = 1,
        bits: int = 22,
        pseudo_projective: bool = True,
        random_state: int = 0,
        progress: Report | None = None,
    ) -> DependencyParser:
        """Learn from dependency trees.

        Parameters
        ----------
        trees
            Tagged trees; they may have several roots and crossing arcs.
        order
            The parts of a tree that are scored. 1: arcs. 2: also pairs of adjacent siblings, and grandparents. 3: also
            grandparents with two siblings.
        epochs
            The number of passes over the training data.
        learning
            What is learned from a sentence. ``"softmax"``: the right tree gains probability among its rivals, the best
            trees so far, each of which has an advantage for every wrong head (Gimpel and Smith 2010). ``"mira"``: the
            weights change just enough for the right tree to beat every rival by the number of wrong heads (Crammer
            et al. 2006).
        rivals
            How many of the best trees are rivals: by default 16, and 1 for MIRA.
        step
            The size of a step. For MIRA, the upper limit of each rival's weight in an update.
        margin
            The advantage of a tree for each wrong head while learning: by default 1.5, and 1 for MIRA.
        heads
            How many heads the pruner keeps for a word at most.
        ratio
            The pruner drops heads whose probability is below this share of the most probable head's.
        rare
            Words seen at most this many times are learned as unknown words.
        bits
            There is room for ``2 ** bits`` weights. Features are hashed: with too little room some share a weight.
        pseudo_projective
            Whether parses get crossing arcs if trees have them. If False, crossing arcs are lifted for learning and
            not restored in parses.
        random_state
            A seed for the order of sentences.
        progress
            As everywhere.

        Notes
        -----
        Learning goes through the sentences one by one, in one thread. The weights that remain are averaged over all
        steps.
        """
        order_: int = whole_number("order", order, 1, 3)
        epochs, heads = whole_number("epochs", epochs), whole_number("heads", heads)
        rare, bits = whole_number("rare", rare, 0), whole_number("bits", bits, 10, 28)
        seed = whole_number("random_state", random_state, 0, MAX_SEED)
        check_choice("learning", learning, "softmax", "mira")
        mira = learning == "mira"
        rivals = whole_number("rivals", (1 if mira else 16) if rivals is None else rivals)
        step = finite_number("step", step)
        margin = finite_number("margin", (1.0 if mira else 1.5) if margin is None else margin)
        ratio = finite_number("ratio", ratio, zero=True)
        if ratio > 1:
            raise ValueError(f"ratio must be at most 1, a share of the probability of the best head, got {ratio:g}.")
        arrays = ArcArrays.of(trees, rare, pseudo_projective=pseudo_projective)
        start, token, head = arrays.start, arrays.token, arrays.head
        several, relations = arrays.several_roots, arrays.relations
        schedule = Schedule.of(1, progress=progress, what="learning to parse")
        *pruners, pruner = arrays.pruners(seed, schedule.between(0.0, 0.3))
        weights = _core.train_dependencies(
            start,
            token,
            head,
            pruners,
            arrays.part,
            bits,
            epochs,
            order_,
            mira,
            step,
            margin,
            rivals,
            several,
            ratio,
            heads,
            seed,
            schedule.between(0.3, 0.9).tell,
        )
        told = schedule.between(0.9, 1.0).tell
        labels = _core.train_labels(start, token, head, arrays.label, len(relations), LABEL_EPOCHS, seed, told)
        schedule.done()
        n_trees = len(arrays.part)
        return DependencyParser(
            arrays.tokens,
            relations,
            pruner,
            weights,
            SparseWeights(**labels),
            order,
            heads,
            ratio,
            several,
            arrays.restores,
            n_trees,
            len(head) - n_trees,
        )

    def parse(self, sentence: Any, k: int = 1, **options: Any) -> KBest[DependencyParse]:
        """Return the ``k`` best trees of one sentence; the options are those of :meth:`parse_all`."""
        return self.parse_all([sentence], k, **options)[0]

    def parse_all(
        self,
        sentences: Iterable[Any],
        k: int = 1,
        *,
        tag_weight: float = 0.5,
        n_threads: int | None = None,
        chart_memory: int | float | str | None = "1 GiB",
        progress: Report | None = None,
    ) -> list[KBest[DependencyParse]]:
        """Return the ``k`` best trees of each sentence, over the heads that the pruner keeps.

        Beside its score each tree has others, for rerankers: ``more_scores["labels"]`` says how sure the classifier of
        relations is, ``more_scores["tags"]`` how far its tagging is behind the best one, if several were given.

        Parameters
        ----------
        sentences
            Tagged sequences, lists of pairs of a word and its tag, or dependency trees, whose arcs are ignored. Or the
            best taggings of each sentence, ``tagger.tag_all(sentences, 4)``: all are parsed, and the best trees of all
            of them remain, each once and with its tags.
        tag_weight
            If a sentence has several taggings, how much their scores count beside those of trees: a tree of a tagging
            that is 2 behind the best loses twice this weight.
        k
            The largest number of trees; there are fewer if the heads that are kept allow no more, or if restored
            crossing arcs make two trees equal. They differ in heads or relations.
        n_threads, progress
            As for every :class:`Proposer`.
        chart_memory
            What the search for one sentence may take; each thread holds one search. If it is too little for a sentence,
            fewer heads are kept for its words, and its ``narrowed`` is True. One head is always kept, even if that
            takes more.
        """
        schedule = Schedule.of(n_threads, chart_memory, progress, what="parsing")
        tag_weight = finite_number("tag_weight", tag_weight, zero=True)
        taggings = [taggings_of(row, sentence) for row, sentence in enumerate(sentences)]
        listed = [tagging for own, _ in taggings for tagging in own]
        start, token = self.tokens.rows(listed)
        arrays = _core.parse_dependencies(
            self.pruner,
            self.weights,
            self.labels.core,
            len(self.relations),
            self.order,
            self.several_roots,
            self.ratio,
            self.heads,
            start,
            token,
            whole_number("k", k, wanted=HOW_MANY),
            schedule.memory,
            schedule.n_threads,
            schedule.tell,
        )
        found = iter(parses_of(arrays, listed, self.relations, restores=self.restores))
        return [
            next(found) if behind is None else merged(list(islice(found, len(own))), behind, k, tag_weight)
            for own, behind in taggings
        ]

    def propose(
        self, sentences: Iterable[Any], k: int = 1, *, beam: float | None = None, **options: Any
    ) -> list[KBest[DependencyParse]]:
        """Call :meth:`parse_all`; all proposers have this method. A dependency parser has no beam."""
        if beam is not None:
            raise ValueError(
                "A DependencyParser has no beam: its heads and ratio are set when it learns. Leave beam out."
            )
        return self.parse_all(sentences, k, **options)

    def score(self, tree: DependencyTree) -> float:
        """Return the score of any tree, on the scale of the scores of parses; relations do not count.

        Crossing arcs are lifted first. Where a parse got its crossing arcs by marks, lifting may give another tree than
        the one that was scored, and the score may differ from that of the parse.
        """
        return self.score_all([tree])[0]

    def score_all(self, trees: Iterable[DependencyTree], *, n_threads: int | None = None) -> list[float]:
        """Return the score of each tree, as :meth:`score` does."""
        start, token, head = self._lifted_rows(checked_trees(trees, least=0))
        n = Schedule.of(n_threads).n_threads
        scores: list[float] = _core.score_dependencies(self.weights, self.order, start, token, head, n).tolist()
        return scores

    def label_scores(self, trees: Iterable[DependencyTree], *, n_threads: int | None = None) -> list[float]:
        """Return how sure the classifier of relations is of each tree: the score ``"labels"`` of parses.

        It is a sum over arcs of logarithms of probabilities, and 0 at most. Wrong arcs often have no good relation.
        """
        start, token, head = self._lifted_rows(checked_trees(trees, least=0))
        n = Schedule.of(n_threads).n_threads
        _, scores = _core.label_dependencies(self.labels.core, len(self.relations), start, token, head, n)
        return scores.tolist()  # type: ignore[no-any-return]

    def as_parses(self, trees: Iterable[DependencyTree], *, n_threads: int | None = None) -> list[DependencyParse]:
        """Return trees as this parser would have found them: with its relations in place of theirs, and its scores.

        Learners that compare gold trees with parses need this: otherwise they learn to tell gold relations from those
        of the classifier. Crossing arcs are kept; the classifier sees them lifted.
        """
        listed = checked_trees(trees, least=0)
        start, token, head = self._lifted_rows(listed)
        n = Schedule.of(n_threads).n_threads
        labels, _ = _core.label_dependencies(self.labels.core, len(self.relations), start, token, head, n)
        labels, found, at = labels.tolist(), [], 0
        for tree, score in zip(listed, self.score_all(listed, n_threads=n_threads), strict=True):
            named = [self.relations[number] for number in labels[at : at + len(tree)]]
            at += len(tree)
            relations = [without_marks(name) for name in named] if self.restores else named
            found.append(DependencyParse(replace(tree, relations=relations), score))
        return found

    def kept_heads(self, sentences: Iterable[Any], *, n_threads: int | None = None) -> list[list[tuple[int, ...]]]:
        """Return, for each word of each sentence, the heads that the pruner keeps, in ascending order.

        A gold head that is not among them cannot be found.
        """
        listed = [tagged_sequence(row, sentence) for row, sentence in enumerate(sentences)]
        start, token = self.tokens.rows(listed)
        n = Schedule.of(n_threads).n_threads
        sentence_start, head, modifier = _core.kept_arcs(self.pruner, self.ratio, self.heads, start, token, n)
        out = []
        for s, sentence in enumerate(listed):
            kept: list[list[int]] = [[] for _ in range(len(sentence))]
            own = slice(sentence_start[s], sentence_start[s + 1])
            for word, above in zip(modifier[own].tolist(), head[own].tolist(), strict=True):
                kept[word - 1].append(above)
            out.append([tuple(sorted(heads)) for heads in kept])
        return out

    def _lifted_rows(self, trees: Sequence[DependencyTree]) -> tuple[Any, Any, NDArray[np.int32]]:
        """Where each tree starts, its tokens, and the heads of these without crossing arcs."""
        start, token = self.tokens.rows([tree.tagged() for tree in trees])
        heads = [lifted_heads(tree.heads) for tree in trees]
        return start, token, np.array([h for own in heads for h in (-1, *own)], np.int32)

    def to_state(self) -> dict[str, object]:
        """Return the settings, the words and tags, and all weights."""
        return {
            "tokens": self.tokens.to_state(),
            "relations": list(self.relations),
            "pruner": self.pruner,
            "weights": self.weights,
            "labels": self.labels.to_state(),
            "order": self.order,
            "heads": self.heads,
            "ratio": self.ratio,
            "several_roots": self.several_roots,
            "restores": self.restores,
            "sentences": self.n_sentences,
            "words": self.n_words,
        }

    @classmethod
    def from_state(cls, state: State) -> DependencyParser:
        """Make a parser from the contents of a file."""
        relations = state.texts("relations")
        require(0 < len(relations) == len(set(relations)), "its relations are not all different")
        pruner, weights = state.array("pruner", np.float32), state.array("weights", np.float32)
        for own in (pruner, weights):
            require(len(own).bit_count() == 1 and len(own) >= 1024, "the number of weights is no power of two")
            require(np.isfinite(own).all(), "a weight is not a number")
        order: Any = state.whole("order", 1, 3)
        return cls(
            TokenNumbers.from_part(state.part("tokens")),
            tuple(relations),
            pruner,
            weights,
            SparseWeights.from_part(state.part("labels"), len(relations)),
            order,
            state.whole("heads", 1, 1_000),
            state.number("ratio", 0.0),
            state.truth("several_roots"),
            state.truth("restores"),
            state.whole("sentences"),
            state.whole("words"),
        )

    def trained_on(self) -> dict[str, object]:
        """How many trees and words it learned from."""
        return {"rows": self.n_sentences, "items": "dependency trees", "words": self.n_words}

    def __repr__(self) -> str:
        n = len(self.relations)
        return f"<DependencyParser of order {self.order}: {self.n_sentences:,} trees, {n:,} relations>"
